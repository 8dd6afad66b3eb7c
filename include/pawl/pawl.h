// SPDX-License-Identifier: Apache-2.0
// All of pawl, in the order of the data: text, model, system, stepper, run, recorder, files.
#pragma once

#include "pawl/base.h"
#include "pawl/chart.h"
#include "pawl/checkpoint.h"
#include "pawl/equilibrium.h"
#include "pawl/inverse.h"
#include "pawl/model.h"
#include "pawl/motion.h"
#include "pawl/plot.h"
#include "pawl/recorder.h"
#include "pawl/report.h"
#include "pawl/run.h"
#include "pawl/spectrum.h"
#include "pawl/stepper.h"
#include "pawl/system.h"
#include "pawl/verify.h"
