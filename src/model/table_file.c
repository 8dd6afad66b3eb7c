// SPDX-License-Identifier: Apache-2.0
#include "model/table_file.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/text.h"

enum { MOST_FIELDS = 4096 };  // in a row

typedef struct Field {
  const char* text;
  size_t length;
} Field;

typedef struct Rows {
  const char *file, *at, *end;
  int line;        // of the row that was read last
  char separator;  // 0 before the first row; a blank stands for any number of blanks and tabs
  Field field[MOST_FIELDS];
  int field_count;
  PawlError* err;
} Rows;

// ---- numbers ------------------------------------------------------------------------------------

static bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

typedef struct Decimal {
  uint64_t digits;
  int count, exponent;  // digits taken; power of ten
  bool good;
} Decimal;

// Reads [+-]digits[.digits][e[+-]digits]; `good` when that is the whole text.
static Decimal scan(const char* s, const char* end) {
  enum { MOST_DIGITS = 18 };
  Decimal d = {0};
  int seen = 0, point = 0;
  for (; s < end && (is_digit(*s) || (*s == '.' && !point)); s++) {
    if (*s == '.') {
      point = 1;
      continue;
    }
    seen++;
    d.count += d.count > 0 || *s != '0';
    bool fits = d.count <= MOST_DIGITS;
    d.digits = fits ? 10 * d.digits + (uint64_t)(*s - '0') : d.digits;
    d.exponent += !fits ? 1 - point : -point;
  }
  bool has_exponent = s < end && (*s == 'e' || *s == 'E') && seen > 0;
  if (has_exponent) {
    int sign = 1, power = 0, digits = 0;
    s++;
    if (s < end && (*s == '+' || *s == '-')) {
      sign = *s++ == '-' ? -1 : 1;
    }
    for (; s < end && is_digit(*s); s++, digits++) {
      power = power < 10000 ? 10 * power + (*s - '0') : power;
    }
    d.exponent += sign * power;
    seen = digits > 0 ? seen : 0;
  }
  d.good = seen > 0 && s == end;
  return d;
}

// strtod reads the decimal point of the locale that the program has set.
static bool read_slowly(const char* text, size_t length, double* value) {
  char buffer[512];
  if (length >= sizeof buffer) {
    return false;
  }
  memcpy(buffer, text, length);
  buffer[length] = '\0';
  char* point = strchr(buffer, '.');
  if (point) {
    *point = localeconv()->decimal_point[0];
  }
  *value = strtod(buffer, NULL);
  return isfinite(*value);
}

// Up to 2^53 and powers of ten up to 10^22 are doubles, so that one operation on them is rounded
// once, as it should be; anything longer is left to the C library.
bool pawl_read_number(const char* text, size_t length, double* value) {
  static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  static const uint64_t EXACT = UINT64_C(1) << 53;
  enum { LARGEST_POWER = 22 };
  bool minus = length > 0 && text[0] == '-', sign = minus || (length > 0 && text[0] == '+');
  Decimal d = scan(text + sign, text + length);
  if (!d.good) {
    return false;
  }
  if (d.count > 15 || d.digits > EXACT || d.exponent < -LARGEST_POWER ||
      d.exponent > LARGEST_POWER) {
    return read_slowly(text, length, value);
  }
  double whole = (double)d.digits;
  *value = d.exponent < 0 ? whole / tens[-d.exponent] : whole * tens[d.exponent];
  *value = minus ? -*value : *value;
  return true;
}

// ---- rows ---------------------------------------------------------------------------------------

static bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

static Field trim(const char* from, const char* to) {
  while (from < to && is_blank(*from)) {
    from++;
  }
  while (to > from && is_blank(to[-1])) {
    to--;
  }
  if (to - from >= 2 && *from == '"' && to[-1] == '"') {
    from++;
    to--;
  }
  return (Field){from, (size_t)(to - from)};
}

static char find_separator(const char* from, const char* to) {
  static const char known[] = ",;\t";
  for (const char* c = known; *c; c++) {
    if (memchr(from, *c, (size_t)(to - from))) {
      return *c;
    }
  }
  return ' ';
}

static PawlStatus split(Rows* rows, const char* from, const char* to) {
  char separator = rows->separator;
  rows->field_count = 0;
  for (const char* at = from;;) {
    const char* stop;
    if (separator == ' ') {
      stop = at;
      while (stop < to && !is_blank(*stop)) {
        stop++;
      }
    } else {
      stop = memchr(at, separator, (size_t)(to - at));
      stop = stop ? stop : to;
    }
    if (rows->field_count == MOST_FIELDS) {
      return pawl_fail(rows->err, PAWL_ERROR_MODEL, "%s:%d: more than %d columns", rows->file,
                       rows->line, (int)MOST_FIELDS);
    }
    rows->field[rows->field_count++] = trim(at, stop);
    at = stop;
    while (separator == ' ' && at < to && is_blank(*at)) {
      at++;
    }
    if (at >= to) {
      return PAWL_OK;
    }
    at += separator != ' ';
  }
}

// The next row that holds something; *more is false at the end.
static PawlStatus next_row(Rows* rows, bool* more) {
  while (rows->at < rows->end) {
    const char* to = memchr(rows->at, '\n', (size_t)(rows->end - rows->at));
    const char *from = rows->at, *after = to ? to + 1 : rows->end;
    to = to ? to : rows->end;
    rows->at = after;
    rows->line++;
    while (to > from && (to[-1] == '\r' || is_blank(to[-1]))) {
      to--;
    }
    while (from < to && is_blank(*from)) {
      from++;
    }
    if (from == to || *from == '#') {
      continue;
    }
    rows->separator = rows->separator ? rows->separator : find_separator(from, to);
    *more = true;
    return split(rows, from, to);
  }
  *more = false;
  return PAWL_OK;
}

// ---- which columns ------------------------------------------------------------------------------

static bool has_names(const Rows* rows) {
  for (int k = 0; k < rows->field_count; k++) {
    double value;
    if (!pawl_read_number(rows->field[k].text, rows->field[k].length, &value)) {
      return true;
    }
  }
  return false;
}

// `s`, or what stands before a unit: `s [m]`, `s (m)`.
static bool is_named(Field field, const char* name) {
  size_t length = strlen(name);
  bool begins = field.length >= length && memcmp(field.text, name, length) == 0;
  Field rest = begins ? trim(field.text + length, field.text + field.length) : field;
  return begins && (rest.length == 0 ||
                    ((rest.text[0] == '[' || rest.text[0] == '(') && (length < field.length)));
}

static PawlStatus missing_column(const Rows* rows, bool named, const char* name) {
  if (!named) {
    return pawl_fail(
        rows->err, PAWL_ERROR_MODEL,
        "%s:%d: there is no column '%.60s'; the first row has no names, so columns are "
        "1 to %d",
        rows->file, rows->line, name, rows->field_count);
  }
  PawlText list = {0};
  for (int k = 0; k < rows->field_count && k < 12; k++) {
    pawl_text_printf(&list, "%s%.*s", k > 0 ? ", " : "",
                     (int)(rows->field[k].length < 40 ? rows->field[k].length : 40),
                     rows->field[k].text);
  }
  PawlStatus status =
      pawl_fail(rows->err, PAWL_ERROR_MODEL, "%s:%d: there is no column '%.60s'; there are %s",
                rows->file, rows->line, name, list.s ? list.s : "none");
  pawl_text_free(&list);
  return status;
}

static PawlStatus find_column(const Rows* rows, bool named, const char* name, int* column) {
  for (int k = 0; named && k < rows->field_count; k++) {
    if (is_named(rows->field[k], name)) {
      *column = k;
      return PAWL_OK;
    }
  }
  double place;
  if (pawl_read_number(name, strlen(name), &place) && place >= 1.0 && place <= rows->field_count &&
      place == floor(place)) {
    *column = (int)place - 1;
    return PAWL_OK;
  }
  return missing_column(rows, named, name);
}

// ---- values -------------------------------------------------------------------------------------

static PawlStatus take_row(const Rows* rows, int fields, const int* column, PawlColumns* out,
                           int* capacity) {
  if (rows->field_count != fields) {
    return pawl_fail(rows->err, PAWL_ERROR_MODEL, "%s:%d: the row has %d fields, those before %d",
                     rows->file, rows->line, rows->field_count, fields);
  }
  if (out->count == PAWL_TABLE_MAX_POINTS) {
    return pawl_fail(rows->err, PAWL_ERROR_MODEL, "%s:%d: more than %d points", rows->file,
                     rows->line, PAWL_TABLE_MAX_POINTS);
  }
  for (int k = 0; k < out->wanted; k++) {
    int room = *capacity;
    Field field = rows->field[column[k]];
    if (PAWL_GROW(out->value[k], room, out->count + 1) != 0) {
      return pawl_fail_memory(rows->err);
    }
    if (!pawl_read_number(field.text, field.length, &out->value[k][out->count])) {
      return pawl_fail(rows->err, PAWL_ERROR_MODEL,
                       "%s:%d: '%.*s' in column '%.40s' is not a finite number", rows->file,
                       rows->line, (int)(field.length < 40 ? field.length : 40), field.text,
                       out->name[k]);
    }
  }
  if (PAWL_GROW(out->line, *capacity, out->count + 1) != 0) {
    return pawl_fail_memory(rows->err);
  }
  out->line[out->count++] = rows->line;
  return PAWL_OK;
}

static PawlStatus read_rows(Rows* rows, PawlColumns* columns) {
  int column[PAWL_TABLE_COLUMNS], capacity = 0;
  bool more;
  PAWL_TRY(next_row(rows, &more));
  if (!more) {
    return pawl_fail(rows->err, PAWL_ERROR_MODEL, "%s: there are no rows in it", rows->file);
  }
  bool named = has_names(rows);
  int fields = rows->field_count;
  for (int k = 0; k < columns->wanted; k++) {
    PAWL_TRY(find_column(rows, named, columns->name[k], &column[k]));
  }
  if (named) {
    PAWL_TRY(next_row(rows, &more));
  }
  while (more) {
    PAWL_TRY(take_row(rows, fields, column, columns, &capacity));
    PAWL_TRY(next_row(rows, &more));
  }
  return PAWL_OK;
}

PawlStatus pawl_columns_read(const char* file, const char* text, size_t length,
                             PawlColumns* columns, PawlError* err) {
  Rows* rows = pawl_alloc(1, sizeof *rows);
  if (!rows) {
    return pawl_fail_memory(err);
  }
  static const char byte_order_mark[] = "\xEF\xBB\xBF";
  size_t skipped = length >= 3 && memcmp(text, byte_order_mark, 3) == 0 ? 3 : 0;
  rows->file = file;
  rows->at = text + skipped;
  rows->end = text + length;
  rows->err = err;
  PawlStatus status = read_rows(rows, columns);
  pawl_free(rows);
  return status;
}

void pawl_columns_free(PawlColumns* columns) {
  for (int k = 0; k < PAWL_TABLE_COLUMNS; k++) {
    pawl_free(columns->value[k]);
    columns->value[k] = NULL;
  }
  pawl_free(columns->line);
  columns->line = NULL;
}
