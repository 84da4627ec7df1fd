# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet that swing through postures: Girard 1986, section 3.1."""

from dataclasses import replace

import numpy as np
import pytest
from poise.solvers.errors import SettingError
from poise.solvers.legged import GaitItem, GaitSettings, solve_gait
from poise.solvers.legged.creature import biped
from poise.solvers.legged.gait import PRESETS, check_gait
from poise.solvers.legged.shapes import Shape
from poise.solvers.legged.walk import Walk
from poise.solvers.rotations import about_z, rotate

PERSON = biped()
# Behind, knee up, leg stretched ahead, down: from the hip, in hip heights; facing -Y.
POINTS = ((0.0, 0.02, 0.35, -0.93, -0.9), (0.45, 0.05, -0.45, -0.55, -0.1),
          (0.75, 0.0, -0.62, -0.6, 0.4), (1.0, 0.0, -0.35, -0.93, 0.3))
MIRRORED = tuple((s, -x, *rest) for s, x, *rest in POINTS)
SWINGS = (("leg.L", POINTS), ("leg.R", MIRRORED))


def _settings(swings, name="WALK_BIPED", **more):
    gait = replace(PRESETS[name], swings=swings)
    return GaitSettings(creature=PERSON, sequence=(GaitItem(gait),), speed=1.2, n_frames=73, **more)


@pytest.mark.parametrize("path", [None, "arc"])
def test_feet_go_through_the_postures_and_contacts_stay(path):
    if path:
        angle = np.linspace(0.0, 4.0, 100)
        path = 3.0 * np.stack((1.0 - np.cos(angle), -np.sin(angle)), axis=1)
    plain, shaped = (solve_gait(_settings(swings, path=path)) for swings in ((), SWINGS))
    np.testing.assert_allclose(shaped.position, plain.position, atol=0.0)
    assert [(m.leg, m.on, m.off) for m in shaped.footprints] == [
        (m.leg, m.on, m.off) for m in plain.footprints
    ]
    down = plain.contact
    np.testing.assert_array_equal(shaped.contact, down)
    np.testing.assert_allclose(shaped.foot_position[down], plain.foot_position[down], atol=1e-12)
    np.testing.assert_allclose(
        shaped.foot_orientation[down], plain.foot_orientation[down], atol=1e-9
    )
    hip = PERSON.hip_height()
    for leg, points in enumerate((POINTS, MIRRORED)):
        curve, met = Shape(points, hip), 0
        marks = [m for m in shaped.footprints if m.leg == PERSON.legs[leg].name]
        for a, b in zip(marks[:-1], marks[1:], strict=True):
            assert b.shape == points
            share = (shaped.time - a.off) / (b.on - a.off)
            rows = np.flatnonzero((share >= 0.45) & (share <= 0.75))
            place, pitch = curve(share[rows])
            wanted = shaped.hip[rows, leg] + rotate(about_z(shaped.yaw[rows]), place)
            np.testing.assert_allclose(shaped.foot_position[rows, leg], wanted, atol=1e-9)
            np.testing.assert_allclose(shaped.foot_pitch[rows, leg], pitch, atol=1e-9)
            met += len(rows)
        assert met > 8
    assert shaped.success and not shaped.problems


def test_postures_are_met_at_their_phase_and_feet_leave_at_the_speed_of_the_ground():
    walk = Walk(_settings(SWINGS), None)
    walk.solve()
    feet, hip = walk.feet, PERSON.hip_height()
    names, step = [leg.name for leg in PERSON.legs], 1e-4
    for k in feet.swings:
        off, on, leg = feet.off[k], feet.on[k + 1], feet.foot[k]
        if not 0.0 < off < on < 2.9:
            continue
        points = dict(SWINGS)[names[leg]]

        def at(times, leg=leg):
            count = np.zeros(len(names), int)
            count[leg] = len(times)
            return feet(np.asarray(times), count)

        inner = points[1:-1]
        times = np.array([off + point[0] * (on - off) for point in inner])
        position, turn, parts = walk.body(times)
        hips = walk._hips(np.full(len(times), leg), position, turn)
        wanted = hips + rotate(about_z(parts["yaw"]), hip * np.array([p[1:4] for p in inner]))
        np.testing.assert_allclose(at(times).position, wanted, atol=1e-9)
        # Every point of the foot is at rest on both sides of each contact's ends; the sole rolls.
        for when in (off, on):
            around = at(when + step * np.array([-2.0, -1.0, 0.0, 1.0, 2.0]))
            before, after = (
                (around.position[i + 1] - around.position[i]) / step for i in (1, 2)
            )
            assert np.linalg.norm(after - before) < 0.05
            assert abs(np.diff(around.pitch, 2)).max() / step < 0.5


def test_a_shape_joins_the_gaits_own_way_with_rate_and_acceleration():
    shape, near = Shape(POINTS, 1.0), np.array([0.0, 1e-3, 2e-3])
    # 10 (s / 0.45)^3 for small s: minimum jerk.
    np.testing.assert_allclose(shape.weight(near), 10.0 * (near / 0.45) ** 3, rtol=0.01)
    np.testing.assert_array_equal(shape.weight(np.array([0.45, 0.6, 0.75])), 1.0)
    assert shape.weight(np.array([1.0]))[0] == 0.0


@pytest.mark.parametrize("points, word", [
    (POINTS[:1] + POINTS[-1:], "without a posture in the air"),
    (POINTS[::-1], "out of order"),
    ((*POINTS[:2], (0.6, np.nan, 0.0, 0.0, 0.0)), "undefined"),
])
def test_postures_that_no_foot_goes_through_are_refused(points, word):
    with pytest.raises(SettingError, match=word):
        check_gait(replace(PRESETS["WALK_BIPED"], swings=(("leg.L", points),)))
