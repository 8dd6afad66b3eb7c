// SPDX-License-Identifier: Apache-2.0
// Random models as text. Expressions stay in the domains of their functions and within a modest
// size; corners (abs, min, if, wrap) are rare. A family u[1..N] has few or many members, so that
// its terms end up among the single terms or as lanes of a group.
#pragma once

#include "base/text.h"
#include "expr/random_tree.h"

typedef struct Writer {
  PawlText text;
  Random random;
} Writer;

typedef struct Names {
  int count;
  const char* name[12];
} Names;

static const char* const smooth_form[] = {
    "(%s + %s)",
    "(%s - %s)",
    "%s*%s",
    "%s/(2 + (%s)^2)",
    "sin(%s)",
    "cos(%s)",
    "tanh(%s)",
    "atan(%s)",
    "exp(%s/4)",
    "sqrt(1.5 + (%s)^2)",
    "log(2 + (%s)^2)",
    "(1.5 + sin(%s))^1.5",
    "(%s)^2/2",
    "(%s)^3/4",
    "atan2(%s, 2 + (%s)^2)",
    "asin(tanh(%s)/2)",
    "acos(sin(%s)/2)",
    "cosh(tanh(%s))",
    "sinh(tanh(%s))",
    "tan(atan(%s)/2)",
    "(1.5 + (%s)^2)^(sin(%s)/2)",
    "-(%s)",
    "(2 + cos(%s))^(-1)",
    "p*%s",
    "(%s)^4/8",
    "(1.3 + (%s)^2)^(-2)",
    "exp(-(%s)^2)",
};
static const char* const corner_form[] = {
    "abs(%s)",     "min(%s, %s)", "max(%s, %s)",  "if(%s < %s, 0.3, p)",
    "sign(%s)*%s", "wrap(%s, 3)", "floor(%s)*%s", "if(0 < %s, sqrt(1 + %s^2), 1)",
};
enum {
  SMOOTH_FORMS = sizeof smooth_form / sizeof *smooth_form,
  CORNER_FORMS = sizeof corner_form / sizeof *corner_form
};

// Recursion no deeper than `depth`.
static inline void write_expression(Writer* w, int depth, const Names* names) {
  Random* r = &w->random;
  if (depth == 0 || random_below(r, 7) == 0) {
    if (random_below(r, 5) == 0) {
      pawl_text_printf(&w->text, "%.2f", random_between(r, 0.2, 1.8));
    } else {
      pawl_text_add(&w->text, names->name[random_below(r, names->count)]);
    }
    return;
  }
  bool corner = random_below(r, 40) == 0;
  const char* form = corner ? corner_form[random_below(r, CORNER_FORMS)]
                            : smooth_form[random_below(r, SMOOTH_FORMS)];
  for (const char* hole = strstr(form, "%s"); hole; hole = strstr(form, "%s")) {
    pawl_text_add_bytes(&w->text, form, (size_t)(hole - form));
    pawl_text_add(&w->text, "(");
    write_expression(w, depth - 1, names);
    pawl_text_add(&w->text, ")");
    form = hole + 2;
  }
  pawl_text_add(&w->text, form);
}

// "before" + an expression + "after" in double quotes.
static inline void write_item(Writer* w, const char* key, const char* before, int depth,
                              const Names* names, const char* after) {
  pawl_text_printf(&w->text, "%s\"%s", key, before);
  write_expression(w, depth, names);
  pawl_text_printf(&w->text, "%s\"\n", after);
}

static const Names model_q = {4, {"x", "y", "s", "t"}};
static const Names model_qv = {6, {"x", "y", "x'", "y'", "s'", "t"}};
static const Names family_q = {6, {"u[i]", "u[i]", "x", "w[i]", "t", "i/7"}};
static const Names family_qv = {7, {"u[i]", "u[i]'", "x'", "y", "w[i]'", "t", "i/5"}};
static const Names pair_q = {4, {"u[i]", "u[i+1]", "(u[i+1] - u[i])", "y"}};
static const Names pair_qv = {4, {"u[i]'", "u[i+1]'", "(u[i+1] - u[i])", "u[i]"}};
static const Names seen = {7, {"x''", "lambda(tie)", "y'", "s", "t", "y''", "u[2]"}};
static const Names family_seen = {6, {"u[i]''", "lambda(link[i], 2)", "u[i]'", "w[i]", "x", "i"}};

static inline void write_energies(Writer* w) {
  PawlText* o = &w->text;
  pawl_text_add(o, "kinetic:\n");
  write_item(w, "  - ", "(x'^2 + 0.5*x'*y' + y'^2)*(1.2 + (", 2, &model_q, ")^2)");
  write_item(w, "  - ", "", 3, &model_qv, "");
  write_item(w, "  - for i=1..N: ", "u[i]'^2/2*exp(0.3*(", 2, &family_q, "))");
  write_item(w, "  - for i=1..N: ", "", 2, &family_qv, " + 0.1*s'^2");
  write_item(w, "  - for i=1..N-1: ", "", 3, &pair_qv, "");
  pawl_text_add(o, "potential:\n");
  write_item(w, "  - ", "", 4, &model_q, "");
  write_item(w, "  - for i=1..N: ", "", 3, &family_q, "");
  write_item(w, "  - for i=1..N-1: ", "i*(", 2, &pair_q, ")");
  pawl_text_add(o, "dissipation:\n");
  write_item(w, "  - ", "", 3, &model_qv, "");
  write_item(w, "  - for i=1..N-1: ", "0.1*(u[i+1]' - u[i]')^2*(", 2, &pair_q, ")");
  pawl_text_add(o, "forces:\n");
  write_item(w, "  y: ", "", 3, &model_qv, "");
  write_item(w, "  u[i=1..N]: ", "", 2, &family_qv, "");
}

// A constraint of three modes with one, two and no rows; regions of every kind.
static inline void write_modes(Writer* w, const char* key, const Names* names, const char* q) {
  PawlText* o = &w->text;
  pawl_text_printf(o, "%s    modes:\n      one:\n", key);
  pawl_text_printf(o, "        where: \"%s < t + (", q);  // never a constant
  write_expression(w, 2, names);
  pawl_text_add(o, ")^2\"\n");
  write_item(w, "        equation: ", "", 2, names, " = 0.2");
  pawl_text_add(o, "      two:\n");
  pawl_text_printf(o, "        where: \"0.3 < %s < 0.9 or not (t < 0.4 and %s > p)\"\n", q, q);
  pawl_text_add(o, "        equation:\n");
  write_item(w, "          - ", "", 3, names, "");
  write_item(w, "          - ", "", 2, names, " = x");
  pawl_text_add(o, "      none:\n");
  pawl_text_printf(o, "        where: \"0.9 < %s + sin(t)*(", q);
  write_expression(w, 2, names);
  pawl_text_add(o, ") < 2.1\"\n");
  pawl_text_add(o, "        equation: none\n");
}

static inline void write_rows(Writer* w) {
  PawlText* o = &w->text;
  pawl_text_add(o, "constraints:\n");
  write_item(w, "  tie: ", "", 3, &model_q, " = x");
  pawl_text_add(o, "  link[i=1..N]:\n");
  write_item(w, "    - ", "u[i] = ", 2, &family_q, "");
  write_item(w, "    - ", "", 3, &family_q, " = 0.1*i");
  write_modes(w, "  kink:\n", &model_q, "y");
  write_modes(w, "  kinks[i=1..N]:\n", &family_q, "u[i]");
  pawl_text_add(o, "contacts:\n");
  write_item(w, "  floor:\n    gap: ", "", 3, &model_q, " + y");
  write_item(w, "  wall[i=1..N]:\n    gap: ", "", 2, &family_q, " + u[i]");
  pawl_text_add(o, "outputs:\n");
  write_item(w, "  first: ", "", 3, &seen, "");
  write_item(w, "  each[i=1..N]: ", "", 2, &family_seen, "");
}

// A model named `random` with N members in its family, 2 <= N <= 6, or so many that they are lanes.
// Free the text.
static inline PawlText random_model(uint64_t seed, bool lanes) {
  Writer w = {.random = {seed}};
  PawlText* o = &w.text;
  for (int k = 0; k < 8; k++) {
    random_bits(&w.random);
  }
  int few = 2 + random_below(&w.random, 5);
  pawl_text_printf(o, "model: random\nparameters: {p: 0.7, N: %d}\n", lanes ? few + 14 : few);
  pawl_text_add(o, "coordinates:\n  x: {start: 0.3}\n  u[i=1..N]: {start: i/10}\n  y: {}\n");
  pawl_text_add(o, "define:\n");
  write_item(&w, "  s: ", "", 2, &(Names){3, {"x", "y", "t"}}, "");
  write_item(&w, "  w[i=1..N]: ", "", 2, &(Names){3, {"u[i]", "x", "i/3"}}, "");
  write_energies(&w);
  write_rows(&w);
  assert_false(o->failed);
  return w.text;
}
