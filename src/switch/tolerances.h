// SPDX-License-Identifier: Apache-2.0
// The tolerances of instants, with what each is relative to and why it is as it is. Those of
// Newton's method are options (tolerance, event_tolerance); those of a linear solver are in linalg.
#pragma once

enum { PAWL_LARGEST_DENSE = 600 };  // velocities for which dense matrices are made

// ---- rates --------------------------------------------------------------------------------------
// [1] Of the largest rate: below it a rate counts as zero. A jump leaves rates at 1e-16 to 1e-13 of
// the largest, a motion that is resolved at all changes by far more than this in a step.
#define PAWL_REST 1e-10
// [1] Of PAWL_REST: a smaller drift of what holds is left alone.
#define PAWL_REST_DRIFT 0.01
// [1] Of the largest rate a sliding joint had: a rate found to be zero by locating an instant.
#define PAWL_COME_TO_REST 1e-6
// [1] Of event_tolerance times the second rate: the same where a motion passes through zero.
#define PAWL_REST_OF_INSTANT 100.0
// [1] Of the rate of a switching function before a jump: below it the motion after leads back.
#define PAWL_SMALLEST_GAIN (-1e-9)

// ---- conditions ---------------------------------------------------------------------------------
// [1] Of the largest value that a condition had: below it, it has no side; ten thousand times
// rounding, so that a condition that begins at zero gets its side from motion.
#define PAWL_NO_SIDE 1e-12
// [1] The same just after a jump, which a root has led to: the root is known to event_tolerance.
#define PAWL_NO_SIDE_YET 1e-9
// [1] The same for a crossing: zero to rounding is not yet across, something may hold it there.
#define PAWL_ROUNDING 1e-14
// [1] Of the largest value that a condition had, or of the capacity: a margin that is farther from
// zero at both ends of a step does not dip below it in between, if the step resolves the motion: in
// 16 steps a period, a margin that touches zero is at most 1 - cos(pi/16) = 0.02 of its amplitude
// at the nearer end.
#define PAWL_NEAR 0.01
// [1] Of the same: a shallower dip is rounding of the rates, which are differences.
#define PAWL_NO_DIP 1e-12
// [1] Of a step: over which such a difference is taken, at the ends of the step and inside, where a
// margin is near its least value: its place is off by half of this.
#define PAWL_AHEAD 1e-3
#define PAWL_AHEAD_INSIDE 1e-5
// [1] Of a time: another that differs by less is the same, a few roundings.
#define PAWL_SAME_TIME (8 * 2.220446049250313e-16)
// [1] Of the capacity: a joint lets go this much beyond it, and sticks up to PAWL_STICKS of that,
// so that rounding does not make it do both in turn. Joints that share a load bear it up to
// PAWL_BEARS: well beyond where they stick, and short of where each lets go, so that what is left
// until then is not zero where one is at its bound and others take the rest.
#define PAWL_CAPACITY_SLACK 2e-11
#define PAWL_STICKS 0.1
#define PAWL_BEARS 0.5
// [sqrt(N)] The weight of a joint without any capacity, which must not be zero.
#define PAWL_LEAST_WEIGHT 1e-150
// [1] Of what moves along a condition in a free motion: less, and the rows in force hold it.
#define PAWL_PINNED_ALONG 1e-8
// [1] Of the terms of a condition: a value below is zero, where the rows may hold it there.
#define PAWL_PINNED_ZERO 1e-7

// ---- surfaces of regions ------------------------------------------------------------------------
// [1] Of the largest coordinate and of what a step moves: z this little outside is rounding.
#define PAWL_SURFACE_NOISE 1e-13
// [1] Of the same: this far outside with no other region is a gap between regions.
#define PAWL_UNCOVERED 1e-6

// ---- contacts -----------------------------------------------------------------------------------
// [1] Of the coordinates, over one step: such a rate counts as slow, too, also where no force acts.
// SLOWEST_LOGGED of it is some fifty times the rounding of coordinates.
#define PAWL_SLOWEST_MOVE 1e-10
// [1] Of the rate that forces make in a step: a slower approach does not rebound, or a closed
// contact would do so for ever.
#define PAWL_SLOWEST_REBOUND 1e-7
// [1] The same: slower impacts are part of closing, and do not go to the log.
#define PAWL_SLOWEST_LOGGED 1e-4
// [1] Of the largest rate: what counts as made by forces where there are none.
#define PAWL_SLOWEST_PART 1e-6

// ---- positions ----------------------------------------------------------------------------------
// [1] Of the largest coordinate (rate, acceleration): each counts as at least this. At the end of
// Newton's method (docs/theory/generalized-alpha.md) of the sum of the terms that make one up,
// where they cancel: their rounding is then 1e-13 of the size.
#define PAWL_SMALLEST_PART 1e-3
// [m or rad] Where all are below NOTHING, which is rounding in a model with numbers of ordinary
// size, each counts as SMALLEST_SIZE: there is nothing to measure by.
#define PAWL_NOTHING 1e-14
#define PAWL_SMALLEST_SIZE 1e-3
// [1] Of the terms of a row: how far off new equations may be where they begin, and a lock that
// refuses may be from its value.
#define PAWL_MEETS 1e-6
// [1] Of rates and accelerations: rows that depend on each other and differ by more contradict.
#define PAWL_CONTRADICTS 1e-9

// ---- the end of Newton's method -----------------------------------------------------------------
// [1] Of the sum of the terms of a row, with what rounding of the coordinates makes of it: less
// cannot be told from zero. Eight roundings: a term is itself the result of a few operations.
#define PAWL_ROUNDED (8 * 2.220446049250313e-16)
// [1] Of the size of a coordinate: after a correction this small (the root of rounding) the next
// one, which is of its square, is rounding; if residuals are no smaller, nothing is to be gained.
#define PAWL_LAST_TO_SHRINK 1.5e-8
// [1] Of the largest coordinate in the metric of the masses: what no coordinate counts as smaller
// than in that judgement, since a linear solver passes rounding from large to small ones.
#define PAWL_LOST_PART 1e-3
// [1] Of the terms of a row, or of the balance of forces: what is left by rounding is less. More,
// with no correction that could help, is a contradiction.
#define PAWL_LARGEST_ROUNDING 1e-6
