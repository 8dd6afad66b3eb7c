// SPDX-License-Identifier: Apache-2.0
// The tolerances of linear algebra, and of the mirror of a contact (system/mirror.h), with what
// each is relative to and why it is as it is. Those of instants, methods and runs are in
// switch/tolerances.h. No other file of the library has a bare one (scripts/check-tolerances).
#pragma once

// ---- rows that follow from others ---------------------------------------------------------------
// [1] The part of a row, scaled to length 1, that is left outside the others: the sine of the angle
// between them. Less than this, and the row follows from them. Forces of rows with this angle are
// 1e6 times what they do together, their rounding 1e-10 of it, as much as Newton's method leaves.
// The next limit on the way down, the root of rounding, is where a pivot says nothing any more.
#define PAWL_DEPENDENT 1e-6
// [1] The same for what is its square: a pivot of G M^-1 G^T with a diagonal of 1, or of [M -G^T;
// G 0] with entries of size 1. Four thousand roundings.
#define PAWL_DEPENDENT_PIVOT (PAWL_DEPENDENT * PAWL_DEPENDENT)
// [1] The same for the smallest singular value of rows of length 1, of the largest: two rows with
// the sine s have s/2, and the KKT solver takes rows apart down to half the sine above. What that
// holds must not be left out where singular values decide: a row would be dropped without a word.
#define PAWL_DEPENDENT_VALUE (0.125 * PAWL_DEPENDENT)

// ---- singular matrices --------------------------------------------------------------------------
// A pivot of the scaled matrix below SINGULAR, relative to its largest entry, means singular: half
// the angle at which rows depend, so that the probe, which eliminates in another order, finds a
// reason for every system that is refused. So does a solution larger than its inverse for a right
// side of size 1, which is looked at when a pivot is below SUSPICIOUS: pivots off the diagonal
// share the square of a small angle, and where exact arithmetic has a pivot 0 rounding leaves a few
// eps, but once in t times t eps. Without exchanges of rows no pivot may be below PLAIN.
#define PAWL_KKT_SINGULAR (0.25 * PAWL_DEPENDENT_PIVOT)
#define PAWL_KKT_SUSPICIOUS (2.0 * PAWL_DEPENDENT)
#define PAWL_KKT_PLAIN 1e-8
// [1] Of the largest unknown, scaled: a change that ends the refinement of a solution. A few
// roundings.
#define PAWL_KKT_REFINED 1e-15
// [1] Of a diagonal entry, or of the length of a row: less left by elimination in dense matrices
// that were found regular before is rounding, a thousand of them.
#define PAWL_REDUCE_ROUNDING (1024 * 2.220446049250313e-16)
// Of any unit: a guard against a division by zero, where a pivot is not judged.
#define PAWL_NO_PIVOT 1e-300
// [1] Of the right side: where conjugate gradients end. A few roundings; they lose none on the way,
// since the matrix is well conditioned (docs/theory/kkt.md, section 5).
#define PAWL_CG_TOLERANCE 1e-15

// ---- the mirror of a contact --------------------------------------------------------------------
// [1] Of the coordinates: a last correction of Newton's method, which is rounding.
#define PAWL_MIRROR_SETTLED 1e-14
// [1] Of the same: good enough where corrections go round in rounding and shrink no more.
#define PAWL_MIRROR_STALLED 1e-10
// [1] Of its largest value: a derivative of the gap that is none. Derivatives are exact, so that
// what is zero is rounding; a gap that is nearly flat cannot be mirrored.
#define PAWL_MIRROR_FLAT 1e-9
// [1] Of the box of coordinates: the last step of a search uphill for the largest curvature. The
// maximum is flat: an error of this size in the place is one of its square in the value.
#define PAWL_MIRROR_FINEST 1e-9
// [1] Of k_c: what it is known to, once found, for the same reason.
#define PAWL_MIRROR_CONTROL 1e-9
// [1] Of the size of the coordinates: how far what the mirror promises may be missed in a check,
// well above the rounding of a formula and well below a wrong one.
#define PAWL_MIRROR_OFF 1e-6
// [1] Of the same: a point is on the boundary.
#define PAWL_MIRROR_BOUNDARY 1e-13
// [1] Of the same: corrections between these on the way to the boundary must shrink faster than by
// PAWL_MIRROR_SLOW each, as Newton's method does where the gradient is not zero there.
#define PAWL_MIRROR_NEAR 1e-6
#define PAWL_MIRROR_NEAREST 1e-10
#define PAWL_MIRROR_SLOW 0.4
