// SPDX-License-Identifier: Apache-2.0
// Energy that corrections of contacts bring into a step, and how they are kept from it
// (docs/theory/nsga.md, "Energy").
#include <math.h>
#include <string.h>

#include "step/nsga.h"

static const double MOST_SHIFT = 0.5;  // [1] of h dv: positions move by the velocities of the end

// Contacts have forces in the smooth motion.
static bool are_smooth(const PawlStepper* s, const PawlNsga* d) {
  return !d->decoupled && s->strategy == 3;
}

// What U (`of_q`) or W of coordinate j takes back: what a of both ends does beyond v' of the end.
static double taken_back(const PawlNsga* d, int j, bool of_q) {
  const PawlGa* g = &d->ga;
  double a_n = d->a_n[j], a = g->a[j], vdot = g->vdot[j], h = g->h;
  return of_q ? h * h * ((0.5 - g->beta) * a_n + g->beta * a - 0.5 * vdot)
              : h * ((1 - g->gamma) * a_n + g->gamma * a - vdot);
}

// What forces of contacts in the smooth motion do to the momentum, each with the gradient of its
// end: h ((1 - gamma) G_n^T eta_n + gamma G^T eta); and by how much that may be off, since eta has
// forces of steps before in it, and the gradients have turned.                              (N12)
static void find_press(PawlStepper* s, PawlNsga* d, const PawlState* state) {
  const PawlContacts* c = &d->contacts;
  const PawlGa* g = &d->ga;
  const double *eta_n = pawl_nsga_eta_of(s, (PawlState*)state), *G = pawl_eval_values(d->eval)->G;
  memset(d->press, 0, (size_t)s->sizes.v * sizeof(double));
  memset(d->press_off, 0, (size_t)s->sizes.v * sizeof(double));
  for (int k = 0; k < c->count; k++) {
    int i = c->row[k];
    double eta = pawl_nsga_next_eta(g, g->lambda[i], state->lambda[i], eta_n[i]);
    double before = g->h * (1 - g->gamma) * eta_n[i], after = g->h * g->gamma * eta;
    for (int e = c->first[k]; e < c->first[k + 1]; e++) {
      double G_n = c->G[c->entry[e]], G_end = G[c->entry[e]];
      d->press[c->column[e]] += before * G_n + after * G_end;
      d->press_off[c->column[e]] += fabs(G_end - G_n) * (fabs(before) + fabs(after));
    }
  }
}

// The smooth motion of coordinate j at the end, and its corrections. Of islands in which contacts
// push by impulses alone it has v' of the end all along, and the rest is no correction.
typedef struct Smooth {
  double v, U, W;
} Smooth;
static Smooth smooth_of(const PawlNsga* d, int j) {
  const PawlGa* g = &d->ga;
  Smooth is = {g->v[j], d->U[j], d->W[j]};
  if (d->released && d->freed[j]) {
    double v = d->v_n[j] + g->h * g->vdot[j];
    is.W += is.v - v;
    is.v = v;
    is.U += taken_back(d, j, true);
  }
  return is;
}

// What contacts give to the momentum of coordinate j in the smooth motion.
typedef struct Press {
  double momentum, off;  // and by how much that may be off
  double moved;          // what their change in the step moves the place by
} Press;
static Press press_of(const PawlNsga* d, int j, double f, double M_dv) {
  const PawlGa* g = &d->ga;
  bool freed = d->released && d->freed[j];
  double of_a = freed || g->fold != PAWL_GA_STORED ? 0.0 : g->beta - 0.5 * g->gamma;
  double moved = of_a == 0.0 ? 0.0 : g->h * g->h * of_a * (g->a[j] - d->a_n[j]);
  if (d->bare[j] && f == d->force_n[j]) {  // exactly: weights, and contacts
    return (Press){M_dv - g->h * f, 0.0, moved};
  }
  double off = g->h * fabs(f - d->force_n[j]);
  return freed ? (Press){.off = off} : (Press){d->press[j], off + d->press_off[j], moved};
}

// What U, W and the forces of contacts do to the energy, by coordinates: with v~ the smooth motion,
// dv~ its change and P the momentum that contacts gave to it,
//   M W (v~ + v)/2 + P (v_n + v~)/2 - (M dv~ - P) (U + h^2 (beta - gamma/2) (a - a_n))/h    (N64)
// but for forces that are others at the end than at the beginning, or than at the smooth motion.
static void add_corrections(PawlStepper* s, PawlNsga* d) {
  const double* M = pawl_eval_values(d->eval)->M;
  const double *f = pawl_eval_values(d->eval)->f, *f_smooth = d->decoupled ? d->smooth_force : f;
  double *dv = d->du, *M_dv = d->force, *M_W = d->impulse, *W = d->press_W, h = d->ga.h;
  bool presses = are_smooth(s, d);
  int n = pawl_moving(s->sizes);
  memset(M_dv, 0, (size_t)s->sizes.v * sizeof(double));
  memset(M_W, 0, (size_t)s->sizes.v * sizeof(double));
  for (int j = 0; j < s->sizes.v; j++) {
    Smooth is = smooth_of(d, j);
    dv[j] = is.v - d->v_n[j];
    W[j] = is.W;
  }
  pawl_sparse_line_add(&s->dynamics.by_H, M, 1.0, dv, M_dv);
  pawl_sparse_line_add(&s->dynamics.by_H, M, 1.0, W, M_W);
  for (int j = 0; j < n; j++) {
    Smooth is = smooth_of(d, j);
    Press of = presses ? press_of(d, j, f[j], M_dv[j]) : (Press){0};
    double v = is.v + is.W, jump = 0.5 * M_W[j] * (is.v + v);
    double push = 0.5 * of.momentum * (d->v_n[j] + is.v), force = M_dv[j] - of.momentum;
    double lift = force * (is.U + of.moved) / h;
    double sizes = fabs(is.v) + fabs(v), other = h * fabs(f[j] - f_smooth[j]) + of.off;
    double place = presses ? PAWL_ROUNDED * d->ga.size_q[j] * fabs(force) / h : 0.0;
    PawlGainPart part = {
        .work = jump + push - lift,
        .size = fabs(M_W[j]) * (sizes + fabs(dv[j])) + fabs(push) + fabs(lift),
        .slack = fabs(f[j] - d->force_n[j]) * fabs(is.U) + 0.5 * other * sizes + place};
    pawl_gain_add_at(&d->gain, j, part, force * (v - d->v_n[j]));
  }
}

// Of contact k: the work of what moves by itself, which is no gain, and with what it is thrown
// back. `smooth`: the impulse of its force.                                  (N60) (B15) (B20)
static PawlGainPart part_of(const PawlStepper* s, const PawlNsga* d, int k, double smooth) {
  const PawlValues* values = pawl_eval_values(d->eval);
  int i = d->contacts.row[k], slips = d->rub.contacts > 0 ? d->rub.of[k].count : 0;
  double back = -pawl_nsga_rebound(s, d, i), free = d->acceleration[i];
  PawlGainPart part = {.pushes = 1};
  for (int n = -1; n < slips; n++) {
    int row = n < 0 ? i : d->rub.of[k].first + n;
    double impulse = n < 0 ? d->Lambda[row] + smooth : d->Lambda[row];
    double led = 0.5 * impulse * (d->lead[row] + values->g_t[row]);
    part.work += led;
    part.size += fabs(led);
    part.slack += fabs(smooth * (values->g_t[row] - d->lead[row]));  // it is not led evenly
  }
  if (back > 0.0 && free < back) {
    part.back = d->Lambda[i] * back * back / (back - free);
  }
  return part;
}

// The impulse of the smooth force of contact k over the step; with a force of 0 at the end what is
// left of those before.                                                                    (N12)
static double smooth_impulse(const PawlStepper* s, const PawlNsga* d, const PawlState* state,
                             int k) {
  const PawlGa* g = &d->ga;
  int i = d->contacts.row[k];
  if (!are_smooth(s, d) || (d->released && d->gone[i])) {
    return 0.0;
  }
  double eta_n = pawl_nsga_eta_of(s, (PawlState*)state)[i];
  double eta = pawl_nsga_next_eta(g, g->lambda[i], state->lambda[i], eta_n);
  return g->h * ((1 - g->gamma) * eta_n + g->gamma * eta);
}

// ---- by impulses alone --------------------------------------------------------------------------
static void release_island(const PawlStepper* s, PawlNsga* d, int island) {
  const PawlContacts* c = &d->contacts;
  if (!d->released) {
    memset(d->gone, 0, (size_t)s->sizes.rows);
    memset(d->freed, 0, (size_t)s->sizes.v);
    d->released = true;
  }
  for (int j = 0; j < s->sizes.v; j++) {
    d->freed[j] |= pawl_gain_island(&d->gain, j) == island;
  }
  for (int k = 0; k < c->count; k++) {
    for (int e = c->first[k]; e < c->first[k + 1]; e++) {
      d->gone[c->row[k]] |= d->freed[c->column[e]];
    }
  }
  pawl_gain_excuse(&d->gain, island);
}

// Islands that gain, and in which some contact has a force of the smooth motion; `loose`: those in
// which such a force is left of a contact that has none at the end.                        (N62)
static bool release(const PawlStepper* s, PawlNsga* d, const PawlState* state, bool loose) {
  const PawlContacts* c = &d->contacts;
  bool any = false;
  for (int k = 0; d->ga.fold == PAWL_GA_STORED && k < c->count; k++) {
    int i = c->row[k], e = c->first[k];
    bool forced = smooth_impulse(s, d, state, k) != 0.0 && !(loose && d->S[i]);
    int island = forced && c->first[k + 1] > e ? pawl_gain_island(&d->gain, c->column[e]) : -1;
    if (island >= 0 && pawl_gain_of_island(&d->gain, island)) {
      release_island(s, d, island);
      any = true;
    }
  }
  return any;
}

void pawl_nsga_take_back(const PawlStepper* s, PawlNsga* d, bool of_q, double* force) {
  for (int j = 0; j < s->sizes.v; j++) {
    d->impulse[j] = d->freed[j] ? taken_back(d, j, of_q) : 0.0;
  }
  pawl_sparse_line_add(&s->dynamics.by_H, pawl_eval_values(d->eval)->M, -1.0, d->impulse, force);
}

// Between those of both ends for contacts that are closed all along, so that these do no work in
// the mean: w G + (1 - w) G_n with w u^ + (1 - w) u_ = 0, u_ the rate at the end with the gradients
// of the beginning.                                                                         (N63)
const double* pawl_nsga_released_directions(const PawlStepper* s, PawlNsga* d) {
  const PawlValues* values = pawl_eval_values(d->eval);
  const double *before = d->contacts.G, *after = values->G;
  double *turned = d->dnu, *back = d->acceleration, *v = d->press_W;
  for (int j = 0; j < s->sizes.v; j++) {
    v[j] = d->ga.v[j] + d->W[j];
  }
  pawl_dynamics_rows(&s->dynamics, after, d->v_n, values->g_t, turned);
  pawl_dynamics_rows(&s->dynamics, before, v, d->lead, back);
  for (int k = 0; k < d->contacts.count; k++) {
    int i = d->contacts.row[k];
    turned[i] = turned[i] * back[i] < 0.0 ? back[i] / (back[i] - turned[i]) : 0.5;
  }
  for (int e = 0; e < s->G.start[s->sizes.v]; e++) {
    int i = s->G.index[e];
    double w = turned[i];
    d->mean[e] = d->gone[i] && d->closed[i] ? w * after[e] + (1.0 - w) * before[e] : d->B[e];
  }
  return d->mean;
}

// Nothing is left of forces before: a = v', eta = lambda.
void pawl_nsga_begin_anew(const PawlStepper* s, const PawlNsga* d, PawlState* state) {
  double *a = pawl_ga_memory(s, state).a, *eta = pawl_nsga_eta_of(s, state);
  for (int j = 0; j < s->sizes.v; j++) {
    a[j] = d->freed[j] ? state->a[j] : a[j];
    for (int e = s->G.start[j]; d->freed[j] && e < s->G.start[j + 1]; e++) {
      eta[s->G.index[e]] = state->lambda[s->G.index[e]];
    }
  }
}

// ---- a judgement --------------------------------------------------------------------------------
// What each contact does; whether one does something.
static bool add_contacts(const PawlStepper* s, PawlNsga* d, const PawlState* state) {
  const PawlContacts* c = &d->contacts;
  bool any = false;
  pawl_gain_begin(&d->gain);
  for (int k = 0; k < c->count; k++) {
    double smooth = smooth_impulse(s, d, state, k), Lambda = d->Lambda[c->row[k]];
    if (Lambda > 0.0 || smooth != 0.0) {
      pawl_gain_add(c, &d->rub, &d->gain, k, part_of(s, d, k, smooth));
      any = true;
    }
  }
  return any;
}

// Ways to gain nothing, one after the other.
static bool change(const PawlStepper* s, PawlNsga* d, const PawlState* state) {
  bool smooth = are_smooth(s, d);
  if (smooth && release(s, d, state, true)) {
    return true;
  }
  bool shifts = pawl_gain_search(&d->gain, MOST_SHIFT);
  bool releases = smooth && release(s, d, state, false);
  return pawl_gain_throw_less(&d->contacts, &d->gain) || shifts || releases;
}

bool pawl_nsga_restrain(PawlStepper* s, PawlNsga* d, const PawlState* state) {
  const PawlValues* values = pawl_eval_values(d->eval);
  if (!d->minds) {
    return false;
  }
  pawl_dynamics_rows(&s->dynamics, values->G, d->ga.v, values->g_t, d->acceleration);
  if (!add_contacts(s, d, state)) {
    return false;
  }
  if (are_smooth(s, d)) {
    find_press(s, d, state);
  }
  add_corrections(s, d);
  if (change(s, d, state)) {
    d->gain.looks++;
    return true;
  }
  if (d->rub.contacts > 0 && pawl_gain_is_left(&d->gain) && pawl_nsga_spread_drag(d)) {
    d->gain.looks++;
    return true;
  }
  bool turns = d->decoupled && d->rub.contacts == 0 && !d->averaged && pawl_gain_is_left(&d->gain);
  d->averaged |= turns;  // the directions of closed contacts                             (N31)
  return turns;
}

// force += shift h M (v - v_n): positions of islands that would gain move on with it.     (N61)
void pawl_nsga_add_shift(const PawlStepper* s, PawlNsga* d, double* force) {
  for (int j = 0; j < s->sizes.v; j++) {
    double more = j < pawl_moving(s->sizes) ? d->gain.shift[d->gain.body[j]] : 0.0;
    d->impulse[j] = more == 0.0 ? 0.0 : more * d->ga.h * (d->ga.v[j] + d->W[j] - d->v_n[j]);
  }
  pawl_sparse_line_add(&s->dynamics.by_H, pawl_eval_values(d->eval)->M, 1.0, d->impulse, force);
}
