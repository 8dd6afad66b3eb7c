// SPDX-License-Identifier: Apache-2.0
// Expression text to tokens. A name may hold any letter of UTF-8, and single dots between letters
// (tip.x); a number ends before the two dots of a range, so `0..N` is 0, .., N. Signs that other
// languages use for an operation are answered with the sign to use here.
#include "expr/lexer.h"

#include <locale.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NUMBER = 400 };

void pawl_expr_fail(PawlExprError* error, int begin, int end, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  error->begin = begin;
  error->end = end;
  vsnprintf(error->message, sizeof error->message, format, arguments);
  va_end(arguments);
}

static int byte_at(const PawlLexer* lexer, int at) {
  return at < lexer->length ? (unsigned char)lexer->text[at] : 0;
}

static bool is_digit(int byte) {
  return byte >= '0' && byte <= '9';
}

// Length of the UTF-8 sequence at `at`, 0 when it is not well formed.
static int sequence_length(const PawlLexer* lexer, int at) {
  int first = byte_at(lexer, at);
  int length = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
  if (first > 0xF4) {
    return 0;
  }
  for (int k = 1; k < length; k++) {
    if ((byte_at(lexer, at + k) & 0xC0) != 0x80) {
      return 0;
    }
  }
  return length;
}

// Signs beyond ASCII that are no letters, and what to write instead.
static const struct {
  const char *sign, *instead;
} foreign[] = {
    {"\xE2\x88\x92", "-"},  {"\xE2\x80\x93", "-"},  {"\xC3\x97", "*"},
    {"\xC2\xB7", "*"},      {"\xE2\x8B\x85", "*"},  {"\xC3\xB7", "/"},
    {"\xE2\x89\xA4", "<="}, {"\xE2\x89\xA5", ">="}, {"\xE2\x89\xA0", "!="},
    {"\xC2\xB2", "^2"},     {"\xC2\xB3", "^3"},     {"\xE2\x88\x9A", "sqrt"},
    {"\xE2\x80\x99", "'"},  {"\xE2\x80\xB2", "'"},  {"\xC2\xA0", "a plain space"},
};

static const char* foreign_sign(const PawlLexer* lexer, int at) {
  for (size_t k = 0; k < sizeof foreign / sizeof *foreign; k++) {
    size_t size = strlen(foreign[k].sign);
    if ((size_t)(lexer->length - at) >= size &&
        memcmp(lexer->text + at, foreign[k].sign, size) == 0) {
      return foreign[k].instead;
    }
  }
  return NULL;
}

// Bytes of a letter, digit or underscore at `at`; 0 when there is none.
static int letter_length(const PawlLexer* lexer, int at) {
  int byte = byte_at(lexer, at);
  if ((byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' ||
      is_digit(byte)) {
    return 1;
  }
  return byte >= 0x80 && !foreign_sign(lexer, at) ? sequence_length(lexer, at) : 0;
}

static bool begins_name(const PawlLexer* lexer, int at) {
  return letter_length(lexer, at) > 0 && !is_digit(byte_at(lexer, at));
}

static PawlToken name_token(PawlLexer* lexer) {
  PawlToken token = {.kind = PAWL_TOKEN_NAME, .begin = lexer->at};
  int more;
  while ((more = letter_length(lexer, lexer->at)) > 0) {
    lexer->at += more;
    lexer->at += begins_name(lexer, lexer->at + 1) && byte_at(lexer, lexer->at) == '.';
  }
  token.end = lexer->at;
  return token;
}

static PawlToken wrong(PawlLexer* lexer, int begin, int end) {
  lexer->at = end;
  return (PawlToken){.kind = PAWL_TOKEN_WRONG, .begin = begin, .end = end};
}

static void skip_digits(PawlLexer* lexer) {
  while (is_digit(byte_at(lexer, lexer->at))) {
    lexer->at++;
  }
}

// strtod reads the decimal point of the locale that the program has set, which may be a comma.
static double read_decimal(const char* digits, int length) {
  char buffer[LONGEST_NUMBER + 1];
  memcpy(buffer, digits, (size_t)length);
  buffer[length] = '\0';
  char* point = strchr(buffer, '.');
  if (point) {
    *point = localeconv()->decimal_point[0];
  }
  return strtod(buffer, NULL);
}

static PawlToken number_token(PawlLexer* lexer) {
  int begin = lexer->at;
  skip_digits(lexer);
  if (byte_at(lexer, lexer->at) == '.' && byte_at(lexer, lexer->at + 1) != '.') {
    lexer->at++;
    skip_digits(lexer);
  }
  int e = byte_at(lexer, lexer->at);
  if (e == 'e' || e == 'E') {
    int sign = byte_at(lexer, lexer->at + 1);
    int skip = sign == '+' || sign == '-' ? 2 : 1;
    if (is_digit(byte_at(lexer, lexer->at + skip))) {
      lexer->at += skip;
      skip_digits(lexer);
    }
  }
  int end = lexer->at;
  if (end - begin > LONGEST_NUMBER) {
    pawl_expr_fail(lexer->error, begin, end, "a number of %d characters, at most %d are read",
                   end - begin, (int)LONGEST_NUMBER);
    return wrong(lexer, begin, end);
  }
  double value = read_decimal(lexer->text + begin, end - begin);
  if (value > 1.7976931348623157e308) {
    pawl_expr_fail(lexer->error, begin, end, "this number is too large, at most 1.79e308");
    return wrong(lexer, begin, end);
  }
  return (PawlToken){.kind = PAWL_TOKEN_NUMBER, .begin = begin, .end = end, .value = value};
}

// What to write for an operator of another language, NULL when `mark` is none.
static const char* usual_for(const char* mark) {
  static const char* const known[][2] = {
      {"**", "^"},  {"&&", "and"},       {"||", "or"}, {"&", "and"}, {"|", "or"},  {"!", "not"},
      {"~", "not"}, {"%", "wrap(x, p)"}, {"<>", "!="}, {"=<", "<="}, {"=>", ">="},
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
    if (strcmp(known[k][0], mark) == 0) {
      return known[k][1];
    }
  }
  return NULL;
}

static bool is_mark(const char* mark) {
  static const char* const marks[] = {"+",  "-",  "*",  "/",  "^", "(", ")", "[",  "]", ",",
                                      "<=", ">=", "==", "!=", "<", ">", "=", "..", ".", "'"};
  for (size_t k = 0; k < sizeof marks / sizeof *marks; k++) {
    if (strcmp(marks[k], mark) == 0) {
      return true;
    }
  }
  return false;
}

static PawlToken strange_token(PawlLexer* lexer) {
  int begin = lexer->at, byte = byte_at(lexer, begin);
  int length = sequence_length(lexer, begin);
  const char* instead = byte >= 0x80 ? foreign_sign(lexer, begin) : NULL;
  if (length == 0) {
    length = 1;
    pawl_expr_fail(lexer->error, begin, begin + 1, "the text is not valid UTF-8 here");
  } else if (instead) {
    pawl_expr_fail(lexer->error, begin, begin + length, "unknown sign '%.*s', use %s", length,
                   lexer->text + begin, instead);
  } else if (byte < 0x20 || byte == 0x7F) {
    pawl_expr_fail(lexer->error, begin, begin + 1, "unknown character, code %d", byte);
  } else {
    pawl_expr_fail(lexer->error, begin, begin + length, "unknown character '%.*s'", length,
                   lexer->text + begin);
  }
  return wrong(lexer, begin, begin + length);
}

// The longest of the known marks and of the usual mistakes, two characters before one.
static PawlToken mark_token(PawlLexer* lexer) {
  int begin = lexer->at;
  for (int length = 2; length >= 1; length--) {
    if (begin + length > lexer->length) {
      continue;
    }
    char mark[3] = {lexer->text[begin], length == 2 ? lexer->text[begin + 1] : '\0', '\0'};
    const char* instead = usual_for(mark);
    if (instead) {
      pawl_expr_fail(lexer->error, begin, begin + length, "unknown operator '%s', use %s", mark,
                     instead);
      return wrong(lexer, begin, begin + length);
    }
    if (mark[0] != '\0' && is_mark(mark)) {
      lexer->at = begin + length;
      return (PawlToken){.kind = PAWL_TOKEN_MARK, .begin = begin, .end = begin + length};
    }
  }
  return strange_token(lexer);
}

PawlToken pawl_lexer_next(PawlLexer* lexer) {
  while (lexer->at < lexer->length && strchr(" \t\r\n", lexer->text[lexer->at]) &&
         lexer->text[lexer->at] != '\0') {
    lexer->at++;
  }
  if (lexer->at >= lexer->length) {
    return (PawlToken){.kind = PAWL_TOKEN_END, .begin = lexer->length, .end = lexer->length};
  }
  int byte = byte_at(lexer, lexer->at);
  if (is_digit(byte) || (byte == '.' && is_digit(byte_at(lexer, lexer->at + 1)))) {
    return number_token(lexer);
  }
  return letter_length(lexer, lexer->at) > 0 ? name_token(lexer) : mark_token(lexer);
}

bool pawl_token_is(const PawlLexer* lexer, PawlToken token, const char* text) {
  size_t size = strlen(text);
  return (token.kind == PAWL_TOKEN_NAME || token.kind == PAWL_TOKEN_MARK) &&
         (size_t)(token.end - token.begin) == size &&
         memcmp(lexer->text + token.begin, text, size) == 0;
}

const char* pawl_token_show(const PawlLexer* lexer, PawlToken token, char* buffer) {
  if (token.kind == PAWL_TOKEN_END) {
    return "the end";
  }
  int length = token.end - token.begin;
  int room = PAWL_SHOWN - 6;
  bool cut = length > room;
  if (cut) {  // not inside a sequence of UTF-8
    length = room;
    while (length > 0 && (lexer->text[token.begin + length] & 0xC0) == 0x80) {
      length--;
    }
  }
  snprintf(buffer, PAWL_SHOWN, "'%.*s%s'", length, lexer->text + token.begin, cut ? "..." : "");
  return buffer;
}
