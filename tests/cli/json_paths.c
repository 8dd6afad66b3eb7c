// SPDX-License-Identifier: Apache-2.0
// Checks that standard input is one JSON value and nothing else (RFC 8259), and prints its leaves
// one a line, "final.q.x<TAB>0.5", for the shell scripts beside it. Exit code 1 when it is not
// JSON.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 1 << 22, MOST_PATH = 4096, MOST_DEPTH = 100 };

typedef struct Reader {
  const char *text, *at;
  char path[MOST_PATH];
  size_t path_length;
} Reader;

static void bad(const Reader* r, const char* what) {
  fprintf(stderr, "not JSON at byte %ld: %s\n", (long)(r->at - r->text), what);
  exit(1);
}

static void skip(Reader* r) {
  r->at += strspn(r->at, " \t\r\n");
}

static void expect(Reader* r, char c) {
  if (*r->at != c) {
    bad(r, "another character expected");
  }
  r->at++;
}

static void push(Reader* r, const char* name, size_t length) {
  if (r->path_length + length + 2 > MOST_PATH) {
    bad(r, "path too long");
  }
  if (r->path_length > 0) {
    r->path[r->path_length++] = '.';
  }
  memcpy(r->path + r->path_length, name, length);
  r->path_length += length;
  r->path[r->path_length] = '\0';
}

static void pop(Reader* r, size_t length) {
  r->path_length = length;
  r->path[length] = '\0';
}

// Leaves [*start, *start + length) as the raw text between the quotes.
static size_t read_text(Reader* r, const char** start) {
  expect(r, '"');
  *start = r->at;
  for (; *r->at != '"'; r->at++) {
    if ((unsigned char)*r->at < 0x20) {
      bad(r, "control character or end in a text");
    }
    if (*r->at != '\\') {
      continue;
    }
    r->at++;
    if (*r->at == 'u') {
      for (int k = 1; k <= 4; k++) {
        if (!isxdigit((unsigned char)r->at[k])) {
          bad(r, "four hexadecimal digits expected");
        }
      }
      r->at += 4;
    } else if (!*r->at || !strchr("\"\\/bfnrt", *r->at)) {
      bad(r, "unknown escape");
    }
  }
  return (size_t)(r->at++ - *start);
}

static void digits(Reader* r) {
  if (!isdigit((unsigned char)*r->at)) {
    bad(r, "digit expected");
  }
  while (isdigit((unsigned char)*r->at)) {
    r->at++;
  }
}

static void read_number(Reader* r) {
  r->at += *r->at == '-';
  if (*r->at == '0') {
    r->at++;
  } else {
    digits(r);
  }
  if (*r->at == '.') {
    r->at++;
    digits(r);
  }
  if (*r->at == 'e' || *r->at == 'E') {
    r->at++;
    r->at += *r->at == '+' || *r->at == '-';
    digits(r);
  }
}

static void read_value(Reader* r, int depth);

// The members of an object or the values of a list, up to and with the closing bracket.
static void read_members(Reader* r, int depth, char close) {
  size_t length = r->path_length;
  r->at++;
  skip(r);
  for (int k = 0; *r->at != close; k++) {
    if (k > 0) {
      expect(r, ',');
      skip(r);
    }
    if (close == '}') {
      const char* name;
      size_t name_length = read_text(r, &name);
      push(r, name, name_length);
      skip(r);
      expect(r, ':');
    } else {
      char number[24];
      push(r, number, (size_t)snprintf(number, sizeof number, "%d", k));
    }
    read_value(r, depth + 1);
    pop(r, length);
  }
  r->at++;
}

static void read_leaf(Reader* r) {
  static const char* const words[] = {"true", "false", "null"};
  const char* start = r->at;
  size_t length = 0;
  if (*r->at == '"') {
    length = read_text(r, &start);
  } else {
    for (size_t k = 0; k < 3 && !length; k++) {
      length = strncmp(r->at, words[k], strlen(words[k])) == 0 ? strlen(words[k]) : 0;
    }
    r->at += length;
    if (!length) {
      read_number(r);
      length = (size_t)(r->at - start);
    }
  }
  printf("%s\t%.*s\n", r->path, (int)length, start);
}

static void read_value(Reader* r, int depth) {
  if (depth > MOST_DEPTH) {
    bad(r, "too deep");
  }
  skip(r);
  if (*r->at == '{' || *r->at == '[') {
    read_members(r, depth, *r->at == '{' ? '}' : ']');
  } else {
    read_leaf(r);
  }
  skip(r);
}

int main(void) {
  static char text[MOST_BYTES];
  size_t length = fread(text, 1, sizeof text - 1, stdin);
  text[length] = '\0';
  Reader r = {.text = text, .at = text};
  read_value(&r, 0);
  if ((size_t)(r.at - text) != length) {
    bad(&r, "something follows the value");
  }
  return 0;
}
