// SPDX-License-Identifier: Apache-2.0
// The matrix exponential by scaling and squaring, as in N. J. Higham, "The scaling and squaring
// method for the matrix exponential revisited", SIAM J. Matrix Anal. Appl. 26 (2005), 1179-1193:
// exp(A) = r(A / 2^s)^(2^s), r = q(X)^-1 p(X) the diagonal Pade approximant of degree 3, 5, 7, 9
// or 13. Degrees, bounds and the grouping of the terms are the paper's. Two things are added. A is
// balanced first by a diagonal similarity of powers of two, which rounds nothing; a stiff system
// then needs fewer squarings. And it is F = E - I that is squared, by F <- 2 F + F^2: where A holds
// slow and fast motion together, the slow part is small at first, and beside 1 its digits would be
// lost. What decays keeps an error of rounding beside 1 instead.
#include "linalg/exponential.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "linalg/dense.h"

enum { DEGREES = 5, MOST_COEFFICIENTS = 14, MATRICES = 8, MOST_SQUARINGS = 2000 };

// Norms up to which the approximant of each degree is accurate to 2^-53 backward.
static const struct {
  int degree;
  double bound;
} PADE[DEGREES] = {{3, 1.495585217958292e-2},
                   {5, 2.539398330063230e-1},
                   {7, 9.504178996162932e-1},
                   {9, 2.097847961257068e0},
                   {13, 5.371920351148152e0}};

size_t pawl_exponential_room(int n) {
  return MATRICES * (size_t)n * (size_t)n + 2 * (size_t)n;
}

void pawl_dense_multiply(int n, const double* A, const double* B, double* C) {
  size_t N = (size_t)n;
  memset(C, 0, N * N * sizeof *C);
  for (size_t j = 0; j < N; j++) {
    for (size_t k = 0; k < N; k++) {
      double b = B[k + j * N];
      for (size_t i = 0; i < N; i++) {
        C[i + j * N] += A[i + k * N] * b;
      }
    }
  }
}

static void add_identity(int n, double scale, double* A) {
  for (size_t i = 0; i < (size_t)n; i++) {
    A[i * ((size_t)n + 1)] += scale;
  }
}

static bool all_finite(size_t count, const double* A) {
  double check = 0.0;
  for (size_t i = 0; i < count; i++) {
    check += A[i] - A[i];  // NaN when A[i] is not finite
  }
  return check == 0.0;
}

// The largest sum of absolute values of a column.
static double norm_1(int n, const double* A) {
  double most = 0.0;
  for (int j = 0; j < n; j++) {
    double sum = 0.0;
    for (int i = 0; i < n; i++) {
      sum += fabs(A[(size_t)i + (size_t)j * (size_t)n]);
    }
    most = fmax(most, sum);
  }
  return most;
}

// ---- balancing ----------------------------------------------------------------------------------
// Sums of row k and column k of A without the diagonal.
static void sums(int n, const double* A, int k, double* row, double* column) {
  *row = *column = 0.0;
  for (int i = 0; i < n; i++) {
    if (i != k) {
      *row += fabs(A[(size_t)k + (size_t)i * (size_t)n]);
      *column += fabs(A[(size_t)i + (size_t)k * (size_t)n]);
    }
  }
}

// A <- D^-1 A D with d_k multiplied by `scale`.
static void rescale(int n, double* A, int k, double scale, double* d) {
  for (int i = 0; i < n; i++) {
    A[(size_t)k + (size_t)i * (size_t)n] /= scale;
    A[(size_t)i + (size_t)k * (size_t)n] *= scale;
  }
  d[k] *= scale;
}

// The largest entry outside row and column k.
static double largest_beside(int n, const double* A, int k) {
  double most = 0.0;
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      if (i != k && j != k) {
        most = fmax(most, fabs(A[(size_t)i + (size_t)j * (size_t)n]));
      }
    }
  }
  return most;
}

// The power of two for row and column k: that which makes their sums alike. Beside a row of zeros
// the column may be as small as we like, and is made as small as the rest of A; likewise a row
// beside a column of zeros.
static int balancing_exponent(int n, const double* A, int k) {
  double row, column;
  sums(n, A, k, &row, &column);
  if (!(row + column > 0.0 && isfinite(row) && isfinite(column))) {
    return 0;
  }
  if (row > 0.0 && column > 0.0) {
    int exponent = (ilogb(row) - ilogb(column)) / 2;
    double scale = ldexp(1.0, exponent);
    return row / scale + column * scale < row + column ? exponent : 0;
  }
  double rest = largest_beside(n, A, k);
  double target = rest > 0.0 ? rest : 1.0;
  return row > target ? ilogb(row / target) : column > target ? -ilogb(column / target) : 0;
}

static void balance(int n, double* A, double* d) {
  enum { MOST_SWEEPS = 20, LARGEST = 400 };  // exponents of d
  for (int i = 0; i < n; i++) {
    d[i] = 1.0;
  }
  bool changed = true;
  for (int sweep = 0; changed && sweep < MOST_SWEEPS; sweep++) {
    changed = false;
    for (int k = 0; k < n; k++) {
      int exponent = balancing_exponent(n, A, k);
      if (exponent != 0 && abs(ilogb(d[k]) + exponent) <= LARGEST) {
        rescale(n, A, k, ldexp(1.0, exponent), d);
        changed = true;
      }
    }
  }
}

static void unbalance(int n, const double* d, double* E) {
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      E[(size_t)i + (size_t)j * (size_t)n] *= d[i] / d[j];
    }
  }
}

// ---- Pade ---------------------------------------------------------------------------------------
// Coefficients of p(x) = sum b_j x^j, q(x) = p(-x), b_0 = 1:
//   b_j / b_{j-1} = (m - j + 1) / ((2 m - j + 1) j).                                         (L13)
static void coefficients(int m, double* b) {
  b[0] = 1.0;
  for (int j = 1; j <= m; j++) {
    b[j] = b[j - 1] * (m - j + 1) / ((2 * m - j + 1) * j);
  }
}

// out = sum of c[k] X[k], k < count, plus c0 I; X is a list of matrices.
static void combine(int n, int count, const double* const* X, const double* c, double c0,
                    double* out) {
  size_t entries = (size_t)n * (size_t)n;
  memset(out, 0, entries * sizeof *out);
  for (int k = 0; k < count; k++) {
    for (size_t i = 0; i < entries; i++) {
      out[i] += c[k] * X[k][i];
    }
  }
  add_identity(n, c0, out);
}

// U = odd part, V = even part of p(A); work: 4 matrices for powers, one more.
static void parts_low(int n, const double* A, int m, double* U, double* V, double* work) {
  size_t entries = (size_t)n * (size_t)n;
  double b[MOST_COEFFICIENTS], odd[4], even[4];
  const double* powers[4];  // A^2, A^4, A^6, A^8
  double* sum = work + 4 * entries;
  int half = m / 2;
  coefficients(m, b);
  for (int k = 0; k < half; k++) {
    double* next = work + (size_t)k * entries;
    pawl_dense_multiply(n, k ? powers[0] : A, k ? powers[k - 1] : A, next);
    powers[k] = next;
    even[k] = b[2 * k + 2];
    odd[k] = b[2 * k + 3];
  }
  combine(n, half, powers, odd, b[1], sum);
  pawl_dense_multiply(n, A, sum, U);
  combine(n, half, powers, even, b[0], V);
}

// Degree 13 with six products: A^2, A^4, A^6, and A^6 times a combination of these, twice.
static void parts_13(int n, const double* A, double* U, double* V, double* work) {
  size_t entries = (size_t)n * (size_t)n;
  double b[MOST_COEFFICIENTS];
  double *A2 = work, *A4 = work + entries, *A6 = work + 2 * entries, *sum = work + 3 * entries,
         *high = work + 4 * entries;
  const double* powers[3] = {A2, A4, A6};
  coefficients(13, b);
  pawl_dense_multiply(n, A, A, A2);
  pawl_dense_multiply(n, A2, A2, A4);
  pawl_dense_multiply(n, A2, A4, A6);
  combine(n, 3, powers, (double[]){b[9], b[11], b[13]}, 0.0, sum);
  pawl_dense_multiply(n, A6, sum, high);
  combine(n, 3, powers, (double[]){b[3], b[5], b[7]}, b[1], sum);
  for (size_t i = 0; i < entries; i++) {
    sum[i] += high[i];
  }
  pawl_dense_multiply(n, A, sum, U);
  combine(n, 3, powers, (double[]){b[8], b[10], b[12]}, 0.0, sum);
  pawl_dense_multiply(n, A6, sum, high);
  combine(n, 3, powers, (double[]){b[2], b[4], b[6]}, b[0], V);
  for (size_t i = 0; i < entries; i++) {
    V[i] += high[i];
  }
}

// F = E - I = (V - U)^-1 (V + U) - I = (V - U)^-1 2 U
static bool divide(int n, double* U, double* V, double* F, double* column, int* pivots) {
  size_t entries = (size_t)n * (size_t)n;
  for (size_t i = 0; i < entries; i++) {
    V[i] -= U[i];
    U[i] *= 2.0;
  }
  if (pawl_lu_factor(n, V, pivots, 0.0) != 0) {
    return false;
  }
  for (int j = 0; j < n; j++) {
    memcpy(column, U + (size_t)j * (size_t)n, (size_t)n * sizeof *column);
    pawl_lu_solve(n, V, pivots, column, F + (size_t)j * (size_t)n);
  }
  return true;
}

// The degree, and how often A is halved.
static int choose(double norm, int* halvings) {
  *halvings = 0;
  for (int k = 0; k < DEGREES; k++) {
    if (norm <= PADE[k].bound) {
      return PADE[k].degree;
    }
  }
  int exponent;
  double part = frexp(norm / PADE[DEGREES - 1].bound, &exponent);
  *halvings = part == 0.5 ? exponent - 1 : exponent;
  return PADE[DEGREES - 1].degree;
}

PawlStatus pawl_exponential(int n, const double* A, double* E, double* room, int* pivots) {
  size_t entries = (size_t)n * (size_t)n;
  double *X = room, *U = room + entries, *V = room + 2 * entries, *work = room + 3 * entries,
         *d = room + MATRICES * entries, *column = d + n;
  if (!all_finite(entries, A)) {
    return PAWL_RETRY;
  }
  memcpy(X, A, entries * sizeof *X);
  balance(n, X, d);
  int halvings, degree = choose(norm_1(n, X), &halvings);
  if (halvings > MOST_SQUARINGS) {
    return PAWL_RETRY;
  }
  for (size_t i = 0; i < entries; i++) {
    X[i] = ldexp(X[i], -halvings);
  }
  if (degree == 13) {
    parts_13(n, X, U, V, work);
  } else {
    parts_low(n, X, degree, U, V, work);
  }
  if (!divide(n, U, V, E, column, pivots)) {
    return PAWL_RETRY;
  }
  for (int k = 0; k < halvings; k++) {
    memcpy(X, E, entries * sizeof *X);
    pawl_dense_multiply(n, X, X, E);
    for (size_t i = 0; i < entries; i++) {
      E[i] += 2.0 * X[i];
    }
  }
  unbalance(n, d, E);
  add_identity(n, 1.0, E);
  return all_finite(entries, E) ? PAWL_OK : PAWL_RETRY;
}

// Horner: E = I + A (I + A/2 (I + A/3 (...))).                                             (L12)
PawlStatus pawl_exponential_series(int n, const double* A, int degree, double* E, double* room) {
  size_t entries = (size_t)n * (size_t)n;
  memset(E, 0, entries * sizeof *E);
  add_identity(n, 1.0, E);
  for (int j = degree; j >= 1; j--) {
    memcpy(room, E, entries * sizeof *E);
    pawl_dense_multiply(n, A, room, E);
    for (size_t i = 0; i < entries; i++) {
      E[i] /= j;
    }
    add_identity(n, 1.0, E);
  }
  return all_finite(entries, E) ? PAWL_OK : PAWL_RETRY;
}
