// SPDX-License-Identifier: Apache-2.0
// What a joint becomes: coordinates and definitions by (J1) of joints.h, or rows.
#include <string.h>

#include "model/joints.h"

// ---- texts of the type ------------------------------------------------------------------------

// F = R1 turn, with `prime` its rate; NULL where it does not turn.
static const char* first_axes(PawlMade* made, const PawlJoint* joint, const char* prime) {
  const char* R = pawl_body_R(made, &joint->body[0], prime);
  const char* turn = !joint->turn           ? NULL
                     : made->dimension == 2 ? pawl_say(made, "rotation(%s)", joint->turn)
                                            : pawl_factor(made, joint->turn);
  return !R && *prime ? NULL : pawl_product(made, R, turn);
}

// The place of the joint on a body, and its velocity, NULL for the ground.
static const char* side_place(PawlMade* made, const PawlJoint* joint, int side) {
  return joint->named[side] ? joint->named[side]
                            : pawl_body_place(made, &joint->body[side], joint->at[side]);
}

static const char* side_velocity(PawlMade* made, const PawlJoint* joint, int side) {
  bool named = joint->named[side] && !joint->body[side].body->is_ground;
  return named ? pawl_say(made, "%s'", joint->named[side])
               : pawl_body_velocity(made, &joint->body[side], joint->at[side]);
}

static const char* turn_between(PawlMade* made, const PawlJoint* joint) {
  const PawlBodyUse *a = &joint->body[0], *b = &joint->body[1];
  const char* first = a->body->is_ground ? NULL : pawl_body_part(made, a, "angle");
  const char* second = b->body->is_ground ? NULL : pawl_body_part(made, b, "angle");
  const char* turned = joint->turn ? pawl_factor(made, joint->turn) : NULL;
  const char* less = first && turned ? pawl_say(made, "%s - %s", first, turned)
                     : first         ? first
                                     : turned;
  return pawl_sum(made, second, NULL, NULL, less);
}

// What it keeps: one of the axes where it catches, or what that is without offset.       (J4)
static const char* kept_axis(PawlMade* made, const PawlJoint* joint, char c) {
  static const char* const axes[] = {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"};
  const char* part[6];
  if (!joint->keeps) {
    return c == 'u' ? joint->U : c == 'w' ? joint->W : axes[c - 'x'];
  }
  for (int k = 0; k < 6; k++) {
    part[k] = pawl_part_use(made, &joint->name, pawl_say(made, "kept_%d", k + 1));
  }
  const char* first = pawl_say(made, "[%s, %s, %s]", part[0], part[1], part[2]);
  const char* second = pawl_say(made, "[%s, %s, %s]", part[3], part[4], part[5]);
  return c == 'u' || c == 'x'   ? first
         : c == 'w' || c == 'y' ? second
                                : pawl_say(made, "cross(%s, %s)", first, second);
}

// What stands for `$c`; NULL for a rotation that turns nothing.
static const char* meaning(PawlMade* made, const PawlJoint* joint, char c,
                           const char* const values[], const char* const rates[]) {
  const char* F;
  switch (c) {
    case 'P':
      return side_place(made, joint, 0);
    case 'S':
      return side_place(made, joint, 1);
    case 'F':
      return first_axes(made, joint, "");
    case 'T':
      F = first_axes(made, joint, "");
      return F ? pawl_say(made, "transpose(%s)", F) : NULL;
    case 'G':
      return pawl_body_R(made, &joint->body[1], "");
    case 'A':
      return joint->A;
    case 'U':
      return joint->U;
    case 'W':
      return joint->W;
    case 'X':
      return joint->X;
    case 'L':
      return pawl_factor(made, joint->L ? joint->L : "0");
    case 'H':
      return turn_between(made, joint);
    case 'u':
    case 'w':
    case 'x':
    case 'y':
    case 'z':
      return kept_axis(made, joint, c);
    case '@':
      return pawl_part_use(made, &joint->name, "");
    default:
      return c >= '7' ? rates[c - '7'] : values[c - '1'];
  }
}

const char* pawl_joint_fill(PawlMade* made, const PawlJoint* joint, const char* text,
                            const char* const values[], const char* const rates[]) {
  PawlText out = {0};
  for (const char* c = text; *c; c++) {
    if (*c != '$') {
      pawl_text_add_bytes(&out, c, 1);
      continue;
    }
    const char* with = meaning(made, joint, *++c, values, rates);
    bool minus = out.length >= 2 && strcmp(out.s + out.length - 2, "- ") == 0;
    if (with) {
      pawl_text_add(&out, minus ? pawl_factor(made, with) : with);
    } else if (c[1] == '*') {  // a matrix that is one
      c++;
    }
  }
  const char* filled = out.failed ? "" : pawl_say(made, "%s", out.s ? out.s : "");
  if (out.failed) {
    pawl_loader_no_memory(made->loader);
  }
  pawl_text_free(&out);
  return filled;
}

void pawl_joint_values(PawlMade* made, const PawlJoint* joint, const char* prime,
                       const char* out[PAWL_JOINT_VALUES]) {
  for (int k = 0; k < PAWL_JOINT_VALUES; k++) {
    const char* value = joint->motion->values[k];
    bool omega = value && pawl_joint_is_ball(joint) && *prime;
    out[k] = !value  ? NULL
             : omega ? pawl_part_use(made, &joint->name, "R.omega")
                     : pawl_say(made, "%s%s", pawl_part_use(made, &joint->name, value), prime);
  }
}

static void define(PawlMade* made, const PawlYaml* like, const PawlPartName* name, const char* part,
                   const char* text) {
  pawl_put(made, "define", like, pawl_part_key(made, name, part), text);
}

// What a joint carries: the body, of a family those that it names.
static PawlPartName carried(const PawlJoint* joint, const PawlBody* body) {
  const char* range = joint->name.range;
  const PawlPartName* use = &joint->body[body->forward ? 1 : 0].name;
  return (PawlPartName){body->name.name, *range ? range : use->index, use->index};
}

// ---- joints of the tree -----------------------------------------------------------------------

static const char* guess_word(const PawlJoint* joint) {
  bool start = pawl_joint_guesses(joint, 0), rate = pawl_joint_guesses(joint, 1);
  return start ? (rate ? "true" : "start") : rate ? "rate" : NULL;
}

static void write_coordinates(PawlMade* made, const PawlJoint* joint) {
  for (int k = 0; k < PAWL_JOINT_VALUES && joint->motion->values[k]; k++) {
    const char* value = joint->motion->values[k];
    PawlYaml* map =
        pawl_put_map(made, "coordinates", joint->key, pawl_part_key(made, &joint->name, value));
    pawl_set(made, map, joint->key, "kind", pawl_joint_is_ball(joint) ? "rotation" : NULL);
    pawl_set(made, map, joint->key, "start", joint->start[k]);
    pawl_set(made, map, joint->key, "rate", joint->rate[k]);
    pawl_set(made, map, joint->key, "guess", guess_word(joint));
    pawl_set(made, map, joint->key, "unit",
             pawl_joint_is_ball(joint)         ? NULL
             : strncmp(value, "angle", 5) == 0 ? "rad"
                                               : "m");
  }
}

typedef struct Relative {
  const char *Q, *d, *w;  // NULL: none
} Relative;

static Relative relative(PawlMade* made, const PawlJoint* joint, const char* const values[],
                         const char* const rates[]) {
  const PawlJointMotion* m = joint->motion;
  return (Relative){m->Q ? pawl_joint_fill(made, joint, m->Q, values, rates) : NULL,
                    m->d ? pawl_joint_fill(made, joint, m->d, values, rates) : NULL,
                    m->w ? pawl_joint_fill(made, joint, m->w, values, rates) : NULL};
}

static void define_angle(PawlMade* made, const PawlJoint* joint, const PawlBody* body,
                         const char* Q) {
  PawlPartName name = carried(joint, body);
  const PawlBodyUse* from = &joint->body[body->forward ? 0 : 1];
  const char* angle = from->body->is_ground ? NULL : pawl_body_part(made, from, "angle");
  const char* turn = joint->turn ? pawl_factor(made, joint->turn) : NULL;
  const char* text;
  if (body->forward) {
    text = pawl_sum(made, angle, turn, Q, NULL);
  } else {
    text = pawl_sum(made, pawl_sum(made, angle, NULL, NULL, turn), NULL, NULL, Q);
  }
  define(made, joint->key, &name, "angle", text ? text : "0");
}

// turn Q, of space.
static const char* between(PawlMade* made, const PawlJoint* joint, const char* Q) {
  return pawl_product(made, joint->turn ? pawl_factor(made, joint->turn) : NULL, Q);
}

static void define_rotation(PawlMade* made, const PawlJoint* joint, const PawlBody* body,
                            const Relative* r) {
  PawlPartName name = carried(joint, body);
  const PawlBodyUse* from = &joint->body[body->forward ? 0 : 1];
  const char *R = pawl_body_R(made, from, ""), *turn = between(made, joint, r->Q);
  const char* back = turn ? pawl_say(made, "transpose(%s)", turn) : NULL;
  const char* rotation = pawl_product(made, R, body->forward ? turn : back);
  const char* spin = from->body->is_ground ? NULL : pawl_body_part(made, from, "spin");
  if (body->forward) {
    spin = pawl_sum(made, spin ? pawl_product(made, back, spin) : NULL, r->w, NULL, NULL);
  } else {
    const char* all = pawl_sum(made, spin, NULL, NULL, r->w ? pawl_factor(made, r->w) : NULL);
    spin = all ? pawl_product(made, turn, pawl_factor(made, all)) : NULL;
  }
  define(made, joint->key, &name, "R", rotation ? rotation : "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]");
  define(made, joint->key, &name, "spin", spin ? spin : "[0, 0, 0]");
}

// at2 = P + F d - G a2, or at1 = S - F d - R1 a1.
static void define_at(PawlMade* made, const PawlJoint* joint, const PawlBody* body, const char* d) {
  PawlPartName name = carried(joint, body);
  int other = body->forward ? 0 : 1;
  const char* place = side_place(made, joint, other);
  const char* moved =
      d ? pawl_product(made, first_axes(made, joint, ""), pawl_factor(made, d)) : NULL;
  const char *own = joint->at[!other], *text;
  const char* arm = own ? pawl_say(made, "%s*%s", pawl_body_R(made, &joint->body[!other], ""),
                                   pawl_factor(made, own))
                        : NULL;
  if (body->forward) {
    text = pawl_sum(made, place, moved, NULL, arm);
  } else {
    text = pawl_sum(made, pawl_sum(made, place, NULL, NULL, moved), NULL, NULL, arm);
  }
  define(made, joint->key, &name, "at", text);
}

static void define_rate(PawlMade* made, const PawlJoint* joint) {
  const char* values[PAWL_JOINT_VALUES];
  pawl_joint_values(made, joint, "'", values);
  if (values[0] && !pawl_joint_is_ball(joint)) {
    define(made, joint->key, &joint->name, "rate", values[0]);
  }
}

void pawl_write_tree_joint(PawlMade* made, const PawlJoint* joint, const PawlBody* body) {
  const char *values[PAWL_JOINT_VALUES], *rates[PAWL_JOINT_VALUES];
  pawl_joint_values(made, joint, "", values);
  pawl_joint_values(made, joint, "'", rates);
  Relative r = relative(made, joint, values, rates);
  write_coordinates(made, joint);
  define_rate(made, joint);
  if (made->dimension == 2) {
    define_angle(made, joint, body, r.Q);
  } else {
    define_rotation(made, joint, body, &r);
  }
  define_at(made, joint, body, r.d);
}

// ---- rows -------------------------------------------------------------------------------------

// S = P along the axes of the first body: an offset that is kept where the joint catches turns with
// that body, so that force and counterforce are on one line and no angular momentum is made.
static void write_point_rows(PawlMade* made, const PawlJoint* joint, PawlYaml* list) {
  static const char* const plane[] = {"dot($F*[1, 0], $S - $P) = 0", "dot($F*[0, 1], $S - $P) = 0"};
  static const char* const space[] = {"dot($F*[1, 0, 0], $S - $P) = 0",
                                      "dot($F*[0, 1, 0], $S - $P) = 0",
                                      "dot($F*[0, 0, 1], $S - $P) = 0"};
  for (int k = 0; k < made->dimension; k++) {
    pawl_add_item(
        made, list, joint->key,
        pawl_joint_fill(made, joint, made->dimension == 2 ? plane[k] : space[k], NULL, NULL));
  }
}

static int row_count(const char* const rows[PAWL_JOINT_ROWS]) {
  int count = 0;
  while (count < PAWL_JOINT_ROWS && rows[count]) {
    count++;
  }
  return count;
}

static void write_rows(PawlMade* made, const PawlJoint* joint, PawlYaml* list) {
  const char* none[PAWL_JOINT_VALUES] = {"0", "0", "0"};
  const PawlJointMotion* m = joint->motion;
  int count = row_count(m->rows), same = count - row_count(m->alone);
  for (int k = 0; k < count; k++) {
    const char* row = k >= same && joint->alone ? m->alone[k - same] : m->rows[k];
    if (joint->switching && strcmp(row, PAWL_JOINT_POINT) == 0) {
      write_point_rows(made, joint, list);
    } else {
      pawl_add_item(made, list, joint->key, pawl_joint_fill(made, joint, row, none, none));
    }
  }
}

// A state that the constraint sets when it engages, and that is as it starts otherwise.
static void set_state(PawlMade* made, const PawlJoint* joint, PawlYaml* map, const char* part,
                      const char* start, const char* value) {
  const PawlPartName* name = &joint->name;
  PawlYaml* set = pawl_part_get(map, "set");
  set = set ? set : pawl_set_map(made, map, joint->key, "set");
  pawl_put(made, "states", joint->key, pawl_part_key(made, name, part), start);
  pawl_set(made, set, joint->key, pawl_say(made, "%s.%s%s", name->name, part, name->index), value);
}

// The axes that it keeps where it catches.                                                (J4)
static void set_kept_axes(PawlMade* made, const PawlJoint* joint, PawlYaml* map) {
  const PawlJointMotion* m = joint->motion;
  bool turns = strstr(m->kept_axes[0], "$U");
  const char* start[] = {turns ? joint->U : "[1, 0, 0]", turns ? joint->W : "[0, 1, 0]"};
  for (int k = 0; k < 6; k++) {
    const char* axis = pawl_joint_fill(made, joint, m->kept_axes[k / 3], NULL, NULL);
    set_state(made, joint, map, pawl_say(made, "kept_%d", k + 1),
              pawl_component(made, start[k / 3], k % 3), pawl_component(made, axis, k % 3));
  }
}

void pawl_write_row_joint(PawlMade* made, const PawlJoint* joint, bool with_values) {
  const char* none[PAWL_JOINT_VALUES] = {"0", "0", "0"};
  PawlYaml* map = pawl_put_map(made, "constraints", joint->key, joint->key->text);
  write_rows(made, joint, pawl_set_list(made, map, joint->key, "equation"));
  if (joint->switching && joint->switching->kind != PAWL_YAML_MAP) {
    pawl_report(&made->loader->report, joint->switching,
                "switch: expected {engaged: ..., at: ..., when: ..., release: ...}");
    return;
  }
  pawl_set_joint_switch(made, joint, map, true);
  if (joint->keeps) {
    set_kept_axes(made, joint, map);
  }
  if (joint->gates) {
    set_state(made, joint, map, "closed", "0", "1");
  }
  for (int k = 0; k < PAWL_JOINT_VALUES && joint->motion->values[k] && with_values; k++) {
    define(made, joint->key, &joint->name, joint->motion->values[k],
           joint->counts[k] ? pawl_joint_turned(made, joint, k)
                            : pawl_joint_fill(made, joint, joint->motion->found[k], none, none));
  }
  if (with_values) {
    define_rate(made, joint);
  }
  pawl_write_joint_slip(made, joint);
  if (joint->records) {
    pawl_write_joint_reaction(made, joint);
  }
}

// ---- starts of bodies with coordinates of their own -------------------------------------------

// The rotation of a body at the start, and its spin, of parameters alone.
static void start_rotation(PawlMade* made, const PawlJoint* joint, const PawlBody* parent,
                           PawlBody* body, const Relative* r) {
  const char* turn = between(made, joint, r->Q);
  const char* back = turn ? pawl_say(made, "transpose(%s)", turn) : NULL;
  const char* spin = parent->spin0 ? pawl_factor(made, parent->spin0) : NULL;
  body->R0 = pawl_product(made, parent->R0 ? pawl_factor(made, parent->R0) : NULL,
                          body->forward ? turn : back);
  if (body->forward) {
    body->spin0 = pawl_sum(made, spin ? pawl_product(made, back, spin) : NULL, r->w, NULL, NULL);
  } else {
    const char* all = pawl_sum(made, spin, NULL, NULL, r->w ? pawl_factor(made, r->w) : NULL);
    body->spin0 = all ? pawl_product(made, turn, pawl_factor(made, all)) : NULL;
  }
}

static void start_angle(PawlMade* made, const PawlJoint* joint, const PawlBody* body,
                        const Relative* r, const char* rate, PawlBodyStart* start) {
  const PawlBodyUse* from = &joint->body[body->forward ? 0 : 1];
  bool ground = from->body->is_ground;
  const char* angle = ground ? NULL : pawl_body_part(made, from, "angle");
  const char* omega = ground ? NULL : pawl_body_part(made, from, "omega");
  const char* turn = joint->turn ? pawl_factor(made, joint->turn) : NULL;
  const char* Q = r->Q ? pawl_factor(made, r->Q) : NULL;
  rate = joint->motion->Q && rate ? pawl_factor(made, rate) : NULL;
  if (body->forward) {
    start->angle = pawl_sum(made, angle, turn, Q, NULL);
    start->omega = pawl_sum(made, omega, rate, NULL, NULL);
  } else {
    start->angle = pawl_sum(made, pawl_sum(made, angle, NULL, NULL, turn), NULL, NULL, Q);
    start->omega = pawl_sum(made, omega, NULL, NULL, rate);
  }
}

// The place of the frame by (J1), and its rate; rotations stand for their values at the start.
static void start_place(PawlMade* made, const PawlJoint* joint, const PawlBody* body, const char* d,
                        const char* d_rate, PawlBodyStart* start) {
  int other = body->forward ? 0 : 1;
  const PawlBodyUse* own = &joint->body[!other];
  const char *F = first_axes(made, joint, ""), *F_rate = first_axes(made, joint, "'");
  const char* arm = joint->at[!other];
  const char* moved = d ? pawl_product(made, F, pawl_factor(made, d)) : NULL;
  const char* moving = d_rate ? pawl_product(made, F, pawl_factor(made, d_rate)) : NULL;
  const char* turning = d && F_rate ? pawl_product(made, F_rate, pawl_factor(made, d)) : NULL;
  const char* all = pawl_sum(made, moving, turning, NULL, NULL);
  const char* R = pawl_body_R(made, own, "");
  const char* back = arm && R ? pawl_say(made, "%s*%s", R, pawl_factor(made, arm)) : NULL;
  const char* back_rate =
      arm && R ? pawl_say(made, "%s*%s", pawl_body_R(made, own, "'"), pawl_factor(made, arm))
               : NULL;
  const char* place = side_place(made, joint, other);
  const char* velocity = side_velocity(made, joint, other);
  if (body->forward) {
    start->at = pawl_sum(made, place, moved, NULL, back);
    start->velocity = pawl_sum(made, velocity, all, NULL, back_rate);
  } else {
    start->at = pawl_sum(made, pawl_sum(made, place, NULL, NULL, moved), NULL, NULL, back);
    start->velocity =
        pawl_sum(made, pawl_sum(made, velocity, NULL, NULL, all ? pawl_factor(made, all) : NULL),
                 NULL, NULL, back_rate);
  }
}

void pawl_joint_start(PawlMade* made, const PawlJoint* joint, const PawlBodies* bodies,
                      PawlBody* body, PawlBodyStart* start) {
  const char *values[PAWL_JOINT_VALUES], *rates[PAWL_JOINT_VALUES];
  bool moved = false, moves = false;
  for (int k = 0; k < PAWL_JOINT_VALUES; k++) {
    moved = moved || joint->start[k];
    moves = moves || joint->rate[k];
    values[k] = joint->start[k] ? pawl_factor(made, joint->start[k]) : "0";
    rates[k] = joint->rate[k] ? pawl_factor(made, joint->rate[k]) : "0";
  }
  Relative r = relative(made, joint, values, rates), rate = relative(made, joint, rates, rates);
  r.Q = moved ? r.Q : NULL;
  r.d = moved ? r.d : NULL;
  r.w = moves ? r.w : NULL;
  *start = (PawlBodyStart){0};
  if (made->dimension == 2) {
    start_angle(made, joint, body, &r, joint->rate[0], start);
  } else {
    start_rotation(made, joint, &bodies->item[body->parent], body, &r);
  }
  start_place(made, joint, body, r.d, moves ? rate.d : NULL, start);
}
