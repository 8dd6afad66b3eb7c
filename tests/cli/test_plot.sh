#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Plots: what --plot and `pawl plot` draw, to which formats, of runs and of files.
. "$(dirname "$0")/lib.sh"

# count FILE TEXT N: the text is N times in the file.
count() {
  n=$(grep -oF -- "$2" "$1" | wc -l)
  [ "$n" -eq "$3" ] || complain "'$2' is $n times in $1, expected $3"
}

# --- of a run: names, expressions with parameters, a window, a size ---
expect 0 run pothole-wheel -q --plot w.svg -y "x, y, phi', lambda(ground), m*x'" --window 1:2 --size 900x700
same "$(cat err)" ""
has w.svg 'width="900" height="700"'
has w.svg ">x, y [m]<"
has w.svg ">phi' [rad/s]<"
has w.svg ">m*x'<"
has w.svg ">lambda(ground) [N]<"
count w.svg 'class="frame"' 4
count w.svg 'class="event"' 2 # of three events, two are in the window
expect 0 run stick-slip -q --plot portrait.pdf -x x -y "x'"
head -c 8 portrait.pdf | grep -q '%PDF-1.4' || complain "portrait.pdf is not PDF"
has portrait.pdf "(stick-slip)"

# What a plot cannot draw is said before the run.
expect 2 run pothole-wheel -q --plot no.svg -y "x, qq"
has err "'qq' is neither a column nor a parameter of this run"
expect 2 run pothole-wheel -q -y x
has err "there is none"
expect 2 run pothole-wheel -q --window 0:1
has err "there is none"
expect 2 run pothole-wheel -q --plot no.jpg
has err "must end in .svg, .pdf or .png"
for window in 2 2:1 a:b 1:2:3; do
  expect 2 run pothole-wheel -q --plot no.svg --window $window
  has err "FROM:TO in seconds"
done
for size in 800 x600 800x-1 800x600x1; do
  expect 2 run pothole-wheel -q --plot no.svg --size $size
  has err "WIDTHxHEIGHT"
done
expect 2 run pothole-wheel -q --plot no.svg --size 800x90
has err "too small"
expect 2 run pothole-wheel -q --plot no.svg --window 5:6
has err "--window 5:6: the run goes from 0 s to 4 s"
expect 2 run pothole-wheel -q --plot no.svg --animate no.svg
has err "would both write no.svg"
[ ! -e no.svg ] || complain "no.svg was written"

# --- of files: the picture of the run, from HDF5 and CSV ---
expect 0 run kinked-track -q -o k.csv --plot k.svg
expect 0 plot k.csv -o from-csv.svg
has err "wrote from-csv.svg"
has from-csv.svg ">x<"
expect 2 plot k.csv -o no.svg --window 100:
has err "before the window"
expect 2 plot k.csv -o no.svg --window :-1
has err "the run begins at 0 s"
head -n 1 k.csv >head.csv
expect 2 plot head.csv -o no.svg
has err "no samples; run the model again"
expect 1 plot k.csv -o no-such-folder/k.svg
has err "cannot be written"
[ ! -e no.svg ] || complain "no.svg was written"
mkdir more
expect 0 run kinked-track -q -p m=3 -o more/k.csv
expect 0 plot k.csv more/k.csv -q -y "x', kinetic, lambda" -o both.svg
same "$(cat err)" ""
has both.svg ">more/k.csv<" # of two files of one name, the paths
count both.svg 'class="frame"' 2 # a multiplier that never acts says nothing
expect 0 plot k.csv
has err "wrote k.svg"
if "$pawl" run kinked-track -q -o k.h5 2>/dev/null; then
  expect 0 run kinked-track -q --plot k.svg
  expect 0 plot k.h5 -q -o again.svg
  cmp k.svg again.svg || complain "the plot of a file is not that of its run"
  expect 0 plot k.h5 -q -y "m*x'^2/2 + 0*kinetic" -o energy.svg
  expect 0 plot k.h5 more/k.csv -o names.svg -q
  has names.svg ">kinked-track<"
fi
expect 2 plot
has err "a run is missing"
expect 1 plot none.csv
has err "No such file"
expect 2 plot k.yaml
has err "must end in .csv or .h5"
expect 2 plot k.csv -y "m*x"
has err "'m' is neither a column nor a parameter"

# --- PNG needs a program beside pawl; without it that is said ---
if command -v rsvg-convert >/dev/null; then
  expect 0 plot k.csv -q -o k.png --size 500x0
  head -c 4 k.png | grep -q PNG || complain "k.png is not PNG"
  [ ! -e k.png.part.svg ] || complain "the SVG of k.png was left"
fi
PATH=/nowhere "$pawl" plot k.csv -o k.png 2>err
same $? 2
has err "librsvg2-bin"

# --- the motion itself: what moves, and instants in one frame ---
expect 0 run planar-3r-lock -q --animate arm.svg --window 0:2.5
has arm.svg "<animate attributeName=\"d\""
has arm.svg "planar-3r-lock, 0 to 2.5 s<"
has arm.svg "#e69f00" # a joint that is locked
has arm.svg "@media (prefers-reduced-motion:reduce)"
expect 0 run robot-6r-brake -q --animate robot.pdf --strobe 4
head -c 8 robot.pdf | grep -q '%PDF-1.4' || complain "robot.pdf is not PDF"
expect 2 run pendulum -q --animate p.png
has err "with --strobe N"
expect 2 run pendulum -q --animate p.svg --strobe 0
has err "1 to 200"
expect 2 run pendulum -q --strobe 3
has err "there is none"
# Films, by programs beside pawl; nothing but the film stays.
PATH=/nowhere "$pawl" run pendulum -q --animate p.gif 2>err
same $? 2
has err "An .svg that moves needs nothing"
if command -v ffmpeg >/dev/null && command -v rsvg-convert >/dev/null; then
  for film in p.gif p.mp4; do
    expect 0 run pendulum -q --until 0.5 --animate $film --size 100x100
    [ "$(ls -d p.gif* p.mp4* | tr '\n' ' ')" = "$(ls p.gif p.mp4 2>/dev/null | tr '\n' ' ')" ] ||
      complain "left beside $film: $(ls -d p.*)"
  done
  head -c 6 p.gif | grep -q GIF89a || complain "p.gif is no gif"
  head -c 8 p.mp4 | tail -c 4 | grep -q ftyp || complain "p.mp4 is no mp4"
fi

# --- impacts are no forces: what is drawn by itself leaves them out, what is asked for has them ---
expect 0 run bouncing-pendulum -q --plot forces.svg
grep -q '>[1-9]000<' forces.svg && complain "an impact sets the scale of forces"
has forces.svg ">10<"
expect 0 run bouncing-pendulum -q --plot asked.svg -y "lambda(stop)"
grep -q '>[1-9]000<' asked.svg || complain "lambda(stop) is not what the run has"
expect 0 run bouncing-beam -q --until 0.34 --plot beam.svg # more samples than are kept
printf 'model: bare\ncoordinates: {x: }\nmass: {x: 1}\n' >bare.yaml
expect 2 run bare.yaml -q --animate b.svg
has err "has no scene to draw"
finish
