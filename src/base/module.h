// SPDX-License-Identifier: Apache-2.0
// C that was printed here, compiled by the compiler of the machine and loaded.
//
// What was compiled stays in a folder of the user's own, $XDG_CACHE_HOME/pawl or $HOME/.cache/pawl,
// under a name made from the text, the compiler and its options; the text lies beside it and is
// compared. A folder or file that somebody else owns or may write to is not used. The compiler is
// called without a shell, and with nothing in its command line but options and such names, and
// ended when it takes longer than two minutes.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "pawl/base.h"

typedef struct PawlModule PawlModule;
typedef struct PawlModuleJob PawlModuleJob;  // lets another thread end a compilation

PawlModuleJob* pawl_module_job_create(void);  // NULL when memory is short
// Ends what is being compiled for this job, and all that would be: PAWL_STOPPED.
void pawl_module_job_stop(PawlModuleJob* job);
void pawl_module_job_destroy(PawlModuleJob* job);  // when nothing is under way; NULL is allowed

// Compiles `source` or takes what was compiled before. `job` may be NULL.
PAWL_CHECKED PawlStatus pawl_module_create(const char* source, size_t length, PawlModuleJob* job,
                                           PawlModule** out, PawlError* err);
void pawl_module_destroy(PawlModule* module);  // NULL is allowed
// What the module has under this name; NULL without.
void* pawl_module_find(const PawlModule* module, const char* name);
