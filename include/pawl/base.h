// SPDX-License-Identifier: Apache-2.0
// Status codes, errors and the attributes that the other public headers use.
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#define PAWL_VERSION_MAJOR 0
#define PAWL_VERSION_MINOR 1
#define PAWL_VERSION_PATCH 0
#define PAWL_VERSION "0.1.0"

#if defined(__GNUC__)
#define PAWL_API __attribute__((visibility("default")))
#define PAWL_CHECKED __attribute__((warn_unused_result))
#define PAWL_PRINTF(format_index, first_argument) \
  __attribute__((format(printf, format_index, first_argument)))
#else
#define PAWL_API
#define PAWL_CHECKED
#define PAWL_PRINTF(format_index, first_argument)
#endif

// What a call that can fail returns. < 0: final. PAWL_RETRY: trying again with other numbers (a
// smaller step) is meaningful and nothing has changed.
typedef enum PawlStatus {
  PAWL_OK = 0,
  PAWL_RETRY = 1,          // not converged; the state is as before the call
  PAWL_STOPPED = 2,        // the caller asked to stop; results so far are valid
  PAWL_ERROR_MEMORY = -1,  // out of memory, or a stated limit on size was reached
  PAWL_ERROR_USAGE = -2,   // a bad argument or option
  PAWL_ERROR_MODEL = -3,   // the model text is wrong or asks for what is not there
  PAWL_ERROR_RUN = -4,     // only the run could know: singular, not converged, outside a domain
  PAWL_ERROR_FILE = -5,    // a file could not be read or written
} PawlStatus;

#define PAWL_ERROR_TEXT 4096  // bytes in PawlError.message, the final zero included

// Why a call failed. Owned by the caller, who may pass NULL instead. The message is one line for
// each mistake, without a final newline, and always terminated.
typedef struct PawlError {
  PawlStatus status;
  char message[PAWL_ERROR_TEXT];
} PawlError;

// The library's version, "major.minor.patch"; static storage.
PAWL_API const char* pawl_version(void);

#ifdef __cplusplus
}
#endif
