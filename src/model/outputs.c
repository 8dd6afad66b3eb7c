// SPDX-License-Identifier: Apache-2.0
// `contacts:`, `events:` and `outputs:`: what is watched while the model moves.
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "model/loader.h"

static const PawlUse gap_use = {"the gap of a contact", PAWL_MAY_Q | PAWL_MAY_T, NULL};
static const PawlUse output_use = {"an output",
                                   PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_A | PAWL_MAY_T |
                                       PAWL_MAY_LAMBDA | PAWL_MAY_CONTACT | PAWL_MAY_SIGNALS,
                                   NULL};

// ---- contacts -------------------------------------------------------------------------------
static const PawlUse slip_use = {"the slip of a contact", PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_T,
                                 "a rate linear in x', or an expression whose rate it is"};
static const PawlUse friction_use = {"the friction of a contact", PAWL_MAY_Q | PAWL_MAY_T,
                                     "'slip' stands for the speed of its slip"};

static bool load_restitution(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                             PawlContact* contact) {
  if (!text) {
    return true;
  }
  if (!pawl_value(loader, text, scope, &contact->restitution)) {
    return false;
  }
  if (contact->restitution < 0.0 || contact->restitution > 1.0) {
    pawl_report(&loader->report, text, "the restitution of '%s' is %g, must be in [0, 1]",
                pawl_quote(contact->name).s, contact->restitution);
    return false;
  }
  return true;
}

static PawlNode leaf_at_rest(void* context, PawlDag* dag, PawlOp leaf, int index) {
  (void)context;
  return leaf == PAWL_OP_V ? pawl_dag_const(dag, 0.0) : pawl_dag_leaf(dag, leaf, index);
}

// Keeps a rate of slip, and notes what it is where nothing moves.
static bool keep_slip(PawlLoader* loader, PawlContact* contact, PawlNode slip) {
  PawlDag* dag = loader->model->dag;
  PawlNode rest = slip == PAWL_NO_NODE ? slip : pawl_dag_copy(dag, dag, slip, leaf_at_rest, NULL);
  double value;
  if (rest == PAWL_NO_NODE) {
    return pawl_loader_no_memory(loader);
  }
  contact->drags |= !(pawl_dag_is_const(dag, rest, &value) && value == 0.0);
  contact->slip[contact->slip_count++] = slip;
  return true;
}

// A number of a slip as a rate: linear in the rates, or the rate of what is written.
static bool add_slip(PawlLoader* loader, PawlYaml* text, PawlContact* contact, PawlNode node,
                     unsigned contains) {
  if (contains & PAWL_MAY_V) {
    return pawl_rate_is_linear(loader, text, "slip", node) && keep_slip(loader, contact, node);
  }
  return keep_slip(loader, contact, pawl_dag_total(loader->model->dag, node));
}

// One expression of `slip:`; of a vector of two each component is one.
static bool load_slip(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                      PawlContact* contact) {
  PawlMatrix slip;
  unsigned contains;
  if (!pawl_shaped(loader, text, scope, &slip_use, &slip, &contains)) {
    return false;
  }
  if (!(contains & (PAWL_MAY_Q | PAWL_MAY_V))) {
    pawl_report(&loader->report, text, "the slip '%s' of '%s' contains no coordinate",
                pawl_quote(text->text).s, pawl_quote(contact->name).s);
    return false;
  }
  if (slip.cols != 1 || contact->slip_count + slip.rows > PAWL_MOST_SLIPS) {
    pawl_report(&loader->report, text,
                "the slip of '%s' is %s; expected one in a plane, or two in space",
                pawl_quote(contact->name).s, pawl_matrix_shape(&slip));
    return false;
  }
  bool good = true;
  for (int k = 0; k < pawl_matrix_count(&slip); k++) {
    good &= add_slip(loader, text, contact, slip.at[k], contains);
  }
  return good;
}

// `slip:` is one expression, a vector of two, or a list of two.
static bool load_slips(PawlLoader* loader, PawlYaml* slip, const PawlScope* scope,
                       PawlContact* contact) {
  if (slip->kind != PAWL_YAML_LIST) {
    return load_slip(loader, slip, scope, contact);
  }
  if (slip->count < 1 || slip->count > PAWL_MOST_SLIPS) {
    pawl_report(&loader->report, slip,
                "the slip of '%s' has %d expressions; expected one in a plane, or two in space",
                pawl_quote(contact->name).s, slip->count);
    return false;
  }
  bool good = true;
  for (PawlYaml* part = slip->first; part; part = part->next) {
    good &= load_slip(loader, part, scope, contact);
  }
  return good;
}

// The speed of the slip.
static PawlNode slip_speed(PawlDag* dag, const PawlContact* contact) {
  if (contact->slip_count == 1) {
    return pawl_dag_unary(dag, PAWL_OP_ABS, contact->slip[0]);
  }
  PawlNode sum = pawl_dag_add(dag, pawl_dag_mul(dag, contact->slip[0], contact->slip[0]),
                              pawl_dag_mul(dag, contact->slip[1], contact->slip[1]));
  return pawl_dag_unary(dag, PAWL_OP_SQRT, sum);
}

// An expression of what moves in the place of one of two numbers.
static bool refuse_function(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                            const char* what, const PawlContact* contact) {
  PawlNode unused, speed = slip_speed(loader->model->dag, contact);
  if (speed == PAWL_NO_NODE) {
    return pawl_loader_no_memory(loader);
  }
  if (pawl_expression_with(loader, text, scope, &friction_use, "slip", speed, &unused)) {
    pawl_report(&loader->report, text,
                "the %s of '%s' is a function, '%s': static and kinetic are numbers; a function of "
                "slip stands alone, and has the friction at rest, slip = 0, too",
                what, pawl_quote(contact->name).s, pawl_quote(text->text).s);
  }
  return false;
}

// A number mu >= 0.
static bool load_mu(PawlLoader* loader, PawlYaml* text, const PawlScope* scope, const char* what,
                    const PawlContact* contact, double* mu) {
  if (text->kind == PAWL_YAML_SCALAR && !pawl_is_value(loader, text, scope)) {
    return refuse_function(loader, text, scope, what, contact);
  }
  if (!pawl_value(loader, text, scope, mu)) {
    return false;
  }
  if (*mu < 0.0) {
    pawl_report(&loader->report, text, "the %s of '%s' is %g, must be >= 0", what,
                pawl_quote(contact->name).s, *mu);
    return false;
  }
  return true;
}

// {static: 0.4, kinetic: 0.3}
static bool load_two_mus(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                         PawlContact* contact) {
  static const char* const keys[] = {"static", "kinetic", NULL};
  PawlYaml *sticks = pawl_yaml_get(body, "static"), *slides = pawl_yaml_get(body, "kinetic");
  if (!pawl_yaml_check_keys(&loader->report, body, "the friction of a contact", keys)) {
    return false;
  }
  if (!sticks || !slides) {
    pawl_report(&loader->report, body,
                "the friction of '%s' needs %s:", pawl_quote(contact->name).s,
                sticks ? "kinetic" : "static");
    return false;
  }
  bool good = load_mu(loader, sticks, scope, "static friction", contact, &contact->sticks);
  good &= load_mu(loader, slides, scope, "kinetic friction", contact, &contact->slides);
  if (good && contact->slides > contact->sticks) {
    pawl_report(&loader->report, slides,
                "the kinetic friction %g of '%s' is more than the static one, %g", contact->slides,
                pawl_quote(contact->name).s, contact->sticks);
  }
  return good && contact->slides <= contact->sticks;
}

static bool load_friction(PawlLoader* loader, PawlYaml* text, const PawlScope* scope,
                          PawlContact* contact) {
  if (text->kind == PAWL_YAML_MAP) {
    return load_two_mus(loader, text, scope, contact);
  }
  if (pawl_is_value(loader, text, scope)) {
    bool good = load_mu(loader, text, scope, "friction", contact, &contact->slides);
    contact->sticks = contact->slides;
    return good;
  }
  PawlNode speed = slip_speed(loader->model->dag, contact);
  return speed == PAWL_NO_NODE ? pawl_loader_no_memory(loader)
                               : pawl_expression_with(loader, text, scope, &friction_use, "slip",
                                                      speed, &contact->friction);
}

static bool load_rubbing(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                         PawlContact* contact) {
  PawlYaml *slip = pawl_yaml_get(body, "slip"), *friction = pawl_yaml_get(body, "friction");
  if (!slip != !friction) {
    pawl_report(&loader->report, slip ? slip : friction,
                slip ? "the contact '%s' has slip: but no friction:"
                     : "the contact '%s' has friction: and needs slip:, along which it acts",
                pawl_quote(contact->name).s);
    return false;
  }
  return !slip || (load_slips(loader, slip, scope, contact) &&
                   load_friction(loader, friction, scope, contact));
}

// ---- slips along the gap ----
enum { RATES = 1 + PAWL_MOST_SLIPS };  // of the gap, and of the slips

// A number from -1 to 1 that has nothing to do with others: the bits of the key, well mixed.
static double mixed(uint64_t key) {
  for (int k = 0; k < 3; k++) {
    key = (key ^ (key >> 31)) * 0x9e3779b97f4a7c15u + 0x632be59bd9b4e019u;
  }
  return (double)(key >> 11) / 4503599627370496.0 - 1.0;
}

// A place and a motion of the model, or the same place at rest.
typedef struct Somewhere {
  int number;
  bool moves;
} Somewhere;

// Some number for each leaf: rates from -1 to 1, all others from 1/2 to 3/2.
static PawlNode leaf_somewhere(void* context, PawlDag* dag, PawlOp leaf, int index) {
  const Somewhere* at = context;
  double x =
      mixed(((uint64_t)at->number << 40) + (uint64_t)index * 256 + (uint64_t)leaf);  // leaf < 256
  return pawl_dag_const(dag, leaf != PAWL_OP_V ? 1.0 + 0.5 * x : at->moves ? x : 0.0);
}

// What a motion makes of a rate; false: no number.
static bool rate_somewhere(PawlDag* dag, PawlNode rate, int number, double* value) {
  Somewhere moves = {number, true}, rests = {number, false};
  double still;
  PawlNode moved = pawl_dag_copy(dag, dag, rate, leaf_somewhere, &moves);
  PawlNode rest = pawl_dag_copy(dag, dag, rate, leaf_somewhere, &rests);
  bool known = moved != PAWL_NO_NODE && rest != PAWL_NO_NODE &&
               pawl_dag_is_const(dag, moved, value) && pawl_dag_is_const(dag, rest, &still);
  *value -= known ? still : 0.0;
  return known && isfinite(*value);
}

// Whether one sum of the rates of gap and slips is 0 everywhere: by as many motions, each at
// another place, a determinant is. Then friction acts along the gap, or along one line twice. (With
// factors that change with the place it may be a mechanism of few coordinates.)
static bool slips_along_gap(PawlDag* dag, PawlNode gap_rate, const PawlContact* contact) {
  // [1] Of the product of the lengths of its rows: of rates that do not depend on each other it is
  // less by chance in one model of 10^9, and of those that do rounding is 10^-15.
  static const double NO_DETERMINANT = 0x1p-40;
  int n = 1 + contact->slip_count;
  double x[RATES][RATES] = {{0}}, sizes = 1.0;
  for (int i = 0; i < n; i++) {
    double square = 0.0;
    for (int k = 0; k < n; k++) {
      if (!rate_somewhere(dag, i == 0 ? gap_rate : contact->slip[i - 1], k + 1, &x[i][k])) {
        return false;
      }
      square += x[i][k] * x[i][k];
    }
    sizes *= sqrt(square);
  }
  double determinant = x[0][0] * x[1][1] - x[0][1] * x[1][0];
  if (n == RATES) {
    determinant = x[0][0] * (x[1][1] * x[2][2] - x[1][2] * x[2][1]) -
                  x[0][1] * (x[1][0] * x[2][2] - x[1][2] * x[2][0]) +
                  x[0][2] * (x[1][0] * x[2][1] - x[1][1] * x[2][0]);
  }
  return sizes > 0.0 && fabs(determinant) <= NO_DETERMINANT * sizes;
}

static bool check_slips(PawlLoader* loader, const PawlYaml* body, const PawlContact* contact) {
  PawlDag* dag = loader->model->dag;
  PawlNode rate = contact->slip_count > 0 ? pawl_dag_total(dag, contact->gap) : PAWL_NO_NODE;
  if (rate == PAWL_NO_NODE) {
    return contact->slip_count == 0 || pawl_loader_no_memory(loader);
  }
  if (slips_along_gap(dag, rate, contact)) {
    pawl_report(&loader->report, pawl_yaml_get(body, "slip"),
                contact->slip_count == 1
                    ? "the slip of '%s' is the rate of its gap, or a multiple: friction acts along "
                      "the ground, across the gap"
                    : "the slips of '%s' and the rate of its gap depend on each other: friction "
                      "acts along the ground, in two directions across the gap",
                pawl_quote(contact->name).s);
    return false;
  }
  return true;
}

static bool load_contact(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                         PawlContact* contact) {
  static const char* const keys[] = {"gap", "restitution", "friction", "slip", NULL};
  if (body->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, body, "a contact is a map: {gap: expression, restitution: e}");
    return false;
  }
  bool good = pawl_yaml_check_keys(&loader->report, body, "a contact", keys);
  good &= load_restitution(loader, pawl_yaml_get(body, "restitution"), scope, contact);
  good &= load_rubbing(loader, body, scope, contact);
  PawlYaml* gap = pawl_yaml_get(body, "gap");
  if (!gap) {
    pawl_report(&loader->report, body, "the contact '%s' needs gap:", pawl_quote(contact->name).s);
    return false;
  }
  unsigned contains;
  if (!pawl_expression_contains(loader, gap, scope, &gap_use, &contact->gap, &contains)) {
    return false;
  }
  if (!(contains & PAWL_MAY_Q)) {
    pawl_report(&loader->report, gap, "the gap '%s' of '%s' contains no coordinate",
                pawl_quote(gap->text).s, pawl_quote(contact->name).s);
    return false;
  }
  if (pawl_op_is_logical(pawl_dag_node(loader->model->dag, contact->gap)->op)) {
    pawl_report(&loader->report, gap,
                "the gap '%s' of '%s' is a comparison; expected a distance that stays >= 0, such "
                "as 1 - y for y < 1",
                pawl_quote(gap->text).s, pawl_quote(contact->name).s);
    return false;
  }
  return good && check_slips(loader, body, contact);
}

static int add_contact(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  PawlModel* model = loader->model;
  PawlContact contact = {.name = pawl_declared_name(loader, entry, at),
                         .first_slip = model->slip_count,
                         .friction = PAWL_NO_NODE,
                         .source = pawl_loader_source(loader, entry->key)};
  if (!contact.name || !load_contact(loader, entry->value, &at->scope, &contact) ||
      !PAWL_ROOM(loader, entry->key, model->contacts, loader->contact_capacity,
                 model->contact_count)) {
    return -1;
  }
  model->contacts[model->contact_count] = contact;
  model->slip_count += contact.slip_count;
  return model->contact_count++;
}

void pawl_load_contacts(PawlLoader* loader, PawlYaml* section) {
  if (pawl_expect_map(loader, section, "contacts")) {
    pawl_declare(loader, section, &loader->contacts, &loader->constraints, PAWL_NAME_CONTACT,
                 add_contact);
  }
}

// ---- events ---------------------------------------------------------------------------------

static const PawlUse impulse_use = {"an impulse",
                                    PAWL_MAY_Q | PAWL_MAY_V | PAWL_MAY_T | PAWL_MAY_SIGNALS, NULL};
static const PawlUse along_use = {"what an impulse acts along", PAWL_MAY_Q | PAWL_MAY_T, NULL};

static bool add_impulse(PawlLoader* loader, PawlYaml* where, int coordinate, PawlNode node) {
  PawlModel* model = loader->model;
  if (node == PAWL_NO_NODE) {
    return pawl_loader_no_memory(loader);
  }
  if (!PAWL_ROOM(loader, where, model->impulses, loader->impulse_capacity, model->impulse_count)) {
    return false;
  }
  model->impulses[model->impulse_count++] = (PawlImpulse){coordinate, node};
  return true;
}

// `x: 3`, or a family of coordinates.
static bool load_impulse_on(PawlLoader* loader, PawlYaml* child, const PawlScope* scope) {
  const PawlAstKey* key = pawl_key(loader, child->key);
  PawlIndexer at;
  bool good = key != NULL;
  for (bool more = good && pawl_indexer_begin(&at, loader, child->key, key, scope); more && good;
       more = pawl_indexer_next(&at)) {
    PawlNode node;
    int coordinate = pawl_find_element(loader, &loader->names, PAWL_NAME_COORDINATE, child->key,
                                       key->name, key->count, at.value);
    good = coordinate >= 0 && pawl_expression(loader, child, &at.scope, &impulse_use, &node) &&
           add_impulse(loader, child, coordinate, node);
  }
  return good && !at.failed;
}

typedef struct Along {
  PawlLoader* loader;
  PawlYaml* where;
  PawlNode along, value;
  int first;  // of the impulses
} Along;

static bool add_along_once(const Along* a, int coordinate) {
  const PawlModel* model = a->loader->model;
  for (int k = a->first; k < model->impulse_count; k++) {
    if (model->impulses[k].coordinate == coordinate) {
      return true;
    }
  }
  return add_impulse(a->loader, a->where, coordinate, a->value);
}

// One for each coordinate in `along`.
static int add_along(void* context, PawlOp leaf, int index) {
  const Along* a = context;
  if (leaf == PAWL_OP_QUAT) {  // the numbers of a quaternion turn with the same velocities
    return add_along_once(a, index / 4) && add_along_once(a, index / 4 + 1) &&
                   add_along_once(a, index / 4 + 2)
               ? 0
               : 1;
  }
  return leaf != PAWL_OP_Q || add_impulse(a->loader, a->where, index, a->value) ? 0 : 1;
}

// The value times the derivatives of `along`.
static bool derive_along(const Along* a, int first) {
  PawlModel* model = a->loader->model;
  for (int k = first; k < model->impulse_count; k++) {
    PawlImpulse* impulse = &model->impulses[k];
    PawlNode slope = pawl_dag_vary(model->dag, a->along, impulse->coordinate,
                                   pawl_model_spin(model, impulse->coordinate));
    impulse->node = slope == PAWL_NO_NODE ? slope : pawl_dag_mul(model->dag, a->value, slope);
    if (impulse->node == PAWL_NO_NODE) {
      return pawl_loader_no_memory(a->loader);
    }
  }
  return true;
}

// {along: x + 2*y, value: 3}
static bool load_impulse_along(PawlLoader* loader, PawlYaml* item, const PawlScope* scope) {
  static const char* const keys[] = {"along", "value", NULL};
  Along a = {.loader = loader, .where = item};
  if (item->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, item, "an impulse of a list is a map: {along: ..., value: ...}");
    return false;
  }
  bool good = pawl_yaml_check_keys(&loader->report, item, "an impulse", keys);
  PawlYaml *along = pawl_yaml_get(item, "along"), *value = pawl_yaml_get(item, "value");
  if (good && (!along || !value)) {
    pawl_report(&loader->report, item, "an impulse of a list needs along: and value:");
    return false;
  }
  if (!good || !pawl_expression(loader, along, scope, &along_use, &a.along) ||
      !pawl_expression(loader, value, scope, &impulse_use, &a.value)) {
    return false;
  }
  int before = loader->model->impulse_count;
  a.first = before;
  int failed = pawl_dag_leaves(loader->model->dag, a.along, add_along, &a);
  if (!failed && !derive_along(&a, before)) {
    return false;
  }
  if (!failed && loader->model->impulse_count == before) {
    pawl_report(&loader->report, along, "along: '%s' does not move with any coordinate",
                pawl_quote(along->text).s);
    return false;
  }
  return failed < 0 ? pawl_loader_no_memory(loader) : failed == 0;
}

static bool load_impulses(PawlLoader* loader, PawlYaml* impulse, const PawlScope* scope,
                          PawlEventDef* event) {
  event->first_impulse = loader->model->impulse_count;
  if (!impulse) {
    return true;
  }
  bool map = impulse->kind == PAWL_YAML_MAP, good = impulse->first != NULL;
  if (impulse->kind == PAWL_YAML_SCALAR || !good) {
    pawl_report(&loader->report, impulse,
                "impulse: expected a map of coordinates, {x: 3}, or a list of {along: ..., value: "
                "...}");
    return false;
  }
  for (PawlYaml* child = impulse->first; good && child; child = child->next) {
    good = map ? load_impulse_on(loader, child, scope) : load_impulse_along(loader, child, scope);
  }
  event->impulse_count = loader->model->impulse_count - event->first_impulse;
  return good;
}

static bool load_event(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                       PawlEventDef* event) {
  static const char* const keys[] = {"when",  "at",   "every",   "offset", "direction",
                                     "after", "stop", "impulse", "set",    NULL};
  if (body->kind != PAWL_YAML_MAP) {
    pawl_report(&loader->report, body, "an event is a map: {when: expression, ...} or {at: time}");
    return false;
  }
  bool good = pawl_yaml_check_keys(&loader->report, body, "an event", keys);
  good &= pawl_load_trigger(loader, body, scope, &event->trigger);
  const PawlYaml* stop = pawl_yaml_get(body, "stop");
  good &= !stop || pawl_flag(loader, stop, &event->stop);
  good &= load_impulses(loader, pawl_yaml_get(body, "impulse"), scope, event);
  good &= pawl_load_every(loader, body, scope, &event->trigger);
  good &= pawl_load_sets(loader, pawl_yaml_get(body, "set"), scope, event);
  if (!pawl_yaml_get(body, "when") && !pawl_yaml_get(body, "at") && !pawl_yaml_get(body, "every")) {
    pawl_report(&loader->report, body,
                "the event '%s' needs when:, at: or every:", pawl_quote(event->name).s);
    return false;
  }
  return good;
}

static int add_event(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  PawlModel* model = loader->model;
  PawlEventDef event = {.name = pawl_declared_name(loader, entry, at),
                        .source = pawl_loader_source(loader, entry->key)};
  if (!event.name || !load_event(loader, entry->value, &at->scope, &event) ||
      !PAWL_ROOM(loader, entry->key, model->events, loader->event_capacity, model->event_count)) {
    return -1;
  }
  model->events[model->event_count] = event;
  return model->event_count++;
}

void pawl_load_events(PawlLoader* loader, PawlYaml* section) {
  if (pawl_expect_map(loader, section, "events")) {
    pawl_declare(loader, section, &loader->events, NULL, PAWL_NAME_EVENT, add_event);
  }
}

// ---- outputs --------------------------------------------------------------------------------

static bool load_output(PawlLoader* loader, PawlYaml* body, const PawlScope* scope,
                        PawlOutput* output, PawlMatrix* what) {
  static const char* const keys[] = {"value", "unit", NULL};
  PawlYaml* text = body;
  output->unit = "";
  if (body->kind == PAWL_YAML_MAP) {
    PawlYaml* unit = pawl_yaml_get(body, "unit");
    text = pawl_yaml_get(body, "value");
    if (!pawl_yaml_check_keys(&loader->report, body, "an output", keys) ||
        (unit && !pawl_load_text(loader, unit, &output->unit))) {
      return false;
    }
    if (!text) {
      pawl_report(&loader->report, body,
                  "the output '%s' needs value:", pawl_quote(output->name).s);
      return false;
    }
  }
  unsigned contains;
  bool good = pawl_shaped(loader, text, scope, &output_use, what, &contains);
  if (good && what->cols > 1) {
    pawl_report(&loader->report, text, "an output is a number or a vector, found %s",
                pawl_matrix_shape(what));
    return false;
  }
  output->reacts = contains & (PAWL_MAY_A | PAWL_MAY_LAMBDA);
  output->of_contact = contains & PAWL_MAY_CONTACT;
  return good;
}

// tip.x of the output tip.
static const char* component_name(PawlLoader* loader, const char* name, int component) {
  size_t length = strlen(name);
  char* text = pawl_pool_alloc(&loader->kept, length + sizeof ".x");
  if (!text) {
    pawl_loader_no_memory(loader);
    return NULL;
  }
  memcpy(text, name, length);
  memcpy(text + length, (const char[]){'.', (char)('x' + component), '\0'}, sizeof ".x");
  return text;
}

static int add_output(PawlLoader* loader, const PawlDeclared* entry, const PawlIndexer* at) {
  PawlModel* model = loader->model;
  PawlOutput output = {.name = pawl_declared_name(loader, entry, at),
                       .source = pawl_loader_source(loader, entry->key)};
  PawlMatrix what;
  int first = model->output_count;
  if (!output.name || !load_output(loader, entry->value, &at->scope, &output, &what)) {
    return -1;
  }
  for (int k = 0; k < what.rows; k++) {
    if (!PAWL_ROOM(loader, entry->key, model->outputs, loader->output_capacity,
                   model->output_count)) {
      return -1;
    }
    PawlOutput number = output;
    number.node = what.at[k];
    number.components = k == 0 ? what.rows : 0;
    number.name = what.rows == 1 ? output.name : component_name(loader, output.name, k);
    if (!number.name) {
      return -1;
    }
    model->outputs[model->output_count++] = number;
  }
  return first;
}

void pawl_load_outputs(PawlLoader* loader, PawlYaml* section) {
  if (pawl_expect_map(loader, section, "outputs")) {
    pawl_declare(loader, section, &loader->outputs, &loader->names, PAWL_NAME_OUTPUT, add_output);
  }
}
