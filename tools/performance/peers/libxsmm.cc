// LIBXSMM as a peer module: a kernel generated once per shape, for small products.
#include <libxsmm.h>

#include <string>

#include "tools/performance/peers/module.h"

namespace {

struct Product {
  libxsmm_smmfunction kernel;
};

}  // namespace

const char* gemmc_peer_version() {
  libxsmm_init();
  static const std::string version = std::string(LIBXSMM_VERSION) + ", " + libxsmm_get_target_arch();
  return version.c_str();
}

void* gemmc_peer_prepare(const GemmcPeerShape* shape) {
  // Its kernels are meant for sizes up to about 128; it would return slow ones for larger products.
  constexpr int64_t kMaxSize = 128;
  if (shape->trans_a || shape->m > kMaxSize || shape->n > kMaxSize || shape->k > kMaxSize) return nullptr;
  // It is column-major: the row-major product is Y^T = B^T A^T with the operands swapped.
  const libxsmm_blasint m = static_cast<libxsmm_blasint>(shape->n), n = static_cast<libxsmm_blasint>(shape->m);
  const libxsmm_blasint k = static_cast<libxsmm_blasint>(shape->k);
  const libxsmm_blasint lda = shape->trans_b ? k : m;
  const float alpha = 1, beta = 0;
  const int flags = shape->trans_b ? LIBXSMM_GEMM_FLAG_TRANS_A : LIBXSMM_GEMM_FLAG_NONE;
  const libxsmm_smmfunction kernel =
      libxsmm_smmdispatch(m, n, k, &lda, nullptr, nullptr, &alpha, &beta, &flags, nullptr);
  return kernel != nullptr ? new Product{kernel} : nullptr;
}

void gemmc_peer_run(void* prepared, const float* a, const float* b, float* y, int64_t calls) {
  const libxsmm_smmfunction kernel = static_cast<Product*>(prepared)->kernel;
  for (int64_t call = 0; call < calls; ++call) kernel(b, a, y);
}

void gemmc_peer_free(void* prepared) { delete static_cast<Product*>(prepared); }
