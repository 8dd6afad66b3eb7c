// SPDX-License-Identifier: Apache-2.0
#include "model/urdf.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "model/urdf_impl.h"

// ---- remarks ------------------------------------------------------------------------------------

void pawl_remark(PawlText* lines, const char* format, ...) {
  enum { MOST_BYTES = 65536 };  // of all: what is wrong with a robot of ten thousand links repeats
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  for (char* c = line; *c; c++) {
    *c = *c == '\n' || *c == '\r' ? ' ' : *c;
  }
  if (lines->length < MOST_BYTES) {
    pawl_text_add(lines, lines->length > 0 ? "\n" : "");
    pawl_text_add(lines, line);
  }
}

void pawl_remarks_free(PawlRemarks* remarks) {
  pawl_text_free(&remarks->warnings);
  pawl_text_free(&remarks->notes);
  pawl_text_free(&remarks->comments);
}

// ---- reading ------------------------------------------------------------------------------------

bool pawl_urdf_no_memory(PawlUrdf* u) {
  u->report->no_memory = true;
  return false;
}

bool pawl_text_is_xml(const char* text, size_t length) {
  size_t k = 0;
  while (k < length && strchr(" \t\r\n", text[k]) && text[k]) {
    k++;
  }
  return k < length && text[k] == '<';
}

PawlYaml* pawl_urdf_parse(PawlPool* pool, const char* text, size_t length, const PawlRobotDef* def,
                          PawlReport* report, PawlRemarks* remarks) {
  PawlUrdf u = {.pool = pool, .report = report, .remarks = remarks, .def = *def};
  PawlYaml* root = NULL;
  u.xml = pawl_xml_parse(pool, text, length, report);
  if (u.xml && pawl_urdf_read(&u) && pawl_urdf_connect(&u) && pawl_urdf_name(&u)) {
    pawl_urdf_judge(&u);
    pawl_urdf_left_out(&u);
    root = pawl_urdf_write(&u);
  }
  report->no_memory |=
      remarks->warnings.failed || remarks->notes.failed || remarks->comments.failed;
  pawl_names_free(&u.link_names);
  pawl_names_free(&u.joint_names);
  pawl_names_free(&u.ids);
  return report->no_memory ? NULL : root;
}
