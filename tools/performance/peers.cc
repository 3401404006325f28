#include "tools/performance/peers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

#include "core/text.h"
#include "tools/performance/peers/known_peers.h"

namespace gemmc {
namespace {

struct KnownPeer {
  const char* word;  // on the command line
  const char* name;
  FoundPeer (*find)(const PeerPlaces& places);
};

// In the order of reports.
constexpr KnownPeer kKnownPeers[] = {
    {"openblas", "OpenBLAS", find_openblas},
    {"onednn", "oneDNN", find_onednn_gemm},
    {"onednn-matmul", "oneDNN matmul", find_onednn_matmul},
    {"mkl", "MKL", find_mkl},
    {"blis", "BLIS", find_blis},
    {"eigen", "Eigen", find_eigen},
    {"libxsmm", "LIBXSMM", find_libxsmm},
    {"onnxruntime", "ONNX Runtime", find_onnxruntime},
};

void prepare_environment() {
  for (const char* name : {"OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "BLIS_ARCH_TYPE", "MKL_ENABLE_INSTRUCTIONS",
                           "ONEDNN_MAX_CPU_ISA", "LIBXSMM_TARGET"})
    unsetenv(name);
  for (const char* name : {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "BLIS_NUM_THREADS", "MKL_NUM_THREADS"})
    setenv(name, "1", 1);
  setenv("MKL_THREADING_LAYER", "SEQUENTIAL", 1);
}

}  // namespace

std::vector<std::string> peer_words() {
  std::vector<std::string> words;
  for (const KnownPeer& known : kKnownPeers) words.push_back(known.word);
  return words;
}

Expected<PeerSearch> find_peers(const std::vector<std::string>& words, const PeerPlaces& places) {
  const auto is_asked = [&](const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
  };
  const std::vector<std::string> known_words = peer_words();
  for (const std::string& word : words) {
    const bool is_alone = words.size() == 1 && (word == "all" || word == "none");
    if (!is_alone && std::find(known_words.begin(), known_words.end(), word) == known_words.end())
      return Status::invalid(fmt::format("--peers {}; allowed: all or none alone, or some of {}", in_quotes(word),
                                         fmt::join(known_words, ", ")));
  }
  PeerSearch search;
  prepare_environment();
  for (const KnownPeer& known : kKnownPeers) {
    if (!is_asked("all") && !is_asked(known.word)) continue;
    FoundPeer peer = known.find(places);
    if (peer) {
      search.found.push_back(*std::move(peer));
    } else {
      search.skipped.push_back(fmt::format("{}: {}", known.name, peer.status().message()));
    }
  }
  return search;
}

}  // namespace gemmc
