# SPDX-License-Identifier: GPL-3.0-or-later
"""Long paths: a kilometre of bends, and real race circuits that others have measured."""

import json
import math
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab.courses import BICYCLE, closed_course
from poise.solvers.path import PathScene, PathSettings, follow_path
from poise.solvers.path.settings import CALM

# Drawn by others, and no part of this: where they are not, the tests are skipped.
RIGS = Path(__file__).resolve().parents[3] / "shared" / "rigs"
COURSES = sorted((Path(os.environ.get("POISE_RIGS", RIGS)) / "course_f1").glob("*.geojson"))

RIDER = PathSettings(speed=9.0, max_lean=math.radians(35.0), effort=CALM, **BICYCLE)


def test_a_kilometre_of_bends_is_followed_to_its_end():
    """As near in its last bends as in its first."""
    y = np.linspace(0.0, 1000.0, 2001)
    path = np.stack((12.0 * np.sin(2.0 * math.pi * y / 125.0), -y), axis=1)
    result = follow_path(PathScene((path,)), replace(RIDER, speed=12.0))
    assert result.finished and result.along[-1] >= result.length - 1e-6
    assert result.length > 1080.0
    bend = (result.along * 8.0 / result.length).astype(int)
    means = [result.distance[bend == i].mean() for i in range(8)]
    assert max(means) < 1.5 * min(means) + 0.1, means
    assert result.max_lean <= RIDER.max_lean + 1e-9


@pytest.mark.parametrize("file", COURSES, ids=lambda file: file.stem)
def test_a_cyclist_rides_the_first_bends_of_a_circuit(file):
    feature = json.loads(file.read_text(encoding="utf-8"))["features"][0]
    line = closed_course(np.array(feature["geometry"]["coordinates"])[:, :2])
    steps = np.linalg.norm(np.diff(line, axis=0, append=line[:1]), axis=1)
    # The whole lap is as long as its file says (to the corners that it leaves out).
    assert steps.sum() == pytest.approx(feature["properties"]["length"], rel=0.01)
    part = line[np.cumsum(steps) < 700.0]
    result = follow_path(PathScene((part,)), RIDER)
    assert result.finished
    assert result.mean_distance < 1.0 and result.max_lean <= RIDER.max_lean + 1e-9
    # Corners that are cut are told, with the worst of them.
    told = [p.amount for p in result.motion.problems if p.code == "BESIDE_PATH"]
    assert told == ([result.max_distance] if result.max_distance > 2.0 else [])


@pytest.mark.skipif(not COURSES, reason="no circuits beside the project")
def test_there_are_circuits_to_ride():
    assert len(COURSES) >= 2
