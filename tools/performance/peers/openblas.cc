// OpenBLAS from the PyPI wheel scipy-openblas32, whose symbols have a prefix.
#include <fmt/format.h>

#include "tools/performance/peers/cblas.h"
#include "tools/performance/peers/known_peers.h"

namespace gemmc {

FoundPeer find_openblas(const PeerPlaces& places) {
  const auto library =
      SharedObject::open({site_packages(places.python_prefix) / "scipy_openblas32/lib/libscipy_openblas.so"});
  if (!library) return library.status();
  const Cblas cblas = find_cblas(*library, "scipy_");
  const auto set_threads = library->symbol<void (*)(int)>("scipy_openblas_set_num_threads");
  const auto config = library->symbol<const char* (*)()>("scipy_openblas_get_config");
  const auto core = library->symbol<const char* (*)()>("scipy_openblas_get_corename");
  if (!cblas.is_complete() || !set_threads || !config || !core) return symbol_is_missing();
  set_threads(1);
  // "OpenBLAS 0.3.34 <build options>"
  std::string version = config();
  version = version.substr(0, version.find(' ', version.find(' ') + 1));
  if (version.starts_with("OpenBLAS ")) version = version.substr(9);
  return std::unique_ptr<Peer>(
      std::make_unique<FunctionPeer>("OpenBLAS", fmt::format("{}, core {}", version, core()), prepare_cblas(cblas)));
}

}  // namespace gemmc
