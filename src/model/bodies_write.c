// SPDX-License-Identifier: Apache-2.0
// What a body becomes: parameters, definitions, energies and, where it is free, coordinates.
#include <string.h>

#include "model/bodies.h"
#include "model/demand.h"

// ---- masses -----------------------------------------------------------------------------------

// A number of the parameter section, given by the user or made from the shape.
static void put_parameter(PawlMade* made, const PawlBody* body, const char* part,
                          const PawlYaml* given, const char* otherwise) {
  const PawlPartName* name = &body->name;
  const PawlYaml* like = given ? given : body->key;
  const char* text = given ? pawl_part_text(made, given, part) : otherwise;
  pawl_put(made, "parameters", like, pawl_part_key(made, name, part), text);
}

static const char* const moments[] = {"inertia_1", "inertia_2", "inertia_3"};

// Of a matrix: the products of inertia behind the three moments.
static const struct {
  const char* part;
  int row, column;
} products[] = {{"inertia_12", 0, 1}, {"inertia_13", 0, 2}, {"inertia_23", 1, 2}};

static const PawlYaml* entry(const PawlYaml* list, int k) {
  const PawlYaml* child = list->kind == PAWL_YAML_LIST ? list->first : NULL;
  for (; child && k > 0; k--) {
    child = child->next;
  }
  return child;
}

static void put_inertia(PawlMade* made, const PawlBody* body, const PawlYaml* inertia) {
  for (int k = 0; k < 3; k++) {
    const PawlYaml* item = entry(inertia, k);
    put_parameter(made, body, moments[k], item && body->full ? entry(item, k) : item, "0");
  }
  for (size_t k = 0; k < 3 && body->full; k++) {
    const PawlYaml* row = entry(inertia, products[k].row);
    put_parameter(made, body, products[k].part, row ? entry(row, products[k].column) : NULL, "0");
  }
}

static bool is_matrix(const PawlYaml* list) {
  bool good = list->count == 3;
  for (const PawlYaml* row = list->first; row; row = row->next) {
    good = good && row->kind == PAWL_YAML_LIST && row->count == 3;
  }
  return good;
}

// Numbers as the dimension asks for them: one in the plane, three or three rows in space.
static bool check_inertia(PawlMade* made, const PawlYaml* inertia) {
  bool list = inertia->kind == PAWL_YAML_LIST;
  bool rows = list && inertia->first && inertia->first->kind == PAWL_YAML_LIST;
  bool good = made->dimension == 3 ? (rows ? is_matrix(inertia) : list && inertia->count == 3)
                                   : inertia->kind == PAWL_YAML_SCALAR;
  if (!good) {
    pawl_report(&made->loader->report, inertia, "inertia: expected %s%s",
                made->dimension == 3 ? "[a, b, c] or a matrix of three rows"
                                     : "one number, since places have two",
                PAWL_YAML_FLOW_HINT);
  }
  return good;
}

// What no body has: products of inertia that differ across the diagonal, negative moments.
static void demand_inertia(PawlMade* made, const PawlBody* body, const PawlYaml* inertia) {
  const char *name = body->name.name, *texts[6];
  const char* what = pawl_say(made, "the inertia of '%s'", name);
  for (int k = 0; k < 3; k++) {
    texts[k] = pawl_part_use(made, &body->name, moments[k]);
    texts[3 + k] = body->full ? pawl_part_use(made, &body->name, products[k].part) : "0";
  }
  if (!inertia->judged) {
    pawl_demand(made, PAWL_DEMAND_INERTIA, &body->name, inertia, what, 6, texts);
  }
  for (int k = 0; k < 3 && body->full; k++) {
    int i = products[k].row, j = products[k].column;
    const PawlYaml *upper = entry(entry(inertia, i), j), *lower = entry(entry(inertia, j), i);
    const char* sides[] = {pawl_part_text(made, upper, "a number"),
                           pawl_part_text(made, lower, "a number"), texts[i], texts[j]};
    pawl_demand(made, PAWL_DEMAND_EQUAL, &body->name, lower,
                pawl_say(made, "the inertia of '%s' is not symmetric", name), 4, sides);
  }
}

static void demand_masses(PawlMade* made, const PawlBody* body, const PawlYaml* mass,
                          const PawlYaml* inertia) {
  const char* name = body->name.name;
  if (mass) {
    pawl_demand_one(made, PAWL_DEMAND_NOT_NEGATIVE, &body->name, mass,
                    pawl_say(made, "the mass of '%s' is negative", name),
                    pawl_part_use(made, &body->name, "mass"));
  }
  if (inertia && made->dimension == 3) {
    demand_inertia(made, body, inertia);
  } else if (inertia) {
    pawl_demand_one(made, PAWL_DEMAND_NOT_NEGATIVE, &body->name, inertia,
                    pawl_say(made, "the inertia of '%s' is negative", name),
                    pawl_part_use(made, &body->name, "inertia"));
  }
}

// What is given, and 0 for what is not; what the shape gives is written before.
static bool write_masses(PawlMade* made, const PawlBody* body) {
  const PawlYaml *mass = pawl_part_get(body->map, "mass"),
                 *inertia = pawl_part_get(body->map, "inertia");
  const PawlYaml nothing = {.kind = PAWL_YAML_LIST};
  if (inertia && !check_inertia(made, inertia)) {
    return false;
  }
  demand_masses(made, body, mass, inertia);
  if (!body->shaped) {
    put_parameter(made, body, "mass", mass, "0");
  }
  if (!inertia && body->shaped) {
    return true;
  }
  if (made->dimension == 3) {
    put_inertia(made, body, inertia ? inertia : &nothing);
  } else {
    put_parameter(made, body, "inertia", inertia, "0");
  }
  return true;
}

// ---- energies ---------------------------------------------------------------------------------

static void write_energies(PawlMade* made, const PawlBody* body, const char* gravity) {
  const PawlPartName* name = &body->name;
  const char *mass = pawl_part_use(made, name, "mass"), *b = pawl_part_use(made, name, "");
  const char* kinetic = pawl_say(made, "%s/2*norm(%s.centre')^2", mass, b);
  pawl_put_each(made, "kinetic", body->key, name, kinetic);
  if (made->dimension == 2) {
    pawl_put_each(made, "kinetic", body->key, name,
                  pawl_say(made, "%s.inertia/2*%s.omega^2", b, b));
  } else {
    pawl_put_each(made, "kinetic", body->key, name,
                  pawl_say(made,
                           "%s.inertia_1/2*%s.spin.x^2 + %s.inertia_2/2*%s.spin.y^2 + "
                           "%s.inertia_3/2*%s.spin.z^2",
                           b, b, b, b, b, b));
  }
  if (body->full) {
    pawl_put_each(made, "kinetic", body->key, name,
                  pawl_say(made,
                           "%s.inertia_12*%s.spin.x*%s.spin.y + %s.inertia_13*%s.spin.x*%s.spin.z "
                           "+ %s.inertia_23*%s.spin.y*%s.spin.z",
                           b, b, b, b, b, b, b, b, b));
  }
  if (gravity) {
    pawl_put_each(made, "potential", body->key, name,
                  pawl_say(made, "-%s*dot(%s, %s.centre)", mass, gravity, b));
  }
}

// ---- points -----------------------------------------------------------------------------------

static void define(PawlMade* made, const PawlBody* body, const char* part, const char* text) {
  pawl_put(made, "define", body->key ? body->key : made->root,
           pawl_part_key(made, &body->name, part), text);
}

static void write_points(PawlMade* made, const PawlBody* body) {
  PawlBodyUse use = {body, body->name};
  for (const PawlYaml* point = body->points ? body->points->first : NULL; point;
       point = point->next) {
    const char* local = pawl_part_vector(made, point, "a point");
    if (local) {
      pawl_put(made, "define", point, pawl_part_key(made, &body->name, point->key->text),
               pawl_body_place(made, &use, local));
    }
  }
}

// mass times velocity, and J spin in the axes of the ground.
static void write_momenta(PawlMade* made, const PawlBody* body) {
  const char* b = pawl_part_use(made, &body->name, "");
  define(made, body, "momentum", pawl_say(made, "%s.mass*%s.centre'", b, b));
  if (made->dimension == 2) {
    define(made, body, "angular_momentum", pawl_say(made, "%s.inertia*%s.omega", b, b));
    return;
  }
  const char* turning =
      pawl_say(made, "[%s.inertia_1*%s.spin.x, %s.inertia_2*%s.spin.y, %s.inertia_3*%s.spin.z]", b,
               b, b, b, b, b);
  if (body->full) {
    turning =
        pawl_say(made,
                 "[[%s.inertia_1, %s.inertia_12, %s.inertia_13], [%s.inertia_12, %s.inertia_2, "
                 "%s.inertia_23], [%s.inertia_13, %s.inertia_23, %s.inertia_3]]*%s.spin",
                 b, b, b, b, b, b, b, b, b, b);
  }
  define(made, body, "angular_momentum",
         pawl_say(made, "%s.R*%s", b, body->full ? pawl_factor(made, turning) : turning));
}

void pawl_write_body(PawlMade* made, const PawlBody* body, const char* gravity) {
  if (write_masses(made, body)) {
    write_energies(made, body, gravity);
    write_momenta(made, body);
  }
  write_points(made, body);
}

void pawl_write_ground(PawlMade* made, const PawlBody* ground) {
  bool plane = made->dimension == 2;
  define(made, ground, "at", plane ? "[0, 0]" : "[0, 0, 0]");
  define(made, ground, "R", plane ? "[[1, 0], [0, 1]]" : "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]");
  write_points(made, ground);
}

// ---- coordinates ------------------------------------------------------------------------------

bool pawl_body_start(PawlMade* made, PawlBody* body, PawlBodyStart* start) {
  const PawlYaml *at = pawl_part_get(body->start, "at"),
                 *angle = pawl_part_get(body->start, "angle"),
                 *rotation = pawl_part_get(body->start, "rotation"),
                 *velocity = pawl_part_get(body->rate, "velocity"),
                 *omega = pawl_part_get(body->rate, "omega");
  const PawlYaml* wrong = made->dimension == 2 ? rotation : angle;
  *start = (PawlBodyStart){0};
  if (wrong) {
    pawl_report(&made->loader->report, wrong, "a body in %s has %s at its start",
                made->dimension == 2 ? "the plane" : "space",
                made->dimension == 2 ? "an angle" : "a rotation");
    return false;
  }
  start->at = at ? pawl_part_vector(made, at, "at") : NULL;
  start->velocity = velocity ? pawl_part_vector(made, velocity, "velocity") : NULL;
  start->angle = angle ? pawl_part_text(made, angle, "an angle") : NULL;
  body->R0 = rotation ? pawl_part_rotation(made, rotation, "rotation") : NULL;
  const char* w = !omega                 ? NULL
                  : made->dimension == 2 ? pawl_part_text(made, omega, "an angular velocity")
                                         : pawl_part_vector(made, omega, "omega");
  if (made->dimension == 2) {
    start->omega = w;
  } else if (w) {  // the rate of a rotation is along the axes of the body
    body->spin0 = body->R0 ? pawl_say(made, "transpose(%s)*%s", body->R0, pawl_factor(made, w)) : w;
  }
  return (!at || start->at) && (!velocity || start->velocity) && (!angle || start->angle) &&
         (!rotation || body->R0) && (!omega || w);
}

static const char* guess_word(const PawlBody* body) {
  return body->guess[0] ? (body->guess[1] ? "true" : "start") : body->guess[1] ? "rate" : NULL;
}

// centre = at + R c, and its rate.
static void write_centre(PawlMade* made, const PawlBody* body, const PawlBodyStart* start) {
  static const char* const parts[] = {"centre.x", "centre.y", "centre.z"};
  PawlBodyUse use = {body, body->name};
  const char *arm = NULL, *arm_rate = NULL;
  if (body->centre) {
    const char* c = pawl_factor(made, body->centre);
    arm = pawl_say(made, "%s*%s", pawl_body_R(made, &use, ""), c);
    arm_rate = pawl_say(made, "%s*%s", pawl_body_R(made, &use, "'"), c);
  }
  const char* place = pawl_sum(made, start->at, arm, NULL, NULL);
  const char* rate = pawl_sum(made, start->velocity, arm_rate, NULL, NULL);
  for (int k = 0; k < made->dimension; k++) {
    PawlYaml* map =
        pawl_put_map(made, "coordinates", body->key, pawl_part_key(made, &body->name, parts[k]));
    pawl_set(made, map, body->key, "start", pawl_component(made, place, k));
    pawl_set(made, map, body->key, "rate", pawl_component(made, rate, k));
    pawl_set(made, map, body->key, "guess", guess_word(body));
    pawl_set(made, map, body->key, "unit", "m");
  }
}

static void write_turn(PawlMade* made, const PawlBody* body, const PawlBodyStart* start) {
  bool plane = made->dimension == 2;
  PawlYaml* map = pawl_put_map(made, "coordinates", body->key,
                               pawl_part_key(made, &body->name, plane ? "angle" : "R"));
  pawl_set(made, map, body->key, "kind", plane ? NULL : "rotation");
  pawl_set(made, map, body->key, "start", plane ? start->angle : body->R0);
  pawl_set(made, map, body->key, "rate", plane ? start->omega : body->spin0);
  pawl_set(made, map, body->key, "guess", guess_word(body));
  pawl_set(made, map, body->key, "unit", plane ? "rad" : NULL);
}

void pawl_write_free_body(PawlMade* made, const PawlBody* body, const PawlBodyStart* start) {
  const char* b = pawl_part_use(made, &body->name, "");
  bool plane = made->dimension == 2;
  write_centre(made, body, start);
  write_turn(made, body, start);
  if (plane) {
    define(made, body, "R", pawl_say(made, "rotation(%s.angle)", b));
    define(made, body, "omega", pawl_say(made, "%s.angle'", b));
    define(made, body, "centre", pawl_say(made, "[%s.centre.x, %s.centre.y]", b, b));
  } else {
    define(made, body, "spin", pawl_say(made, "%s.R.omega", b));
    define(made, body, "omega", pawl_say(made, "%s.R*%s.R.omega", b, b));
    define(made, body, "centre",
           pawl_say(made, "[%s.centre.x, %s.centre.y, %s.centre.z]", b, b, b));
  }
  define(made, body, "at",
         body->centre ? pawl_say(made, "%s.centre - %s.R*%s", b, b, pawl_factor(made, body->centre))
                      : pawl_say(made, "%s.centre", b));
}

void pawl_write_carried_body(PawlMade* made, const PawlBody* body) {
  PawlBodyUse use = {body, body->name};
  const char* b = pawl_part_use(made, &body->name, "");
  if (made->dimension == 2) {
    define(made, body, "R", pawl_say(made, "rotation(%s.angle)", b));
    define(made, body, "omega", pawl_say(made, "%s.angle'", b));
  } else {
    define(made, body, "omega", pawl_say(made, "%s.R*%s.spin", b, b));
  }
  define(made, body, "centre", pawl_body_place(made, &use, body->centre));
}
