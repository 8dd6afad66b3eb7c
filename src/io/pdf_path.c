// SPDX-License-Identifier: Apache-2.0
// Paths. PDF knows lines and cubic curves from where the pen is, in absolute coordinates.
#include <math.h>
#include <string.h>

#include "io/pdf_impl.h"
#include "io/svg.h"

typedef struct Path {
  PawlText* out;
  const char *at, *end;
  double x, y;              // where the pen is
  double start_x, start_y;  // of the subpath
} Path;

static void put(Path* path, const char* operation, int count, const double* numbers) {
  for (int k = 0; k < count; k++) {
    pawl_svg_length(path->out, numbers[k]);
    pawl_text_add(path->out, " ");
  }
  pawl_text_add(path->out, operation);
  pawl_text_add(path->out, "\n");
}

static void go(Path* path, const char* operation, double x, double y) {
  put(path, operation, 2, (double[]){x, y});
  path->x = x;
  path->y = y;
}

// An arc about (x, y) from the angle `from` by `by`, in pieces of a quarter at most, each a cubic
// with arms of 4/3 tan(angle / 4) radii.
static void arc_about(Path* path, double x, double y, double radius, double from, double by) {
  int pieces = (int)ceil(fabs(by) / 1.58);
  double step = by / pieces, arm = 4.0 / 3.0 * tan(0.25 * step) * radius;
  for (int k = 0; k < pieces; k++) {
    double a = from + k * step, b = a + step;
    double end_x = x + radius * cos(b), end_y = y + radius * sin(b);
    put(path, "c", 6,
        (double[]){path->x - arm * sin(a), path->y + arm * cos(a), end_x + arm * sin(b),
                   end_y - arm * cos(b), end_x, end_y});
    path->x = end_x;
    path->y = end_y;
  }
}

// Of a circle, as SVG has it: by its ends, the longer or the shorter way, in the sense of the
// clock.
static void arc(Path* path, double radius, bool large, bool sweep, double x, double y) {
  double dx = x - path->x, dy = y - path->y, chord = hypot(dx, dy);
  if (chord == 0.0 || radius <= 0.0) {
    return;
  }
  radius = fmax(radius, 0.5 * chord);
  double height = sqrt(fmax(0.0, radius * radius - 0.25 * chord * chord));
  double side = large == sweep ? -1.0 : 1.0;
  double middle_x = path->x + 0.5 * dx - side * height * dy / chord;
  double middle_y = path->y + 0.5 * dy + side * height * dx / chord;
  double from = atan2(path->y - middle_y, path->x - middle_x);
  double by = atan2(y - middle_y, x - middle_x) - from;
  const double turn = 6.283185307179586;
  by += sweep && by <= 0.0 ? turn : !sweep && by >= 0.0 ? -turn : 0.0;
  arc_about(path, middle_x, middle_y, radius, from, by);
  path->x = x;
  path->y = y;
}

static bool numbers_of(Path* path, int count, double* numbers) {
  for (int k = 0; k < count; k++) {
    if (!pawl_pdf_number(&path->at, path->end, &numbers[k])) {
      return false;
    }
  }
  return true;
}

// One command with its numbers; false at the end or at what is not known.
static bool step(Path* path, char command) {
  double n[7] = {0};
  bool relative = command >= 'a';
  double x = relative ? path->x : 0.0, y = relative ? path->y : 0.0;
  switch (relative ? command : (char)(command - 'A' + 'a')) {
    case 'm':
    case 'l':
      if (!numbers_of(path, 2, n)) {
        return false;
      }
      go(path, command == 'm' || command == 'M' ? "m" : "l", x + n[0], y + n[1]);
      return true;
    case 'h':
      return numbers_of(path, 1, n) && (go(path, "l", x + n[0], path->y), true);
    case 'v':
      return numbers_of(path, 1, n) && (go(path, "l", path->x, y + n[0]), true);
    case 'c':
      if (!numbers_of(path, 6, n)) {
        return false;
      }
      path->x = x + n[4];
      path->y = y + n[5];
      put(path, "c", 6, (double[]){x + n[0], y + n[1], x + n[2], y + n[3], path->x, path->y});
      return true;
    case 'a':
      return numbers_of(path, 7, n) &&
             (arc(path, n[0], n[3] != 0.0, n[4] != 0.0, x + n[5], y + n[6]), true);
    default:
      return false;
  }
}

static char next_command(Path* path) {
  while (path->at < path->end && strchr(" ,\n\t", *path->at)) {
    path->at++;
  }
  return path->at < path->end ? *path->at : '\0';
}

static bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

void pawl_pdf_path(PawlText* out, PawlPdfSpan data) {
  Path path = {.out = out, .at = data.s, .end = data.s + data.length};
  char command = '\0', c;
  while ((c = next_command(&path)) != '\0') {
    if (is_letter(c)) {
      command = c;
      path.at++;
    } else if (command == 'M' || command == 'm') {
      command = command == 'M' ? 'L' : 'l';  // numbers behind those of a move are lines
    }
    if (command == 'Z' || command == 'z') {
      pawl_text_add(out, "h\n");
      path.x = path.start_x;
      path.y = path.start_y;
    } else if (!step(&path, command)) {
      return;
    }
    if (command == 'M' || command == 'm') {
      path.start_x = path.x;
      path.start_y = path.y;
    }
  }
}

void pawl_pdf_circle(PawlText* out, double x, double y, double radius) {
  Path path = {.out = out};
  go(&path, "m", x + radius, y);
  arc_about(&path, x, y, radius, 0.0, 6.283185307179586);
  pawl_text_add(out, "h\n");
}
