// SPDX-License-Identifier: Apache-2.0
// Finding and removing the defects of a singular KKT system (kkt_probe.h, docs/theory/kkt.md).
#include "linalg/kkt_probe.h"

#include <math.h>

// Part of a scaled row outside the other rows that makes it independent, judged by the largest
// entry of the scaled system and not by its length: twice, so that no row is taken in again that
// was dropped at the limit.
#define INDEPENDENT (2.0 * PAWL_DEPENDENT)
#define ROUNDS 20                // eliminations until no defect is left
#define TABLE_ENTRIES (1 << 23)  // largest table of coefficients
#define LARGE_COEFFICIENT 2.0

// ---- the probe ---------------------------------------------------------------------------------

// S with every diagonal entry in the pattern.
static PawlStatus extend_pattern(PawlProbe* probe, const PawlPattern* S, const double* values,
                                 PawlPattern* out) {
  int n = S->cols, count = 0;
  int* start = PAWL_NEW(&probe->arena, int, n + 1);
  int* index = PAWL_NEW(&probe->arena, int, S->start[n] + n);
  probe->S = PAWL_NEW(&probe->arena, double, S->start[n] + n);
  probe->diagonal_S = PAWL_NEW(&probe->arena, int, n);
  if (!start || !index || !probe->S || !probe->diagonal_S) {
    return PAWL_ERROR_MEMORY;
  }
  for (int j = 0; j < n; j++) {
    bool found = false;
    for (int k = S->start[j]; k < S->start[j + 1]; k++) {
      if (!found && S->index[k] >= j) {
        found = true;
        probe->diagonal_S[j] = count;
        index[count] = j;
        count += S->index[k] > j;
      }
      index[count] = S->index[k];
      probe->S[count++] = values[k];
    }
    if (!found) {
      probe->diagonal_S[j] = count;
      index[count++] = j;
    }
    start[j + 1] = count;
  }
  *out = (PawlPattern){n, n, start, index};
  return PAWL_OK;
}

PawlStatus pawl_probe_build(PawlProbe* probe, const PawlKkt* kkt, const double* S, const double* J,
                            const unsigned char* active) {
  int n = kkt->n, m = kkt->m;
  PawlArena* arena = &probe->arena;
  probe->n = n;
  probe->m = m;
  probe->J = J;
  probe->column = -1;
  PawlPattern full;
  PAWL_TRY(extend_pattern(probe, &kkt->S, S, &full));
  PAWL_TRY(pawl_kkt_create(&full, &kkt->G, PAWL_KKT_KLU, &probe->kkt, NULL));
  probe->diagonal = PAWL_NEW(arena, int, n + m);
  probe->active = PAWL_NEW(arena, unsigned char, m);
  probe->dropped = PAWL_NEW(arena, unsigned char, m);
  probe->defects = PAWL_NEW(arena, int, n + m);
  probe->x = PAWL_NEW(arena, double, n);
  probe->y = PAWL_NEW(arena, double, m);
  if (!probe->diagonal || !probe->active || !probe->dropped || !probe->defects || !probe->x ||
      !probe->y) {
    return PAWL_ERROR_MEMORY;
  }
  for (int j = 0; j < n; j++) {
    probe->diagonal[j] = probe->kkt->block_S.place[probe->diagonal_S[j]];
  }
  for (int i = 0; i < m; i++) {
    probe->diagonal[n + i] = probe->kkt->place_D[i];
    probe->active[i] = !active || active[i];
  }
  return PAWL_OK;
}

void pawl_probe_free(PawlProbe* probe) {
  pawl_kkt_destroy(probe->kkt);
  pawl_arena_free(&probe->arena);
}

static void give_mass(PawlProbe* probe, int j) {
  const PawlKkt* kkt = probe->kkt;
  if (probe->column < 0 || j < probe->column) {
    probe->column = j;
  }
  // Of natural size: 1 in the scaled matrix.
  probe->S[probe->diagonal_S[j]] += 1.0 / (kkt->row_scale[j] * kkt->col_scale[j]);
}

// Takes the defects found in one elimination out of the system. The first is genuine. A later one
// may be none, where a column without pivot has used up another's row: rows are looked at again
// (restore_independent), coordinates wait for the next elimination.
static void remove_defects(PawlProbe* probe, int count) {
  for (int k = 0; k < count; k++) {
    int column = probe->defects[k];
    if (column >= probe->n) {
      probe->active[column - probe->n] = 0;
      probe->dropped[column - probe->n] = 1;
    } else if (k == 0) {
      give_mass(probe, column);
    }
  }
}

// Gives mass to every coordinate that stands in no equation, so that many of them (masses
// forgotten throughout) cost one elimination and not one each.
static void fill_empty_coordinates(PawlProbe* probe) {
  const PawlPattern *S = &probe->kkt->S, *G = &probe->kkt->G;
  for (int j = 0; j < probe->n; j++) {
    bool empty = true;
    for (int k = S->start[j]; k < S->start[j + 1]; k++) {
      empty = empty && probe->S[k] == 0.0;
    }
    for (int k = G->start[j]; k < G->start[j + 1]; k++) {
      empty = empty && (probe->J[k] == 0.0 || !probe->active[G->index[k]]);
    }
    if (empty) {
      give_mass(probe, j);
    }
  }
}

// Eliminates and removes defects until the system is regular; then the probe can solve.
PawlStatus pawl_probe_factor(PawlProbe* probe) {
  PawlKkt* kkt = probe->kkt;
  if (!kkt->scaled) {
    pawl_kkt_scale(kkt, probe->S, probe->J, probe->J);
    fill_empty_coordinates(probe);
  }
  for (int round = 0; round < ROUNDS; round++) {
    double largest = pawl_kkt_assemble(kkt, probe->S, probe->J, probe->J, probe->active, false);
    if (!(largest < (double)INFINITY)) {
      return PAWL_RETRY;
    }
    int count;
    PAWL_TRY(pawl_kkt_klu_defects(kkt, probe->diagonal, PAWL_DEPENDENT_PIVOT * fmax(1.0, largest),
                                  probe->defects, &count));
    if (count == 0) {
      probe->defects[0] = pawl_kkt_weakest(kkt, PAWL_DEPENDENT_PIVOT);
      count = 1;
    }
    if (probe->defects[0] < 0) {
      return PAWL_OK;
    }
    remove_defects(probe, count);
  }
  return probe->column >= 0 ? PAWL_OK : PAWL_RETRY;  // one reason is named, if not all
}

// ---- dependent rows ----------------------------------------------------------------------------

static void clear(int count, double* x) {
  for (int i = 0; i < count; i++) {
    x[i] = 0.0;
  }
}

// J_d = sum_i t_i J_i over the active rows: S x - J^T y = J_d^T, J x = 0 has x = 0, y = -t.
// Leaves t in probe->y; returns the part of row d that is left over, |x| in the scaled system.
static double express_row(PawlProbe* probe, int d) {
  const PawlKkt* kkt = probe->kkt;
  const PawlPattern* G = &kkt->G;
  double left_over = 0.0;
  clear(probe->m, probe->y);
  for (int j = 0; j < probe->n; j++) {
    probe->x[j] = 0.0;
    for (int k = G->start[j]; k < G->start[j + 1]; k++) {
      probe->x[j] = G->index[k] == d ? probe->J[k] : probe->x[j];
    }
  }
  pawl_kkt_solve(probe->kkt, probe->x, probe->y);
  for (int j = 0; j < probe->n; j++) {
    left_over = fmax(left_over, fabs(probe->x[j]) / kkt->col_scale[j]);
  }
  for (int i = 0; i < probe->m; i++) {
    probe->y[i] = -probe->y[i];
  }
  return left_over * kkt->col_scale[probe->n + d];
}

// Takes rows in again that were dropped without need.
static PawlStatus restore_independent(PawlProbe* probe) {
  for (int d = 0; d < probe->m; d++) {
    if (probe->dropped[d] && express_row(probe, d) > INDEPENDENT) {
      probe->dropped[d] = 0;
      probe->active[d] = 1;
      PAWL_TRY(pawl_probe_factor(probe));
    }
  }
  return PAWL_OK;
}

PawlStatus pawl_probe_regularise(PawlProbe* probe) {
  PAWL_TRY(pawl_probe_factor(probe));
  return restore_independent(probe);
}

int pawl_probe_dropped(const PawlProbe* probe) {
  int count = 0;
  for (int i = 0; i < probe->m; i++) {
    count += probe->dropped[i];
  }
  return count;
}

typedef struct Table {  // J_drop[a] = sum_i T[a][i] J_i, row a for each dropped row
  int count, m;
  int* drop;
  const unsigned char* last;  // rows that count as later than all others, or NULL
  double* T;                  // in scaled rows, so that entries compare
} Table;

static PawlStatus table_fill(PawlProbe* probe, Table* table) {
  const double* scale = probe->kkt->col_scale + probe->n;
  table->m = probe->m;
  table->drop = PAWL_NEW(&probe->arena, int, table->count);
  table->T = PAWL_NEW(&probe->arena, double, (size_t)table->count*(size_t)probe->m);
  if (!table->drop || !table->T) {
    return PAWL_ERROR_MEMORY;
  }
  int a = 0;
  for (int d = 0; d < probe->m; d++) {
    if (!probe->dropped[d]) {
      continue;
    }
    table->drop[a] = d;
    express_row(probe, d);
    for (int i = 0; i < probe->m; i++) {
      bool active = probe->active[i];
      table->T[(size_t)a * (size_t)probe->m + (size_t)i] =
          active ? probe->y[i] * scale[d] / scale[i] : 0.0;
    }
    a++;
  }
  return PAWL_OK;
}

// Row i leaves the kept rows in favour of row d = drop[a]: J_i from the a-th equation, put into
// the others.
static void table_exchange(Table* table, int a, int i) {
  size_t m = (size_t)table->m;
  double* row = table->T + (size_t)a * m;
  int d = table->drop[a];
  double t = row[i];
  for (size_t j = 0; j < m; j++) {
    row[j] = -row[j] / t;
  }
  row[i] = 0.0;
  row[d] = 1.0 / t;
  table->drop[a] = i;
  for (int b = 0; b < table->count; b++) {
    double* other = table->T + (size_t)b * m;
    double u = other[i];
    if (b != a && u != 0.0) {
      other[i] = 0.0;
      for (size_t j = 0; j < m; j++) {
        other[j] += u * row[j];
      }
    }
  }
}

// Where row i stands in the order of all.
static int rank_of(const Table* table, int i) {
  return table->last && table->last[i] ? i + table->m : i;
}

// The last row after drop[a] that takes part in its dependence, or -1.
static int later_row(const Table* table, int a) {
  const double* row = table->T + (size_t)a * (size_t)table->m;
  int latest = -1, rank = rank_of(table, table->drop[a]);
  for (int i = 0; i < table->m; i++) {
    if (fabs(row[i]) > INDEPENDENT && rank_of(table, i) > rank) {
      latest = i;
      rank = rank_of(table, i);
    }
  }
  return latest;
}

// The row with the largest coefficient, when that is large, or -1.
static int large_row(const Table* table, int a) {
  const double* row = table->T + (size_t)a * (size_t)table->m;
  int largest = 0;
  for (int i = 1; i < table->m; i++) {
    largest = fabs(row[i]) > fabs(row[largest]) ? i : largest;
  }
  return fabs(row[largest]) > LARGE_COEFFICIENT ? largest : -1;
}

// Ends: each exchange drops a later row, or multiplies the volume spanned by the kept rows by more
// than LARGE_COEFFICIENT.
static void exchange_rows(Table* table, PawlProbeKeep keep) {
  for (bool changed = true; changed;) {
    changed = false;
    for (int a = 0; a < table->count; a++) {
      int i = keep == PAWL_PROBE_KEEP_EARLY ? later_row(table, a) : large_row(table, a);
      if (i >= 0) {
        table_exchange(table, a, i);
        changed = true;
      }
    }
  }
}

PawlStatus pawl_probe_exchange(PawlProbe* probe, PawlProbeKeep keep, const unsigned char* last) {
  Table table = {.count = pawl_probe_dropped(probe), .last = last};
  if (table.count == 0 || table.count > TABLE_ENTRIES / probe->m) {
    return PAWL_OK;
  }
  PAWL_TRY(table_fill(probe, &table));
  exchange_rows(&table, keep);
  for (int i = 0; i < probe->m; i++) {
    probe->active[i] |= probe->dropped[i];
    probe->dropped[i] = 0;
  }
  for (int a = 0; a < table.count; a++) {
    probe->active[table.drop[a]] = 0;
    probe->dropped[table.drop[a]] = 1;
  }
  return PAWL_OK;
}
