// SPDX-License-Identifier: Apache-2.0
// A run in a file, to go on after a crash, a kill or a power failure as if nothing had happened.
#pragma once

#include "pawl/base.h"
#include "pawl/report.h"
#include "pawl/run.h"

#ifdef __cplusplus
extern "C" {
#endif

// Writes to `path` the run (pawl_sim_save) and how far the files of its writers are, which are
// brought to the disk first. The file replaces an older one at once, and only when it is on the
// disk itself. Call it between two steps (in `progress`); the writers are those that `on_sample`
// feeds, made resumable (pawl_writer_resumable). The size grows with the events and samples kept.
PAWL_API PAWL_CHECKED PawlStatus pawl_checkpoint_write(const char* path, const PawlSim* sim,
                                                       int writer_count, PawlWriter* const* writers,
                                                       PawlError* err);

// A simulation that goes on from there (pawl_sim_load), and fresh writers of the same formats,
// columns and order go on with their files: these are cut back to their length at the checkpoint.
// The end of the run, its events and its files are bit for bit those of a run that was never
// interrupted. PAWL_ERROR_USAGE names the file and what is wrong: damaged, of another run (and what
// has changed), or files of samples that are not there any more.
PAWL_API PAWL_CHECKED PawlStatus pawl_checkpoint_read(const char* path, const PawlSystem* system,
                                                      const PawlSimDef* def, int writer_count,
                                                      PawlWriter* const* writers, PawlSim** out,
                                                      PawlError* err);

#ifdef __cplusplus
}
#endif
