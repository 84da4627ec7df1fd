#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# Inside the change-root: a virtual screen and Blender on it.
# Usage: run.sh FOLDER ZIP
set -u
here=$(dirname "$0")
mkdir -p /tmp/.X11-unix
# The screen's number goes to a file once it is up: the first free one.
Xvfb -displayfd 3 -screen 0 1600x1000x24 3>"$1/display" >"$1/xvfb.txt" 2>&1 &
tries=0
until [ -s "$1/display" ]; do
    tries=$((tries + 1))
    [ "$tries" -gt 100 ] && { echo "no virtual screen"; cat "$1/xvfb.txt"; exit 1; }
    sleep 0.1
done
DISPLAY=":$(cat "$1/display")"
export DISPLAY LIBGL_ALWAYS_SOFTWARE=1 BLENDER_USER_RESOURCES="$1/profile"
blender --factory-startup --gpu-backend opengl --enable-event-simulate \
    -p 0 0 1600 1000 -P "$here/scenario.py" -- "$1" "$2"
