// LIBXSMM as a peer module: a kernel generated once per shape, for small products.
#include <libxsmm.h>

#include <string>

#include "tools/performance/peers/module.h"

namespace {

// One of the two, for the shape's type.
struct Product {
  libxsmm_smmfunction float32 = nullptr;
  libxsmm_dmmfunction float64 = nullptr;
};

template <typename T, typename Dispatch>
auto dispatch(const GemmcPeerShape& shape, Dispatch make) {
  // It is column-major: the row-major product is Y^T = B^T A^T with the operands swapped.
  const libxsmm_blasint m = static_cast<libxsmm_blasint>(shape.n), n = static_cast<libxsmm_blasint>(shape.m);
  const libxsmm_blasint k = static_cast<libxsmm_blasint>(shape.k);
  const libxsmm_blasint lda = shape.trans_b ? k : m;
  const T alpha = 1, beta = 0;
  const int flags = shape.trans_b ? LIBXSMM_GEMM_FLAG_TRANS_A : LIBXSMM_GEMM_FLAG_NONE;
  return make(m, n, k, &lda, nullptr, nullptr, &alpha, &beta, &flags, nullptr);
}

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
  Product product;
  if (shape->is_float64) {
    product.float64 = dispatch<double>(*shape, libxsmm_dmmdispatch);
  } else {
    product.float32 = dispatch<float>(*shape, libxsmm_smmdispatch);
  }
  return product.float32 == nullptr && product.float64 == nullptr ? nullptr : new Product(product);
}

void gemmc_peer_run(void* prepared, const void* a, const void* b, void* y, int64_t calls) {
  const Product& product = *static_cast<Product*>(prepared);
  const auto run = [&]<typename T>(auto kernel) {
    for (int64_t call = 0; call < calls; ++call)
      kernel(static_cast<const T*>(b), static_cast<const T*>(a), static_cast<T*>(y));
  };
  product.float64 != nullptr ? run.operator()<double>(product.float64) : run.operator()<float>(product.float32);
}

void gemmc_peer_free(void* prepared) { delete static_cast<Product*>(prepared); }
