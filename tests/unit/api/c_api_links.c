/* The public header in strict C99, and each of its functions called from there. */
#include "gemmc/gemmc.h"

int c_api_from_c(void);

int c_api_from_c(void) {
  const double a[] = {1, 2};
  const double b[] = {3, 4};
  const int64_t depth = 2;
  double y = 0;
  int failures = 0;
  gemmc_session* session = NULL;
  gemmc_kernel* kernel = NULL;
  gemmc_kernel_entry entry;
  gemmc_call call = {0};

  if (gemmc_version()[0] == '\0') ++failures;
  if (gemmc_last_error() == NULL) ++failures;
  if (gemmc_session_create(NULL, &session) != GEMMC_OK) return 100;
  if (gemmc_session_kernel(session, "matmul f64 a=?depth b=?depth", &kernel) != GEMMC_OK) return 101;
  gemmc_session_free(session);

  if (gemmc_kernel_dim_count(kernel) != 1 || gemmc_kernel_dim_name(kernel, 0)[0] != 'd') ++failures;
  if (gemmc_kernel_stride_count(kernel) != 0) ++failures;
  if (gemmc_kernel_epilogue_count(kernel) != 0) ++failures;
  if (gemmc_kernel_scratch_bytes(kernel) != 0) ++failures;
  if (gemmc_kernel_get_pack_b(kernel) != NULL) ++failures;
  if (gemmc_kernel_note(kernel) == NULL) ++failures;
  if (gemmc_kernel_symbol(kernel)[0] != 'g') ++failures;
  call.size_bytes = sizeof call;
  call.a = a;
  call.b = b;
  call.y = &y;
  call.dims = &depth;
  if (gemmc_kernel_call(kernel, &call) != GEMMC_OK || y != 11) ++failures;
  entry = gemmc_kernel_get_entry(kernel);
  y = 0;
  if (entry(&call) != 0 || y != 11) ++failures;
  gemmc_kernel_release(kernel);
  return failures;
}
