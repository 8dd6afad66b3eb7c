// SPDX-License-Identifier: Apache-2.0
#include "switch/recall.h"

#include <string.h>

#include "system/system.h"

PawlStatus pawl_recall_create(PawlGrip* g, PawlError* err) {
  if (!g) {
    return PAWL_OK;
  }
  const PawlDynamics* d = g->dynamics;
  PawlArena* arena = d->arena;
  int rows = d->sizes.rows, v = d->sizes.v;
  PawlRecall* recall = g->recall = PAWL_NEW(arena, PawlRecall, 1);
  if (!recall) {
    return pawl_fail_memory(err);
  }
  *recall = (PawlRecall){
      .length = d->nonzeros_G + d->H.start[v] + v + 3 * rows + 4 * g->slip->count,
      .takes = PAWL_NEW(arena, unsigned char, rows),
      .fails = PAWL_NEW(arena, unsigned char, v),
      .kept = PAWL_NEW(arena, unsigned char, rows),
      .lambda = PAWL_NEW(arena, double, rows),
      .fresh = PAWL_NEW(arena, unsigned char, pawl_kkt_memory_bytes(d->kkt)),
      .memory = PAWL_NEW(arena, unsigned char, pawl_kkt_memory_bytes(d->kkt)),
  };
  recall->key = PAWL_NEW(arena, double, recall->length);
  for (int k = 0; k < PAWL_RECALL_MOST; k++) {
    recall->answer[k] = (PawlRecallAnswer){.key = PAWL_NEW(arena, double, recall->length),
                                           .lambda = PAWL_NEW(arena, double, rows),
                                           .bears = PAWL_NEW(arena, unsigned char, rows)};
  }
  if (arena->failed) {
    return pawl_fail_memory(err);
  }
  pawl_kkt_save(d->kkt, recall->fresh);
  return PAWL_OK;
}

// Rows that are held, and the friction of contacts that take part.
static void find_rows(PawlRecall* recall, const PawlGrip* g) {
  const PawlRowProblem* p = &g->watching->rows;
  for (int i = 0; i < g->dynamics->sizes.rows; i++) {
    recall->takes[i] = p->hi[i] > p->lo[i];
  }
  for (int k = 0; k < g->slip->count; k++) {
    const PawlSlipContact* c = &g->slip->contact[k];
    bool takes = g->part[k] != PAWL_GRIP_OUT && recall->takes[c->normal];
    memset(recall->takes + c->first, takes, (size_t)c->count);
  }
}

static double* add(double* key, const double* numbers, int count) {
  memcpy(key, numbers, (size_t)count * sizeof(double));
  return key + count;
}

static double* add_bytes(double* key, const unsigned char* bytes, int count) {
  for (int i = 0; i < count; i++) {
    key[i] = bytes ? bytes[i] : 0.0;
  }
  return key + count;
}

// Gradients of rows that take no part may change.
static double* add_gradients(double* key, const PawlRecall* recall, const PawlDynamics* d,
                             const double* G) {
  for (int e = 0; e < d->nonzeros_G; e++) {
    key[e] = recall->takes[d->G.index[e]] ? G[e] : 0.0;
  }
  return key + d->nonzeros_G;
}

static void write_key(PawlRecall* recall, const PawlGrip* g, const PawlValues* values) {
  const PawlDynamics* d = g->dynamics;
  const PawlRowProblem* p = &g->watching->rows;
  double* key = recall->key;
  find_rows(recall, g);
  key = add_gradients(key, recall, d, values->G);
  key = add(key, values->M, d->H.start[d->sizes.v]);
  key = add(key, p->r, d->sizes.v);
  key = add(key, p->lo, d->sizes.rows);
  key = add(key, p->hi, d->sizes.rows);
  key = add_bytes(key, g->broken, d->sizes.rows);
  key = add(key, g->mu, g->slip->count);
  key = add(key, g->along, 2 * g->slip->count);
  (void)add_bytes(key, g->part, g->slip->count);
}

PawlRecallAnswer* pawl_recall_ask(PawlRecall* recall, const PawlGrip* g, const PawlValues* values) {
  size_t bytes = (size_t)recall->length * sizeof(double);
  write_key(recall, g, values);
  for (int k = 0; k < PAWL_RECALL_MOST; k++) {
    PawlRecallAnswer* answer = &recall->answer[k];
    if (answer->known && memcmp(answer->key, recall->key, bytes) == 0) {
      return answer;
    }
  }
  PawlRecallAnswer* answer = &recall->answer[recall->next];
  recall->next = (recall->next + 1) % PAWL_RECALL_MOST;
  answer->known = false;
  memcpy(answer->key, recall->key, bytes);
  return answer;
}

PawlStatus pawl_recall_solve(PawlRecall* recall, PawlGrip* g, const PawlValues* values,
                             PawlError* err) {
  PawlKkt* kkt = g->dynamics->kkt;
  pawl_kkt_save(kkt, recall->memory);
  PawlStatus status = pawl_kkt_load(kkt, recall->fresh);
  status = status ? pawl_fail_memory(err) : pawl_grip_solve(g, values, err);
  return pawl_kkt_load(kkt, recall->memory) ? pawl_fail_memory(err) : status;
}
