# SPDX-License-Identifier: GPL-3.0-or-later
"""A skateboarder's tracks against the law of the trucks, rolling and published figures."""

import importlib.util
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from poise.addon.mapping.skateboarder import (
    STYLES,
    SkateboarderStyle,
    deck_tilt,
    map_skateboarder,
    rolled,
)
from poise.addon.mapping.tracks import SIDES
from poise.solvers import rotations as rot

_spec = importlib.util.spec_from_file_location(
    "mapping_cases", Path(__file__).with_name("mapping_cases.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

FIGURE = cases.figure(cases.SKATEBOARDER)
GOOFY = cases.figure(cases.SKATEBOARDER, regular=False)
MOTIONS = {name: cases.solve(FIGURE, row) for name, row in cases.SKATE_TURNS.items()}
TRACKS = {name: map_skateboarder(MOTIONS[name], FIGURE, STYLES[name]) for name in MOTIONS}
ALL = sorted(MOTIONS)
ENDS = ("front", "rear")
X = np.array((1.0, 0.0, 0.0))
WHEELBASE = float(FIGURE.joints["rear_truck"][1] - FIGURE.joints["front_truck"][1])
RADIUS = float(FIGURE.joints["front_wheel.L"][2])
deg = np.degrees


def axle(motion, tracks, end):
    """Directions (n, 3) of an axle, to its left, in ground space."""
    left = rot.rotate(tracks.rotation[f"{end}_truck"], X)
    return cases.to_ground(motion, motion.position + left)


def board_tilt(motion, tracks):
    left = cases.to_ground(motion, motion.position + rot.rotate(tracks.rotation["board"], X))
    return np.arctan2(-left[:, 2], left[:, 0])


def test_the_law_agrees_with_a_builders_table():
    """485 mm between the axles and 15 degrees of tilt turn at 935 mm (a builder's calculator);
    a 44 degree pivot on 25 inches turns as 50 degrees on 30.5 inches do (a maker's text)."""
    tilt = deck_tilt(np.array([1.0 / 0.935]), 0.485, np.radians(45.0))
    assert deg(tilt[0]) == pytest.approx(15.0, abs=0.1)
    one = deck_tilt(np.array([0.4]), 25.0 * 0.0254, np.radians(44.0))
    other = deck_tilt(np.array([0.4]), 30.5 * 0.0254, np.radians(50.0))
    assert one[0] == pytest.approx(other[0], rel=0.02)


@pytest.mark.parametrize("name", ALL)
def test_trucks_steer_as_the_deck_tilts(name):
    """tan(steer) = tan(pivot) sin(tilt), the front truck into the turn, the rear one out of it;
    curvature = 2 tan(steer) / wheelbase (both axles' lines meet at the turn's centre)."""
    motion, tracks, style = MOTIONS[name], TRACKS[name], STYLES[name]
    tilt = board_tilt(motion, tracks)
    for end, sign in zip(ENDS, (1.0, -1.0), strict=True):
        left = axle(motion, tracks, end)
        steer = np.arctan2(left[:, 1], left[:, 0])
        law = sign * np.tan(style.pivot_angle) * np.sin(tilt)
        assert np.abs(np.tan(steer) - law).max() < 1e-9
        assert np.abs(left[:, 2]).max() < 1e-12  # level, so that both wheels stay down
        # It only turns about its axis in the deck's plane of symmetry.
        hanger = rot.multiply(rot.conjugate(tracks.rotation["board"]),
                              tracks.rotation[f"{end}_truck"])
        axis = np.array((0.0, -sign * np.cos(style.pivot_angle), np.sin(style.pivot_angle)))
        assert np.abs(np.cross(hanger[:, 1:], axis)).max() < 1e-12
        curvature = sign * 2.0 * np.tan(steer) / WHEELBASE
        inner = slice(4, -4)
        assert np.abs(curvature - motion.curvature)[inner].max() < 2e-3
    # Leaning left turns left, and the deck tilts with it, but far less than the body.
    strong = np.abs(motion.lean) > 0.5 * np.abs(motion.lean).max()
    assert np.all(tilt[strong] * motion.lean[strong] > 0.0)
    assert np.all(np.abs(tilt)[strong] < 0.6 * np.abs(motion.lean)[strong])
    assert deg(np.abs(tilt).max()) < 10.0  # riding tilt of street boards


@pytest.mark.parametrize("name", ALL)
def test_wheels_roll_without_slip(name):
    """The lowest point of each wheel is on the ground and at rest: centre's speed = spin x
    radius along its heading, none across; angles count past whole turns."""
    motion = cases.solve(FIGURE, cases.SKATE_TURNS[name], seconds=3.0, fps=240.0)
    tracks = map_skateboarder(motion, FIGURE, STYLES[name])
    for end in ENDS:
        left = rot.rotate(tracks.rotation[f"{end}_truck"], X)
        ahead = np.cross(left, motion.normal)
        for side in SIDES:
            wheel = f"{end}_wheel.{side}"
            height = cases.to_ground(motion, tracks.position[wheel])[:, 2]
            assert np.abs(height - RADIUS).max() < 1e-12
            velocity = np.gradient(tracks.position[wheel], motion.time, axis=0)[2:-2]
            spin = np.gradient(tracks.spins[wheel], motion.time)[2:-2]
            along = np.einsum("ni,ni->n", velocity, ahead[2:-2])
            across = np.einsum("ni,ni->n", velocity, left[2:-2])
            assert np.abs(along - spin * RADIUS).max() < 1e-3 * along.max()
            assert np.abs(across).max() < 0.01  # m/s, at 2.5 to 4.5 m/s
            assert tracks.spins[wheel][-1] > 6.0 * np.pi
            # The rotation is the spin about the axle.
            turned = rot.multiply(rot.conjugate(tracks.rotation[f"{end}_truck"]),
                                  tracks.rotation[wheel])
            about = 2.0 * np.arctan2(turned[:, 1], turned[:, 0])
            off = about - tracks.spins[wheel]
            assert np.abs(off - 2.0 * np.pi * np.round(off / (2.0 * np.pi))).max() < 1e-6
    # Outer wheels roll further than inner ones; what steering adds in front it takes behind.
    gap = 0.5 * sum(tracks.spins[f"{end}_wheel.R"] - tracks.spins[f"{end}_wheel.L"]
                    for end in ENDS)
    track = FIGURE.length("front_wheel.L", "front_wheel.R")
    turned = motion.yaw - motion.yaw[0]
    assert gap * RADIUS == pytest.approx(track * turned, abs=1e-3)


def test_a_wheel_rolls_the_length_of_an_arc():
    angle = np.linspace(0.0, 1.5, 7)
    place = 2.0 * np.stack((np.cos(angle), np.sin(angle), 0 * angle), axis=1)
    ahead = np.stack((-np.sin(angle), np.cos(angle), 0 * angle), axis=1)
    assert rolled(place, ahead, 0.05)[-1] == pytest.approx(1.5 * 2.0 / 0.05, rel=1e-12)
    assert rolled(place[:1], ahead[:1], 0.05).tolist() == [0.0]


@pytest.mark.parametrize("name", ALL)
def test_feet_stay_on_the_deck_and_knees_bend_over_the_toes(name):
    tracks = TRACKS[name]
    for side, leg in cases.legs(FIGURE, tracks).items():
        stood = tracks.position["board"] + rot.rotate(
            tracks.rotation["board"], FIGURE.joints[f"foot.{side}"] - FIGURE.joints["board"])
        assert np.abs(tracks.position[f"foot.{side}"] - stood).max() < 1e-12
        assert leg.shortfall.max() == 0.0
        toes = rot.rotate(tracks.rotation["board"], (
            FIGURE.joints[f"toe.{side}"] - FIGURE.joints[f"foot.{side}"]) * (1.0, 1.0, 0.0))
        middle = 0.5 * (tracks.position[f"foot.{side}"] + cases.hips(FIGURE, tracks)[side])
        assert np.einsum("ni,ni->n", leg.middle - middle, toes).min() > 0.0
        # Never locked (a common fault), never deeper than a sit.
        assert deg(leg.flexion).min() > 14.0 and deg(leg.flexion).max() < 85.0


@pytest.mark.parametrize("name", ALL)
def test_the_ankles_take_the_difference_of_lean_and_tilt(name):
    """Mass over the lean line to 1e-9; the shin leans against the deck by what the body leans
    beyond it, less what knees and hips take, within an ankle's reach."""
    motion, tracks = MOTIONS[name], TRACKS[name]
    centre = cases.to_ground(motion, cases.centre_of_mass(FIGURE, tracks))
    assert np.abs(np.arctan2(centre[:, 0], centre[:, 2]) - motion.lean).max() < 1e-9
    ankle = 0.5 * (tracks.attributes["ankle.L"] + tracks.attributes["ankle.R"])
    assert deg(np.abs(tracks.attributes["ankle.R"])).max() < 38.0
    toe, heel = motion.lean < -0.03, motion.lean > 0.03
    assert ankle[toe].mean() > ankle[heel].mean() + 0.3 * np.abs(motion.lean).max()


@pytest.mark.parametrize("name", ["cruising", "carving", "slalom"])
def test_knees_and_arms_balance_with_the_phase(name):
    motion, style = MOTIONS[name], STYLES[name]
    tracks = TRACKS[name]
    knees = 0.5 * (tracks.attributes["knee_flexion.L"] + tracks.attributes["knee_flexion.R"])
    top = np.abs(motion.lean).max()
    heel, change = motion.lean > 0.93 * top, tracks.attributes["edge_change"] > 0.97
    assert knees[heel].mean() > knees[change].mean() + np.radians(8.0)
    still = map_skateboarder(motion, FIGURE, replace(style, arm_balance=0.0))
    swing = cases.to_ground(motion, motion.position + tracks.position["hand.L"]
                            - still.position["hand.L"])[:, 0]
    # Against the rate of lean.
    assert np.corrcoef(swing, motion.lean_rate)[0, 1] < -0.95
    assert 0.03 < np.abs(swing).max() < 0.25


@pytest.mark.parametrize("name", ALL)
def test_goofy_is_regular_in_the_mirror(name):
    assert FIGURE.joints["foot.L"][1] < FIGURE.joints["foot.R"][1]
    assert GOOFY.joints["foot.R"][1] < GOOFY.joints["foot.L"][1]
    mirrored = map_skateboarder(cases.mirrored_motion(MOTIONS[name]), GOOFY, STYLES[name])
    for role, position in TRACKS[name].position.items():
        other = mirrored.position[cases.other_side(role)]
        assert np.abs(cases.mirrored(position) - other).max() < 1e-9, role
    for role, spin in TRACKS[name].spins.items():
        assert np.abs(spin - mirrored.spins[cases.other_side(role)]).max() < 1e-6


def test_a_deck_stops_at_its_bushings_and_says_so():
    motion = MOTIONS["carving"]
    style = replace(STYLES["carving"], tilt_limit=np.radians(3.0))
    tracks = map_skateboarder(motion, FIGURE, style)
    assert deg(np.abs(board_tilt(motion, tracks))).max() < 3.0
    problem = next(p for p in tracks.problems if p.code == "TRUCK_LIMITED")
    assert problem.amount > np.radians(1.0) and problem.remedy
    steep = map_skateboarder(motion, FIGURE, replace(style, pivot_angle=np.radians(65.0)))
    assert "TRUCK_LIMITED" not in [p.code for p in steep.problems]


@pytest.mark.parametrize("name", ALL)
def test_the_body_moves_without_corners(name):
    peaks = []
    for fps in (240.0, 480.0):
        motion = cases.solve(FIGURE, cases.SKATE_TURNS[name], seconds=3.0, fps=fps)
        tracks = map_skateboarder(motion, FIGURE, STYLES[name])
        peaks.append({role: cases.corner(tracks, role) for role in tracks.position})
    for role, coarse in peaks[0].items():
        assert peaks[1][role] < 1.25 * coarse + 0.5, role


def test_keyed_amounts_are_sampled():
    motion, style = MOTIONS["carving"], STYLES["carving"]
    arrays = {
        f.name: np.full(len(motion.time), getattr(style, f.name))
        for f in fields(style) if isinstance(getattr(style, f.name), float)
    }
    assert {"pivot_angle", "tilt_limit", "arm_balance"} <= set(arrays)
    sampled = map_skateboarder(motion, FIGURE, replace(style, **arrays))
    for role, position in TRACKS["carving"].position.items():
        assert np.abs(position - sampled.position[role]).max() < 1e-9, role


HARD = {
    "straight": dict(sharpness=0.0, speed=4.0),
    "one frame": dict(n_frames=1, speed=4.0),
    "stops": dict(speed_mode="SLOPE", speed=1.0, friction=0.1, max_curvature=1.0,
                  max_curvature_rate=4.0),
    "fast": dict(speed=40.0, sharpness=0.9, frequency=0.5),
    "tight": dict(speed=1.0, frequency=0.3, sharpness=0.9),
}


@pytest.mark.parametrize("name", sorted(HARD))
def test_hard_motions_give_a_finite_pose(name):
    motion = cases.solve(FIGURE, seconds=4.0, **HARD[name])
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        tracks = map_skateboarder(motion, FIGURE, SkateboarderStyle())
    for values in (tracks.position, tracks.rotation, tracks.attributes, tracks.spins):
        for role, array in values.items():
            assert len(array) == len(motion.time) and np.all(np.isfinite(array)), role
    for leg in cases.legs(FIGURE, tracks).values():
        assert leg.shortfall.max() < 1e-6


def test_named_styles_ask_for_nothing_they_cannot_have():
    for name, tracks in TRACKS.items():
        assert [p.message for p in tracks.problems] == [], name
