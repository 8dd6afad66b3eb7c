// SPDX-License-Identifier: Apache-2.0
// Where which factorisation is faster: time of one factorisation with new values and one solve, for
// each, on planar chains in absolute coordinates, bars, nets, and random systems of several
// densities. Prints the table of docs/theory/kkt.md; the residual stands beside
// the time.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "linalg/kkt.h"

typedef struct System {
  int n, m;
  int *S_start, *S_index, *G_start, *G_index;
  double *S, *G;
} System;

static double seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

// A small generator of our own, so that every machine measures the same systems.
static double random_number(unsigned long long* state) {
  *state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
  return (double)(*state >> 11) * 0x1p-52 - 1.0;
}

static void* take(int count, size_t size) {
  void* memory = calloc((size_t)count + 1, size);
  if (!memory) {
    fprintf(stderr, "kkt_switch: out of memory\n");
    exit(1);
  }
  return memory;
}

static System system_take(int n, int m, int S_count, int G_count) {
  System s = {.n = n, .m = m};
  s.S_start = take(n + 1, sizeof(int));
  s.S_index = take(S_count, sizeof(int));
  s.S = take(S_count, sizeof(double));
  s.G_start = take(n + 1, sizeof(int));
  s.G_index = take(G_count, sizeof(int));
  s.G = take(G_count, sizeof(double));
  return s;
}

static void system_free(System* s) {
  free(s->S_start);
  free(s->S_index);
  free(s->S);
  free(s->G_start);
  free(s->G_index);
  free(s->G);
}

// N links (x, y, angle each), joint i ties link i to link i - 1 (or the ground) by two rows.
static System chain(int N, unsigned long long* seed) {
  System s = system_take(3 * N, 2 * N, 3 * N, 8 * N);
  int count = 0;
  for (int j = 0; j < 3 * N; j++) {
    int link = j / 3, kind = j % 3;
    s.S_start[j + 1] = j + 1;
    s.S_index[j] = j;
    s.S[j] = kind == 2 ? 0.1 : 1.0;
    double angle = 3.0 * random_number(seed);
    for (int joint = link; joint <= link + 1 && joint < N; joint++) {
      double sign = joint == link ? 1.0 : -1.0;
      for (int row = 0; row < 2; row++) {
        if (kind == 2 || kind == row) {
          s.G_index[count] = 2 * joint + row;
          s.G[count++] = kind == 2 ? 0.5 * (row == 0 ? sin(angle) : -cos(angle)) : sign;
        }
      }
    }
    s.G_start[j + 1] = count;
  }
  return s;
}

// Diagonally heavy S with `density` of its entries, G with two entries a row and more, m = n/3.
// A bar of N elements, of which one end touches a wall.
static System bar(int N) {
  System s = system_take(N + 1, 1, 3 * N + 1, 1);
  int count = 0;
  for (int j = 0; j <= N; j++) {
    for (int i = j > 0 ? j - 1 : 0; i <= j + 1 && i <= N; i++) {
      s.S_index[count] = i;
      s.S[count++] = i == j ? 3.0 : -1.0;
    }
    s.S_start[j + 1] = count;
    s.G_start[j + 1] = 1;
  }
  s.G[0] = 1.0;
  return s;
}

static System random_system(int size, double density, unsigned long long* seed) {
  int m = size / 4, n = size - m, S_count = 0, G_count = 0;
  System s = system_take(n, m, n * n, n * m);
  for (int j = 0; j < n; j++) {
    for (int i = 0; i < n; i++) {
      if (i == j || fabs(random_number(seed)) < density) {
        s.S_index[S_count] = i;
        s.S[S_count++] = random_number(seed) + (i == j ? 4.0 : 0.0);
      }
    }
    for (int i = 0; i < m; i++) {
      if (j == i || j == n - 1 - i || fabs(random_number(seed)) < density) {
        s.G_index[G_count] = i;
        s.G[G_count++] = random_number(seed) + (i == j ? 2.0 : 0.0);
      }
    }
    s.S_start[j + 1] = S_count;
    s.G_start[j + 1] = G_count;
  }
  return s;
}

typedef struct Net {
  int N, masses;
  const double* place;  // (2 masses) x, then y
} Net;

// The neighbour of a mass in direction d (left, down, up, right: ascending), or -1, and the rod
// between them. Rods to the right come first, then rods up.
static int neighbour(const Net* net, int mass, int d, int* rod) {
  int N = net->N, i = mass / N, j = mass % N, across = (N - 1) * N;
  switch (d) {
    case 0:
      *rod = (i - 1) * N + j;
      return i > 0 ? mass - N : -1;
    case 1:
      *rod = across + i * (N - 1) + j - 1;
      return j > 0 ? mass - 1 : -1;
    case 2:
      *rod = across + i * (N - 1) + j;
      return j < N - 1 ? mass + 1 : -1;
    default:
      *rod = i * N + j;
      return i < N - 1 ? mass + N : -1;
  }
}

static void net_column(System* s, const Net* net, int mass, int axis, int* S_count, int* G_count) {
  static const int by_rod[] = {0, 3, 1, 2};  // directions whose rods ascend
  int column = axis * net->masses + mass, rod;
  const double* at = net->place + axis * net->masses;
  for (int d = 0; d < 5; d++) {  // the mass itself stands between its neighbours
    int other = d == 2 ? mass : neighbour(net, mass, d > 2 ? d - 1 : d, &rod);
    if (other >= 0) {
      s->S_index[*S_count] = axis * net->masses + other;
      s->S[(*S_count)++] = d == 2 ? 1.0 : -0.01;
    }
  }
  for (int k = 0; k < 4; k++) {
    int other = neighbour(net, mass, by_rod[k], &rod);
    if (other >= 0) {
      s->G_index[*G_count] = rod;
      s->G[(*G_count)++] = at[mass] - at[other];
    }
  }
  s->S_start[column + 1] = *S_count;
  s->G_start[column + 1] = *G_count;
}

// N by N point masses in the plane, joined by rods.
static System rod_net(int N, unsigned long long* seed) {
  int masses = N * N, rods = 2 * N * (N - 1), S_count = 0, G_count = 0;
  System s = system_take(2 * masses, rods, 10 * masses, 8 * masses);
  double* place = take(2 * masses, sizeof *place);
  for (int k = 0; k < masses; k++) {
    place[k] = k / N + 0.2 * random_number(seed);
    place[masses + k] = k % N + 0.2 * random_number(seed);
  }
  Net net = {N, masses, place};
  for (int axis = 0; axis < 2; axis++) {
    for (int k = 0; k < masses; k++) {
      net_column(&s, &net, k, axis, &S_count, &G_count);
    }
  }
  free(place);
  return s;
}

static double residual(const System* s, const double* x, const double* y) {
  double* r = take(s->n + s->m, sizeof *r);
  double top = 0.0;
  for (int j = 0; j < s->n; j++) {
    for (int k = s->S_start[j]; k < s->S_start[j + 1]; k++) {
      r[s->S_index[k]] += s->S[k] * x[j];
    }
    for (int k = s->G_start[j]; k < s->G_start[j + 1]; k++) {
      r[j] -= s->G[k] * y[s->G_index[k]];
      r[s->n + s->G_index[k]] += s->G[k] * x[j];
    }
  }
  for (int i = 0; i < s->n + s->m; i++) {
    top = fmax(top, fabs(r[i] - 1.0));
  }
  free(r);
  return top;
}

typedef struct Timing {
  double factor, solve;  // [s]
  double residual;
  int nonzeros;
} Timing;

static void fill(int n, double* x, int m, double* y) {
  for (int j = 0; j < n; j++) {
    x[j] = 1.0;
  }
  for (int i = 0; i < m; i++) {
    y[i] = 1.0;
  }
}

static Timing measure(const System* s, PawlKktSolver solver) {
  Timing best = {1e30, 1e30, 0.0, 0};
  PawlPattern S = {s->n, s->n, s->S_start, s->S_index};
  PawlPattern G = {s->m, s->n, s->G_start, s->G_index};
  PawlKkt* kkt;
  if (pawl_kkt_create(&S, &G, solver, &kkt, NULL) != PAWL_OK ||
      pawl_kkt_factor(kkt, s->S, s->G, s->G, NULL) != PAWL_OK) {
    fprintf(stderr, "kkt_switch: singular or out of memory\n");
    exit(1);
  }
  double* x = take(s->n, sizeof *x);
  double* y = take(s->m, sizeof *y);
  // Many short rounds: the best of them was not disturbed by other work on the machine.
  int repeats = 2000 / (s->n + s->m) + 1;
  for (int round = 0; round < (s->n + s->m < 2000 ? 200 : 5); round++) {
    double t0 = seconds();
    for (int k = 0; k < repeats; k++) {
      if (pawl_kkt_factor(kkt, s->S, s->G, s->G, NULL) != PAWL_OK) {
        exit(1);
      }
    }
    double t1 = seconds();
    for (int k = 0; k < repeats; k++) {
      fill(s->n, x, s->m, y);
      pawl_kkt_solve(kkt, x, y);
    }
    double t2 = seconds();
    best.factor = fmin(best.factor, (t1 - t0) / repeats);
    best.solve = fmin(best.solve, (t2 - t1) / repeats);
  }
  best.residual = residual(s, x, y);
  best.nonzeros = pawl_kkt_info(kkt).nonzeros;
  free(x);
  free(y);
  pawl_kkt_destroy(kkt);
  return best;
}

static const char* choice(const System* s) {
  PawlPattern S = {s->n, s->n, s->S_start, s->S_index};
  PawlPattern G = {s->m, s->n, s->G_start, s->G_index};
  PawlKkt* kkt;
  if (pawl_kkt_create(&S, &G, PAWL_KKT_AUTO, &kkt, NULL) != PAWL_OK) {
    return "?";
  }
  PawlKktSolver solver = pawl_kkt_info(kkt).solver;
  pawl_kkt_destroy(kkt);
  return solver == PAWL_KKT_DENSE ? "dense" : solver == PAWL_KKT_BAND ? "band" : "sparse";
}

static void print_line(const char* name, System s, bool with_dense) {
  bool with_band = s.n <= 200 || name[0] != 'n';  // bands of large nets are wide
  Timing sparse = measure(&s, PAWL_KKT_KLU), dense = {0}, band = {0};
  double size = s.n + s.m;
  printf("| %s | %d | %d | %.2f ", name, s.n, s.m, sparse.nonzeros / (size * size));
  if (with_dense) {
    dense = measure(&s, PAWL_KKT_DENSE);
    printf("| %.0f + %.0f ", 1e9 * dense.factor, 1e9 * dense.solve);
  } else {
    printf("| - ");
  }
  if (with_band) {
    band = measure(&s, PAWL_KKT_BAND);
    printf("| %.0f + %.0f ", 1e9 * band.factor, 1e9 * band.solve);
  } else {
    printf("| - ");
  }
  printf("| %.0f + %.0f | %s | %.0e |\n", 1e9 * sparse.factor, 1e9 * sparse.solve, choice(&s),
         fmax(band.residual, fmax(dense.residual, sparse.residual)));
  system_free(&s);
}

int main(void) {
  const int chains[] = {1, 2, 3, 4, 6, 10, 20, 100, 1000, 10000};
  const int nets[] = {2, 5, 10, 20, 40, 80};
  const int sizes[] = {2, 3, 4, 6, 8, 10, 12, 16, 20, 32, 64};
  unsigned long long seed = 1;
  printf("| system | n | m | fill | dense [ns] | band [ns] | sparse [ns] | chosen | residual |\n");
  printf("| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  for (int k = 0; k < (int)(sizeof chains / sizeof *chains); k++) {
    print_line("chain", chain(chains[k], &seed), chains[k] <= 20);
  }
  for (int N = 20; N <= 200000; N *= 10) {
    print_line("bar", bar(N), N <= 20);
  }
  for (int k = 0; k < (int)(sizeof nets / sizeof *nets); k++) {
    print_line("net", rod_net(nets[k], &seed), nets[k] <= 5);
  }
  for (int k = 0; k < (int)(sizeof sizes / sizeof *sizes); k++) {
    print_line("thin", random_system(sizes[k], 0.0, &seed), true);
    print_line("loose", random_system(sizes[k], 3.0 / sizes[k], &seed), true);
    print_line("full", random_system(sizes[k], 1.1, &seed), true);
  }
  return 0;
}
