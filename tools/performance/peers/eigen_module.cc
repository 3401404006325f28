// Eigen as a peer module; compiled for AVX2 and FMA, which is the faster of Eigen's vector widths in bulk.
#define EIGEN_DONT_PARALLELIZE
#include <Eigen/Core>
#include <string>

#include "tools/performance/peers/module.h"

namespace {

template <typename T>
void multiply(const GemmcPeerShape& s, const void* a, const void* b, void* y, int64_t calls) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  using Operand = Eigen::Map<const Matrix>;
  const Operand a_map(static_cast<const T*>(a), s.trans_a ? s.k : s.m, s.trans_a ? s.m : s.k);
  const Operand b_map(static_cast<const T*>(b), s.trans_b ? s.n : s.k, s.trans_b ? s.k : s.n);
  Eigen::Map<Matrix> y_map(static_cast<T*>(y), s.m, s.n);
  for (int64_t call = 0; call < calls; ++call) {
    if (s.trans_a && s.trans_b) {
      y_map.noalias() = a_map.transpose() * b_map.transpose();
    } else if (s.trans_a) {
      y_map.noalias() = a_map.transpose() * b_map;
    } else if (s.trans_b) {
      y_map.noalias() = a_map * b_map.transpose();
    } else {
      y_map.noalias() = a_map * b_map;
    }
  }
}

}  // namespace

const char* gemmc_peer_version() {
  static const std::string version = std::to_string(EIGEN_WORLD_VERSION) + "." + std::to_string(EIGEN_MAJOR_VERSION) +
                                     "." + std::to_string(EIGEN_MINOR_VERSION) + ", compiled for AVX2 and FMA";
  return version.c_str();
}

void* gemmc_peer_prepare(const GemmcPeerShape* shape) {
  const bool runs_here = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return runs_here ? new GemmcPeerShape(*shape) : nullptr;
}

void gemmc_peer_run(void* prepared, const void* a, const void* b, void* y, int64_t calls) {
  const GemmcPeerShape& shape = *static_cast<GemmcPeerShape*>(prepared);
  shape.is_float64 ? multiply<double>(shape, a, b, y, calls) : multiply<float>(shape, a, b, y, calls);
}

void gemmc_peer_free(void* prepared) { delete static_cast<GemmcPeerShape*>(prepared); }
