// SPDX-License-Identifier: Apache-2.0
// Any bytes as a robot in URDF: a text that is read again to the same model, or a message.
#include "fuzz/fuzz.h"

typedef struct Text {
  char* s;
  size_t length;
} Text;

static void add(void* context, const char* s, size_t length) {
  Text* text = context;
  text->s = realloc(text->s, text->length + length + 1);
  NEED(text->s);
  memcpy(text->s + text->length, s, length);
  text->length += length;
}

static PawlStatus read_text(const char* s, size_t length, const PawlRobotDef* def, PawlError* err) {
  PawlModel* model;
  PawlStatus status = pawl_model_parse_robot(s, length, "m", def, 0, NULL, &model, err);
  NEED((status == PAWL_OK) == (model != NULL));
  NEED(status == PAWL_OK || (status == PAWL_ERROR_MODEL && err->message[0] != '\0'));
  pawl_model_destroy(model);
  return status;
}

// Is the robot taken, so is the model that it is written as, and the other way round. The length
// says with which options.
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  PawlError err = {0};
  PawlRobotDef def = {.limits = size % 2 == 1, .floating = size / 2 % 2 == 1};
  Text text = {0};
  char *warnings, *notes;
  PawlStatus status = pawl_robot_import((const char*)data, size, "r.urdf", &def, add, &text,
                                        &warnings, &notes, &err);
  NEED(status == PAWL_OK || (status == PAWL_ERROR_MODEL && err.message[0] != '\0'));
  NEED((status == PAWL_OK) == (warnings && notes));
  if (status == PAWL_OK) {
    NEED(read_text((const char*)data, size, &def, &err) ==
         read_text(text.s, text.length, &def, &err));
  }
  pawl_string_free(warnings);
  pawl_string_free(notes);
  free(text.s);
  return 0;
}
