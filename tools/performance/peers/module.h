/* What a wrapper module of a peer library exports: a library that has no shared object of its own (header-only, or a
 * static archive) is compiled into such a module, which `gemmc bench` opens with dlopen. So its compiler flags and its
 * templates stay out of the command, and a machine without the library only lacks the module. */
#pragma once

#include <cstdint>

#define GEMMC_PEER_EXPORT extern "C" __attribute__((visibility("default")))

/* Y = op(A) op(B), float32 or float64, row-major, dense. */
struct GemmcPeerShape {
  int64_t m, n, k;
  int trans_a, trans_b;
  int is_float64;
};

/* Static storage. */
GEMMC_PEER_EXPORT const char* gemmc_peer_version();
/* The prepared product, or null where the library has nothing for this shape or this CPU. */
GEMMC_PEER_EXPORT void* gemmc_peer_prepare(const GemmcPeerShape* shape);
GEMMC_PEER_EXPORT void gemmc_peer_run(void* prepared, const void* a, const void* b, void* y, int64_t calls);
GEMMC_PEER_EXPORT void gemmc_peer_free(void* prepared);
