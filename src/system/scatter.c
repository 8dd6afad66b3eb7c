// SPDX-License-Identifier: Apache-2.0
// Where results go: the patterns of H (M, K and C) and of G from the entries of all groups, the
// place of each lane's result in the arrays, and the base values, which hold what never changes.
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "model/model.h"
#include "system/system.h"

static const double LARGEST_FULL = 20000;  // entries

static int slot(const int* map, const PawlGroup* group, int s, int lane) {
  return map[(size_t)s * (size_t)group->lanes + (size_t)lane];
}

static bool in_H(PawlQuantity q) {
  return q == PAWL_Q_M || q == PAWL_Q_K || q == PAWL_Q_C;
}

// The tangents of a position row lie within its gradient; those of a rate row need not.
static bool in_G(const PawlSystem* system, PawlQuantity q) {
  return q == PAWL_Q_GRAD ||
         (system->turns_tangents && (q == PAWL_Q_GRATE || q == PAWL_Q_GACC || q == PAWL_Q_GTURN));
}

// Row and column of an entry of H or G in one lane.
static void place(const PawlGroup* group, const PawlEntry* e, int lane, int* row, int* col) {
  bool gradient = !in_H(e->quantity);
  *row = slot(gradient ? group->rows : group->coordinates, group, e->i, lane);
  *col = slot(group->coordinates, group, e->j, lane);
}

// ---- patterns -----------------------------------------------------------------------------------
// Rows of each column as a chain of unsorted, repeated entries; then sorted by a pass over rows.
typedef struct Triplets {
  int count, capacity;
  int *row, *col;
  int row_capacity, col_capacity;
} Triplets;

// Room for so many more.
static int reserve(Triplets* t, int more) {
  return more > INT32_MAX - t->count || PAWL_GROW(t->row, t->row_capacity, t->count + more) != 0 ||
                 PAWL_GROW(t->col, t->col_capacity, t->count + more) != 0
             ? -1
             : 0;
}

// Where there is room.
static inline void put_triplet(Triplets* t, int row, int col) {
  t->row[t->count] = row;
  t->col[t->count++] = col;
}

static int add_triplet(Triplets* t, int row, int col) {
  if (reserve(t, 1) != 0) {
    return -1;
  }
  put_triplet(t, row, col);
  return 0;
}

// A contact that slips pushes along its friction, too: in a tied system the row of its gap has
// these places.
static int tied_to(const PawlSystem* system, int row) {
  bool slips = system->tied && row >= system->model->row_count && row < system->first_contact;
  return slips ? system->first_contact + system->row_contact[row] : -1;
}

// And rows on which the friction of a constraint hangs push along that constraint.
static int add_tied(const PawlSystem* system, int row, int col, Triplets* t) {
  int normal = tied_to(system, row);
  if (normal >= 0 && add_triplet(t, normal, col) != 0) {
    return -1;
  }
  for (int k = 0; k < system->tie_count; k++) {
    bool own = system->constraints[system->ties[k].constraint].first_row == row;
    if (own && add_triplet(t, system->ties[k].row, col) != 0) {
      return -1;
    }
  }
  return 0;
}

static bool is_of(const PawlSystem* system, bool gradient, const PawlEntry* e) {
  return gradient ? in_G(system, e->quantity) : in_H(e->quantity);
}

// Room for the entries of all lanes: an array that grows is copied again and again.
static int reserve_all(const PawlSystem* system, bool gradient, Triplets* t) {
  long long count = gradient ? 0 : system->sizes.v;
  for (int g = 0; g < system->group_count; g++) {
    const PawlGroup* group = &system->groups[g];
    for (int k = 0; k < group->entry_count; k++) {
      count += is_of(system, gradient, &group->entries[k]) ? group->lanes : 0;
    }
  }
  return count > INT32_MAX ? -1 : reserve(t, (int)count);
}

static int collect(const PawlSystem* system, bool gradient, Triplets* t) {
  if (reserve_all(system, gradient, t) != 0) {
    return -1;
  }
  for (int k = 0; !gradient && k < system->sizes.v; k++) {
    put_triplet(t, k, k);
  }
  // Force directions between two gradients mix the rows: where regions switch, G is kept full,
  // as long as that is small.
  bool full = gradient && system->guard_count + system->turn_count > 0 &&
              (double)system->sizes.rows * system->sizes.v <= LARGEST_FULL;
  for (int k = 0; full && k < system->sizes.rows * system->sizes.v; k++) {
    if (add_triplet(t, k % system->sizes.rows, k / system->sizes.rows) != 0) {
      return -1;
    }
  }
  for (int g = 0; g < system->group_count; g++) {
    const PawlGroup* group = &system->groups[g];
    for (int k = 0; k < group->entry_count; k++) {
      const PawlEntry* e = &group->entries[k];
      if (!is_of(system, gradient, e)) {
        continue;
      }
      if (reserve(t, group->lanes) != 0) {
        return -1;
      }
      bool ties = gradient && (system->tied || system->tie_count > 0);
      for (int lane = 0; lane < group->lanes; lane++) {
        int row, col;
        place(group, e, lane, &row, &col);
        if (ties && (add_tied(system, row, col, t) != 0 || reserve(t, 1) != 0)) {
          return -1;
        }
        put_triplet(t, row, col);
      }
    }
  }
  return 0;
}

// order: triplets sorted by `key` (values 0..keys-1), stable, from the order `from`.
static void counting_sort(int count, const int* key, int keys, const int* from, int* order,
                          int* starts) {
  memset(starts, 0, ((size_t)keys + 1) * sizeof(int));
  for (int k = 0; k < count; k++) {
    starts[key[k] + 1]++;
  }
  for (int k = 0; k < keys; k++) {
    starts[k + 1] += starts[k];
  }
  for (int k = 0; k < count; k++) {
    int t = from ? from[k] : k;
    order[starts[key[t]]++] = t;
  }
}

// All pairs of entries of a row, the columns of which are col[at[0]], col[at[1]], ...
static int add_pairs(const int* at, int count, const int* col, Triplets* t) {
  for (int k = 0; k < count * count; k++) {
    if (add_triplet(t, col[at[k / count]], col[at[k % count]]) != 0) {
      return -1;
    }
  }
  return 0;
}

// What a contact with two slips pushes turns with the velocities of the bodies that it lies
// between: those of the row of its gap in a tied system.                                    (F30)
static int add_turning(const PawlSystem* system, Triplets* t) {
  const PawlPattern* G = &system->G;
  int count = G->start[G->cols], status = -1;
  int* col = pawl_alloc((size_t)count, sizeof(int));
  int* at = pawl_alloc((size_t)count, sizeof(int));
  int* ends = pawl_alloc((size_t)G->rows + 1, sizeof(int));
  if (col && at && ends) {
    status = 0;
    for (int j = 0, k = 0; j < G->cols; j++) {
      for (; k < G->start[j + 1]; k++) {
        col[k] = j;
      }
    }
    counting_sort(count, G->index, G->rows, NULL, at, ends);
    for (int i = system->first_contact; i < G->rows && status == 0; i++) {
      bool turns = pawl_system_friction(system, i).count > 1;
      status = turns ? add_pairs(at + ends[i - 1], ends[i] - ends[i - 1], col, t) : 0;
    }
  }
  pawl_free(col);
  pawl_free(at);
  pawl_free(ends);
  return status;
}

static PawlStatus compress(PawlArena* arena, const Triplets* t, int rows, int cols,
                           PawlPattern* out, PawlError* err) {
  int* by_row = pawl_alloc((size_t)t->count, sizeof(int));
  int* by_col = pawl_alloc((size_t)t->count, sizeof(int));
  int* starts = pawl_alloc((size_t)(rows > cols ? rows : cols) + 1, sizeof(int));
  int* start = PAWL_NEW(arena, int, (size_t)cols + 1);
  int* index = PAWL_NEW(arena, int, t->count);
  bool ok = by_row && by_col && starts && start && index;
  if (ok) {
    counting_sort(t->count, t->row, rows, NULL, by_row, starts);
    counting_sort(t->count, t->col, cols, by_row, by_col, starts);
    int filled = 0, k = 0;
    for (int col = 0; col < cols; col++) {
      start[col] = filled;
      for (; k < t->count && t->col[by_col[k]] == col; k++) {
        int row = t->row[by_col[k]];
        if (filled == start[col] || index[filled - 1] != row) {
          index[filled++] = row;
        }
      }
    }
    start[cols] = filled;
    *out = (PawlPattern){rows, cols, start, index};
  }
  pawl_free(by_row);
  pawl_free(by_col);
  pawl_free(starts);
  return ok ? PAWL_OK : pawl_fail_memory(err);
}

static PawlStatus make_pattern(PawlSystem* system, bool gradient, PawlPattern* out,
                               PawlError* err) {
  Triplets t = {0};
  PawlStatus status = PAWL_OK;
  if (collect(system, gradient, &t) != 0 ||
      (!gradient && system->turning && add_turning(system, &t) != 0)) {
    status = pawl_fail_memory(err);
  } else {
    int rows = gradient ? system->sizes.rows : system->sizes.v;
    status = compress(&system->arena, &t, rows, system->sizes.v, out, err);
  }
  pawl_free(t.row);
  pawl_free(t.col);
  return status;
}

// ---- destinations -------------------------------------------------------------------------------
static int find(const PawlPattern* pattern, int row, int col) {
  int low = pattern->start[col], high = pattern->start[col + 1] - 1;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (pattern->index[middle] < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

static int destination(const PawlSystem* system, const PawlGroup* group, const PawlEntry* e,
                       int lane) {
  int row, col;
  switch (e->quantity) {
    case PAWL_Q_M:
    case PAWL_Q_K:
    case PAWL_Q_C:
      place(group, e, lane, &row, &col);
      return find(&system->H, row, col);
    case PAWL_Q_GRAD:
    case PAWL_Q_GRATE:
    case PAWL_Q_GACC:
    case PAWL_Q_GTURN:
      place(group, e, lane, &row, &col);
      return find(&system->G, row, col);
    case PAWL_Q_F:
      return slot(group->coordinates, group, e->i, lane);
    case PAWL_Q_ENERGY:
    case PAWL_Q_Z:
    case PAWL_Q_ZRATE:
    case PAWL_Q_WATCH:
    case PAWL_Q_WATCHRATE:
    case PAWL_Q_POWER:
      return e->i;
    case PAWL_Q_OUTPUT:
      return slot(group->outputs, group, e->i, lane);
    default:
      return slot(group->rows, group, e->i, lane);
  }
}

// ---- base values --------------------------------------------------------------------------------
static int is_variable(void* context, PawlOp leaf, int index) {
  (void)context;
  (void)index;
  return leaf != PAWL_OP_PARAM;
}

static int moves(void* context, PawlOp leaf, int index) {
  (void)context;
  (void)index;
  return leaf != PAWL_OP_PARAM && leaf != PAWL_OP_TURN;
}

static int is_any(void* context, PawlOp leaf, int index) {
  (void)context;
  (void)leaf;
  (void)index;
  return 1;
}

static PawlStatus add_to_base(PawlSystem* system, PawlGroup* group, const PawlEntry* e,
                              double* numbers) {
  double* base = system->base[e->quantity];
  double value = 0.0;
  bool same = pawl_dag_leaves(group->dag, e->node, is_any, NULL) == 0;
  for (int lane = 0; lane < group->lanes; lane++) {
    for (int n = 0; n < group->number_count; n++) {
      numbers[n] = group->numbers[(size_t)n * (size_t)group->lanes + (size_t)lane];
    }
    PawlLeafValues leaves = {.param = numbers};
    if ((lane == 0 || !same) &&
        pawl_dag_value(group->dag, e->node, &leaves, &value, NULL) != PAWL_OK) {
      return PAWL_ERROR_MEMORY;
    }
    base[e->dest[lane]] += value;
  }
  return PAWL_OK;
}

// The gates that an entry which changes with the motion stands behind.
static void note_moves(PawlSystem* system, const PawlGroup* group, const PawlEntry* e) {
  unsigned mask = pawl_quantity_mask(e->quantity);
  for (int lane = 0; lane < (group->gates ? group->lanes : 1); lane++) {
    int gate = group->gates ? group->gates[lane] : e->gate;
    *(gate < 0 ? &system->moves : &system->gate_moves[gate]) |= mask;
  }
}

static PawlStatus scatter_group(PawlSystem* system, PawlGroup* group, PawlError* err) {
  double* numbers = pawl_alloc((size_t)group->number_count, sizeof(double));
  PawlStatus status = numbers ? PAWL_OK : pawl_fail_memory(err);
  for (int k = 0; status == PAWL_OK && k < group->entry_count; k++) {
    PawlEntry* e = &group->entries[k];
    e->dest = PAWL_NEW(&system->arena, int, group->lanes);
    if (!e->dest) {
      status = pawl_fail_memory(err);
      break;
    }
    for (int lane = 0; lane < group->lanes; lane++) {
      e->dest[lane] = destination(system, group, e, lane);
    }
    bool gated = e->gate >= 0 || group->gates;
    e->constant = !gated && pawl_dag_leaves(group->dag, e->node, is_variable, NULL) == 0;
    if (e->constant) {
      status = add_to_base(system, group, e, numbers) == PAWL_OK ? PAWL_OK : pawl_fail_memory(err);
    } else {
      system->varies[e->quantity] = true;
    }
    if (pawl_dag_leaves(group->dag, e->node, moves, NULL) != 0) {
      note_moves(system, group, e);
    }
    system->summed[e->quantity] |= group->lanes > 1 || gated;
  }
  pawl_free(numbers);
  return status;
}

unsigned pawl_quantity_mask(PawlQuantity quantity) {
  static const unsigned mask[PAWL_QUANTITY_COUNT] = {
      [PAWL_Q_M] = PAWL_MASS,
      [PAWL_Q_F] = PAWL_FORCE,
      [PAWL_Q_K] = PAWL_STIFFNESS,
      [PAWL_Q_C] = PAWL_DAMPING,
      [PAWL_Q_G] = PAWL_POSITION,
      [PAWL_Q_GRAD] = PAWL_GRADIENT,
      [PAWL_Q_GT] = PAWL_TIME_GRADIENT,
      [PAWL_Q_GAMMA] = PAWL_BIAS,
      [PAWL_Q_GRATE] = PAWL_VELOCITY_TANGENT,
      [PAWL_Q_GACC] = PAWL_ACCELERATION_TANGENT,
      [PAWL_Q_GTURN] = PAWL_ACCELERATION_TANGENT,
      [PAWL_Q_Z] = PAWL_SWITCHING | PAWL_SURFACES,
      [PAWL_Q_ZRATE] = PAWL_SWITCHING,
      [PAWL_Q_ENERGY] = PAWL_ENERGY,
      [PAWL_Q_OUTPUT] = PAWL_OUTPUTS,
      [PAWL_Q_WATCH] = PAWL_WATCHES,
      [PAWL_Q_WATCHRATE] = PAWL_WATCH_RATES,
      [PAWL_Q_POWER] = PAWL_POWERS,
  };
  return mask[quantity];
}

void pawl_system_measure(PawlSystem* system) {
  PawlSizes s = system->sizes;
  int H = system->H.start[s.v], G = system->G.start[s.v];
  int z = pawl_system_surface_count(system);
  const int size[PAWL_QUANTITY_COUNT] = {
      [PAWL_Q_M] = H,
      [PAWL_Q_F] = s.v,
      [PAWL_Q_K] = H,
      [PAWL_Q_C] = H,
      [PAWL_Q_G] = s.rows,
      [PAWL_Q_GRAD] = G,
      [PAWL_Q_GT] = s.rows,
      [PAWL_Q_GAMMA] = s.rows,
      [PAWL_Q_GRATE] = G,
      [PAWL_Q_GACC] = G,
      [PAWL_Q_GTURN] = system->turns_tangents ? G : 0,
      [PAWL_Q_Z] = z,
      [PAWL_Q_ZRATE] = z,
      [PAWL_Q_ENERGY] = 2,
      [PAWL_Q_OUTPUT] = s.outputs,
      [PAWL_Q_WATCH] = system->watch_count,
      [PAWL_Q_WATCHRATE] = system->watch_count,
      [PAWL_Q_POWER] = PAWL_POWER_COUNT,
  };
  memcpy(system->size, size, sizeof size);
}

unsigned pawl_system_powers(const PawlSystem* system) {
  unsigned powers = 0;
  for (int g = 0; g < system->group_count; g++) {
    for (int k = 0; k < system->groups[g].entry_count; k++) {
      const PawlEntry* e = &system->groups[g].entries[k];
      powers |= e->quantity == PAWL_Q_POWER ? 1u << e->i : 0;
    }
  }
  return powers;
}

PawlStatus pawl_system_scatter(PawlSystem* system, PawlError* err) {
  PAWL_TRY(make_pattern(system, true, &system->G, err));
  PAWL_TRY(make_pattern(system, false, &system->H, err));
  pawl_system_measure(system);
  system->gate_moves = PAWL_NEW(&system->arena, unsigned, system->gate_count);
  if (!system->gate_moves) {
    return pawl_fail_memory(err);
  }
  for (int q = 0; q < PAWL_QUANTITY_COUNT; q++) {
    system->base[q] = PAWL_NEW(&system->arena, double, system->size[q]);
    if (!system->base[q]) {
      return pawl_fail_memory(err);
    }
  }
  for (int g = 0; g < system->group_count; g++) {
    PAWL_TRY(scatter_group(system, &system->groups[g], err));
  }
  return PAWL_OK;
}

// ---- tied ---------------------------------------------------------------------------------------
// Groups with places of their own; graphs and numbers are those of the system.
static bool copy_groups(PawlSystem* copy) {
  PawlGroup* groups = PAWL_NEW(&copy->arena, PawlGroup, copy->group_count);
  bool ok = groups || copy->group_count == 0;
  for (int g = 0; ok && g < copy->group_count; g++) {
    groups[g] = copy->groups[g];
    groups[g].entries = PAWL_NEW(&copy->arena, PawlEntry, groups[g].entry_count);
    ok = groups[g].entries || groups[g].entry_count == 0;
    for (int k = 0; ok && k < groups[g].entry_count; k++) {
      groups[g].entries[k] = copy->groups[g].entries[k];
    }
  }
  copy->groups = groups;
  return ok;
}

PawlStatus pawl_system_tie(const PawlSystem* system, bool turning, PawlSystem** out,
                           PawlError* err) {
  PawlSystem* copy = *out = pawl_alloc(1, sizeof *copy);
  if (!copy) {
    return pawl_fail_memory(err);
  }
  *copy = *system;
  copy->arena = (PawlArena){0};
  copy->tied = true;
  copy->turning = turning;
  memset(copy->base, 0, sizeof copy->base);
  PawlStatus status = copy_groups(copy) ? pawl_system_scatter(copy, err) : pawl_fail_memory(err);
  if (status != PAWL_OK) {
    pawl_system_untie(copy);
    *out = NULL;
  }
  return status;
}

void pawl_system_untie(PawlSystem* tied) {
  if (tied) {
    pawl_arena_free(&tied->arena);
    pawl_free(tied);
  }
}
