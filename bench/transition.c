// SPDX-License-Identifier: Apache-2.0
// What a jump by the law post costs in its three forms, on planar chains of links in absolute
// coordinates (sparse, many persistent rows) and on full systems with few: persistent rows, and a
// row or more that engage. Prints the table of docs/theory/transition.md; how far the forms are
// apart stands beside the time.
#include "switch/transition.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct System {
  int n, m, persistent;  // the rows after these engage
  int *H_start, *H_index, *G_start, *G_index;
  double *M, *G, *v, *g_t;
  unsigned char *before, *after;
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
    fprintf(stderr, "transition: out of memory\n");
    exit(1);
  }
  return memory;
}

static System system_take(int n, int m, int persistent, int H_count, int G_count) {
  System s = {.n = n, .m = m, .persistent = persistent};
  s.H_start = take(n + 1, sizeof(int));
  s.H_index = take(H_count, sizeof(int));
  s.M = take(H_count, sizeof(double));
  s.G_start = take(n + 1, sizeof(int));
  s.G_index = take(G_count, sizeof(int));
  s.G = take(G_count, sizeof(double));
  s.v = take(n, sizeof(double));
  s.g_t = take(m, sizeof(double));
  s.before = take(m, 1);
  s.after = take(m, 1);
  for (int i = 0; i < m; i++) {
    s.before[i] = i < persistent;
    s.after[i] = 1;
  }
  return s;
}

static void system_free(System* s) {
  void* all[] = {s->H_start, s->H_index, s->M,   s->G_start, s->G_index,
                 s->G,       s->v,       s->g_t, s->before,  s->after};
  for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
    free(all[k]);
  }
}

// N links (x, y, angle each), joint i ties link i to link i - 1 (or the ground) by two rows; then
// the angles of the last links lock, one row each.
static System chain(int N, int locks, unsigned long long* seed) {
  System s = system_take(3 * N, 2 * N + locks, 2 * N, 3 * N, 8 * N + locks);
  int count = 0;
  for (int j = 0; j < 3 * N; j++) {
    int link = j / 3, kind = j % 3;
    double angle = 3.0 * random_number(seed);
    s.H_start[j + 1] = j + 1;
    s.H_index[j] = j;
    s.M[j] = kind == 2 ? 0.1 : 1.0;
    s.v[j] = random_number(seed);
    for (int joint = link; joint <= link + 1 && joint < N; joint++) {
      double sign = joint == link ? 1.0 : -1.0;
      for (int row = 0; row < 2; row++) {
        if (kind == 2 || kind == row) {
          s.G_index[count] = 2 * joint + row;
          s.G[count++] = kind == 2 ? 0.5 * (row == 0 ? sin(angle) : -cos(angle)) : sign;
        }
      }
    }
    if (kind == 2 && link >= N - locks) {
      s.G_index[count] = 2 * N + link - (N - locks);
      s.G[count++] = 1.0;
    }
    s.G_start[j + 1] = count;
  }
  return s;
}

// Full matrices: relative coordinates, in which few rows remain.
static System full(int n, int persistent, int locks, unsigned long long* seed) {
  int m = persistent + locks;
  System s = system_take(n, m, persistent, n * n, n * m);
  for (int j = 0; j < n; j++) {
    s.H_start[j + 1] = (j + 1) * n;
    s.G_start[j + 1] = (j + 1) * m;
    s.v[j] = random_number(seed);
    for (int i = 0; i < n; i++) {  // exp(-|i - j| / n) is positive definite
      s.H_index[i + j * n] = i;
      s.M[i + j * n] = exp(-fabs((double)(i - j)) / n);
    }
    for (int i = 0; i < m; i++) {
      s.G_index[i + j * m] = i;
      s.G[i + j * m] = random_number(seed);
    }
  }
  return s;
}

// Best time of one jump; dv goes to `out`.
static double measure(const System* s, PawlTransitionForm form, double* out) {
  PawlPattern H = {s->n, s->n, s->H_start, s->H_index}, G = {s->m, s->n, s->G_start, s->G_index};
  PawlKkt* kkt;
  PawlTransition* t;
  if (pawl_kkt_create(&H, &G, PAWL_KKT_AUTO, &kkt, NULL) != PAWL_OK ||
      pawl_transition_create(form, &H, &G, kkt, &t, NULL) != PAWL_OK) {
    fprintf(stderr, "transition: out of memory\n");
    exit(1);
  }
  double best = 1e30, *Lambda = take(s->m, sizeof(double));
  int repeats = 200 / s->n + 1, rounds = s->n > 100 ? 20 : 100;
  for (int round = 0; round < rounds; round++) {
    double begin = seconds();
    for (int k = 0; k < repeats; k++) {
      if (pawl_transition_solve(t, s->M, s->G, s->before, s->after, s->v, s->g_t, out, Lambda, NULL,
                                NULL) != PAWL_OK) {
        fprintf(stderr, "transition: singular\n");
        exit(1);
      }
    }
    best = fmin(best, (seconds() - begin) / repeats);
  }
  free(Lambda);
  pawl_transition_destroy(t);
  pawl_kkt_destroy(kkt);
  return best;
}

static void print_line(const char* name, System s) {
  double time[3], *dv[3], apart = 0.0;
  for (int form = 0; form < 3; form++) {
    dv[form] = take(s.n, sizeof(double));
    time[form] = measure(&s, (PawlTransitionForm)form, dv[form]);
    for (int j = 0; j < s.n; j++) {
      apart = fmax(apart, fabs(dv[form][j] - dv[0][j]));
    }
  }
  printf("| %s | %d | %d | %d | %.1f | %.1f | %.1f | %.0e |\n", name, s.n, s.persistent,
         s.m - s.persistent, 1e6 * time[0], 1e6 * time[1], 1e6 * time[2], apart);
  for (int form = 0; form < 3; form++) {
    free(dv[form]);
  }
  system_free(&s);
}

int main(void) {
  unsigned long long seed = 1;
  printf("| system | n | persistent | new | full [us] | projected [us] | minimal [us] | apart |\n");
  printf("| --- | --- | --- | --- | --- | --- | --- | --- |\n");
  const int links[] = {3, 17, 67}, sizes[] = {10, 50, 200};
  for (int k = 0; k < 3; k++) {
    print_line("chain", chain(links[k], 1, &seed));
  }
  for (int k = 0; k < 3; k++) {
    print_line("full, no row before", full(sizes[k], 0, 1, &seed));
    print_line("full, few rows", full(sizes[k], 2, 2, &seed));
    print_line("full, many rows", full(sizes[k], sizes[k] / 2, sizes[k] / 5, &seed));
  }
  return 0;
}
