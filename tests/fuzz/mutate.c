// SPDX-License-Identifier: Apache-2.0
#include "fuzz/mutate.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

typedef struct Text {
  unsigned char* s;
  size_t size, most;
  unsigned random;
} Text;

typedef struct Piece {  // of a text
  size_t begin, end;
} Piece;

// ---- chance -------------------------------------------------------------------------------------

// A number below `count`, by a linear congruence.
static size_t chance(Text* text, size_t count) {
  text->random = text->random * 1664525u + 1013904223u;
  return (text->random >> 8) % count;
}

#define ANY(text, list) list[chance(text, sizeof list / sizeof *list)]

// ---- pieces -------------------------------------------------------------------------------------

typedef bool (*IsPart)(int c);

static bool is_of_number(int c) {
  return isdigit(c) || c == '.';
}

static bool is_of_name(int c) {
  return isalpha(c) || c == '_' || c == '\'';
}

static bool is_operator(int c) {
  return c && strchr("+-*/^<>=", c);
}

static bool is_of_line(int c) {
  return c != '\n';
}

// The first run of such characters at or behind a place by chance, or from the beginning.
static bool find(Text* text, IsPart is, Piece* piece) {
  size_t from = text->size > 0 ? chance(text, text->size) : 0;
  for (int round = 0; round < 2; round++, from = 0) {
    while (from > 0 && is(text->s[from - 1])) {
      from--;
    }
    while (from < text->size && !is(text->s[from])) {
      from++;
    }
    piece->begin = piece->end = from;
    while (piece->end < text->size && is(text->s[piece->end])) {
      piece->end++;
    }
    if (piece->end > piece->begin) {
      return true;
    }
  }
  return false;
}

// Puts `length` bytes, which are no part of the text, in the place of a piece.
static void replace(Text* text, Piece piece, const void* by, size_t length) {
  size_t size = text->size - (piece.end - piece.begin) + length;
  if (size > text->most) {
    return;
  }
  memmove(text->s + piece.begin + length, text->s + piece.end, text->size - piece.end);
  memcpy(text->s + piece.begin, by, length);
  text->size = size;
}

// ---- changes ------------------------------------------------------------------------------------

static void change_number(Text* text) {
  static const char* const numbers[] = {"0",      "1",   "-1",  "2",    "0.5",   "3.7",
                                        "10",     "100", "0.1", "1e-3", "1e-12", "1e-99",
                                        "1e-300", "pi",  "t",   "-0.5"};
  Piece piece;
  if (find(text, is_of_number, &piece)) {
    const char* by = ANY(text, numbers);
    replace(text, piece, by, strlen(by));
  }
}

static void change_operator(Text* text) {
  static const char operators[] = {'+', '-', '*', '/', '^', '<', '>', '='};
  Piece piece;
  if (find(text, is_operator, &piece)) {
    text->s[piece.begin] = (unsigned char)ANY(text, operators);
  }
}

// A name, or a line, in the place of another of the same text.
static void copy_another(Text* text, IsPart is, bool replaces) {
  enum { LONGEST = 200 };
  unsigned char copy[LONGEST];
  Piece from, to;
  if (find(text, is, &from) && find(text, is, &to) && from.end - from.begin <= LONGEST) {
    size_t length = from.end - from.begin;
    memcpy(copy, text->s + from.begin, length);
    replace(text, replaces ? to : (Piece){to.begin, to.begin}, copy, length);
  }
}

static void double_line(Text* text) {
  copy_another(text, is_of_line, false);
  Piece line;
  if (find(text, is_of_line, &line)) {
    replace(text, (Piece){line.begin, line.begin}, "\n", 1);
  }
}

static void remove_line(Text* text) {
  Piece line;
  if (find(text, is_of_line, &line)) {
    replace(text, (Piece){line.begin, line.end + (line.end < text->size)}, "", 0);
  }
}

// f(...) around a name or number; quotes are there or not.
static void call_function(Text* text) {
  static const char* const begins[] = {
      "sin(", "exp(",        "sqrt(", "abs(",      "max(0.2, ", "floor(",          "sign(", "log(",
      "1/(",  "wrap(0.3 + ", "-(",    "atan2(1, ", "tanh(",     "if(x < 0.5, 1, ", "(1e-9*"};
  Piece piece;
  if (find(text, chance(text, 2) ? is_of_name : is_of_number, &piece)) {
    const char* begin = ANY(text, begins);
    const char* end = begin[0] == 'w' ? ", 0.5)" : ")";
    replace(text, (Piece){piece.end, piece.end}, end, strlen(end));
    replace(text, (Piece){piece.begin, piece.begin}, begin, strlen(begin));
  }
}

// What a model may have besides, of coordinates that many seeds have.
static void add_line(Text* text) {
  static const char* const lines[] = {
      "contacts: {c1: {gap: x + 0.1, restitution: 0.5}}\n",
      "contacts: {c2: {gap: 0.3 - x, slip: y, friction: 0.4}}\n",
      "constraints: {r1: {rate: x' = y*y'}}\n",
      "constraints: {r2: x^2 + y^2 = 1}\n",
      "locks: {l1: {lock: x, when: x', direction: down}}\n",
      "locks: {l2: {lock: x - y, at: 0.1, capacity: 3, friction: 2}}\n",
      "locks: {l3: {lock: x, engaged: true, release: {at: 0.2}}}\n",
      "events: {e1: {when: x - 0.2, stop: true}}\n",
      "events: {e2: {when: x', impulse: {x: -1}}}\n",
      "outputs: {o1: lambda(c1), o2: max(x, 0)/x'}\n",
      "forces: {x: -x'^3, y: \"max(0, sin(9*t))\"}\n",
      "dissipation: x'^2/5\n",
      "define: {u: x/y}\n",
      "parameters: {k: 0}\n",
  };
  Piece line;
  if (find(text, is_of_line, &line)) {
    const char* by = ANY(text, lines);
    while (line.begin > 0 && line.begin < text->size && isspace(text->s[line.begin])) {
      line.begin = line.begin > 1 ? line.begin - 2 : 0;  // out of what is indented
      while (line.begin > 0 && text->s[line.begin - 1] != '\n') {
        line.begin--;
      }
    }
    replace(text, (Piece){line.begin, line.begin}, by, strlen(by));
  }
}

static void change(Text* text) {
  switch (chance(text, 9)) {
    case 0:
    case 1:
      change_number(text);
      break;
    case 2:
      change_operator(text);
      break;
    case 3:
      copy_another(text, is_of_name, true);
      break;
    case 4:
      copy_another(text, is_of_line, true);
      break;
    case 5:
      double_line(text);
      break;
    case 6:
      remove_line(text);
      break;
    case 7:
      call_function(text);
      break;
    default:
      add_line(text);
  }
}

size_t mutate_model(unsigned char* text, size_t size, size_t most, unsigned seed) {
  enum { MOST_CHANGES = 4, BYTES_OF = 8 };  // one of BYTES_OF times any bytes
  Text t = {text, size, most, seed};
  if (chance(&t, BYTES_OF) == 0) {
    return LLVMFuzzerMutate(text, size, most);
  }
  for (size_t k = 1 + chance(&t, MOST_CHANGES); k > 0; k--) {
    change(&t);
  }
  return t.size;
}
