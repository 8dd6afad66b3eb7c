// SPDX-License-Identifier: Apache-2.0
// Energy that restitution brings in, by islands of contacts that push.
#include "step/gain.h"

#include <string.h>

PawlStatus pawl_gain_create(PawlStepper* s, const PawlRub* rub, PawlGain* gain, PawlError* err) {
  gain->parent = PAWL_NEW(&s->arena, int, rub->bodies);
  gain->sum = PAWL_NEW(&s->arena, PawlGainPart, rub->bodies);
  gain->given_up = PAWL_NEW(&s->arena, unsigned char, s->contact_count);
  return s->arena.failed ? pawl_fail_memory(err) : PAWL_OK;
}

void pawl_gain_begin_step(const PawlRub* rub, PawlGain* gain) {
  memset(gain->given_up, 0, (size_t)rub->contacts);
}

void pawl_gain_begin(const PawlRub* rub, PawlGain* gain) {
  for (int b = 0; b < rub->bodies; b++) {
    gain->parent[b] = b;
    gain->sum[b] = (PawlGainPart){0};
  }
}

static int island_of(PawlGain* gain, int body) {
  while (gain->parent[body] != body) {
    gain->parent[body] = gain->parent[gain->parent[body]];
    body = gain->parent[body];
  }
  return body;
}

static void add(PawlGainPart* sum, PawlGainPart part) {
  sum->work += part.work;
  sum->size += part.size;
  sum->slack += part.slack;
  sum->thrown |= part.thrown;
}

// Entries of its own row, the normal one: its friction moves the same bodies.
static int row_of(const PawlRub* rub, int contact) {
  return rub->rows - rub->contacts + contact;
}

void pawl_gain_add(const PawlRub* rub, PawlGain* gain, int contact, PawlGainPart part) {
  int row = row_of(rub, contact), first = rub->first[row];
  if (rub->first[row + 1] == first) {
    return;
  }
  int to = island_of(gain, rub->body[rub->column[first]]);
  for (int e = first + 1; e < rub->first[row + 1]; e++) {
    int from = island_of(gain, rub->body[rub->column[e]]);
    if (from != to) {
      gain->parent[from] = to;
      add(&gain->sum[to], gain->sum[from]);
    }
  }
  add(&gain->sum[to], part);
}

bool pawl_gain_give_up(const PawlStepper* s, const PawlRub* rub, PawlGain* gain) {
  bool any = false;
  for (int k = 0; k < rub->contacts; k++) {
    int row = row_of(rub, k), first = rub->first[row];
    if (gain->given_up[k] || rub->first[row + 1] == first) {
      continue;
    }
    const PawlGainPart* sum = &gain->sum[island_of(gain, rub->body[rub->column[first]])];
    gain->given_up[k] = sum->thrown && sum->work > s->def.tolerance * sum->size + sum->slack;
    any |= gain->given_up[k];
  }
  return any;
}
