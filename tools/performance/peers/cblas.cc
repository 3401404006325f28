#include "tools/performance/peers/cblas.h"

namespace gemmc {
namespace {

template <typename T>
std::unique_ptr<Contender> prepare_gemm(const PeerTask& task, CblasGemm<T> gemm) {
  return prepare_call<T>(task, [gemm](const Product& p, const T* a, const T* b, T* y) {
    constexpr int kRowMajor = 101, kPlain = 111, kTransposed = 112;
    gemm(kRowMajor, p.trans_a ? kTransposed : kPlain, p.trans_b ? kTransposed : kPlain, static_cast<int>(p.m),
         static_cast<int>(p.n), static_cast<int>(p.k), T(1), a, static_cast<int>(p.lda()), b, static_cast<int>(p.ldb()),
         T(0), y, static_cast<int>(p.n));
  });
}

}  // namespace

Cblas find_cblas(const SharedObject& library, const char* prefix) {
  const std::string start = prefix;
  return {library.symbol<CblasGemm<float>>((start + "cblas_sgemm").c_str()),
          library.symbol<CblasGemm<double>>((start + "cblas_dgemm").c_str())};
}

FunctionPeer::Prepare prepare_cblas(const Cblas& cblas) {
  return [cblas](const PeerTask& task) -> std::unique_ptr<Contender> {
    if (!fits_int(task.product)) return nullptr;
    if (task.dtype == DType::kFloat32) return prepare_gemm<float>(task, cblas.sgemm);
    if (task.dtype == DType::kFloat64) return prepare_gemm<double>(task, cblas.dgemm);
    return nullptr;
  };
}

}  // namespace gemmc
