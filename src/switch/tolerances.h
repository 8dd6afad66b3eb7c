// SPDX-License-Identifier: Apache-2.0
// The tolerances of instants, methods and runs, with what each is relative to and why it is as it
// is. Those that a user sets are options (tolerance, event_tolerance, rtol, atol); those of linear
// algebra are in linalg/tolerances.h. No other file of the library has a bare one
// (scripts/check-tolerances).
#pragma once

#include "linalg/tolerances.h"

enum { PAWL_LARGEST_DENSE = 600 };  // velocities for which dense matrices are made

// ---- rates --------------------------------------------------------------------------------------
// [1] Of the largest rate: below it a rate counts as zero. A jump leaves rates at 1e-16 to 1e-13 of
// the largest, a motion that is resolved at all changes by far more than this in a step.
#define PAWL_REST 1e-10
// [1] Of the slower of two approaches: they are as fast.
#define PAWL_AS_FAST 1e-9
// [1] Of the largest kinetic energy of a run: with less the system rests, and what rates there are
// say nothing about constraints.
#define PAWL_REST_OF_RUN 1e-12
// [1] Of what counts as rest: a friction row that was left out, since others held it, is left.
#define PAWL_REST_LEFT 4.0
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
// [1] Of the largest gap of a contact: the rate of a lower one at the end of a step tells whether
// it was closed in between. A gap that goes up and down by half of its largest, and touches zero in
// the middle of half a period, is at half of that at its ends.
#define PAWL_NEAR_GAP 0.5
// [1] Of the same: a shallower dip is rounding of the rates, which are differences.
#define PAWL_NO_DIP 1e-12
// [1] Of a step: over which such a difference is taken, at the ends of the step and inside, where a
// margin is near its least value: its place is off by half of this.
#define PAWL_AHEAD 1e-3
#define PAWL_AHEAD_INSIDE 1e-5
// [1] Of the way of a switching function in a step: two of the same way, up to sign, are the ends
// of a band; rounding and the terms of a curved motion in both are the same.
#define PAWL_SAME_WAY 1e-6
// [1] Of a step: how closely instants are located at most, in whatever unit times are.
#define PAWL_INSTANT_OF_STEP 1e-8
// [1] Of a time: another that differs by less is the same, a few roundings.
#define PAWL_SAME_TIME (8 * 2.220446049250313e-16)
// [1] Of the largest value that a condition had, and of what event_tolerance is of a step, times
// the latter: farther from zero it is not asked whether it crosses within event_tolerance of an
// instant.
#define PAWL_SOON 1e-6
#define PAWL_SOON_OF_STEP 1e3
// [1] Of a period: a start this near to a whole number of them is on it, and gets its side from the
// motion, as a condition does within PAWL_NO_SIDE.
#define PAWL_ON_TURN 1e-12
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
// [1] The same for one that rows have held until now and hold on: the drift of a method is below,
// what a snap moves is above.
#define PAWL_PINNED_DRIFT 1e-3

// ---- surfaces of regions ------------------------------------------------------------------------
// [1] Of the largest coordinate and of what a step moves: z this little outside is rounding.
#define PAWL_SURFACE_NOISE 1e-13
// [1] Of the same: this far outside with no other region is a gap between regions.
#define PAWL_UNCOVERED 1e-6
// [1] Of the largest rate along its gradient: a surface that moves away more slowly stands still,
// as PAWL_COME_TO_REST. [1] And of its terms: how near to it the state must be, which only tells
// the surface that was landed on from others that happen to be parallel.
#define PAWL_SURFACE_STILL 1e-6
#define PAWL_SURFACE_NEAR 0.01
// [1] Of the drift of the constraint on it: how far a surface that stands still may seem to be
// left. Ten, since the drift where it is looked at is not the largest.
#define PAWL_SURFACE_DRIFT 10.0
// [1] Of the terms of a switching function: what rounding may make of it, and of what it changes
// by, with a wide margin.
#define PAWL_SURFACE_ROUNDING 1e-12
// [1] Of z: a distance that changes by less in a step of time stepping stays, and switches nothing.
#define PAWL_SURFACE_AT_REST 1e-9
// [1] Of the largest coordinate seen: a check counts a motion as on the surface. A thousand times
// what event_tolerance leaves in a motion of one coordinate per second.
#define PAWL_ON_SURFACE 1e-9

// ---- contacts -----------------------------------------------------------------------------------
// [1] Of the largest force that a located contact had, or that forces can make: it opens this much
// below zero. Rounding of multipliers is 1e-15 to 1e-13 of what they are solved from, and a contact
// that nothing presses together stays closed. And of the terms that a multiplier is solved from:
// what is known of a capacity that hangs on it.
#define PAWL_LOOSE 1e-12
// [1] Of the largest gap that a contact had: one that is left and would come back from less than
// this stays closed. Its time of flight is then known to 1e-6 of itself, since gaps are rounded to
// 1e-16; what else moves is off by about that height, a tenth of the usual rtol.
#define PAWL_BOUNCE_LEAST 1e-10
// [1] Of the tolerances of a method that starts at order 1, with the terms of the gap: a contact
// that would come back from less is not followed, either, once its rates fall by another ratio.
#define PAWL_BOUNCE_OFF 10.0
// [1] Of itself: the ratio of the rates at which a contact is left is the same as at the impact
// before. Flights that are nearly parabolas change it in proportion to their time.
#define PAWL_BOUNCE_SAME 0.01
// [1] Of the coordinates, over one step: such a rate counts as slow, too, also where no force acts.
// SLOWEST_LOGGED of it is some fifty times the rounding of coordinates.
#define PAWL_SLOWEST_MOVE 1e-10
// [1] Of the rate that forces make in a step: a slower approach does not rebound, or a closed
// contact would do so for ever.
#define PAWL_SLOWEST_REBOUND 1e-7
// [1] The same: slower impacts are part of closing, and do not go to the log.
#define PAWL_SLOWEST_LOGGED 1e-4
// [1] Of that: a slip at the border of its cone, where no rounding of forces looks like one. [1]
// And of the terms of its rate, which these are known to.
#define PAWL_SLOWEST_AT_BORDER 1e-4
#define PAWL_SLOWEST_OF_TERMS 1e-12
// [1] Of the impulses of contacts times the rates that they act on, and that forces make in a step:
// energy that is gained beyond this is no rounding, of which a sum over an island of contacts and
// the search for their impulses have some thousand.
#define PAWL_GAINED 1e-12
// [1] Of what forces that change in a step may do to it: a gain is known to a tenth.
#define PAWL_GAIN_KNOWN 10.0
// [1] Of the losses of contacts: what they leave of the energy that their island has lost is
// rounding. And of the energy that moves there and what forces do to it: no contact does more.
#define PAWL_LOSS_KNOWN 1e-9
#define PAWL_LOSS_BEYOND 1.0
// [1] Of the step: shorter ones are not halved to meet a contact that they pass. A run halves a
// step ten times at most.
#define PAWL_PASSED_SHORTEST 1.5e-3
// [1] Of the rate of a contact before a step: it still approaches like that by the old gradient.
#define PAWL_PASSED_PART 0.5
// [1] Of the rate that forces make in a step: what approaches slower passes nothing to speak of.
#define PAWL_PASSED_SLOWEST 1.0
// [1] Of the largest rate: what counts as made by forces where there are none.
#define PAWL_SLOWEST_PART 1e-6
// [1] Of the terms of a row: a contact this little open is closed at the start, and a gap that is
// none in the course of a run. A start may be off by PAWL_START_MET, which is the same.
#define PAWL_CONTACT_CLOSED 1e-9
#define PAWL_CONTACT_TOUCHING 1e-9
// [1] Of mu times the force of a contact: friction below it sticks.
#define PAWL_RUB_STICKS (1.0 - 1e-6)
// [1] Of the terms of a row that holds: a rate that is more than what rounding leaves of none.
#define PAWL_RUB_LOOSE 1e-6
// [1] Of the largest entry of a row: what those of two contacts differ by where they are one stated
// twice. Gradients are sums of some terms, known to some tens of roundings of these.
#define PAWL_RUB_TWINS 1e-13
// [1] Of the terms of accelerations: the rate of a slip that goes on whatever they are.
#define PAWL_RUB_GOES_ON 1e9
// [1] Of their loads: by how much those of contacts that slip are varied, to see whether they stay
// so and move anything; [1] of the largest: a load that has stayed; [1] of what they push: moved.
#define PAWL_SHARE_VARIED 0.1
#define PAWL_SHARE_STAYED 1e-4
#define PAWL_SHARE_MATTERS 1e-6
// [1] Of the largest impulse: the last change of one, where sweeps over contacts with friction have
// ended. What is left is taken up by the next iteration of Newton's method.
#define PAWL_RUB_SWEPT 1e-9
// [1] Of the largest impulse: what may be left of (F1), (F2), by (F62), where impulses are taken.
// After a sweep that is the last change times how many contacts one contact meets.
#define PAWL_RUB_MET 1e-8
// [1] Of what forces make in a step: an impulse that is sudden; and of a slip, how much of it
// changes by that. (T35)
#define PAWL_RUB_SUDDEN 10.0
#define PAWL_RUB_JAM_CHANGES 0.1
// [1] Of the largest impulse: a step that is farther off the cones by (F35) is named in a warning.
#define PAWL_RUB_OFF 1e-3
// [1] Of the size of the openings: where the interior point method for contacts with friction ends
// (its square for products of both). Sets are told apart then, and exact from there on. And what a
// contact gives way, of its compliance: impulses that hold each other stay finite.
#define PAWL_RUB_CENTERED 1e-8
#define PAWL_RUB_CENTERED_NEARLY 1e-5  // where rounding ends it before
#define PAWL_RUB_CENTER_SOFT 1e-9
// [1] Of the largest square: where a level of contacts from soft to hard is solved. And of the
// compliance of a row: the last level, from which sets go on.
#define PAWL_RUB_SOFT_ENDS 1e-18
#define PAWL_RUB_HARDEST 1e-6
// [1] Of the openings if nothing pushed: a contact that is pushed and opens by less may be one that
// is neither, where both are the root of what PAWL_RUB_CENTERED leaves.
#define PAWL_RUB_CENTER_SLIPS 1e-3
// [1] Of the largest velocity, and of what forces make of it in a step: what velocities may be off
// by where contacts are left as it ends with.
#define PAWL_RUB_RELAXED 1e-6
// [bits] What is left of the values of contacts with friction in matrices whose factors shall serve
// as long as nothing moves; [1] of a power of two: where sizes begin to count as the next one.
#define PAWL_RUB_BITS 36
#define PAWL_RUB_BORDER 0.7123
// [1] Of what was left before: a substitution with such factors leaves no more, or exact ones are
// made. And what may be left in the end, of PAWL_ROWS_ROUNDING.
#define PAWL_RUB_LEADS 0.1
#define PAWL_RUB_FAR 10.0
// [1] Of velocities, and of the largest push: what another round would change where contacts that
// depend on each other are solved for.
#define PAWL_DEPEND_ENDS 1e-15
// [1] Of the change of a round: a later one that shrinks less has come to rounding.
#define PAWL_DEPEND_SHRINKS 0.5

// ---- rows with bounds (docs/theory/rows.md) -----------------------------------------------------
// [1] Of the size of a row: w or lambda that counts as none. Ten thousand roundings, since w is a
// sum over rows that were solved for. Of that size forces of the set count with CARRIED: their
// rounding alone, which solving again makes small.
#define PAWL_ROWS_ROUNDING 1e-12
#define PAWL_ROWS_CARRIED 0.01
// [1] Of all terms: w as small as rounding allows, so that solving again is no use. Two roundings.
#define PAWL_ROWS_EXACT 4e-16
// [1] Of the largest row, measured by compliance: what rounding in one row does to the others.
#define PAWL_ROWS_NEIGHBOURS 0.01
// [1] Of the square of its terms: the rounding of a slope, twenty of them.
#define PAWL_ROWS_SLOPE_NOISE 4e-15
// [1] Of its own row: a smaller part of a row in a contradiction is rounding of the solution, whose
// matrix has a condition of up to 1 / PAWL_DEPENDENT.
#define PAWL_ROWS_TAKES_PART 1e-9
// [1] Times what is given: larger forces leave nothing of it but rounding.
#define PAWL_ROWS_DROWNED 1e6
// [1] Of the terms of w: how far G x + b may differ from the w of the dense form. It tells a result
// that D has lost (off by all of it) from one with the rounding of nearly dependent rows.
#define PAWL_ROWS_CONFIRMED 1e-6
// [1] Of the largest multiplier: beyond its cone by no more, a multiplier is kept where no share
// within the cones is found. Guards see it, and decide.
#define PAWL_SHARE_KEPT 1e-9
// [1] Of mu: by how much forces that are only shown may be beyond, at the instant at which a heap
// gives way, where none within hold it.
#define PAWL_SHARE_SHOWN 1e-8
// [1] Of the terms of a share: beyond a bound by no more than rounding.
#define PAWL_SHARE_ALMOST 1e-13
// [1] Of a row: a smaller part of a later row in it is rounding; T is good to 1e-10.
#define PAWL_SHARE_PART 1e-8
// [1] |x|, G x = w of length 1: rows, scaled to length 1, beyond which they are named as the reason
// why a motion came to a singular position. At PAWL_DEPENDENT it is 1e6.
#define PAWL_NEXT_TO_DEPENDENT 1e2
// [1] Of its length at the start: a shorter gradient of a row vanishes, and is named in the same
// place.
#define PAWL_VANISHED 1e-3

// ---- rows with friction (docs/theory/friction.md) -----------------------------------------------
// [1] Of the multipliers that friction hangs on: how far they are varied for its derivatives, and
// the change of multipliers at which they have settled: the next one of Newton is far below.
#define PAWL_VARIED 1e-5
#define PAWL_TIED 1e-12
// [1] Of its largest speed, and of the terms of its rate: a slower slip in space has come to rest.
// Its direction is known to the rounding of the speeds over that, and it need not meet zero.
#define PAWL_SLIP_STOPS 1e-11
// [1] Of the terms of its rate: a slip in space that begins from rest counts as this fast at least.
// Explicit methods need steps as short as friction takes to make that speed.
#define PAWL_SLIP_BEGINS 1e-8
// [1] Of what forces make of rates in a step: the same, where nothing moves. Positions are off by
// its square times h^2 a, and explicit methods need as many steps as its root is small.
#define PAWL_SLIP_BEGINS_STEP 1e-4
// [1] Of that speed: where it has begun; and where methods with steps of their own know it well
// enough without short ones.
#define PAWL_SLIP_BEGUN 2.0
#define PAWL_SLIP_KNOWN 1e4
// [1] Of the time until it would rest: how long a step may be in which a slip in space turns, of a
// method that does not control its error; and at most, where little is left of that time.
#define PAWL_SLIP_TURN 0.1
#define PAWL_SLIP_TURN_MOST 0.5
// [1] Sine of the angle from a slip to its change: what turns less is taken as this.
#define PAWL_SLIP_STRAIGHT 1e-3
// [1] Of its largest speed: from here on the steps become shorter.
#define PAWL_SLIP_NEAR 0.5
// [1] Of the time in which friction would have turned the direction to its own: how long a step may
// be. Explicit ones are stable up to 2.78 (Runge and Kutta), implicit ones swing to and fro from 2.
#define PAWL_SLIP_STABLE 1.0
// [1] Of the time in which friction would have turned the direction to its own: from steps of this
// length on directions are unknowns. Up to here the steps above cost less.                 (F80)
#define PAWL_SLIP_SLOW 4.0
// How many contacts may turn there: the equations of their directions are dense.
#define PAWL_SLIP_SLOW_MOST 64
// [rad] How far a direction is turned in one correction. And of what there is of each velocity, and
// [rad]: the last change of an iteration; and what rounding may leave of it, where it shrinks no
// more.
#define PAWL_SLIP_SLOW_TURN 0.5
// [1] Of a piece, and of the time in which a slip grew to what it is: how long a step may be whose
// works are to be known; they are to a part of the sixth power of it, as the trapezium has them.
// And of a piece, how short its first step from rest is: in that they are known to a hundredth, and
// it is a part of the third power of all.
#define PAWL_SLIP_SLOW_WORKS 0.15
#define PAWL_SLIP_SLOW_WORKS_FIRST 0.02
// [1] Of a length in which no directions are found: the next one; and of the longest, the least one
// that is tried.
#define PAWL_SLIP_SLOW_SHORTER 0.25
#define PAWL_SLIP_SLOW_PART 1e-3
#define PAWL_SLIP_SLOW_ENDS 1e-14
#define PAWL_SLIP_SLOW_ROUNDED 1e-11
#define PAWL_SLIP_SLOW_NOISE 16.0  // rounding errors of the terms of a slip
#define PAWL_SLIP_SLOW_NOISY 1e-4  // [rad] of a direction that is lost in them
// [1] Of the compliance of its masses: what a contact that slips yields by where it jams; where
// steps become shorter, and what part of the time until then they may be; and, of what its gap is
// made of, how far the lift-off may dip below zero; of the acceleration that forces make: what
// still presses there what does not lift off.                                               (F36)
// (F44)
#define PAWL_JAM 1e-11
#define PAWL_JAM_NEAR 0.1
#define PAWL_JAM_STEP 0.125
#define PAWL_JAM_DIP 1e-11
#define PAWL_JAM_PRESSED 0.01
// [1] Of a slip: what forces change of each in the time for which they act in an impact without a
// collision; a slip that has changed by less has not. Impulses change it by all of it, or next to
// that.                                                                                     (F72)
#define PAWL_SHOCK_AHEAD 0.1
#define PAWL_SHOCK_CHANGES 1e-6
// [1] Of what counts as no rate: what forces move in a time step by which such an instant is
// passed.
#define PAWL_SHOCK_PASSES 10.0  // (F73)
// [1] Of D_ii: the compliance that rows are given while sets are searched, so that rows which
// depend on each other share forces in one way. What it changes is solved away afterwards; each
// round of that leaves SOFT / sigma, with sigma >= 1e-6 for rows that are independent.
#define PAWL_FRICTION_SOFT 1e-9
// [1] Of mu times its force: a contact that seems to have left its cone, and not to have, is at its
// border. The same as where forces beyond a cone are seen as they are.
#define PAWL_AT_BORDER 1e-9
// [1] Of the terms of w: what moves like that does so whatever borders of cones are rounded to.
#define PAWL_FRICTION_MOVES 1e-6
// [1] Of PAWL_FRICTION_SOFT: where Newton's method does not end with cones. Each round then leaves
// 1e-6 or 1e-3 over sigma, which is still far below 1 for the contacts of a body.
#define PAWL_FRICTION_SOFTER 1e3
#define PAWL_FRICTION_SOFTEST 1e6
// [1] Of the largest force: forces that change less have settled.
#define PAWL_FRICTION_SETTLED 1e-11
// [1] A smaller pivot of a set is none: softened dependent rows leave SOFT, a critical mu zero.
#define PAWL_FRICTION_SINGULAR 1e-13
// [1] Of the largest entry of its column: the diagonal of a sparse set is the pivot down to this.
#define PAWL_FRICTION_EXCHANGE 0.1
// [1] Of its column: a smaller pivot of Lemke's method is rounding.
#define PAWL_FRICTION_PIVOT 1e-11
// [1] A smaller pivot may be that of dependent rows, whose forces are shared.
#define PAWL_FRICTION_SHARED 1e-7
// [1] Of the compliance of both slips of a contact: what they yield by where they depend on each
// other, so that a contact by itself has one force.
#define PAWL_FRICTION_YIELDS 1e-12
// [1] Of the largest row: |F| of Newton's method that counts as rounding.
#define PAWL_FRICTION_NEWTON 1e-14
// [1] (F8) of a solution. A hundred times what rounding leaves next to mass ratios of 1e4.
#define PAWL_FRICTION_SOLVED_TO 1e-10
// [1] Of the openings without forces, and of their square for products z^T s: where the interior
// point method ends; where rounding may end it before; and products by which contacts slip. Forces
// that are one of many are still in the middle of all there, as long as rows give way by far less
// than z^T s / z^2. And how far it goes on where all forces that are possible are at borders: what
// is neither force nor opening is the root of that there.
#define PAWL_FRICTION_CENTERED 1e-12
#define PAWL_FRICTION_CENTERED_FURTHER 1e-21
#define PAWL_FRICTION_NEARLY 1e-9
#define PAWL_FRICTION_CENTER_SLIPS 1e-8
#define PAWL_FRICTION_CENTER_SOFT 1e-14
// [1] Of the largest row: solutions that differ by less in w are one.
#define PAWL_FRICTION_SAME 1e-8

// ---- jumps --------------------------------------------------------------------------------------
// [1] Of the terms of a row: a snap to a held value has ended; a few roundings. And where it
// shrinks no more, which happens where the terms cancel.
#define PAWL_SNAPPED 1e-15
#define PAWL_SNAPPED_NEARLY 1e-12
// [1] Of the terms of a row: a joint that turns back by less under the friction of sliding is at
// rest. The accelerations compared are solutions, good to 1e-10.
#define PAWL_TURNS_BACK 1e-9
// [1] Of a matrix with a diagonal of 1: a smaller pivot is rounding.
#define PAWL_IMPACT_PIVOT 1e-13
// [rad] Planes with a smaller angle are not turned: the jump is the same to its square.
#define PAWL_NO_ANGLE 1e-9
// [1] Of a diagonal entry of M: a smaller pivot is zero. Far above rounding, far below what a
// change of sign leaves behind after a step.
#define PAWL_NO_MASS 1e-10

// ---- works --------------------------------------------------------------------------------------
// [1] Of the step: inside a shorter piece velocities are interpolated by themselves. From
// positions, over the time of the piece, they are known to 1e-13 at best, and slips may be as slow.
#define PAWL_WORKS_BRIEF 1e-3

// ---- positions ----------------------------------------------------------------------------------
// [1] Of the largest coordinate (rate, acceleration): each counts as at least this. At the end of
// Newton's method (docs/theory/generalized-alpha.md) of the sum of the terms that make one up,
// where they cancel: their rounding is then 1e-13 of the size.
#define PAWL_SMALLEST_PART 1e-3
// [m or rad] Where all are below NOTHING, which is rounding in a model with numbers of ordinary
// size, each counts as SMALLEST_SIZE: there is nothing to measure by, and this is a guard against a
// division by zero. A row without any term counts as this large for the same reason.
#define PAWL_NOTHING 1e-14
#define PAWL_SMALLEST_SIZE 1e-3
// [1] Of the terms of a row: how far off new equations may be where they begin, and a lock that
// refuses may be from its value.
#define PAWL_MEETS 1e-6
// [1] Of the terms of a row: how far a start may be off without being refused. Numbers of a model
// are typed with ten digits.
#define PAWL_START_MET 1e-9
// [1] Of the same: where its projection ends, and how large the last change may be, relative to the
// whole, whose square is rounding.
#define PAWL_START_PROJECTED 1e-13
#define PAWL_LAST_PROJECTION 1e-8
// [1] Of the violations of a guess: it is near if the first step of Newton's method leaves no more
// of them, and where it is far, it goes down to so much of them before.
#define PAWL_LEADS 1e-2
#define PAWL_NEAR_GUESS 1e-2
// [1] Of the stated value, or of 1 where that is less: a guess that has gone farther counts with no
// more than this where rows are measured against their terms.
#define PAWL_FARTHEST_GUESS 1e3
// [1] Of the same: a row left out as redundant that is farther off has become independent.
#define PAWL_REDUNDANT_OFF 1e-6
// [1] Of a direction of length 1: a smaller part of a row in another is none.
#define PAWL_REDUNDANT_PART 1e-6
// [1] Of rates and accelerations: rows that depend on each other and differ by more contradict.
#define PAWL_CONTRADICTS 1e-9

// ---- the end of Newton's method -----------------------------------------------------------------
// [1] Of the sum of the terms of a row, with what rounding of the coordinates makes of it: less
// cannot be told from zero. Eight roundings: a term is itself the result of a few operations.
#define PAWL_ROUNDED (8 * 2.220446049250313e-16)
// [1] Of a tolerance: by so much less, the same comparison in another order of operations holds,
// too. Some tens of roundings of few terms.
#define PAWL_COMPARED (64 * 2.220446049250313e-16)
// [1] Of the last step: the longest next one for which the acceleration that generalized-alpha
// carries along is stretched; with much longer ones the rounding of a short step would grow.
#define PAWL_STRETCHED 4.0
// [1] Of the size of a coordinate: after a correction this small (the root of rounding) the next
// one, which is of its square, is rounding; if residuals are no smaller, nothing is to be gained.
#define PAWL_LAST_TO_SHRINK 1.5e-8
// [1] Of the largest coordinate in the metric of the masses: what no coordinate counts as smaller
// than in that judgement, since a linear solver passes rounding from large to small ones.
#define PAWL_LOST_PART 1e-3
// [1] Of the terms of a row, or of the balance of forces: what is left by rounding is less. More,
// with no correction that could help, is a contradiction.
#define PAWL_LARGEST_ROUNDING 1e-6
// [1] Of a coordinate: a correction this small makes the next one, which is of its square, too
// small to matter. The same for the balance of forces on a coordinate that are small.
#define PAWL_LAST_CORRECTION 1e-3
#define PAWL_OWN_BALANCE 1e-3
// [1] Of the error before: what a correction by factors of an earlier one must leave at most, else
// tangents are made anew.
#define PAWL_HELD_RATE 0.1
// [1] Of the largest coordinate in the metric of the masses, of the largest row by its terms: no
// smaller one is judged by itself.
#define PAWL_COORDINATE_NOISE 1e-10
#define PAWL_ROW_NOISE 1e-4
// Of any unit: smaller residuals and rates are none. A motion that comes to rest halves them down
// to the denormal numbers, where nothing is relative any more; this is their root.
#define PAWL_FLUSHED 1e-150

// ---- corrections of explicit methods (docs/theory/motion-forms.md) ------------------------------
// [1] Of the terms of a row: positions and velocities are settled, a few roundings of each of up to
// eight terms. The first correction is always made, however small: with a dead zone a state would
// jump across it as the length of a step varies, and instants could not be located near a kink.
#define PAWL_PROJECTED (64 * 2.220446049250313e-16)
// [1] Of the same, or of the largest coordinate: settled where corrections help no more.
#define PAWL_SETTLED_NEARLY 1e-11
// [1] Of the terms of a row: one correction leaves of this its square, which the next step
// corrects.
#define PAWL_ONCE_IS_ENOUGH 1e-10
// [1] Of the rates, in the metric of the diagonal of M: v' and lambda serve for a point this near.
#define PAWL_AT_ONCE 1e-11

// ---- steps that a method chooses ----------------------------------------------------------------
// [1] Of a time, or of the whole step: a smaller step changes nothing but rounding.
#define PAWL_SMALLEST_STEP (16 * 2.220446049250313e-16)
// [1] Of a step: another that differs by less is the same.
#define PAWL_SAME_STEP 1e-12
// [1] Of the sizes of the terms of d S d: below zero by more than this, forces have outgrown a
// step. Rounding is 1e-16 of them; a step that ends at the border is no better than one beyond it.
#define PAWL_OUTGROWN 1e-9
// [1] Of a divisor at the nearer end of a step: where to look whether there is a pole at its zero.
#define PAWL_NEAR_POLE 1e-3
// [1] Of a divisor at the ends of a step: where it seems to come lower between them its least value
// is looked for.
#define PAWL_TOUCHES_POLE 0.5
// [1] Of the force at the ends: what grows by less towards there has no pole; 1/x grows a thousand
// times.
#define PAWL_POLE_GROWTH 30.0
// [1] Of the largest force: one below it is rounding.
#define PAWL_NO_FORCE 1e-9
// [1] In units of the error allowed: the least that the error of the step before counts with. One
// step that happens to be exact must not make the next one huge.
#define PAWL_LEAST_ERROR 1e-4
// The first step of dopri, as E. Hairer, S. Norsett and G. Wanner, Solving ordinary differential
// equations I, choose it: [1] sizes in units of the tolerances below which nothing can be said, and
// the step [s] then taken.
#define PAWL_NO_SIZE 1e-5
#define PAWL_FIRST_STEP 1e-6
// [1] Of a step: over which ida sees how the accelerations change at a start.
#define PAWL_AHEAD_OF_START 1e-4
// [1] Of a time and a step: as SUNDIALS treats its own tstop. A step below TINY of the time is one
// that its error control has given up on.
#define PAWL_IDA_SAME_TIME (100 * 2.220446049250313e-16)
#define PAWL_SUNDIALS_TINY (1000 * 2.220446049250313e-16)
// [1] Of a time and a step: how closely SUNDIALS finds zeros.
#define PAWL_SUNDIALS_ROOT (100 * 2.220446049250313e-16)
// [1] Of a step: a number of steps this near to a whole one is one.
#define PAWL_WHOLE_STEPS 1e-9
// [1] Of the largest coordinate or rate: no tolerance of ida is smaller; below it constraints carry
// the rounding of the largest to all others. An rtol below LEAST_RTOL is for SUNDIALS to refuse.
#define PAWL_IDA_NOISE 2e-13
#define PAWL_LEAST_RTOL 1e-15
// Of any unit: what stands for zero where SUNDIALS takes none: weights of multipliers, and margins.
#define PAWL_NO_WEIGHT 1e-100
// [1] A coefficient of friction that a message names as too large: forces of friction are then as
// many times those that press, and these are rounding beside them (PAWL_ROWS_DROWNED).
#define PAWL_HUGE_FRICTION 1e6
// [1] Of the largest unknown: the last term of a Taylor series, a hundredth of rounding.
#define PAWL_LAST_TERM 1e-18

// [1] Of the nominal step: a shorter piece between instants is taken by the explicit formula where
// the method would divide by it.
#define PAWL_TINY_PIECE 1e-4
// A kink that is left again this soon is one that the motion is driven back to: [1] times
// event_tolerance, and of a step.
#define PAWL_KINK_OF_INSTANT 100.0
#define PAWL_KINK_OF_STEP 1e-9

// ---- the projected Hamilton principle -----------------------------------------------------------
// [1] Of the step: how closely the cut at an impact is found, and the length of a piece below which
// rows hold by G w = 0 and not by g = 0 at its end, which would divide by it.
#define PAWL_IMPACT_TIME 1e-15
#define PAWL_SHORT_PIECE 1e-3
// [1] Of the coordinates: z belongs to q.
#define PAWL_SAME_PLACE 1e-9
// [1] Of the coordinates: a gap that is rounding.
#define PAWL_PHP_TOUCHING 1e-12

// ---- runs ---------------------------------------------------------------------------------------
// [1] Of the energy that moves in a run: what no method is blamed for. And of the energy itself:
// the rounding of its sums.
#define PAWL_ENERGY_NOISE 1e-9
#define PAWL_ENERGY_ROUNDING 1e-12
// [1] Of a time: two samples are of one instant; more than the rounding of n h against a sum.
#define PAWL_STREAM_SAME_TIME 4e-15
// [1] Of the largest singular value: smaller ones are zero, and belong to motions without
// frequency. Of the terms of a stiffness, beside the stiffest: a smaller one is none.
#define PAWL_NO_SINGULAR_VALUE 1e-12
// [1] Of the stiffest: terms of a stiffness that are smaller are what rounding left of others, some
// of them; beside a rest position, which is known to a part of the coordinates, those below the
// value above are.
#define PAWL_STIFF_ROUNDING (16 * 2.220446049250313e-16)
// [1] Of the largest singular value or square of a frequency: smaller ones are looked at by
// themselves, since rounding of the largest hides them. A hundred times what may be none.
#define PAWL_SOFT 1e-10
// [1] Of the largest singular value, of rows and of drives: smaller ones are none. Of the largest
// force of the motion: what the drives do not make of it; both for forces of drives, whose rows are
// a user's and not scaled.
#define PAWL_INVERSE_RANK 1e-10
#define PAWL_UNREACHED 1e-8
// [1] Of the largest singular value: smaller ones are none in Newton's method, which may use rows
// that nearly follow from others; the rank itself is judged by PAWL_DEPENDENT. Of the radius: a
// point next to a position is on the rows. Both where check asks whether a change of topology is
// regular.
#define PAWL_TOPOLOGY_SOLVED 1e-10
#define PAWL_TOPOLOGY_ON_ROWS 1e-9
// [1] Of the terms of d omega, or of its row: below it a rate equation fulfils Frobenius'
// condition.
#define PAWL_INTEGRABLE 1e-9
// [1] Of the step: the last correction on the way to a rest position. Of the largest coordinate:
// rest is found, and found where changes shrink no more. Of its first value: the step in
// pseudo-time at which the search is given up.
#define PAWL_REST_SOLVED 1e-3
#define PAWL_REST_FOUND 1e-13
#define PAWL_REST_NEARLY 1e-7
#define PAWL_REST_GIVEN_UP 1e-60
// [1] Of the largest coordinate or state at the start, or of 1 [m, rad, ...] where that is more:
// what is farther away is held by nothing.
#define PAWL_REST_AWAY 1e12
// [1] Of the accelerations at the start: none is left. Of the largest coordinate: how far around a
// kink the forces are looked at. Of the acceleration on one side of it: none is left in the kink.
#define PAWL_REST_PULLS 1e-9
#define PAWL_REST_BESIDE 1e-6
#define PAWL_REST_IN_KINK 1e-4
// [m] A gap of a contact that counts as none at rest.
#define PAWL_REST_TOUCHES 1e-9
// [1] Of kinetic and potential energy: what differs less is the place of the kink, which is located
// to the tolerance of instants, and no leap.
#define PAWL_LEAST_LEAP 1e-5
