/* A user's program: plain C, the emitted headers, and nothing of gemmc's at run time. aot_test.cc builds it against the
 * static and the shared libraries, as C99 and as C++. Each product is checked against a loop that is written here; all
 * values are small integers, so every order of summation gives the same result. Exit status 0: all are right. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "batched.h"
#include "free_form.h"
#include "layer.h"
#include "strided.h"

static int failures = 0;

static void expect(int is_right, const char* what) {
  if (is_right) return;
  printf("wrong: %s\n", what);
  ++failures;
}

/* Y = 2 A transpose(B) + C, C one row; every size static. */
static void check_layer(void) {
  float a[layer_M * layer_K], b[layer_N * layer_K], c[layer_N], y[layer_M * layer_N], uniform[layer_M * layer_N];
  int m, n, k;
  gemmc_call call;
  for (m = 0; m < layer_M * layer_K; ++m) a[m] = (float)(m % 7 - 3);
  for (n = 0; n < layer_N * layer_K; ++n) b[n] = (float)(n % 5 - 2);
  for (n = 0; n < layer_N; ++n) c[n] = (float)n;
  memset(y, 0xff, sizeof y);
  expect(layer(a, b, c, y) == GEMMC_OK, "layer's status");
  for (m = 0; m < layer_M; ++m) {
    for (n = 0; n < layer_N; ++n) {
      float sum = 0;
      for (k = 0; k < layer_K; ++k) sum += a[m * layer_K + k] * b[n * layer_K + k];
      expect(y[m * layer_N + n] == 2 * sum + c[n], "layer");
    }
  }
  memset(&call, 0, sizeof call);
  call.size_bytes = sizeof call;
  call.a = a;
  call.b = b;
  call.c = c;
  call.y = uniform;
  expect(layer_call(&call) == GEMMC_OK, "layer_call's status");
  expect(memcmp(y, uniform, sizeof y) == 0, "layer_call");
  call.size_bytes = 8;
  expect(layer_call(&call) == GEMMC_INVALID_ARGUMENT, "layer_call refuses a struct that is too small");
}

/* Y = A B with a batch and a number of rows that each call gives. */
static void check_batched(int64_t batch, int64_t rows) {
  int32_t a[5 * 9 * 6], b[5 * 6 * 4], y[5 * 9 * 4 + 1];
  int64_t i, m, n, k;
  for (i = 0; i < batch * rows * 6; ++i) a[i] = (int32_t)(i * 2147483647);
  for (i = 0; i < batch * 6 * 4; ++i) b[i] = (int32_t)(i - 40);
  for (i = 0; i <= batch * rows * 4; ++i) y[i] = 77;
  expect(batched(a, b, y, batch, rows) == GEMMC_OK, "batched's status");
  for (i = 0; i < batch; ++i) {
    for (m = 0; m < rows; ++m) {
      for (n = 0; n < 4; ++n) {
        uint32_t sum = 0;
        for (k = 0; k < 6; ++k) sum += (uint32_t)a[(i * rows + m) * 6 + k] * (uint32_t)b[(i * 6 + k) * 4 + n];
        expect((uint32_t)y[(i * rows + m) * 4 + n] == sum, "batched");
      }
    }
  }
  expect(y[batch * rows * 4] == 77, "batched writes behind Y");
}

/* Every size and C's strides are given by the call. */
static void check_free_form(int64_t rows, int64_t columns, int64_t depth) {
  double a[40 * 40], b[40 * 40], c[40], y[40 * 40];
  int64_t m, n, k;
  for (m = 0; m < rows * depth; ++m) a[m] = (double)(m % 11 - 5);
  for (n = 0; n < depth * columns; ++n) b[n] = (double)(n % 13 - 6);
  for (m = 0; m < rows; ++m) c[m] = (double)(100 * m);
  expect(free_form(a, b, c, y, rows, depth, columns, 1, 0) == GEMMC_OK, "free_form's status");
  for (m = 0; m < rows; ++m) {
    for (n = 0; n < columns; ++n) {
      double sum = c[m];
      for (k = 0; k < depth; ++k) sum += a[m * depth + k] * b[k * columns + n];
      expect(y[m * columns + n] == sum, "free_form");
    }
  }
}

/* Y is written with a row stride that the call gives; what lies between its rows stays. */
static void check_strided(void) {
  float a[3 * 4], b[4 * 5], y[3 * 8];
  int m, n, k;
  for (m = 0; m < 12; ++m) a[m] = (float)m;
  for (n = 0; n < 20; ++n) b[n] = (float)(n - 10);
  for (m = 0; m < 24; ++m) y[m] = 77;
  expect(strided(a, b, y, 8) == GEMMC_OK, "strided's status");
  for (m = 0; m < 3; ++m) {
    for (n = 0; n < 8; ++n) {
      float sum = 0;
      for (k = 0; k < 4; ++k) sum += n < 5 ? a[m * 4 + k] * b[k * 5 + n] : 0;
      expect(y[m * 8 + n] == (n < 5 ? sum : 77), "strided");
    }
  }
}

int main(void) {
  check_layer();
  check_batched(1, 1);
  check_batched(5, 9);
  check_batched(0, 3);
  check_batched(2, 0);
  expect(batched(NULL, NULL, NULL, -1, 3) == GEMMC_INVALID_ARGUMENT, "batched refuses a negative dimension");
  check_free_form(1, 1, 1);
  check_free_form(7, 5, 0);
  check_free_form(33, 40, 37);
  check_strided();
  if (failures == 0) printf("all right\n");
  return failures == 0 ? 0 : 1;
}
