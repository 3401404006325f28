// The C interface of BLAS (CBLAS), which several peers have.
#pragma once

#include "tools/performance/peers/function_peer.h"
#include "tools/performance/peers/shared_object.h"

namespace gemmc {

template <typename T>
using CblasGemm = void (*)(int order, int trans_a, int trans_b, int m, int n, int k, T alpha, const T* a, int lda,
                           const T* b, int ldb, T beta, T* c, int ldc);

struct Cblas {
  CblasGemm<float> sgemm = nullptr;
  CblasGemm<double> dgemm = nullptr;
  bool is_complete() const { return sgemm != nullptr && dgemm != nullptr; }
};

// Functions named like "cblas_sgemm" behind `prefix`.
Cblas find_cblas(const SharedObject& library, const char* prefix = "");

FunctionPeer::Prepare prepare_cblas(const Cblas& cblas);

}  // namespace gemmc
