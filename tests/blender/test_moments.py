# SPDX-License-Identifier: GPL-3.0-or-later
"""What is known of feet at the instants between samples, and where keys have to stand in bends."""

from dataclasses import replace

import numpy as np
import pytest
from poise.addon.bake import moments
from poise.addon.mapping.tracks import Contact, Instants, RoleTracks
from poise.solvers import rotations
from poise.solvers.clock import Clock

FPS, STEPS = 24.0, 2


def on_a_circle(radius, speed, seconds=1.0, **more):
    """A root that goes round a circle, and a foot that stands beside its way meanwhile."""
    time = np.arange(round(seconds * FPS) * STEPS + 1) / (FPS * STEPS)
    angle = speed / radius * time
    place = radius * np.stack((np.cos(angle), np.sin(angle), 0.0 * angle), axis=1)
    foot = np.array((radius + 0.1, 0.3, 0.0))
    contact = Contact(
        "foot", 0.2, 0.5, foot, limb=("foot", "root"),
        instants=Instants(np.array((0.2, 0.5)), np.zeros(2, int), {"foot": np.zeros((2, 3))}, {}),
    )
    return RoleTracks(
        clock=Clock.even(time, STEPS),
        position={"root": place, "foot": np.tile(foot, (len(time), 1)), **more},
        rotation={"root": rotations.about_z(angle)}, contacts=(contact,),
    )


def middles(tracks):
    """Frames of the instants that are neither touchdown nor liftoff."""
    (contact,) = tracks.contacts
    return [FPS * time for time in contact.instants.time if time not in (0.2, 0.5)]


@pytest.mark.parametrize("speed", [2.0, 5.5, 8.0])
def test_keys_go_round_bends_with_the_root(speed):
    """Between two frames the straight line is off by r'' dt^2 / 4, r'' = v^2 / r; touchdown and
    liftoff are at frames 4.8 and 12."""
    radius = speed**2 / (4.0 * FPS**2 * moments.ROUND)
    found = moments.with_moments(on_a_circle(0.96 * radius, speed), dense=True)
    assert middles(found) == pytest.approx([5.5, 6.5, 7.5, 8.5, 9.5, 10.5, 11.5])
    assert not middles(moments.with_moments(on_a_circle(1.04 * radius, speed), dense=True))
    # Curves go round bends by themselves.
    assert not middles(moments.with_moments(on_a_circle(0.5 * radius, speed), dense=False))


def test_at_its_instants_everything_goes_on_evenly_but_the_foot_that_is_known():
    """A polynomial of third degree is met exactly; what is known stands as it is."""
    time = on_a_circle(5.0, 1.0).time
    cubic = np.stack((time**3, 1.0 - time**2, 2.0 * time), axis=1)
    tracks = on_a_circle(5.0, 1.0, other=cubic)
    (contact,) = tracks.contacts
    off, turn = np.array((0.01, 0.0, 0.02)), rotations.about_x(np.array(0.3))
    nowhere = np.full(3, np.nan)
    known = replace(
        contact.instants, offset={"foot": np.array((off, nowhere))},
        turn={"root": np.array((-turn, np.full(4, np.nan)))},
    )
    tracks = replace(tracks, contacts=(replace(contact, instants=known),))
    found = moments.with_moments(tracks, dense=False).moments
    assert found.time.tolist() == [0.2, 0.5]
    assert found.position["other"] == pytest.approx(
        np.array([(t**3, 1.0 - t**2, 2.0 * t) for t in (0.2, 0.5)]), abs=1e-12
    )
    assert found.position["foot"][0] == pytest.approx(contact.position + off)
    assert found.position["foot"][1] == pytest.approx(contact.position), "as its samples have it"
    # With the sign that the samples beside it have.
    assert found.rotation["root"][0] == pytest.approx(turn)
    # Nothing is told of what lies outside the motion.
    outside = replace(contact, instants=replace(known, time=np.array((-0.1, 1.0))))
    assert moments.with_moments(replace(tracks, contacts=(outside,)), False).moments is None


def test_woven_tracks_come_apart_again():
    tracks = moments.with_moments(on_a_circle(5.0, 5.5), dense=True)
    through = moments.woven(tracks)
    assert (np.diff(through.time) > 0.0).all()
    assert set(tracks.moments.time) | set(tracks.time) == set(through.time)
    back = moments.unwoven(through, tracks)
    assert (back.time == tracks.time).all()
    for one, other in ((back, tracks), (back.moments, tracks.moments)):
        for kind in ("position", "rotation"):
            for role, values in getattr(other, kind).items():
                assert getattr(one, kind)[role] == pytest.approx(values, abs=1e-15), role


@pytest.mark.parametrize(("off", "key"), [(12.004, 12.02), (11.996, 11.996), (12.3, 12.3)])
def test_a_liftoff_just_after_a_frame_has_its_key_as_soon_as_there_can_be_one(off, key):
    """There the foot still stands as it did; the root has gone on, as its straight line does.
    On the frame before it is the frame's own key that does."""
    tracks = on_a_circle(50.0, 1.0)
    (contact,) = tracks.contacts
    times = np.array((0.2, off / FPS))
    told = replace(contact.instants, time=times)
    tracks = replace(tracks, contacts=(replace(contact, end=off / FPS, instants=told),))
    found = moments.with_moments(tracks, dense=True)
    assert FPS * found.moments.time[-1] == pytest.approx(key, abs=1e-6)
    assert found.contacts[0].end == found.moments.time[-1]
    assert found.moments.position["foot"][-1] == pytest.approx(contact.position)
