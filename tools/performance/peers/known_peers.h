// How each peer is looked for; one source file each. Called by the table in peers.cc, once, before anything is
// measured.
#pragma once

#include <memory>

#include "core/status.h"
#include "tools/performance/peers/peer.h"

namespace gemmc {

// Environment, with the reason, where the library is not there or not what it should be.
using FoundPeer = Expected<std::unique_ptr<Peer>>;

FoundPeer find_openblas(const PeerPlaces& places);
FoundPeer find_onednn_gemm(const PeerPlaces& places);
FoundPeer find_onednn_matmul(const PeerPlaces& places);
FoundPeer find_mkl(const PeerPlaces& places);
FoundPeer find_blis(const PeerPlaces& places);
FoundPeer find_eigen(const PeerPlaces& places);
FoundPeer find_libxsmm(const PeerPlaces& places);
FoundPeer find_onnxruntime(const PeerPlaces& places);

}  // namespace gemmc
