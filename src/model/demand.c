// SPDX-License-Identifier: Apache-2.0
#include "model/demand.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "model/inertia.h"
#include "model/use.h"

// ---- demanding --------------------------------------------------------------------------------

void pawl_demand(PawlMade* made, PawlDemandKind kind, const PawlPartName* of, const PawlYaml* like,
                 const char* what, int count, const char* const texts[]) {
  PawlLoader* loader = made->loader;
  if (made->demanded) {
    return;
  }
  PawlDemand* demand = pawl_pool_alloc(&loader->pool, sizeof *demand);
  PawlYaml** text = pawl_pool_alloc(&loader->pool, (size_t)count * sizeof *text);
  PawlYaml* key = pawl_new_scalar(loader, pawl_part_key(made, of, ""), like);
  if (!demand || !text || !key) {
    pawl_loader_no_memory(loader);
    return;
  }
  *demand = (PawlDemand){.kind = kind, .key = key, .text = text, .count = count, .what = what};
  for (int k = 0; k < count; k++) {
    text[k] = texts[k] ? pawl_new_scalar(loader, texts[k], like) : NULL;
    if (!text[k]) {
      return;
    }
  }
  if (loader->last_demand) {
    loader->last_demand->next = demand;
  } else {
    loader->demands = demand;
  }
  loader->last_demand = demand;
}

void pawl_demand_one(PawlMade* made, PawlDemandKind kind, const PawlPartName* of,
                     const PawlYaml* like, const char* what, const char* text) {
  pawl_demand(made, kind, of, like, what, 1, &text);
}

// x and y of all corners.
static void demand_outline(PawlMade* made, const PawlPartName* of, const PawlYaml* corners) {
  size_t room = corners->kind == PAWL_YAML_LIST ? 2 * (size_t)corners->count : 0;
  const char** texts = pawl_pool_alloc(&made->loader->pool, (room + 1) * sizeof *texts);
  int count = 0;
  if (!texts) {
    pawl_loader_no_memory(made->loader);
    return;
  }
  for (const PawlYaml* corner = room > 0 ? corners->first : NULL; corner; corner = corner->next) {
    const char* text = pawl_part_vector(made, corner, "a corner");
    if (!text) {
      return;
    }
    texts[count++] = pawl_component(made, text, 0);
    texts[count++] = pawl_component(made, text, 1);
  }
  if (count >= 6) {
    pawl_demand(made, PAWL_DEMAND_OUTLINE, of, corners,
                pawl_say(made, "the polygon of '%s'", of->name), count, texts);
  }
}

// A capsule without length is a ball.
void pawl_demand_shape(PawlMade* made, const PawlPartName* of, const PawlYaml* sizes) {
  const char* word = sizes->key->text;
  bool list = sizes->kind == PAWL_YAML_LIST, capsule = strcmp(word, "capsule") == 0;
  if (strcmp(word, "polygon") == 0) {
    demand_outline(made, of, sizes);
    return;
  }
  for (const PawlYaml* size = list ? sizes->first : sizes; size; size = list ? size->next : NULL) {
    const char* text = pawl_part_text(made, size, "a number");
    bool length = capsule && size != sizes->first;
    pawl_demand_one(made, length ? PAWL_DEMAND_NOT_NEGATIVE : PAWL_DEMAND_POSITIVE, of, size,
                    pawl_say(made, "a size of the %s of '%s' is %s", word, of->name,
                             length ? "negative" : "not positive"),
                    text);
  }
}

static const char* last_dot(const char* text, size_t length) {
  while (length > 0 && text[length - 1] != '.') {
    length--;
  }
  return length > 0 ? text + length - 1 : NULL;
}

// Whether the text has time in it or what moves, arm.angle.
static bool moves(const char* text) {
  static const char* const parts[] = {"angle", "angle2", "travel", "travel2", "R",
                                      "at",    "centre", "omega",  "spin",    "rate"};
  static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";
  for (size_t length; *text; text += length + (length == 0)) {
    length = strspn(text, letters);
    const char* dot = last_dot(text, length);
    bool found = length == 1 && *text == 't';
    for (size_t k = 0; dot && k < sizeof parts / sizeof *parts; k++) {
      size_t more = length - (size_t)(dot + 1 - text);
      found = found || (more == strlen(parts[k]) && strncmp(dot + 1, parts[k], more) == 0);
    }
    if (found) {
      return true;
    }
  }
  return false;
}

// A number, which would be a factor of all that it turns, is seen by its products with the axes;
// the spin of a body knows nothing of a turn that moves (J1).
void pawl_demand_rotation(PawlMade* made, const PawlPartName* of, const PawlYaml* like,
                          const char* text) {
  static const char* const axes[] = {"[1, 0, 0]", "[0, 1, 0]", "[0, 0, 1]"};
  const char* column[3];
  for (int k = 0; k < 3 && text; k++) {
    column[k] = pawl_say(made, "(%s*%s)", pawl_factor(made, text), axes[k]);
  }
  if (!text) {
    return;
  }
  if (moves(text)) {
    pawl_report(&made->loader->report, like,
                "turn: of '%s' is to be of parameters alone; what moves is the value of a joint",
                of->name);
    return;
  }
  const char* texts[] = {pawl_say(made, "dot(cross(%s, %s), %s)", column[0], column[1], column[2]),
                         pawl_say(made, "dot(%s, %s) + dot(%s, %s) + dot(%s, %s)", column[0],
                                  column[0], column[1], column[1], column[2], column[2])};
  pawl_demand(
      made, PAWL_DEMAND_ROTATION, of, like,
      pawl_say(made, "turn: of '%s' is no rotation such as \"rotation([0, 0, 1], 0.3)\"", of->name),
      2, texts);
}

// ---- inertias ---------------------------------------------------------------------------------

static bool judge_inertia(PawlLoader* loader, const PawlDemand* demand, const double J[6]) {
  const double I[3][3] = {{J[0], J[3], J[4]}, {J[3], J[1], J[5]}, {J[4], J[5], J[2]}};
  double m[3];
  pawl_principal_moments(I, m);
  if (pawl_moments_negative(m)) {
    pawl_remark(&loader->remarks.warnings,
                "%s:%d: %s: a principal moment of inertia is negative; no body has %g, %g, %g "
                "kg m^2",
                loader->report.file, demand->key->line, demand->what, m[0], m[1], m[2]);
    return false;
  }
  if (m[2] - m[0] - m[1] > PAWL_INERTIA_TRIANGLE * m[2]) {
    pawl_remark(&loader->remarks.warnings,
                "%s:%d: %s: the largest moment of inertia exceeds the sum of the two others; no "
                "body has principal moments %g, %g, %g kg m^2",
                loader->report.file, demand->key->line, demand->what, m[0], m[1], m[2]);
    return false;
  }
  return true;
}

// ---- outlines ---------------------------------------------------------------------------------

// Twice the area of the triangle a, b, c; positive when it is counter-clockwise.
static double turn_at(const double a[2], const double b[2], const double c[2]) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

static bool cross_inside(const double a[2], const double b[2], const double c[2],
                         const double d[2]) {
  return turn_at(a, b, c) * turn_at(a, b, d) < 0.0 && turn_at(c, d, a) * turn_at(c, d, b) < 0.0;
}

// The first pair of edges that cross, from 1; false without.
static bool find_crossing(int corners, const double (*p)[2], int edges[2]) {
  for (int i = 0; i < corners; i++) {
    for (int j = i + 1; j < corners; j++) {
      if (cross_inside(p[i], p[(i + 1) % corners], p[j], p[(j + 1) % corners])) {
        edges[0] = i + 1;
        edges[1] = j + 1;
        return true;
      }
    }
  }
  return false;
}

static bool judge_outline(PawlLoader* loader, const PawlDemand* demand, const double values[]) {
  const double(*p)[2] = (const double(*)[2])values;
  int corners = demand->count / 2, edges[2];
  double area = 0.0;
  for (int k = 0; k < corners; k++) {
    area += turn_at(p[0], p[k], p[(k + 1) % corners]) / 2;
  }
  if (find_crossing(corners, p, edges)) {
    pawl_report(&loader->report, demand->key,
                "%s: the edges that begin at its corners %d and %d cross", demand->what, edges[0],
                edges[1]);
    return false;
  }
  if (!(area > 0.0)) {
    pawl_report(&loader->report, demand->key, "%s: its corners %s", demand->what,
                area < 0.0 ? "are clockwise; give them in the other order" : "have no area");
    return false;
  }
  return true;
}

// ---- judging ----------------------------------------------------------------------------------

static bool judge_number(PawlLoader* loader, const PawlDemand* demand, double value) {
  bool good = demand->kind == PAWL_DEMAND_POSITIVE   ? value > 0.0
              : demand->kind == PAWL_DEMAND_NOT_ZERO ? value != 0.0
                                                     : value >= 0.0;
  if (!good) {
    pawl_report(&loader->report, demand->key, "%s (%g)", demand->what, value);
  }
  return good;
}

static bool judge_equal(PawlLoader* loader, const PawlDemand* demand, const double value[]) {
  double size = 0.0;
  for (int k = 0; k < demand->count; k++) {
    size = fmax(size, fabs(value[k]));
  }
  if (fabs(value[0] - value[1]) <= PAWL_INERTIA_ROUNDING * size) {
    return true;
  }
  pawl_report(&loader->report, demand->key, "%s (%g and %g)", demand->what, value[0], value[1]);
  return false;
}

// With the determinant 1 and the squares 3 all singular values are 1: they have the product 1, and
// the mean of their squares is that of their product.
static bool judge_rotation(PawlLoader* loader, const PawlDemand* demand, const double value[]) {
  bool good = fabs(value[0] - 1.0) <= PAWL_INERTIA_ROUNDING &&
              fabs(value[1] - 3.0) <= 3.0 * PAWL_INERTIA_ROUNDING;
  if (!good) {
    pawl_report(&loader->report, demand->key, "%s", demand->what);
  }
  return good;
}

static bool judge(PawlLoader* loader, const PawlDemand* demand, const double values[]) {
  switch (demand->kind) {
    case PAWL_DEMAND_EQUAL:
      return judge_equal(loader, demand, values);
    case PAWL_DEMAND_INERTIA:
      return judge_inertia(loader, demand, values);
    case PAWL_DEMAND_ROTATION:
      return judge_rotation(loader, demand, values);
    case PAWL_DEMAND_OUTLINE:
      return judge_outline(loader, demand, values);
    default:
      return judge_number(loader, demand, values[0]);
  }
}

// Whether the demand holds or is about what is not known.
static bool judge_at(PawlLoader* loader, const PawlDemand* demand, const PawlScope* scope,
                     double values[]) {
  int mistakes = loader->report.count;
  for (int k = 0; k < demand->count; k++) {
    if (!pawl_judge(loader, demand->text[k], scope, &values[k])) {
      loader->report.count = mistakes;  // no mistake: it is no number of parameters
      return true;
    }
  }
  return judge(loader, demand, values);
}

// One of a family will do for a message.
static void judge_all(PawlLoader* loader, const PawlDemand* demand) {
  const PawlAstKey* key = pawl_key(loader, demand->key);
  double* values = pawl_alloc((size_t)demand->count, sizeof *values);
  PawlIndexer at;
  if (!values) {
    pawl_loader_no_memory(loader);
    return;
  }
  for (bool more = key && pawl_indexer_begin(&at, loader, demand->key, key, &PAWL_SCOPE_EMPTY);
       more; more = pawl_indexer_next(&at)) {
    if (!judge_at(loader, demand, &at.scope, values)) {
      break;
    }
  }
  pawl_free(values);
}

void pawl_judge_demands(PawlLoader* loader) {
  for (const PawlDemand* demand = loader->demands; demand; demand = demand->next) {
    judge_all(loader, demand);
  }
}
