# SPDX-License-Identifier: GPL-3.0-or-later
"""Eyes that look along a way: geometry of a circle, and what eyes can turn."""

import numpy as np
import pytest
from poise.addon.mapping.gaze import EyesStyle, point_ahead, with_gaze
from poise.addon.mapping.tracks import RoleTracks
from poise.solvers import rotations as rot
from poise.solvers.clock import Clock

SPEED, RADIUS, HEIGHT = 4.0, 12.0, 1.6
AHEAD = np.array([0.0, -1.0, 0.0])


def circle(pitch=0.0, off=0.0, seconds=3.0):
    """A head above a body that goes round a circle to its left, facing along the tangent."""
    time = np.linspace(0.0, seconds, int(24 * seconds) + 1)
    angle = SPEED * time / RADIUS
    # It goes towards -y at first; its left is +x.
    path = RADIUS * np.stack((1.0 - np.cos(angle), -np.sin(angle), 0.0 * angle), axis=1)
    root = rot.about_z(angle)
    head = rot.multiply(rot.about_z(angle + off), rot.about_x(np.full(len(time), pitch)))
    place = path + rot.rotate(root, np.array([0.0, 0.05, HEIGHT]))
    clock = Clock.even(time, 1)
    return RoleTracks(clock, {"root": path, "head": place}, {"root": root, "head": head})


def looks(tracks):
    return rot.rotate(tracks.rotation["gaze"], AHEAD)


def test_eyes_look_at_the_point_of_the_circle_that_comes():
    ahead = 1.0
    tracks = circle(pitch=0.2)
    point = point_ahead(tracks, ahead)
    inside = tracks.time < tracks.time[-1] - ahead
    angle = SPEED * (tracks.time + ahead) / RADIUS
    expected = RADIUS * np.stack((1.0 - np.cos(angle), -np.sin(angle)), axis=1)
    # Chords between samples cut r (1 - cos(step / 2)) = 0.3 mm off the circle.
    assert point[inside, :2] == pytest.approx(expected[inside], abs=1e-3)
    view = rot.normalise(point - tracks.position["head"])
    down = rot.rotate(tracks.rotation["head"], np.array([0.0, 0.0, 1.0]))
    assert np.einsum("ij,ij->i", view, down) == pytest.approx(0.0, abs=1e-12)
    turned = looks(with_gaze(tracks, EyesStyle(amount=1.0, look_ahead=ahead)))
    assert turned[inside] == pytest.approx(view[inside], abs=1e-9)
    # Seen from the circle, a chord of angle a lies a / 2 off the tangent: here
    # from 5 cm behind, about 9.4 degrees to the left.
    own = rot.rotate(rot.conjugate(tracks.rotation["head"]), turned)
    half = 0.5 * SPEED * ahead / RADIUS
    assert np.arctan2(own[inside, 0], -own[inside, 1]) == pytest.approx(half, abs=0.01)


@pytest.mark.parametrize("off", [-3.0, -1.2, 1.0, 2.5])
def test_eyes_turn_no_farther_than_eyes_can(off):
    # Whatever limit is asked for; a head may look anywhere.
    tracks = with_gaze(circle(off=off), EyesStyle(1.0, 1.0, np.radians(80.0)))
    between = np.einsum("ij,ij->i", looks(tracks), rot.rotate(tracks.rotation["head"], AHEAD))
    turn = np.degrees(np.arccos(between))
    assert turn.max() <= 35.0 + 1e-9 and turn.max() > 30.0
    assert [problem.code for problem in tracks.problems] == ["STYLE_LIMITED"]


def test_amounts_may_change_and_short_or_headless_tracks_are_no_trouble():
    tracks = circle()
    share = np.linspace(0.0, 1.0, len(tracks.time))
    gaze = with_gaze(tracks, EyesStyle(amount=share)).rotation["gaze"]
    full = with_gaze(tracks, EyesStyle(amount=1.0)).rotation["gaze"]
    assert gaze[0] == pytest.approx(tracks.rotation["head"][0], abs=1e-12)
    assert gaze[-1] == pytest.approx(full[-1], abs=1e-12)
    one = RoleTracks(
        tracks.clock.first(), {r: v[:1] for r, v in tracks.position.items()},
        {r: v[:1] for r, v in tracks.rotation.items()},
    )
    # Nowhere to go: the look is straight on.
    assert with_gaze(one, EyesStyle()).rotation["gaze"] == pytest.approx(one.rotation["head"])
    bodiless = RoleTracks(tracks.clock, {"root": tracks.position["root"]}, {})
    assert with_gaze(bodiless, EyesStyle()) is bodiless
