// MKL from the PyPI wheel mkl: its run-time dispatcher, with the sequential layer that the environment asks for.
#include <array>

#include "tools/performance/peers/cblas.h"
#include "tools/performance/peers/known_peers.h"

namespace gemmc {

FoundPeer find_mkl(const PeerPlaces& places) {
  const auto library =
      SharedObject::open({places.python_prefix / "lib/libmkl_rt.so.3", places.python_prefix / "lib/libmkl_rt.so.2"});
  if (!library) return library.status();
  const Cblas cblas = find_cblas(*library);
  const auto version = library->symbol<void (*)(char* text, int length)>("mkl_get_version_string");
  if (!cblas.is_complete() || !version) return symbol_is_missing();
  // "Intel(R) oneAPI Math Kernel Library Version 2026.2-Product Build 20260601 for ...", padded with blanks.
  std::array<char, 256> buffer = {};
  version(buffer.data(), static_cast<int>(buffer.size()) - 1);
  std::string text = buffer.data();
  text.erase(text.find_last_not_of(' ') + 1);
  if (const size_t at = text.find("Version "); at != std::string::npos) text = text.substr(at + 8);
  return std::unique_ptr<Peer>(std::make_unique<FunctionPeer>("MKL", text, prepare_cblas(cblas)));
}

}  // namespace gemmc
