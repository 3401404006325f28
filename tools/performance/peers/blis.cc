// BLIS from the Debian package: the wheel on PyPI is old and generic.
#include <fmt/format.h>

#include "tools/performance/peers/cblas.h"
#include "tools/performance/peers/known_peers.h"

namespace gemmc {

FoundPeer find_blis(const PeerPlaces&) {
  const auto library = SharedObject::open(
      {"/usr/lib/x86_64-linux-gnu/blis-serial/libblis.so.4", "/usr/lib/x86_64-linux-gnu/blis-openmp/libblis.so.4"});
  if (!library) return library.status();
  const Cblas cblas = find_cblas(*library);
  const auto version = library->symbol<const char* (*)()>("bli_info_get_version_str");
  const auto arch = library->symbol<int (*)()>("bli_arch_query_id");
  const auto arch_name = library->symbol<const char* (*)(int)>("bli_arch_string");
  if (!cblas.is_complete() || !version || !arch || !arch_name) return symbol_is_missing();
  return std::unique_ptr<Peer>(std::make_unique<FunctionPeer>(
      "BLIS", fmt::format("{}, {}", version(), arch_name(arch())), prepare_cblas(cblas)));
}

}  // namespace gemmc
