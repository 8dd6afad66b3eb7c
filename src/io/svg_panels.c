// SPDX-License-Identifier: Apache-2.0
// Which column is drawn in which panel. Columns of one kind share a panel while their units agree
// and none is squashed: the range of the panel stays within SQUASH times the smallest range in it.
// A family (u[0], u[1], ...) is judged as one and stays together. Where panels run short, curves
// may be squashed, but units are never mixed. The unit of a multiplier, that of energy over its
// row, need not be known, so that the multipliers of different constraints do not share a panel; of
// a run read from CSV no unit is known.
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "io/plot.h"
#include "io/svg.h"

static const double SQUASH = 30.0;

typedef struct Range {
  double lo, hi;  // lo > hi while empty
} Range;

static const Range empty_range = {INFINITY, -INFINITY};

static Range join(Range a, Range b) {
  return (Range){fmin(a.lo, b.lo), fmax(a.hi, b.hi)};
}

static double span(Range range) {
  return range.hi >= range.lo ? range.hi - range.lo : 0.0;
}

typedef struct Group {
  const char* unit;
  const char* owner;  // name, up to row and index, of what shares with its own only; else NULL
  Range range;
  double smallest;  // smallest range of what moves in it; infinite while nothing does
} Group;

typedef struct Chooser {
  const PawlRecorder* recorder;
  int column_count;
  Range* ranges;  // of each column
  int* group_of;  // of each column, -1 for columns of another kind and without values
  int left_out;   // columns without a panel
  double acts;    // the largest multiplier, or impulse over the time of the run
  bool units_known;
} Chooser;

// One pass over the table, in the order in which it is stored.
static void measure(Chooser* chooser) {
  for (int j = 0; j < chooser->column_count; j++) {
    chooser->ranges[j] = empty_range;
  }
  int samples = pawl_recorder_sample_count(chooser->recorder);
  for (int i = 0; i < samples; i++) {
    const double* sample = pawl_recorder_sample(chooser->recorder, i);
    for (int j = 0; j < chooser->column_count; j++) {
      if (pawl_svg_finite(sample[j])) {
        Range* range = &chooser->ranges[j];
        range->lo = sample[j] < range->lo ? sample[j] : range->lo;
        range->hi = sample[j] > range->hi ? sample[j] : range->hi;
      }
    }
  }
}

static const PawlColumn* column_at(const Chooser* chooser, int column) {
  return pawl_recorder_column(chooser->recorder, column);
}

static bool of_row(PawlColumnKind kind) {
  return kind == PAWL_COLUMN_MULTIPLIER || kind == PAWL_COLUMN_CORRECTION;
}

static double magnitude(Range range) {
  return range.lo <= range.hi ? fmax(fabs(range.lo), fabs(range.hi)) : 0.0;
}

// What forces of rows there are, so that rounding about 0 can be told from them.
static double find_acts(const Chooser* chooser) {
  const PawlRecorder* recorder = chooser->recorder;
  double most = 0.0, impulse = 0.0, time = 0.0;
  for (int j = 0; j < chooser->column_count; j++) {
    PawlColumnKind kind = column_at(chooser, j)->kind;
    most = kind == PAWL_COLUMN_MULTIPLIER ? fmax(most, magnitude(chooser->ranges[j])) : most;
    time = kind == PAWL_COLUMN_TIME ? span(chooser->ranges[j]) : time;
  }
  for (int k = 0; k < pawl_recorder_event_count(recorder); k++) {
    const PawlEvent* event = pawl_recorder_event(recorder, k);
    for (int i = 0; i < event->row_count; i++) {
      impulse = fmax(impulse, fabs(event->impulse[i]));
    }
  }
  return time > 0.0 ? fmax(most, impulse / time) : most;
}

static bool drawable(const Chooser* chooser, int column, PawlColumnKind kind) {
  Range range = chooser->ranges[column];
  if (column_at(chooser, column)->kind != kind || range.lo > range.hi) {
    return false;
  }
  // A multiplier that never acts, but for rounding, says nothing.
  double least = kind == PAWL_COLUMN_MULTIPLIER ? PAWL_SVG_STILL * chooser->acts : 0.0;
  return !of_row(kind) || magnitude(range) > least;
}

static bool same_family(const PawlColumn* a, const PawlColumn* b) {
  size_t length = strcspn(a->name, "[");
  return a->name[length] == '[' && strncmp(a->name, b->name, length + 1) == 0 &&
         strcmp(a->unit, b->unit) == 0;
}

// lambda(pin,1) and lambda(pin,2) are of one constraint, lambda(joint[1]) and lambda(joint[2]) of
// one family.
static bool same_owner(const char* a, const char* b) {
  if (!a || !b) {
    return !a && !b;
  }
  size_t length = strcspn(a, "[,)");
  return length == strcspn(b, "[,)") && strncmp(a, b, length) == 0;
}

static bool may_share(const Group* a, const Group* b) {
  return strcmp(a->unit, b->unit) == 0 && same_owner(a->owner, b->owner);
}

// What a group would be with one more family in it.
static Group with(Group group, const Group* family) {
  group.range = join(group.range, family->range);
  group.smallest = fmin(group.smallest, family->smallest);
  return group;
}

// How much the flattest curve of a group is squashed; 1 when nothing in it moves.
static double squash(const Group* group) {
  return isinf(group->smallest) ? 1.0 : span(group->range) / group->smallest;
}

typedef struct Room {
  int usual;  // panels of a kind while nothing but the size of curves asks for more
  int most;   // panels of a kind for as many units
} Room;

// The group that takes the family: the first of its unit that suits, else a new one while there is
// room, else the one of its unit that suffers least, else none (-1).
static int place(Group groups[], int* count, Room room, const Group* family) {
  int best = -1;
  double least = INFINITY;
  for (int i = 0; i < *count; i++) {
    Group joined = with(groups[i], family);
    double cost = squash(&joined);
    if (!may_share(&groups[i], family)) {
      continue;
    }
    if (cost <= SQUASH) {
      groups[i] = joined;
      return i;
    }
    if (best < 0 || cost < least) {
      least = cost;
      best = i;
    }
  }
  if (*count < (best < 0 ? room.most : room.usual)) {
    groups[*count] = *family;
    return (*count)++;
  }
  if (best >= 0) {
    groups[best] = with(groups[best], family);
  }
  return best;
}

// The columns from `first` that form one family, and where the next one begins.
static Group gather_family(const Chooser* chooser, PawlColumnKind kind, int first, double still,
                           int* next) {
  const PawlColumn* head = column_at(chooser, first);
  bool alone = of_row(kind) || (!chooser->units_known && kind != PAWL_COLUMN_ENERGY);
  Group family = {head->unit, alone ? head->name : NULL, chooser->ranges[first], 0.0};
  double moving = span(chooser->ranges[first]);
  int j = first + 1;
  for (; j < chooser->column_count && same_family(head, column_at(chooser, j)); j++) {
    if (drawable(chooser, j, kind)) {
      family.range = join(family.range, chooser->ranges[j]);
      moving = fmax(moving, span(chooser->ranges[j]));
    }
  }
  family.smallest = moving > still ? moving : INFINITY;
  *next = j;
  return family;
}

static int assign(Chooser* chooser, PawlColumnKind kind, Room room, Group groups[]) {
  double largest = 0.0;
  for (int j = 0; j < chooser->column_count; j++) {
    chooser->group_of[j] = -1;
    if (drawable(chooser, j, kind)) {
      largest = fmax(largest, span(chooser->ranges[j]));
    }
  }
  int count = 0;
  for (int j = 0, next; j < chooser->column_count; j = next) {
    next = j + 1;
    if (!drawable(chooser, j, kind)) {
      continue;
    }
    Group family = gather_family(chooser, kind, j, PAWL_SVG_STILL * largest, &next);
    int group = place(groups, &count, room, &family);
    for (int i = j; i < next; i++) {
      bool drawn = drawable(chooser, i, kind);
      chooser->group_of[i] = drawn ? group : -1;
      chooser->left_out += drawn && group < 0;
    }
  }
  return count;
}

// The largest coordinate of a unit, of which angles have at least 1 rad to be measured by.
static double size_of_unit(const Chooser* chooser, const char* unit, size_t length) {
  double size = length == 3 && strncmp(unit, "rad", length) == 0 ? 1.0 : 0.0;
  for (int j = 0; j < chooser->column_count; j++) {
    const PawlColumn* column = column_at(chooser, j);
    if (column->kind == PAWL_COLUMN_COORDINATE && strlen(column->unit) == length &&
        strncmp(column->unit, unit, length) == 0) {
      size = fmax(size, magnitude(chooser->ranges[j]));
    }
  }
  return size;
}

// Coordinates, and rates over the time of the run, that are rounding about 0.
static bool is_rounding(const Chooser* chooser, PawlColumnKind kind, const char* unit,
                        Range range) {
  size_t length = strlen(unit);
  if (kind == PAWL_COLUMN_COORDINATE) {
    return magnitude(range) <= PAWL_SVG_STILL * size_of_unit(chooser, unit, length);
  }
  int t = pawl_svg_time_column(chooser->recorder);
  if (kind != PAWL_COLUMN_RATE || t < 0 || length < 2 || strcmp(unit + length - 2, "/s") != 0) {
    return false;
  }
  double time = span(chooser->ranges[t]);
  return magnitude(range) * time <= PAWL_SVG_STILL * size_of_unit(chooser, unit, length - 2);
}

// Fills the panel with the columns of a group, evenly chosen when they are too many.
static void fill(const Chooser* chooser, PawlColumnKind kind, int group, PawlSvgPanel* panel) {
  for (int j = 0; j < chooser->column_count; j++) {
    panel->total += chooser->group_of[j] == group;
    panel->kind_total += column_at(chooser, j)->kind == kind;
  }
  int time = pawl_svg_time_column(chooser->recorder);
  int shown = panel->total < PAWL_SVG_CURVES ? panel->total : PAWL_SVG_CURVES;
  Range range = empty_range;
  int member = 0, rank = 0;
  for (int j = 0; j < chooser->column_count; j++) {
    long long k = panel->curve_count;
    long long wanted = shown > 1 ? k * (panel->total - 1) / (shown - 1) : 0;
    if (chooser->group_of[j] == group && member++ == wanted && k < shown) {
      panel->curves[panel->curve_count++] =
          (PawlSvgCurve){chooser->recorder, j, time, time, rank, column_at(chooser, j)->name};
      range = join(range, chooser->ranges[j]);
    }
    rank += column_at(chooser, j)->kind == kind;
  }
  bool rounding = is_rounding(chooser, kind, panel->unit, range);
  panel->lo = rounding ? 0.0 : range.lo;
  panel->hi = rounding ? 0.0 : range.hi;
}

// At most `most` panels of a kind, `usual` of them for the size of curves alone.
static void add_kind(Chooser* chooser, PawlColumnKind kind, int usual, int most,
                     PawlSvgPanel panels[], int* count) {
  Group groups[PAWL_SVG_PANELS];
  int left = PAWL_SVG_PANELS - *count;
  left -= of_row(kind) ? 0 : PAWL_SVG_MULTIPLIERS;
  most = most < left ? most : left;
  Room room = {usual < most ? usual : most, most};
  int group_count = assign(chooser, kind, room, groups);
  for (int i = 0; i < group_count; i++) {
    PawlSvgPanel* panel = &panels[(*count)++];
    *panel = (PawlSvgPanel){.kind = kind, .unit = groups[i].unit};
    fill(chooser, kind, i, panel);
  }
}

PawlStatus pawl_svg_panels(const PawlRecorder* recorder, PawlSvgPanel panels[], int* count,
                           int* left_out, PawlError* err) {
  *count = *left_out = 0;
  int columns = pawl_recorder_column_count(recorder);
  Chooser chooser = {.recorder = recorder,
                     .column_count = columns,
                     .units_known = pawl_plot_units_known(recorder)};
  chooser.ranges = pawl_alloc((size_t)columns, sizeof *chooser.ranges);
  chooser.group_of = pawl_alloc((size_t)columns, sizeof *chooser.group_of);
  PawlStatus status = PAWL_OK;
  if (chooser.ranges && chooser.group_of) {
    measure(&chooser);
    chooser.acts = find_acts(&chooser);
    add_kind(&chooser, PAWL_COLUMN_COORDINATE, 3, 4, panels, count);
    add_kind(&chooser, PAWL_COLUMN_PATH, 2, 3, panels, count);
    add_kind(&chooser, PAWL_COLUMN_RATE, 2, 4, panels, count);
    add_kind(&chooser, PAWL_COLUMN_STATE, 2, 3, panels, count);
    add_kind(&chooser, PAWL_COLUMN_INPUT, 2, 3, panels, count);
    add_kind(&chooser, PAWL_COLUMN_ENERGY, 1, 1, panels, count);
    add_kind(&chooser, PAWL_COLUMN_OUTPUT, 2, 3, panels, count);
    add_kind(&chooser, PAWL_COLUMN_MULTIPLIER, 1, PAWL_SVG_MULTIPLIERS, panels, count);
    add_kind(&chooser, PAWL_COLUMN_CORRECTION, 3, PAWL_SVG_MULTIPLIERS, panels, count);
    *left_out = chooser.left_out;
  } else {
    status = pawl_fail_memory(err);
  }
  pawl_free(chooser.group_of);
  pawl_free(chooser.ranges);
  return status;
}
