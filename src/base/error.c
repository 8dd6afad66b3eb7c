// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char* pawl_version(void) {
  return PAWL_VERSION;
}

static void append(PawlError* err, const char* format, va_list arguments) {
  size_t used = strlen(err->message);
  size_t room = sizeof err->message - used;
  int length = vsnprintf(err->message + used, room, format, arguments);
  if (length < 0 || (size_t)length >= room) {  // cut: say so
    static const char cut[] = "...";
    memcpy(err->message + sizeof err->message - sizeof cut, cut, sizeof cut);
  }
}

PawlStatus pawl_fail(PawlError* err, PawlStatus status, const char* format, ...) {
  if (err) {
    va_list arguments;
    va_start(arguments, format);
    err->status = status;
    err->message[0] = '\0';
    append(err, format, arguments);
    va_end(arguments);
  }
  return status;
}

PawlStatus pawl_fail_more(PawlError* err, PawlStatus status, const char* format, ...) {
  if (!err) {
    return status;
  }
  size_t used = strlen(err->message);
  enum { ROOM_FOR_CUT = 4 };  // "..." and the final zero
  if (used > 0 && used + ROOM_FOR_CUT + 1 >= sizeof err->message) {
    size_t at =
        used < sizeof err->message - ROOM_FOR_CUT ? used : sizeof err->message - ROOM_FOR_CUT;
    memcpy(err->message + at, "...", ROOM_FOR_CUT);
    return status;
  }
  if (used > 0) {
    memcpy(err->message + used, "\n", 2);
  }
  va_list arguments;
  va_start(arguments, format);
  err->status = status;
  append(err, format, arguments);
  va_end(arguments);
  return status;
}

PawlStatus pawl_fail_memory(PawlError* err) {
  return pawl_fail(err, PAWL_ERROR_MEMORY, "out of memory");
}
