# SPDX-License-Identifier: GPL-3.0-or-later
"""A snowboarder's tracks against geometry, mechanics and published figures."""

import importlib.util
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from poise.addon.mapping.snowboarder import (
    STYLES,
    SnowboarderStyle,
    heel_side,
    map_snowboarder,
)
from poise.addon.mapping.tracks import SIDES
from poise.solvers import rotations as rot

_spec = importlib.util.spec_from_file_location(
    "mapping_cases", Path(__file__).with_name("mapping_cases.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

FIGURE = cases.figure(cases.SNOWBOARDER)
GOOFY = cases.figure(cases.SNOWBOARDER, regular=False)
MOTIONS = {name: cases.solve(FIGURE, row, seconds=11.0) for name, row in cases.BOARD_TURNS.items()}
TRACKS = {name: map_snowboarder(MOTIONS[name], FIGURE, STYLES[name]) for name in MOTIONS}
ALL = sorted(MOTIONS)
deg = np.degrees


def mid_turn(motion):
    return np.abs(motion.lean) > 0.93 * np.abs(motion.lean).max()


def edges_of_board(motion, tracks, body=FIGURE, along=0.0):
    half = 0.5 * body.equipment["board_width"]
    heights = [
        cases.to_ground(motion, tracks.position["board"] + rot.rotate(
            tracks.rotation["board"], np.array((x, along, 0.0))))[:, 2]
        for x in (-half, half)
    ]
    return np.minimum(*heights), np.maximum(*heights)


@pytest.mark.parametrize("name", ALL)
def test_one_edge_of_the_board_lies_in_the_snow_and_the_other_above(name):
    for along in (0.0, -0.6, 0.6):
        low, high = edges_of_board(MOTIONS[name], TRACKS[name], along=along)
        assert np.abs(low).max() < 1e-9
        assert high.min() > -1e-9


def test_the_edge_stays_in_a_tilted_slope_too():
    motion = cases.solve(FIGURE, cases.BOARD_TURNS["carving"], slope=0.3, slope_direction=-0.5)
    tracks = map_snowboarder(motion, FIGURE, STYLES["carving"])
    low, _ = edges_of_board(motion, tracks)
    assert np.abs(low).max() < 1e-9


@pytest.mark.parametrize("name", ALL)
def test_the_edge_in_the_snow_is_where_the_pendulum_stands(name):
    """On edge, the line the board cuts is the pendulum's track, within 3 cm at 20 degrees."""
    motion, tracks = MOTIONS[name], TRACKS[name]
    half = 0.5 * FIGURE.equipment["board_width"]
    edge = tracks.attributes["edge_angle"]
    lower = np.stack((np.sign(edge) * half, 0 * edge, 0 * edge), axis=-1)
    point = tracks.position["board"] + rot.rotate(tracks.rotation["board"], lower)
    across = cases.to_ground(motion, point)[:, 0]
    assert np.abs(across)[np.abs(edge) > np.radians(20.0)].max(initial=0.0) < 0.04


@pytest.mark.parametrize("name", ALL)
def test_feet_are_bound_to_the_board(name):
    tracks = TRACKS[name]
    for side in SIDES:
        bound = tracks.position["board"] + rot.rotate(
            tracks.rotation["board"], FIGURE.joints[f"foot.{side}"] - FIGURE.joints["board"])
        assert np.abs(tracks.position[f"foot.{side}"] - bound).max() < 1e-12
        assert np.abs(tracks.rotation[f"foot.{side}"] - tracks.rotation["board"]).max() < 1e-12


@pytest.mark.parametrize("name", ALL)
def test_legs_reach_their_feet_and_bend_over_the_toes(name):
    tracks = TRACKS[name]
    for side, leg in cases.legs(FIGURE, tracks).items():
        assert leg.shortfall.max() == 0.0
        assert np.abs(leg.flexion - tracks.attributes[f"knee_flexion.{side}"]).max() < 1e-9
        along = FIGURE.joints[f"toe.{side}"] - FIGURE.joints[f"foot.{side}"]
        toes = rot.rotate(tracks.rotation["board"], along * (1.0, 1.0, 0.0))
        shin = leg.middle - tracks.position[f"foot.{side}"]
        assert np.all(np.einsum("ij,ij->i", shin, toes) > 0.0)
        assert deg(np.abs(tracks.attributes[f"ankle.{side}"])).max() < 38.0


@pytest.mark.parametrize("name", ALL)
def test_the_centre_of_mass_is_over_the_lean_line(name):
    centre = cases.to_ground(MOTIONS[name], cases.centre_of_mass(FIGURE, TRACKS[name]))
    lean = np.arctan2(centre[:, 0], centre[:, 2])
    assert np.abs(lean - MOTIONS[name].lean).max() < 1e-9
    assert np.abs(centre[:, 1]).max() < 0.15


@pytest.mark.parametrize("name", ["carving", "cruising", "freestyle"])
def test_the_heel_side_sits_and_the_toe_side_stands_on_its_shins(name):
    """Knees 70 to 90 degrees on the heel side, 40 to 50 on the toe side (carved turns; +-20 %)."""
    motion, tracks = MOTIONS[name], TRACKS[name]
    knees = 0.5 * (tracks.attributes["knee_flexion.L"] + tracks.attributes["knee_flexion.R"])
    ankles = 0.5 * (tracks.attributes["ankle.L"] + tracks.attributes["ankle.R"])
    heel, toe = (mid_turn(motion) & (side * motion.lean > 0.0)
                 for side in (heel_side(FIGURE), -heel_side(FIGURE)))
    low = 56.0 if name == "carving" else 50.0
    assert low < deg(knees[heel].mean()) < 95.0
    assert 36.0 < deg(knees[toe].mean()) < 60.0
    assert knees[heel].min() > knees[toe].max() + np.radians(10.0)
    # Shins press forward on the toe side; on the heel side the highback keeps them forward.
    upright = tracks.attributes["edge_change"] > 0.97
    assert ankles[toe].mean() > ankles[upright].mean() + np.radians(5.0)
    assert np.radians(10.0) < ankles[heel].mean() < np.radians(30.0)
    # The hips: folded on the heel side, open on the toe side.
    trunk = tracks.position["neck"] - tracks.position["pelvis"]
    leg = cases.legs(FIGURE, tracks)
    thigh = 0.5 * sum(leg[s].middle for s in SIDES) - tracks.position["pelvis"]
    fold = np.pi - np.arccos(np.einsum("ij,ij->i", rot.normalise(trunk), rot.normalise(thigh)))
    assert 55.0 < deg(fold[heel].mean()) < 105.0
    assert fold[toe].mean() < fold[heel].mean() - np.radians(30.0)


def test_heel_side_is_left_for_regular_and_right_for_goofy():
    """Regular: left foot ahead, facing right, heels to the left."""
    assert FIGURE.joints["foot.L"][1] < FIGURE.joints["foot.R"][1]
    assert heel_side(FIGURE) == 1.0 and heel_side(GOOFY) == -1.0
    knees = TRACKS["carving"].attributes["knee_flexion.L"]
    lean = MOTIONS["carving"].lean
    assert knees[np.argmax(lean)] > knees[np.argmin(lean)]


@pytest.mark.parametrize("name", ALL)
def test_goofy_is_regular_in_the_mirror(name):
    mirrored = map_snowboarder(cases.mirrored_motion(MOTIONS[name]), GOOFY, STYLES[name])
    tracks = TRACKS[name]
    for role, position in tracks.position.items():
        other = mirrored.position[cases.other_side(role)]
        assert np.abs(cases.mirrored(position) - other).max() < 1e-9, role
        turn = cases.mirrored_turn(tracks.rotation[role])
        other = mirrored.rotation[cases.other_side(role)]
        assert 1.0 - np.abs(np.einsum("ij,ij->i", turn, other)).min() < 1e-12, role


def test_leg_length_is_linear_in_leg_force():
    style = SnowboarderStyle(unweighting_amount=0.0, heel_sit=0.0, toe_press=0.0, up_down=0.1,
                             knee_flexion=np.radians(60.0))
    tracks = map_snowboarder(MOTIONS["carving"], FIGURE, style)
    force, length = tracks.attributes["force"], tracks.attributes["leg_spring"]
    slope, start = np.polyfit(force, length, 1)
    assert np.abs(length - slope * force - start).max() < 1e-9
    assert slope == pytest.approx(-0.1, rel=1e-6)


def test_carving_radius_is_sidecut_times_cosine_of_the_edge_angle():
    motion, tracks = MOTIONS["carving"], TRACKS["carving"]
    edge = np.abs(tracks.attributes["edge_angle"])
    carving = edge > np.radians(46.0)
    assert carving.sum() > 20
    radius = 1.0 / np.abs(motion.curvature[carving])
    assert radius == pytest.approx(STYLES["carving"].sidecut * np.cos(edge[carving]), rel=3e-3)


def yaw_of(motion, tracks, role):
    ahead = cases.to_ground(motion, motion.position + rot.rotate(
        tracks.rotation[role], np.array((0.0, -1.0, 0.0))))
    return np.arctan2(ahead[:, 0], -ahead[:, 1])


def test_the_chest_twists_with_the_curvature_and_ahead_of_it():
    motion = MOTIONS["cruising"]
    period = 1.0 / cases.BOARD_TURNS["cruising"][1]
    times = {}
    for lead in (0.0, 40.0):
        style = SnowboarderStyle(twist=np.radians(20.0), twist_lead=np.radians(lead),
                                 face_heading=0.0)
        twist = map_snowboarder(motion, FIGURE, style).attributes["twist"]
        inner = (motion.time > 0.5 * period) & (motion.time < 1.5 * period)
        times[lead] = motion.time[inner][np.argmax(twist[inner])]
        if lead == 0.0:
            assert np.corrcoef(twist, motion.curvature)[0, 1] > 0.995
    assert (times[0.0] - times[40.0]) / period * 360.0 == pytest.approx(40.0, abs=8.0)


@pytest.mark.parametrize("name", ALL)
def test_shoulders_stay_near_the_line_of_the_board(name):
    """Within 20 to 30 degrees of where they rest, in steady turns."""
    assert deg(np.abs(TRACKS[name].attributes["twist"])).max() < 32.0


@pytest.mark.parametrize("name", ALL)
def test_the_head_looks_where_the_track_goes(name):
    motion, tracks = MOTIONS[name], TRACKS[name]
    ahead = round(STYLES[name].look_ahead / (motion.time[1] - motion.time[0]))
    view = motion.position[ahead:] - motion.position[:-ahead]
    view = np.einsum("nij,ni->nj", np.stack(
        (motion.left, -motion.forward, motion.normal), axis=-1)[:-ahead], view)
    wanted = np.arctan2(view[:, 0], -view[:, 1])
    gaze = yaw_of(motion, tracks, "head")[:-ahead]
    assert np.abs(gaze - wanted).max() < np.radians(10.0)


@pytest.mark.parametrize("name", ALL)
def test_hands_over_nose_and_tail_with_bent_elbows(name):
    motion, tracks = MOTIONS[name], TRACKS[name]
    chest = cases.to_ground(motion, tracks.position["chest"])
    hand = {s: cases.to_ground(motion, tracks.position[f"hand.{s}"]) for s in SIDES}
    assert np.all(hand["L"][:, 1] < chest[:, 1] - 0.25)  # lead hand towards the nose
    assert np.all(hand["R"][:, 1] > chest[:, 1] + 0.05)  # and the other to the tail
    assert min(hand[s][:, 2].min() for s in SIDES) > 0.15
    for arm in cases.arms(FIGURE, tracks).values():
        assert arm.shortfall.max() < 1e-9
        assert 18.0 < deg(arm.flexion).min() and deg(arm.flexion).max() < 80.0


def test_shoulders_are_more_level_than_the_lean():
    motion, tracks = MOTIONS["carving"], TRACKS["carving"]
    up = cases.to_ground(motion, motion.position + rot.rotate(
        tracks.rotation["head"], np.array((0.0, 0.0, 1.0))))
    tilt = np.abs(np.arctan2(up[:, 0], up[:, 2]))
    middle = mid_turn(motion)
    assert np.all(tilt[middle] < 0.5 * np.abs(motion.lean[middle]))


@pytest.mark.parametrize("name", ALL)
def test_tracks_have_no_corners(name):
    peaks = []
    for fps in (96.0, 192.0):
        motion = cases.solve(FIGURE, cases.BOARD_TURNS[name], seconds=6.0, fps=fps)
        tracks = map_snowboarder(motion, FIGURE, STYLES[name])
        peaks.append({role: cases.corner(tracks, role) for role in tracks.position})
    for role, coarse in peaks[0].items():
        assert peaks[1][role] < 1.25 * coarse + 0.5, role


@pytest.mark.parametrize("name", ALL)
def test_the_frame_rate_does_not_matter(name):
    poses = []
    for fps in (24.0, 60.0):
        motion = cases.solve(FIGURE, cases.BOARD_TURNS[name], seconds=4.0, fps=fps)
        tracks = map_snowboarder(motion, FIGURE, STYLES[name])
        rows = np.rint(np.arange(0.5, 3.6, 0.5) / (motion.time[1] - motion.time[0])).astype(int)
        poses.append({role: p[rows] for role, p in tracks.position.items()})
    for role, position in poses[0].items():
        assert np.abs(position - poses[1][role]).max() < 2e-3, role


def test_keyed_amounts_are_sampled():
    motion, style = MOTIONS["carving"], STYLES["carving"]
    arrays = {
        f.name: np.full(len(motion.time), getattr(style, f.name))
        for f in fields(style)
        if isinstance(getattr(style, f.name), float)
    }
    assert len(arrays) > 20
    sampled = map_snowboarder(motion, FIGURE, replace(style, **arrays))
    for role, position in TRACKS["carving"].position.items():
        assert np.abs(position - sampled.position[role]).max() < 1e-9, role


@pytest.mark.parametrize("name", ALL)
def test_rotations_are_unit_and_sign_continuous(name):
    for role, turn in TRACKS[name].rotation.items():
        assert np.abs(np.linalg.norm(turn, axis=1) - 1.0).max() < 1e-12, role
        assert np.einsum("ij,ij->i", turn[1:], turn[:-1]).min() > 0.9, role


HARD = {
    "straight": dict(sharpness=0.0, speed=8.0),
    "one frame": dict(n_frames=1, speed=8.0),
    "two frames": dict(n_frames=2, speed=8.0),
    "falls": dict(speed_mode="SLOPE", speed=8.0, friction=0.3, max_curvature=0.25,
                  max_curvature_rate=1.0),
    "fast": dict(speed=60.0, sharpness=0.9, frequency=0.5),
    "loops": dict(speed=4.0, frequency=0.15, sharpness=0.8),
    "hectic": dict(speed=10.0, frequency=2.0, sharpness=0.5),
}


@pytest.mark.parametrize("name", sorted(HARD))
@pytest.mark.parametrize("body", [FIGURE, GOOFY], ids=["regular", "goofy"])
def test_hard_motions_give_a_finite_pose_on_the_snow(name, body):
    motion = cases.solve(body, seconds=4.0, **HARD[name])
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        tracks = map_snowboarder(motion, body, SnowboarderStyle())
    for values in (tracks.position, tracks.rotation, tracks.attributes):
        for role, array in values.items():
            assert len(array) == len(motion.time)
            assert np.all(np.isfinite(array)), role
    low, _ = edges_of_board(motion, tracks, body)
    assert np.abs(low).max() < 1e-9
    for leg in cases.legs(body, tracks).values():
        assert leg.shortfall.max() < 1e-6


def test_named_styles_ask_for_nothing_they_cannot_have():
    for name, tracks in TRACKS.items():
        assert [p.code for p in tracks.problems] == [], name


def test_what_yields_is_reported():
    tracks = map_snowboarder(MOTIONS["carving"], FIGURE, SnowboarderStyle(
        knee_flexion=0.0, unweighting_amount=0.2, edge_limit=np.radians(25.0)))
    assert {"LEG_REACH", "EDGE_LIMITED"} <= {p.code for p in tracks.problems}
    assert all(leg.shortfall.max() == 0.0 for leg in cases.legs(FIGURE, tracks).values())
