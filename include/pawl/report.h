// SPDX-License-Identifier: Apache-2.0
// Writing what a recorder holds. A file appears whole or not at all: it is written beside its final
// name and renamed when complete.
#pragma once

#include <stdbool.h>

#include "pawl/base.h"
#include "pawl/recorder.h"

#ifdef __cplusplus
extern "C" {
#endif

// Comma-separated values: one header line with the column names (quoted where they hold a comma),
// then one line a sample, each number as the shortest decimal that reads back to the same double.
PAWL_API PAWL_CHECKED PawlStatus pawl_write_csv(const PawlRecorder* recorder, const char* path,
                                                PawlError* err);

// HDF5: /samples/<column> one dataset a column with the attributes "name", "unit" and "kind";
// /events with one dataset a field; the facts as attributes of the root. PAWL_ERROR_USAGE when the
// library was built without HDF5.
PAWL_API PAWL_CHECKED PawlStatus pawl_write_hdf5(const PawlRecorder* recorder, const char* path,
                                                 PawlError* err);
PAWL_API bool pawl_has_hdf5(void);

// A drawing of coordinates, rates and energies over time with the events marked, as SVG.
PAWL_API PAWL_CHECKED PawlStatus pawl_write_svg(const PawlRecorder* recorder, const char* path,
                                                PawlError* err);

#ifdef __cplusplus
}
#endif
