// SPDX-License-Identifier: Apache-2.0
// pawl equilibrium: rest positions, their forces, and small motions about them.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/spectra.h"
#include "cli/study.h"

static const Option options[] = {
    {"-p", "NAME=VALUE", "set a parameter of the model; VALUE may be an expression, or [a, b]",
     VALUE_TEXT, true},
    {"--vary", "NAME=A..B:N",
     ("N steps of the parameter from A to B, each from the position before: a load that grows; "
      "prints the coordinates of each"),
     VALUE_TEXT, true},
    {"--json", NULL, "print one JSON object on standard output", VALUE_NONE, true},
    {0}};

typedef struct Vary {
  char* name;  // NULL: not asked for
  double from, to;
  int steps;
} Vary;

// "P=0..50:10"; changes the text.
static int read_vary(char* text, Vary* out) {
  char *equals = strchr(text, '='), *dots = equals ? strstr(equals, "..") : NULL;
  char* colon = dots ? strchr(dots, ':') : NULL;
  char* end[3] = {NULL, NULL, NULL};
  if (colon) {
    *equals = *dots = *colon = '\0';
    out->name = text;
    out->from = strtod(equals + 1, &end[0]);
    out->to = strtod(dots + 2, &end[1]);
    out->steps = (int)strtol(colon + 1, &end[2], 10);
  }
  bool good = colon && equals[1] && !*end[0] && dots[2] && !*end[1] && !*end[2] && out->steps > 0 &&
              isfinite(out->from) && isfinite(out->to);
  return good ? 0 : complain(EXIT_USAGE, "--vary: expected NAME=FROM..TO:STEPS");
}

typedef struct Rest {
  PawlModel* model;
  PawlSystem* system;
  PawlEquilibrium* equilibrium;
} Rest;

static void rest_destroy(Rest* r) {
  pawl_equilibrium_destroy(r->equilibrium);
  pawl_system_destroy(r->system);
  pawl_model_destroy(r->model);
  *r = (Rest){0};
}

// From the position `before`, NULL: the start; also where a parameter has changed the number of
// coordinates. The rest may be destroyed whatever the status.
static PawlStatus find(const Arguments* a, const Rest* before, Rest* out, PawlError* err) {
  out->model = load_model(a, err);
  if (!out->model) {
    return err->status;
  }
  PawlStatus status = pawl_system_create(out->model, &out->system, err);
  if (status != PAWL_OK) {
    return status;
  }
  bool same = before && pawl_system_sizes(before->system).q == pawl_system_sizes(out->system).q;
  const double* q = same ? before->equilibrium->point.q : NULL;
  return pawl_equilibrium_find(out->system, q, &out->equilibrium, err);
}

static void print_coordinates(const Rest* r, bool names) {
  PawlSizes n = pawl_system_sizes(r->system);
  for (int k = 0; k < n.q; k++) {
    if (names) {
      printf(",%s", pawl_system_coordinate_name(r->system, k));
    } else {
      printf(",%.12g", r->equilibrium->point.q[k]);
    }
  }
  printf("\n");
}

// The path of positions while a parameter grows, as CSV; the last one stays in `rest`.
static PawlStatus follow(Arguments* a, const Vary* vary, bool quiet, Rest* rest, PawlError* err) {
  char text[300];
  int place = a->override_count++;
  a->overrides[place] = text;
  for (int k = 0; k <= vary->steps; k++) {
    double value = vary->from + (vary->to - vary->from) * k / vary->steps;
    snprintf(text, sizeof text, "%.200s=%.17g", vary->name, value);
    Rest next = {0};
    PawlStatus status = find(a, k > 0 ? rest : NULL, &next, err);
    if (status != PAWL_OK) {
      rest_destroy(&next);
      return status;
    }
    rest_destroy(rest);
    *rest = next;
    if (!quiet && k == 0) {
      printf("%s", vary->name);
      print_coordinates(rest, true);
    }
    if (!quiet) {
      printf("%.12g", value);
      print_coordinates(rest, false);
    }
  }
  return PAWL_OK;
}

static bool acts(const Rest* r, int row) {
  return r->equilibrium->active[row] != 0;
}

static void print_rest(const Rest* r, const PawlSpectrum* spectrum, const char* without) {
  enum { MOST_SHOWN = 40 };
  PawlSizes n = pawl_system_sizes(r->system);
  const PawlEquilibrium* e = r->equilibrium;
  printf("model               %s\n", pawl_system_name(r->system));
  printf("at rest             after %d iterations; acceleration left %.1e; potential %.10g J\n",
         e->iterations, e->acceleration, e->potential);
  if (e->kink) {
    printf(
        "                    in a kink of the forces, which drive it back from either side;\n"
        "                    small motions about it have no frequencies\n");
  }
  if (contacts_rub(r->system)) {
    printf(
        "                    without the friction of contacts, which may hold it elsewhere, too\n");
  }
  for (int k = 0; k < n.q && k < MOST_SHOWN; k++) {
    printf("%-19s %.12g\n", pawl_system_coordinate_name(r->system, k), e->point.q[k]);
  }
  for (int k = 0, shown = 0; k < n.rows && shown < MOST_SHOWN; k++) {
    int number;
    const char* name = pawl_system_row_name(r->system, k, &number);
    if (acts(r, k)) {
      printf("%s (row %d)  multiplier %.12g\n", name, number + 1, e->point.lambda[k]);
      shown++;
    }
  }
  if (spectrum) {
    print_spectrum(r->system, e->point.modes, spectrum, "small motions");
  } else if (!e->kink) {
    printf("small motions       none are given: %s\n", without);
  }
}

static void json_rest(const Rest* r, const PawlSpectrum* spectrum, int code) {
  Json json = {stdout, 0, true};
  PawlSizes n = pawl_system_sizes(r->system);
  const PawlEquilibrium* e = r->equilibrium;
  json_open(&json, NULL, '{');
  json_text(&json, "model", pawl_system_name(r->system));
  json_status(&json, code);
  json_whole(&json, "iterations", e->iterations);
  json_number(&json, "acceleration", e->acceleration);
  json_number(&json, "potential", e->potential);
  json_bool(&json, "kink", e->kink);
  json_bool(&json, "friction_left_out", contacts_rub(r->system));
  json_open(&json, "coordinates", '{');
  for (int k = 0; k < n.q; k++) {
    json_number(&json, pawl_system_coordinate_name(r->system, k), e->point.q[k]);
  }
  json_close(&json, '}');
  json_open(&json, "rows", '[');
  for (int k = 0; k < n.rows; k++) {
    int number;
    json_open(&json, NULL, '{');
    json_text(&json, "name", pawl_system_row_name(r->system, k, &number));
    json_whole(&json, "row", number + 1);
    json_bool(&json, "acts", acts(r, k));
    json_number(&json, "multiplier", e->point.lambda[k]);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  json_open(&json, "small_motions", '[');
  if (spectrum) {
    put_spectrum(&json, r->system, e->point.modes, spectrum);
  }
  json_close(&json, ']');
  json_close(&json, '}');
}

static int run(int argc, char** argv) {
  Arguments a;
  const char* text = NULL;
  char copy[300];
  Vary vary = {0};
  int code = study_take_option(&argc, argv, "--vary", &text);
  code = code ? code : read_arguments(argc, argv, "mpj", &a);
  if (!code && text) {
    snprintf(copy, sizeof copy, "%s", text);
    code = read_vary(copy, &vary);
    code = code || a.override_count < MOST_OVERRIDES
               ? code
               : complain(EXIT_USAGE, "too many parameters on the command line");
  }
  if (code) {
    return code;
  }
  Rest rest = {0};
  PawlSpectrum* spectrum = NULL;
  PawlError err = {0};
  PawlStatus status = text ? follow(&a, &vary, a.json, &rest, &err) : find(&a, NULL, &rest, &err);
  if (status == PAWL_OK) {  // a model too large for a spectrum is at rest all the same
    PawlError reason = {0};
    status = pawl_spectrum_at(rest.system, rest.equilibrium, &spectrum, &reason);
    err = reason;
    status = status == PAWL_ERROR_MEMORY ? status : PAWL_OK;
  }
  code = status == PAWL_OK ? EXIT_GOOD : report_error(&err);
  if (status == PAWL_OK && a.json) {
    json_rest(&rest, spectrum, code);
  } else if (status == PAWL_OK) {
    print_rest(&rest, spectrum, err.message);
  }
  pawl_spectrum_destroy(spectrum);
  rest_destroy(&rest);
  return code;
}

const Command command_equilibrium = {
    .name = "equilibrium",
    .line = "find a rest position, its forces and the small motions about it",
    .run = run,
    .usage = "MODEL [-p NAME=VALUE]... [--vary NAME=A..B:N] [--json]",
    .about =
        "Finds a position in which MODEL stays at rest, from its start and in the modes of its "
        "start, going down the potential: coordinates, forces of constraints and closed "
        "contacts, and the frequencies, damping and shapes of small motions about it, which "
        "say whether it is stable.",
    .options = options};
