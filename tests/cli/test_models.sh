#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every model that comes with pawl: listed, printed as it is in models/, checked, and run with its
# own settings by every method that can.
. "$(dirname "$0")/lib.sh"

smooth="ga-p ga-v ga-a ga-pv ga-pva nsga-pvv nsga-pva moreau-jean rk4 event-driven"
switching="event-driven ga-p ga-v ga-v-between ga-v-implicit ga-pv ga-pva nsga-pvv nsga-pva moreau-jean"
contact="nsga-pvv nsga-pva moreau-jean event-driven"
rubs="event-driven nsga-pvv nsga-pva moreau-jean"
linear="taylor exponential" # for linear models
adaptive=dopri
"$pawl" help run | grep -q '^  ark ' && adaptive="dopri ark ida"

# run_model NAME METHOD: runs, and checks what every run has in common; the first writes a file.
run_model() {
  if [ -e "$1.csv" ]; then
    expect 0 run "$models/$1.yaml" --method "$2" --json
  else
    expect 0 run "$models/$1.yaml" --method "$2" --json -o "$1.csv"
    [ "$(wc -l <"$1.csv")" -gt 2 ] || complain "$1.csv has no samples"
  fi
  paths
  same "$(field status)" ok
  same "$(field method)" "$2"
}

# energy_kept NAME METHOD PART: no drift by more than that part of 1 + the energy at the start.
energy_kept() {
  awk -v drift="$(field energy.max_drift)" -v start="$(field energy.start)" -v part="$3" 'BEGIN {
    exit !(drift != "" && drift <= part * (1 + (start < 0 ? -start : start)))
  }' || complain "$1 with $2: energy drifts by $(field energy.max_drift)"
}

# energy_lost NAME METHOD LOSS TOLERANCE: over the whole run, at the switches.
energy_lost() {
  awk -v a="$(field energy.start)" -v b="$(field energy.end)" -v expected="$3" -v tolerance="$4" '
    BEGIN {
      d = a - b - expected
      exit !(a != "" && (d < 0 ? -d : d) <= tolerance)
    }' || complain "$1 with $2: energy $(field energy.start) -> $(field energy.end), expected loss $3"
}

# holds METHOD: positions are on the constraints; event-driven and rk4 drift a little.
holds() {
  case $1 in
    ga-p | ga-pv | ga-pva | nsga-pvv | nsga-pva) near "$(field residual.position)" 0 1e-9 ;;
    rk4 | event-driven) near "$(field residual.position)" 0 2e-7 ;;
  esac
}

smooth_model() {
  for method in $smooth; do
    run_model "$1" "$method"
    holds "$method"
    # At the models' own steps nothing drifts by more than a thousandth, but for the method of order 1.
    [ "$method" = moreau-jean ] || energy_kept "$1" "$method" 1e-3
  done
}

# switching_model NAME LOSS TOLERANCE: event-driven finds the loss, time stepping comes within the
# tolerance: a switch is felt at the end of its step.
switching_model() {
  for method in $switching; do
    run_model "$1" "$method"
    holds "$method"
    case $method in
      event-driven) energy_lost "$1" "$method" "$2" 1e-6 ;;
      nsga-pvv | nsga-pva) energy_lost "$1" "$method" "$2" "$3" ;;
    esac
  done
}

# locking_model NAME LOSS TOLERANCE: every method stops at each instant and applies the same jump.
locking_model() {
  for method in $smooth $adaptive; do
    run_model "$1" "$method"
    holds "$method"
    [ "$method" = moreau-jean ] || energy_lost "$1" "$method" "$2" "$3"
  done
}

# ending_model NAME COORDINATE VALUE TOLERANCE: every method ends at this place, within a tolerance for
# the methods of order 2; those of higher order within a hundredth of it.
ending_model() {
  case $1 in
    four-bar | sarrus | geneva | balancing | emergency-stop | motor-clutch | pid-pendulum | pid-pendulum-sampled) further=$adaptive ;;
    *) further="$adaptive $linear" ;;
  esac
  for method in $smooth $further; do
    run_model "$1" "$method"
    holds "$method"
    case $method in
      rk4 | event-driven | taylor | exponential | dopri | ark | ida) near "$(field "final.q.$2")" "$3" "$(awk -v x="$4" 'BEGIN { print x / 100 }')" ;;
      *) near "$(field "final.q.$2")" "$3" "$4" ;;
    esac
  done
}

# rate_model NAME COORDINATE VALUE TOLERANCE METHODS: the same for these methods; ga-p has no rates and refuses.
rate_model() {
  expect 2 run "$models/$1.yaml" --method ga-p
  has err "method ga-p cannot handle the rate equations (it holds positions alone)"
  for method in $5; do
    run_model "$1" "$method"
    case $method in
      rk4 | event-driven | dopri | ark | ida) near "$(field "final.q.$2")" "$3" "$(awk -v x="$4" 'BEGIN { print x / 100 }')" ;;
      *) near "$(field "final.q.$2")" "$3" "$4" ;;
    esac
  done
}

# last_event KEY: of the last event of the run.
last_event() {
  k=0
  while [ -n "$(field events.$((k + 1)).t)" ]; do
    k=$((k + 1))
  done
  field events.$k.$1
}

# other_model NAME: by what it asks of a method; a loss is that of event-driven.
other_model() {
  if "$pawl" run "$models/$1.yaml" --method rk4 >/dev/null 2>err; then
    smooth_model "$1"
  elif grep -q 'switching constraints' err; then
    run_model "$1" event-driven
    loss=$(awk -v a="$(field energy.start)" -v b="$(field energy.end)" 'BEGIN { printf "%.12g", a - b }')
    switching_model "$1" "$loss" "$(awk -v a="$(field energy.start)" 'BEGIN { print 0.01 * (1 + a) }')"
  else
    complain "$1: no method is known for it here"
  fi
}

expect 0 models
names=$(awk '{ print $1 }' out)
same "$(echo "$names" | sort | tr '\n' ' ')" \
  "$(cd "$models" && ls *.yaml | sed 's/\.yaml$//' | sort | tr '\n' ' ')"
for name in $names; do
  expect 0 models "$name"
  cmp -s out "$models/$name.yaml" || complain "pawl models $name is not models/$name.yaml"
  expect 0 check "$name" --json
  paths
  same "$(field model)" "$name"
  same "$(field ready)" true
  # Losses at the switches: closed forms of the examples of Patil and Bruels.
  case $name in
    kinked-track) switching_model "$name" 0.25 1e-9 ;;
    driven-track) switching_model "$name" -0.5 1e-9 ;; # the drive pays
    braiding-machine) switching_model "$name" 1.2753113553 0.15 ;;
    pothole-wheel) switching_model "$name" 3.1708709919 0.05 ;;
    cam-follower) switching_model "$name" 7.1111111111 0.05 ;;
    planar-3r-lock) locking_model "$name" 2845.8203395 0.01 ;; # Mueller, sec. 6
    docking) locking_model "$name" 0.4446666667 1e-6 ;; # closed form, see the model
    spherical-five-bar) locking_model "$name" 0.0017803073 1e-7 ;; # a second program
    robot-6r-brake) locking_model "$name" 220.1133612817 1e-3 ;; # the same, sec. 7
    # Kovanda and Hozman, sec. 4
    two-mass-release) ending_model "$name" s2 -0.0256461097 1e-3 ;;
    two-mass-engage) ending_model "$name" s2 -0.5484481715 1e-3 ;;
    two-mass-control) ending_model "$name" s2 0.0918246812 2e-3 ;;
    two-mass-damped) ending_model "$name" s2 -0.0013951785 1e-4 ;;
    # closed forms; the quarter car and the absorber by scripts/reference-linear-switching
    emergency-stop) ending_model "$name" q3 0.4132155207 2e-3 ;; # a second program
    motor-clutch) ending_model "$name" phi 59.7506328836 0.6 ;; # scripts/reference-controlled; moreau-jean is of order 1
    pid-pendulum) ending_model "$name" phi 2.4999878808 1e-6 ;; # the same
    pid-pendulum-sampled) ending_model "$name" phi 2.4999864271 1e-6 ;; # the same
    balancing) ending_model "$name" b1 2.0943951024 1e-6 ;;
    vibration-absorber) ending_model "$name" x2 0.0012991653 1e-3 ;;
    four-bar) ending_model "$name" q1 46.6084067430 1e-4 ;;
    sarrus) ending_model "$name" a.angle 0.5008493348 2e-3 ;; # test_mechanisms: one angle, integrated by itself
    geneva) ending_model "$name" bearing.angle -8.6393797974 2e-4 ;; # five quarters, and the half of the start
    quarter-car) ending_model "$name" zs -0.0044161306 1e-6 ;;
    ratchet) ending_model "$name" th 4.0038155450 5e-5 ;;
    stick-slip) ending_model "$name" x 0.1016490396 1e-3 ;;
    torsion-line) ending_model "$name" phi1 106.9245813545 1e-4 ;;
    skater) rate_model "$name" phi 1.5957029803 1e-2 "${smooth#ga-p } $adaptive" ;;
    rolling-disc) rate_model "$name" theta 0.53079114 5e-2 "${smooth#ga-p } $adaptive" ;; # a second program
    wheel-slip) rate_model "$name" x 15.0559137859 0.2 "${smooth#ga-p } $adaptive $linear" ;;
    skate-turn) rate_model "$name" y 6.3823255579 5e-2 "event-driven ga-v ga-v-between ga-v-implicit ga-pv ga-pva nsga-pvv nsga-pva moreau-jean" ;;
    kinked-track-back) # only a jump at the corner itself turns the point by 135 degrees
      run_model "$name" event-driven
      energy_lost "$name" event-driven 0 1e-9
      ;;
    bouncing-pendulum) # rests on the stop at 45 degrees
      for method in $contact; do
        run_model "$name" "$method"
        near "$(field energy.end)" -7.0710678 0.01
      done
      ;;
    bouncing-ball) # all impacts to their limit, then at rest
      run_model "$name" event-driven
      near "$(field energy.end)" 0 1e-12
      awk 'BEGIN { print sqrt(2 / 9.81) * 1.73 / 0.27 }' >limit
      near "$(last_event t)" "$(cat limit)" 1e-5
      same "$(last_event to)" rest
      ;;
    newtons-cradle) # the first ball comes back as it went, those between rest
      run_model "$name" event-driven
      energy_kept "$name" event-driven 1e-9
      awk 'BEGIN { FS = "," } NR == 1 { for (k = 1; k <= NF; k++) if ($k == "p[3]") c = k }
        NR > 1 { v = $c < 0 ? -$c : $c; most = v > most ? v : most } END { exit !(c > 0 && most < 1e-9) }' "$name.csv" ||
        complain "the ball in the middle of the cradle moves"
      ;;
    driven-table) # leaves at sin(w t) = g/(A w^2)
      run_model "$name" event-driven
      energy_kept "$name" event-driven 1e-9
      near "$(field events.0.t)" 0.0192129705 1e-9
      ;;
    column-of-plates) # stands still, each on the one below
      for method in $rubs; do
        run_model "$name" "$method"
        near "$(field energy.end)" 49.05 0.2
      done
      ;;
    pyramid) # stays as it is until the ball comes, and that energy is lost in hits and by friction alone
      for method in nsga-pva moreau-jean; do
        run_model "$name" "$method"
        near "$(field events.0.t)" 0.5510102 5.1e-4
        energy_kept "$name" "$method" 1e-3
        expect 0 run "$models/$name.yaml" --method "$method" --until 0.55 -q -o stays.csv --columns "t, top"
        awk -F, 'NR > 1 { d = $2 - 0.6196152422706632; d = d < 0 ? -d : d; most = d > most ? d : most }
          END { exit !(NR > 1000 && most < 1e-12) }' stays.csv || complain "the pyramid does not stay with $method"
      done
      ;;
    rocking-block) # stands still at the end
      for method in event-driven nsga-pva; do
        run_model "$name" "$method"
        near "$(field energy.end)" 7.848 1e-4
      done
      ;;
    incline-block) # stops after v0/(g (sin alpha + mu cos alpha)) and sticks
      for method in $rubs; do
        run_model "$name" "$method"
        near "$(field final.q.x)" 0.2026627 1e-4
      done
      ;;
    clearance) # all methods but time stepping see the same impacts
      run_model "$name" event-driven
      energy_kept "$name" event-driven 1e-8
      near "$(field events.0.t)" 0.0022556146 1e-9
      ;;
    painleve-rod) # stopped by an impact without a collision: turns about its tip
      run_model "$name" event-driven
      energy_kept "$name" event-driven 1e-8
      has out "1.16342 times its critical friction"
      ;;
    spinning-ball) # rolls on the floor at the end, r above it; rates alone hold it within the fall g h^2 of a step
      for method in $rubs; do
        run_model "$name" "$method"
        case $method in
          moreau-jean) near "$(field final.q.z)" 0.12 9.81e-6 ;;
          *) near "$(field final.q.z)" 0.12 1e-6 ;;
        esac
      done
      ;;
    train) # all wagons coupled, with v0/N; nothing of that hangs on instants
      for method in $contact; do
        run_model "$name" "$method"
        near "$(field energy.end)" 8000 1e-6
      done
      ;;
    rimless-wheel) # six steps of the walk that repeats itself, by the formula in the model
      for method in $contact; do
        run_model "$name" "$method"
        # first order in time stepping; moreau-jean has 9.3, 5.7, 3.5 and 1.3e-3 at h = 2e-3 to
        # 2.5e-4, since what feet that turn had gained no longer makes up for what impacts lose (T26)
        case $method in moreau-jean) within=8e-3 ;; *) within=5e-3 ;; esac
        near "$(field energy.end)" 1.955757624 $within
      done
      ;;
    gripper) # the box lies at its new place
      for method in $contact; do
        run_model "$name" "$method"
        near "$(field final.q.load.centre.x)" 0.4 1e-6
        near "$(field final.q.load.centre.y)" 0.05 2e-3
      done
      ;;
    elastic-bar) # rebounds from the wall; the elements alone lose 1.25 J, the method damps the rest
      for method in nsga-pva nsga-pvv; do
        run_model "$name" "$method"
        near "$(field energy.end)" 498.75 1.5
      done
      ;;
    beam-on-stops) # all stops at once; with consistent mass m v^2 of an element is lost in that instant
      for method in nsga-pva; do # the jump of the others has a step of elastic forces in it
        run_model "$name" "$method"
        lost=$(for k in 0 1 2 3 4; do field "events.$k.energy_lost"; done | awk '{ s += $1 } END { print s }')
        near "$(field events.4.t)" 0.0451524 2e-5
        near "$lost" 0.0191295 2e-4
      done
      ;;
    bouncing-beam) # the reference: -0.99 J
      for method in nsga-pva nsga-pvv; do
        run_model "$name" "$method"
        near "$(field energy.end)" -0.995 0.07
      done
      ;;
    sine-ground | bouncing-bar | bar-on-guide | pendulum-wall) # elastic
      run_model "$name" php
      energy_kept "$name" php 1e-4
      run_model "$name" nsga-pva
      ;;
    sine-ground-path) # smooth, with a metric that switches; no method may lose its energy there
      for method in rk4 event-driven dopri; do
        run_model "$name" "$method"
        energy_kept "$name" "$method" 1e-6
      done
      ;;
    *) other_model "$name" ;;
  esac
done

# --- the page of methods by models: what runs converges to the reference, all else refuses, and the
# --- page in docs/ is what the command prints, but for digits, which depend on the machine ---
page=$models/../docs/methods-by-models.md
expect 0 models --table
grep -qE 'FAILS|CONVERGE' out && complain "$(grep -E 'FAILS|CONVERGE' out)"
[ "$(grep -c '^| `' out)" -eq "$(ls "$models"/*.yaml | wc -l)" ] || complain "not every model is in"
if ! grep -q 'not built in' out; then
  sed 's/ [0-9] |/ # |/g' out >now
  sed 's/ [0-9] |/ # |/g' "$page" | diff - now >&2 || complain "docs/methods-by-models.md is not \`pawl models --table\`"
fi

# --- every method on every model: it runs or it refuses, and auto has a method for each ---
expect 0 models
models=$(grep -c '^  [a-z]' out)
expect 0 models --methods
[ "$(grep -c '^[a-z]' out)" -eq "$models" ] || complain "not every model is in: $(cat out)"
[ "$(grep -c '\* runs$' out)" -eq "$models" ] || complain "auto does not fit: $(grep '\*' out)"
grep -q 'FAILS' out && complain "$(grep FAILS out)"
has out "refuses: impact laws other than post (constraint 'track') of 'kinked-track-back'"
has out "refuses: the contacts of 'bouncing-pendulum'"
has out "refuses: the restitution 0.8 of contact 'stop' (its impacts are elastic) of 'bouncing-pendulum'"
finish
