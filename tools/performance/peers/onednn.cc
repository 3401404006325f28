// oneDNN's dnnl_sgemm, from the PyPI wheel onednn-cpu-gomp.
#include "tools/performance/peers/onednn.h"

#include <fmt/format.h>

#include "tools/performance/peers/function_peer.h"
#include "tools/performance/peers/known_peers.h"

namespace gemmc {

Expected<OneDnn> open_onednn(const PeerPlaces& places) {
  struct Version {
    int major, minor, patch;
  };
  auto library = SharedObject::open({places.python_prefix / "lib/libdnnl.so.3"});
  if (!library) return library.status();
  const auto version = library->symbol<const Version* (*)()>("dnnl_version");
  if (!version) return symbol_is_missing();
  const Version* v = version();
  return OneDnn{*library, fmt::format("{}.{}.{}", v->major, v->minor, v->patch)};
}

FoundPeer find_onednn_gemm(const PeerPlaces& places) {
  using Sgemm = int (*)(char trans_a, char trans_b, int64_t m, int64_t n, int64_t k, float alpha, const float* a,
                        int64_t lda, const float* b, int64_t ldb, float beta, float* c, int64_t ldc);
  const Expected<OneDnn> onednn = open_onednn(places);
  if (!onednn) return onednn.status();
  const auto sgemm = onednn->library.symbol<Sgemm>("dnnl_sgemm");
  if (!sgemm) return symbol_is_missing();
  return std::unique_ptr<Peer>(std::make_unique<FunctionPeer>(
      "oneDNN", onednn->version + ", dnnl_sgemm", [sgemm](const PeerTask& task) -> std::unique_ptr<Contender> {
        if (task.dtype != DType::kFloat32) return nullptr;
        return prepare_call<float>(task, [sgemm](const Product& p, const float* a, const float* b, float* y) {
          sgemm(p.trans_a ? 'T' : 'N', p.trans_b ? 'T' : 'N', p.m, p.n, p.k, 1.0f, a, p.lda(), b, p.ldb(), 0.0f, y,
                p.n);
        });
      }));
}

}  // namespace gemmc
