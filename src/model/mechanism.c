// SPDX-License-Identifier: Apache-2.0
#include "model/mechanism.h"

#include <string.h>

#include "model/joints.h"
#include "model/mechanism_impl.h"
#include "model/touching.h"
#include "model/use.h"

enum { LONG_CHAIN = 12 };  // bodies in a row from which on absolute coordinates are the faster ones

enum { AUTO, JOINT, ABSOLUTE };

typedef struct Mechanism {
  PawlMade made;
  PawlBodies bodies;
  PawlJoints joints;
  const char* gravity;  // NULL: none
  int coordinates;      // AUTO, JOINT, ABSOLUTE
  const PawlYaml* chosen;
  int* order;  // of the bodies: parents first
} Mechanism;

static bool read_options(Mechanism* m, const PawlYaml* section) {
  static const char* const keys[] = {"coordinates", "gravity", NULL};
  static const char* const words[] = {"auto", "joint", "absolute", NULL};
  PawlMade* made = &m->made;
  if (!pawl_expect_map(made->loader, section, "mechanism")) {
    return !section || pawl_yaml_is_null(section);
  }
  bool good = pawl_yaml_check_keys(&made->loader->report, section, "the mechanism", keys);
  const PawlYaml* gravity = pawl_part_get(section, "gravity");
  m->chosen = pawl_part_get(section, "coordinates");
  if (m->chosen) {
    m->coordinates = pawl_load_word(made->loader, m->chosen, "coordinates", words);
  }
  made->by_joints = m->coordinates == JOINT;
  m->gravity = gravity ? pawl_part_vector(made, gravity, "gravity") : NULL;
  return good && m->coordinates >= 0 && (!gravity || m->gravity);
}

// ---- which coordinates ------------------------------------------------------------------------

static const PawlYaml* find_family(const Mechanism* m) {
  for (int k = 1; k < m->bodies.count; k++) {
    if (m->bodies.item[k].name.range[0]) {
      return m->bodies.item[k].key;
    }
  }
  for (int k = 0; k < m->joints.count; k++) {
    if (m->joints.item[k].name.range[0]) {
      return m->joints.item[k].key;
    }
  }
  return NULL;
}

static bool choose_coordinates(Mechanism* m) {
  const PawlYaml* family = find_family(m);
  int deepest = 0;
  for (int k = 0; k < m->bodies.count; k++) {
    deepest = m->bodies.item[k].depth > deepest ? m->bodies.item[k].depth : deepest;
  }
  if (m->coordinates == AUTO) {
    m->coordinates = family || deepest > LONG_CHAIN ? ABSOLUTE : JOINT;
  }
  for (int k = 0; k < m->joints.count; k++) {
    PawlJoint* joint = &m->joints.item[k];
    joint->is_coordinate = joint->in_tree && !joint->cut && m->coordinates == JOINT;
  }
  return true;
}

// ---- writing ----------------------------------------------------------------------------------

// A body that a joint carries has its start from there. Those of a family need one of their own
// with absolute coordinates: one text is to do for both.
static bool check_start(Mechanism* m, const PawlBody* body) {
  const PawlYaml* given = body->start ? body->start : body->rate;
  bool told = body->joint >= 0 && given && !m->joints.item[body->joint].cut;
  if (told && body->name.range[0]) {
    pawl_remark(&m->made.loader->remarks.warnings,
                "%s:%d: the start of '%s' is for absolute coordinates; here it follows from the "
                "joint '%s'",
                m->made.loader->report.file, given->key->line, pawl_quote(body->name.name).s,
                pawl_quote(m->joints.item[body->joint].key->text).s);
  } else if (told) {
    pawl_report(&m->made.loader->report, given->key,
                "the start of '%s' follows from the joint '%s'; give it there, or make that joint "
                "cut: true",
                pawl_quote(body->name.name).s, pawl_quote(m->joints.item[body->joint].key->text).s);
    return false;
  }
  return true;
}

// What is found at the start is all that hangs on what is found.
static void find_guesses(const Mechanism* m, PawlBody* body) {
  const PawlJoint* joint = body->joint >= 0 ? &m->joints.item[body->joint] : NULL;
  for (int k = 0; k < 2 && joint; k++) {
    body->guess[k] = m->bodies.item[body->parent].guess[k] || pawl_joint_guesses(joint, k);
  }
}

static void write_with_coordinates(Mechanism* m, PawlBody* body) {
  PawlBodyStart start = {0};
  const PawlJoint* joint = body->joint >= 0 ? &m->joints.item[body->joint] : NULL;
  if (joint && !body->start && !body->rate) {
    const bool* found = m->bodies.item[body->parent].guess;
    pawl_joint_start(&m->made, joint, &m->bodies, body, &start);
    pawl_write_joint_kept(&m->made, joint, found[0] && !pawl_joint_guesses(joint, 0),
                          found[1] && !pawl_joint_guesses(joint, 1));
  } else if (!pawl_body_start(&m->made, body, &start)) {
    return;
  } else if (joint) {
    pawl_write_joint_kept(&m->made, joint, joint->given[0], joint->given[1]);
  }
  pawl_write_free_body(&m->made, body, &start);
}

static void write_bodies(Mechanism* m) {
  for (int k = 0; k < m->bodies.count; k++) {
    PawlBody* body = &m->bodies.item[m->order[k]];
    if (body->is_ground) {
      pawl_write_ground(&m->made, body);
      continue;
    }
    if (!check_start(m, body)) {
      continue;
    }
    find_guesses(m, body);
    if (m->coordinates == JOINT && !body->is_free) {
      const PawlJoint* joint = &m->joints.item[body->joint];
      PawlBodyStart unused;  // rotation and spin, for bodies that hang on this one
      pawl_joint_start(&m->made, joint, &m->bodies, body, &unused);
      pawl_write_tree_joint(&m->made, joint, body);
      if (body->chain >= 0) {
        pawl_write_tree_joint(&m->made, &m->joints.item[body->chain], body);
      }
      pawl_write_carried_body(&m->made, body);
    } else {
      write_with_coordinates(m, body);
    }
    pawl_write_body(&m->made, body, m->gravity);
  }
}

// Products of axes have no slope where an offset that is kept is a quarter of a turn: rows by (J4).
static bool keeps_axes(const PawlJoint* joint) {
  const PawlYaml* on = joint->switching ? pawl_part_get(joint->switching, "on") : NULL;
  return on && on->text && strcmp(on->text, "keep") == 0 && !joint->is_gear &&
         joint->motion->kept_axes[0];
}

// Whether a joint is to tell that it is not turned over, by (J3): not where it places a body itself
// by what is given, and where it catches whatever the offset is.
static bool may_be_turned_over(const Mechanism* m, const PawlJoint* joint) {
  bool places = false, found = false;
  for (int k = 0; k < m->bodies.count; k++) {
    const PawlBody* body = &m->bodies.item[k];
    bool carried = body->joint >= 0 && &m->joints.item[body->joint] == joint;
    places |= carried && !body->start;
    found |= body->guess[0] && (body == joint->body[0].body || body == joint->body[1].body);
  }
  return !joint->name.range[0] && !joint->keeps && (joint->switching || found || !places);
}

static void write_joints(Mechanism* m, const PawlYaml* root) {
  for (int k = 0; k < m->joints.count; k++) {
    PawlJoint* joint = &m->joints.item[k];
    joint->keeps = keeps_axes(joint);
    joint->gates = joint->switching && pawl_joint_has_acts(joint);
    joint->alone = may_be_turned_over(m, joint);
    if (joint->is_gear) {
      pawl_write_gear(&m->made, joint, &m->joints);
      continue;
    }
    pawl_find_turns(&m->made, joint, root);
    if (!joint->is_coordinate) {
      pawl_write_row_joint(&m->made, joint, true);
    }
    if (joint->closes) {
      pawl_write_joint_kept(&m->made, joint, joint->given[0], joint->given[1]);
    }
    pawl_write_joint_acts(&m->made, joint);
  }
}

// What one body, or all of a family, add: $b stands for the body.
static const char* total_of(PawlMade* made, const PawlBody* body, const char* item) {
  const char *b = pawl_part_use(made, &body->name, ""), *text = "";
  for (const char* dollar; (dollar = strchr(item, '$')); item = dollar + 2) {
    text = pawl_say(made, "%s%.*s%s", text, (int)(dollar - item), item, b);
  }
  text = pawl_say(made, "%s%s", text, item);
  int range = (int)strlen(body->name.range) - 2;  // without the brackets
  return range > 0 ? pawl_say(made, "sum(%.*s, %s)", range, body->name.range + 1, text) : text;
}

// Of all bodies together; angular momentum about the origin.
static void write_totals(Mechanism* m) {
  static const struct {
    const char *name, *open, *item, *close;  // $b: a body
  } totals[] = {{"mechanism.mass", "", "$b.mass", ""},
                {"mechanism.centre", "(", "$b.mass*$b.centre", ")/mechanism.mass"},
                {"mechanism.momentum", "", "$b.momentum", ""},
                {"mechanism.angular_momentum", "",
                 "$b.angular_momentum + $b.mass*cross($b.centre, $b.centre')", ""}};
  for (size_t k = 0; k < sizeof totals / sizeof *totals; k++) {
    PawlText text = {0};
    pawl_text_add(&text, totals[k].open);
    for (int i = 1; i < m->bodies.count; i++) {
      pawl_text_add(&text, i > 1 ? " + " : "");
      pawl_text_add(&text, total_of(&m->made, &m->bodies.item[i], totals[k].item));
    }
    pawl_text_add(&text, totals[k].close);
    pawl_put(&m->made, "define", m->bodies.item[1].key, totals[k].name, text.failed ? "" : text.s);
    m->made.loader->report.no_memory |= text.failed;
    pawl_text_free(&text);
  }
}

// Without a coordinate, of a joint or of the model's own, there is no motion to find.
static void check_moves(const Mechanism* m, const PawlYaml* root) {
  const PawlYaml* bodies = pawl_yaml_get(root, "bodies");
  if (m->coordinates == JOINT && !pawl_yaml_get(m->made.root, "coordinates") &&
      !pawl_yaml_get(root, "coordinates")) {
    pawl_report(&m->made.loader->report, bodies ? bodies->key : root,
                "no body can move; mechanism: {coordinates: absolute} finds what the joints carry");
  }
}

// ---- the whole --------------------------------------------------------------------------------

static bool read_all(Mechanism* m, PawlYaml* root) {
  PawlMade* made = &m->made;
  bool good = read_options(m, pawl_yaml_get(root, "mechanism"));
  good &= pawl_read_bodies(made, pawl_yaml_get(root, "bodies"), &m->bodies);
  if (!m->bodies.item) {
    return false;
  }
  if (m->bodies.count < 2) {
    const PawlYaml* section = pawl_yaml_get(root, "bodies");
    if (made->loader->report.count == 0) {
      pawl_report(&made->loader->report, section ? section : root,
                  "bodies: with at least one body is missing");
    }
    return false;
  }
  good &= pawl_read_joints(made, pawl_yaml_get(root, "joints"), &m->bodies, &m->joints);
  pawl_touch_dimension(made, &m->bodies);
  for (int k = 1; k < m->bodies.count; k++) {
    good &= pawl_body_shape(made, &m->bodies.item[k]);
  }
  m->order = pawl_pool_alloc(&made->loader->pool, (size_t)m->bodies.count * sizeof(int));
  return good && (m->order || pawl_loader_no_memory(made->loader)) &&
         (!made->by_joints || pawl_find_chains(made, &m->bodies, &m->joints)) &&
         pawl_joint_tree(made, &m->bodies, &m->joints, m->order) && choose_coordinates(m);
}

bool pawl_expand_mechanism(PawlLoader* loader, PawlYaml* root) {
  static const char* const sections[] = {"bodies", "joints", "mechanism"};
  bool any = false;
  for (size_t k = 0; k < 3 && root->kind == PAWL_YAML_MAP; k++) {
    any = any || pawl_yaml_get(root, sections[k]);
  }
  if (!any) {
    return true;
  }
  Mechanism m = {.made = {.loader = loader, .root = pawl_new_node(loader, PAWL_YAML_MAP, root)}};
  int mistakes = loader->report.count;
  if (!m.made.root || !read_all(&m, root)) {
    return false;
  }
  write_bodies(&m);
  write_joints(&m, root);
  if (loader->report.count == mistakes) {
    check_moves(&m, root);
  }
  pawl_write_touching(&m.made, &m.bodies, pawl_yaml_get(root, "contacts"));
  m.made.demanded = true;
  write_totals(&m);
  if (loader->report.count == mistakes && !pawl_yaml_get(root, "scene")) {
    pawl_write_mechanism_scene(&m.made, &m.bodies, &m.joints, pawl_yaml_get(root, "springs"),
                               m.gravity);
    loader->scene_made = true;
  }
  for (size_t k = 0; k < 3; k++) {
    pawl_drop_section(root, sections[k]);
  }
  return loader->report.count == mistakes && !loader->report.no_memory &&
         pawl_add_sections(loader, root, m.made.root, false);
}
