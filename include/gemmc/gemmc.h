/* gemmc: the public C interface. C99 and C++.
 *
 * Two parts. The first is the contract of every compiled kernel, whether it was built ahead of time (`gemmc build`) or
 * at run time; it needs nothing but this header. The second is the library that compiles at run time (libgemmc).
 * The contract in words, with an example: docs/kernel-abi.md.
 */
#ifndef GEMMC_GEMMC_H
#define GEMMC_GEMMC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Kernels ---------------------------------------------------------------------------------------------------- */

/* Emitted headers repeat this block, word for word, so that they need no other file; the first one defines it. */
#ifndef GEMMC_CALL_DEFINED
#define GEMMC_CALL_DEFINED

/* What every call returns. Append-only. */
typedef enum gemmc_status {
  GEMMC_OK = 0,
  GEMMC_INVALID_ARGUMENT = 1, /* a dimension is negative, batches do not broadcast, a description is wrong */
  GEMMC_UNSUPPORTED = 2,      /* right, but not built yet, or not possible on this CPU */
  GEMMC_ENVIRONMENT = 3,      /* disk, memory, a missing tool */
  GEMMC_INTERNAL = 4          /* a fault of gemmc's own */
} gemmc_status;

/* How a call may use several threads: a host's own, or gemmc_parallel_create()'s. The kernel decides whether its
 * product is worth it and in how many parts; the values are the same to the last bit. */
typedef struct gemmc_parallel {
  uint64_t size_bytes;      /* sizeof(gemmc_parallel) */
  int32_t threads;          /* the most parts; below 2: all in the calling thread */
  int64_t products_of_part; /* multiply-adds that are worth a part at least; 0: what takes some 10 microseconds */
  /* Calls body(body_context, part) once for each part from 0 to parts - 1, on any threads, in any order, and returns
   * when all have returned. */
  void (*run)(void* context, int32_t parts, void (*body)(void* body_context, int32_t part), void* body_context);
  void* context; /* for `run` */
} gemmc_parallel;

/* The arguments of a kernel's uniform entry, `int32_t NAME_call(const gemmc_call*)`. Fill unused fields with zero.
 * The kernel reads the struct only during the call and keeps no pointer. All sizes and strides are in elements.
 * Y may be the same buffer as C, or as an operand of the epilogue, that has Y's shape in the description (is not
 * broadcast), with the same layout; any other overlap of Y with an operand is undefined. */
typedef struct gemmc_call {
  uint64_t size_bytes; /* sizeof(gemmc_call) of the caller; a kernel refuses a struct without a field that it reads */
  const void* a;
  const void* b;
  const void* c; /* ignored by kernels without C */
  void* y;
  const int64_t* dims;    /* the kernel's run-time dimensions, in the order of its manifest; may be NULL if none */
  const int64_t* strides; /* the kernel's run-time strides, likewise */
  /* Packed operands; of a kernel that has a NAME_pack_b: packed[1] is what it wrote, and `b` is not read. Other entries
   * are reserved and must be zero. */
  const void* packed[3];
  /* Memory that the kernel may write to during the call, and its size: at least what the kernel's manifest says, else
   * it is not used, for each part of a call in several threads. May be NULL and 0: large products are then slower,
   * their values the same. */
  void* scratch;
  uint64_t scratch_bytes;
  const gemmc_parallel* parallel; /* NULL: the calling thread does everything */
  const void* const* epilogue;    /* the operands of the epilogue's steps, in their order; may be NULL if none */
} gemmc_call;

typedef int32_t (*gemmc_kernel_entry)(const gemmc_call* call);
/* NAME_pack_b, of kernels that want their constant B packed: writes B, laid out as the kernel's description says, to
 * `packed_b` in the kernel's own layout, once for all calls; `b` is not needed any more. Returns the bytes of packed_b,
 * and only that where it is NULL. Any address will do; a multiple of 64 is fastest. */
typedef int64_t (*gemmc_pack_entry)(const void* b, void* packed_b);

#endif /* GEMMC_CALL_DEFINED */

/* ---- Compiling at run time -------------------------------------------------------------------------------------- */

typedef struct gemmc_session gemmc_session; /* compiles kernels and keeps them; any thread may use it */
typedef struct gemmc_kernel gemmc_kernel;   /* one kernel; any thread may call it */

/* The library's version, "MAJOR.MINOR.PATCH". Static storage. */
const char* gemmc_version(void);

/* The message of this thread's last failed call into this library; "" if none failed. Valid until this thread's next
 * call into it. */
const char* gemmc_last_error(void);

/* A new session for the CPU `target` ("host", "x86-64-v3", ...; NULL means "host"). The caller frees it. A name that is
 * none is GEMMC_INVALID_ARGUMENT; a CPU whose instructions this one lacks, GEMMC_UNSUPPORTED. */
gemmc_status gemmc_session_create(const char* target, gemmc_session** session);
/* Frees the session. Kernels that were taken from it stay valid until they are released. NULL is allowed. */
void gemmc_session_free(gemmc_session* session);

/* The kernel for `description`: a problem string ("gemm f32 m=64 n=64 k=64") or a node description in JSON (text that
 * starts with '{'; paths of its `data` start at the working directory). Compiled on the first request; equal requests,
 * also at once from many threads, compile once. The caller releases it; NULL is allowed there. A wrong description is
 * GEMMC_INVALID_ARGUMENT; a right one that cannot be compiled yet, GEMMC_UNSUPPORTED; files and memory,
 * GEMMC_ENVIRONMENT. A failure is forgotten: the next request tries again. */
gemmc_status gemmc_session_kernel(gemmc_session* session, const char* description, gemmc_kernel** kernel);
void gemmc_kernel_release(gemmc_kernel* kernel);

/* Threads for calls, on oneTBB, whose workers the process shares: `threads`, 1 to 4096, with the calling one. Any
 * number of calls may use it at once. The caller frees it, after the last call that uses it has returned; NULL is
 * allowed there. */
gemmc_status gemmc_parallel_create(int32_t threads, const gemmc_parallel** parallel);
void gemmc_parallel_free(const gemmc_parallel* parallel);

/* Runs the kernel, on the calling thread unless the call brings others. Checks what the kernel itself checks, that no
 * operand with elements is NULL, that reserved fields are zero, and that Y does not overlap an operand in a way that is
 * not allowed; the message says what is wrong. Any refusal is GEMMC_INVALID_ARGUMENT and leaves Y untouched. */
gemmc_status gemmc_kernel_call(const gemmc_kernel* kernel, const gemmc_call* call);
/* The functions below answer NULL or 0 for a kernel or an index that is none.
 * The uniform entry itself, for callers that want no indirection. Valid while the kernel is not released. */
gemmc_kernel_entry gemmc_kernel_get_entry(const gemmc_kernel* kernel);
/* NULL where the kernel reads B where it is. Valid while the kernel is not released. */
gemmc_pack_entry gemmc_kernel_get_pack_b(const gemmc_kernel* kernel);
/* The bytes of scratch memory that gemmc_call may lend to the kernel; 0: it uses none. Any address will do; threads
 * that call at once need memory each. Where a call lends none, gemmc_kernel_call takes memory that it keeps for the
 * calling thread until that ends: as much as the largest such kernel wanted, up to some MiB for each thread of a call.
 */
size_t gemmc_kernel_scratch_bytes(const gemmc_kernel* kernel);
/* The kernel's symbol, "gemmc_" and 16 hexadecimal digits. Valid while the kernel is not released. */
const char* gemmc_kernel_symbol(const gemmc_kernel* kernel);
/* How many run-time dimensions and strides a call must give, and the dimensions' names as the description has them, in
 * the order of the call. A name is valid while the kernel is not released. */
size_t gemmc_kernel_dim_count(const gemmc_kernel* kernel);
const char* gemmc_kernel_dim_name(const gemmc_kernel* kernel, size_t index);
size_t gemmc_kernel_stride_count(const gemmc_kernel* kernel);
/* How many operands the steps of the epilogue read: the pointers that a call must give in `epilogue`. */
size_t gemmc_kernel_epilogue_count(const gemmc_kernel* kernel);
/* What the description asked for beside this kernel and is not built yet ("training: ..."), one line for people; "" if
 * nothing. Valid while the kernel is not released. */
const char* gemmc_kernel_note(const gemmc_kernel* kernel);

#ifdef __cplusplus
}
#endif

#endif /* GEMMC_GEMMC_H */
