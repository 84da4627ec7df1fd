# SPDX-License-Identifier: GPL-3.0-or-later
"""A cyclist's tracks against mechanics, geometry and published figures."""

import importlib.util
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab.courses import bicycle_corner
from poise.addon.mapping.body import BIKE_SHARE, bicycle_centre, pendulum_body
from poise.addon.mapping.cyclist import STYLES, CyclistStyle, map_cyclist
from poise.addon.mapping.pedalling import LEFT_UP, LEVEL, PEDALS, RIGHT_UP, crank_angle, spans
from poise.addon.mapping.tracks import SIDES
from poise.solvers import rotations as rot
from poise.solvers.path import follow_path

_spec = importlib.util.spec_from_file_location(
    "mapping_cases", Path(__file__).with_name("mapping_cases.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

FIGURE = cases.figure(cases.CYCLIST)
MOTIONS = {name: cases.solve(FIGURE, row, seconds=9.0) for name, row in cases.RIDES.items()}
TRACKS = {name: map_cyclist(MOTIONS[name], FIGURE, STYLES[name]) for name in MOTIONS}
ALL = sorted(MOTIONS)
X = np.array((1.0, 0.0, 0.0))
deg = np.degrees


def on(tracks, role, joint, body=FIGURE):
    """Where a joint is carried by a role, (n, 3)."""
    carried = np.subtract(body.joints[joint], body.joints[role])
    return tracks.position[role] + rot.rotate(tracks.rotation[role], carried)


def dot(a, b):
    return np.einsum("ij,ij->i", a, b)


def steady(lean, speed, body=FIGURE, seconds=4.0):
    """A motion in a steady left turn: lean and speed for ever, the curvature of eq. 1."""
    base = cases.solve(body, seconds=seconds, speed=speed, sharpness=0.0, slope=0.0)
    t, n = base.time, len(base.time)
    k = base.gravity * np.sin(lean)
    curvature = k / (speed**2 * np.cos(lean) + base.height * k * np.sin(lean))
    foot = speed / (1.0 - curvature * base.height * np.sin(lean))
    yaw = curvature * foot * t
    forward = np.stack((np.sin(yaw), -np.cos(yaw), 0.0 * t), axis=1)
    left = np.stack((np.cos(yaw), np.sin(yaw), 0.0 * t), axis=1)
    # Anticlockwise about a centre 1 / C to the left.
    position = (X - left) / curvature
    full = np.full(n, 1.0)
    return replace(
        base, position=position, forward=forward, left=left, yaw=yaw, heading=yaw,
        lean=lean * full, lean_rate=0.0 * full, lean_acceleration=0.0 * full,
        curvature=curvature * full, speed=speed * full, foot_speed=foot * full,
        distance=foot * t, max_lean=lean * full,
    )


def contact_of(motion, tracks, wheel, body=FIGURE):
    """Where a tyre touches the ground, (n, 3)."""
    axle = rot.rotate(tracks.rotation[wheel], X)
    up = rot.normalise(motion.normal - dot(axle, motion.normal)[:, None] * axle)
    tyre = body.equipment["tyre_radius"]
    thin = body.equipment["wheel_radius"] - tyre
    return tracks.position[wheel] - thin * up - tyre * motion.normal


def whole_centre(tracks, body=FIGURE):
    """Centre of mass of rider and bicycle, (n, 3)."""
    offset = bicycle_centre(body) - body.joints["bike"]
    bike = tracks.position["bike"] + rot.rotate(tracks.rotation["bike"], offset)
    return (1.0 - BIKE_SHARE) * cases.centre_of_mass(body, tracks) + BIKE_SHARE * bike


@pytest.mark.parametrize("lean", [5.0, 15.0, 28.0])
@pytest.mark.parametrize("body_lean", [-8.0, 0.0, 4.0])
def test_lean_in_a_steady_turn_is_that_of_speed_and_radius(lean, body_lean):
    """tan(lean) = V^2 / (R g), with V and R those of the centre of mass (1993, eq. 1 with no
    acceleration), measured on the tracks: from the ground under the rider to the centre."""
    speed = 7.0
    motion = steady(np.radians(lean), speed)
    style = CyclistStyle(body_lean=np.radians(body_lean), seat_sway=0.0)
    tracks = map_cyclist(motion, FIGURE, style)
    # Square to the line between the wheels, on which it is balanced.
    centre = whole_centre(tracks) - motion.position
    across = rot.rotate(tracks.rotation["bike"], X) * (1.0, 1.0, 0.0)
    assert deg(np.arctan2(dot(centre, rot.normalise(across)), centre[:, 2])) == pytest.approx(
        lean, abs=0.02)
    # Square to the path, as in the model: the centre is over the point that follows it.
    local = cases.to_ground(motion, centre + motion.position)
    assert deg(np.arctan2(local[:, 0], local[:, 2])) == pytest.approx(lean, abs=0.1)
    radius = 1.0 / motion.curvature - motion.height * np.sin(motion.lean)
    expected = np.arctan(speed**2 / (radius * motion.gravity))
    assert deg(expected) == pytest.approx(lean, abs=1e-9)
    # The frame leans a little more (tyres have width), less what the body leans more.
    frame = deg(tracks.attributes["frame_lean"])
    assert np.sign(np.mean(frame) - lean) == (-1.0 if body_lean > 0.0 else 1.0)
    assert np.abs(frame - lean).max() < 0.6 + abs(body_lean)


def test_the_bicycle_turns_away_from_a_turn_before_it_turns_into_it():
    """Around the corner of 1993, Fig. 18: straight, then left. Riders turn the bars about 3
    degrees the other way for about half a second."""
    scene, settings = bicycle_corner()
    lump = pendulum_body(FIGURE)
    settings = replace(settings, mass=lump.mass, height=lump.height, inertia=lump.inertia)
    motion = follow_path(scene, settings).motion
    tracks = map_cyclist(motion, FIGURE, STYLES["touring"])
    steer, time = deg(tracks.attributes["steer"]), motion.time
    first = int(np.argmax(deg(motion.lean) > 5.0))
    before = (time > time[first] - 0.8) & (time <= time[first])
    away = steer[before].min()
    assert -8.0 < away < -0.5
    # It is the counter-steer that leans the bicycle: it comes before most of the lean.
    at = np.flatnonzero(before)[np.argmin(steer[before])]
    onset = int(np.argmax(np.abs(steer) > 0.5))
    assert steer[onset] < 0.0 and onset < at < first + 2
    assert deg(motion.lean[onset]) < 1.0 and steer[: onset].min() > -0.51
    # Then into the turn: by the time it leans 20 degrees the path is curved to the left.
    into = int(np.argmax(deg(motion.lean) > 20.0))
    assert steer[into : into + 12].min() > 3.0
    # Both are in the keys' own rotations: the fork against the frame, about its axis.
    fork = rot.multiply(rot.conjugate(tracks.rotation["bike"]), tracks.rotation["fork"])
    axis = np.array((0.0, np.cos(FIGURE.equipment["head_angle"]),
                     np.sin(FIGURE.equipment["head_angle"])))
    assert deg(rot.twist_angle(fork, axis)) == pytest.approx(steer, abs=1e-6)


@pytest.mark.parametrize("name", ALL)
def test_both_tyres_are_on_the_ground(name):
    for wheel in ("front_wheel", "rear_wheel"):
        height = cases.tyre_height(FIGURE, MOTIONS[name], TRACKS[name], wheel)
        assert np.abs(height).max() < 1e-8


def test_tyres_stay_on_a_tilted_slope():
    motion = cases.solve(FIGURE, cases.RIDES["mountain"], slope=0.2, slope_direction=0.7)
    tracks = map_cyclist(motion, FIGURE, STYLES["mountain"])
    for wheel in ("front_wheel", "rear_wheel"):
        assert np.abs(cases.tyre_height(FIGURE, motion, tracks, wheel)).max() < 1e-8


@pytest.mark.parametrize("name", ["criterium", "city"])
def test_no_wheel_slips(name):
    """The point of the tyre that is on the ground stands still: hub's velocity and the whole
    rotation of the wheel, by differences at a fine rate."""
    motion = cases.solve(FIGURE, cases.RIDES[name], seconds=3.0, fps=480.0)
    tracks = map_cyclist(motion, FIGURE, STYLES[name])
    step = motion.time[1] - motion.time[0]
    for wheel, slip in (("rear_wheel", 2e-5), ("front_wheel", 2e-3)):
        down = contact_of(motion, tracks, wheel) - tracks.position[wheel]
        hub = (tracks.position[wheel][2:] - tracks.position[wheel][:-2]) / (2.0 * step)
        turn = rot.multiply(tracks.rotation[wheel][2:], rot.conjugate(tracks.rotation[wheel][:-2]))
        turn = turn * np.sign(turn[:, :1])
        angle = 2.0 * np.arctan2(np.linalg.norm(turn[:, 1:], axis=1), turn[:, 0])
        spin = rot.normalise(turn[:, 1:]) * (angle / (2.0 * step))[:, None]
        velocity = hub + np.cross(spin, down[1:-1])
        along = dot(velocity, motion.forward[1:-1])
        assert np.abs(along).max() / motion.speed[0] < slip + 2e-4 * (angle.max() / 0.1) ** 2
        across = dot(velocity, motion.left[1:-1])
        assert np.abs(across).max() / motion.speed[0] < 0.02


@pytest.mark.parametrize("name", ALL)
def test_wheels_turn_by_distance_over_radius(name):
    """To one part in a million of distance / radius along the wheel's own track, and counted
    on past whole turns; the radius is that of the tyre's shoulder where it is leaned."""
    tracks = TRACKS[name]
    tyre, wheel = FIGURE.equipment["tyre_radius"], FIGURE.equipment["wheel_radius"]
    lean = tracks.attributes["frame_lean"]
    distance = tracks.attributes["rear_distance"]
    radius = wheel - tyre * (1.0 - np.cos(lean))
    expected = np.concatenate(([0.0], np.cumsum(
        np.diff(distance) * 0.5 * (1.0 / radius[1:] + 1.0 / radius[:-1]))))
    # The frame's own pitch, below 0.2 degrees, turns the wheel along.
    assert np.abs(tracks.spins["rear_wheel"] - expected).max() < 0.005
    assert tracks.spins["rear_wheel"][-1] == pytest.approx(expected[-1], rel=5e-5)
    # Its track is the rear contact's: chords of a fine polyline.
    contact = contact_of(MOTIONS[name], tracks, "rear_wheel")
    chords = np.linalg.norm(np.diff(contact, axis=0), axis=1).sum()
    assert distance[-1] == pytest.approx(chords, rel=2e-5)
    assert tracks.spins["rear_wheel"][-1] > 6.0 * np.pi
    # Quaternions say the same, turn for turn.
    local = rot.multiply(rot.conjugate(tracks.rotation["bike"]), tracks.rotation["rear_wheel"])
    seen = np.unwrap(rot.twist_angle(local, X))
    assert seen - seen[0] == pytest.approx(
        tracks.spins["rear_wheel"] - tracks.spins["rear_wheel"][0], abs=1e-6)


def test_a_straight_way_turns_the_wheel_exactly():
    motion = cases.solve(FIGURE, speed=8.0, sharpness=0.0, seconds=5.0)
    tracks = map_cyclist(motion, FIGURE, CyclistStyle(seat_sway=0.0))
    radius = FIGURE.equipment["wheel_radius"]
    for wheel in ("front_wheel", "rear_wheel"):
        assert tracks.spins[wheel] == pytest.approx(motion.distance / radius, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", ["city", "road", "criterium", "sprint"])
def test_cranks_and_wheel_turn_in_the_gear(name):
    tracks = TRACKS[name]
    engaged = tracks.attributes["effort"] > 0.9999
    both = engaged[1:] & engaged[:-1]
    gear = tracks.attributes["gear"]
    crank = np.diff(tracks.attributes["crank"])[both]
    wheel = np.diff(tracks.attributes["rear_distance"])[both] / FIGURE.equipment["wheel_radius"]
    assert both.mean() > 0.2
    inverse = 0.5 * (1.0 / gear[1:] + 1.0 / gear[:-1])[both]
    assert crank == pytest.approx(wheel * inverse, rel=2e-4)
    cadence = tracks.attributes["cadence"][engaged] * 30.0 / np.pi
    assert cadence == pytest.approx(STYLES[name].cadence, rel=0.04)
    # A keyed gear: cadence = speed / (gear x circumference), 60 times a minute.
    motion = cases.solve(FIGURE, speed=6.6, sharpness=0.0)
    fixed = map_cyclist(motion, FIGURE, CyclistStyle(gear=2.5))
    turns = 6.6 / (2.5 * 2.0 * np.pi * FIGURE.equipment["wheel_radius"]) * 60.0
    assert fixed.attributes["cadence"][9:-9] * 30.0 / np.pi == pytest.approx(turns, rel=1e-6)
    assert turns == pytest.approx(75.0, abs=0.5)  # 75 rpm in 2.5 are 6.6 m/s


def test_in_a_sharp_turn_the_inside_pedal_is_up_and_still():
    motion, tracks = MOTIONS["criterium"], TRACKS["criterium"]
    sharp = np.abs(motion.lean) > STYLES["criterium"].coast_lean + np.radians(1.0)
    assert sharp.mean() > 0.15
    left, right = (tracks.position[f"pedal.{s}"][:, 2] for s in SIDES)
    higher = np.where(motion.lean > 0.0, left - right, right - left)
    # Cranks 0.34 m from end to end, leaned 33 degrees, and pedals 0.25 m apart on the way down.
    assert higher[sharp].min() > 0.14
    crank = tracks.attributes["crank"]
    assert (np.cos(crank) * np.sign(motion.lean))[sharp].min() > 1.0 - 1e-9
    assert np.abs(np.diff(crank)[sharp[1:] & sharp[:-1]]).max() < 1e-6
    # Never faster than the chain, never backwards with room to go on.
    drive = np.diff(tracks.attributes["rear_distance"]) / FIGURE.equipment["wheel_radius"]
    drive = drive / np.minimum(tracks.attributes["gear"][1:], tracks.attributes["gear"][:-1])
    assert np.all(np.diff(crank) < drive * 1.001 + 1e-9)
    assert np.diff(crank).min() > -1e-9


def test_an_s_bend_without_room_turns_the_pedals_back():
    time = np.linspace(0.0, 6.0, 289)
    lean = 0.6 * np.sin(2.0 * np.pi * time / 3.0)
    plan = spans(time, lean, 0.3, 1.0)
    assert [span.state for span in plan if span.state != PEDALS] == [
        LEFT_UP, RIGHT_UP, LEFT_UP, RIGHT_UP]
    drive = 0.8 * time  # a crank's turn takes eight seconds: less than half of one in between
    angle = crank_angle(time, drive, plan)
    for span in plan:
        inside = (time > span.start + 0.31) & (time < span.end - 0.31)
        up = {LEFT_UP: 1.0, RIGHT_UP: -1.0}.get(span.state)
        if up is not None and inside.any():
            assert np.cos(angle[inside]) * up == pytest.approx(1.0, abs=1e-9)
    assert np.diff(angle, 2).max() / (time[1] - time[0]) ** 2 < 150.0


def test_who_does_not_pedal_keeps_the_pedals_level():
    time = np.linspace(0.0, 4.0, 193)
    pedalling = np.where(time < 2.0, 1.0, 0.0)
    plan = spans(time, 0.0 * time, 0.3, pedalling)
    assert [span.state for span in plan] == [PEDALS, LEVEL]
    angle = crank_angle(time, 8.0 * time, plan)
    assert np.abs(np.cos(angle[time > 2.1])).max() < 1e-9
    assert np.diff(angle)[time[1:] < 1.5] == pytest.approx(8.0 * (time[1] - time[0]), rel=1e-9)


@pytest.mark.parametrize("name", ALL)
def test_hands_hold_the_grips_and_feet_stand_on_the_pedals(name):
    tracks = TRACKS[name]
    for side in SIDES:
        grip = on(tracks, "fork", f"grip.{side}")
        palm = np.subtract(FIGURE.joints[f"grip.{side}"], FIGURE.joints[f"hand.{side}"])
        held = tracks.position[f"hand.{side}"] + rot.rotate(tracks.rotation[f"hand.{side}"], palm)
        assert np.linalg.norm(held - grip, axis=1).max() < 1e-9
        # The pedal's axle is at the end of its crank.
        assert np.linalg.norm(
            on(tracks, "crank", f"pedal.{side}") - tracks.position[f"pedal.{side}"], axis=1
        ).max() < 1e-9
    for limb in (*cases.legs(FIGURE, tracks).values(), *cases.arms(FIGURE, tracks).values()):
        assert limb.shortfall.max() < 1e-6


@pytest.mark.parametrize("name", ALL)
def test_knees_stay_beside_the_frame(name):
    """Thighs and shins are 5 cm and more from the frame's middle plane, on their own side."""
    tracks = TRACKS[name]
    side_way = rot.rotate(tracks.rotation["bike"], X)
    for side, leg in cases.legs(FIGURE, tracks).items():
        sign = 1.0 if side == "L" else -1.0
        ankle = cases.ankle(FIGURE, tracks, side)
        for point in (leg.middle, ankle, 0.5 * (leg.middle + ankle)):
            assert (sign * dot(point - tracks.position["bike"], side_way)).min() > 0.05


@pytest.mark.parametrize("name", ["touring", "road", "city"])
def test_knees_and_feet_move_as_measured(name):
    """Knee: 25 to 45 degrees at the bottom, at most 115 at the top; foot 5 to 20 degrees down at
    the bottom, its pitch changing by 15 to 25 (PMC9219349; bike fitting)."""
    tracks, motion = TRACKS[name], MOTIONS[name]
    pedals = tracks.attributes["effort"] > 0.99
    for side in SIDES:
        turn = tracks.attributes["crank"] + (0.0 if side == "L" else np.pi)
        bottom = pedals & (np.cos(turn) < -0.99)
        knee = deg(tracks.attributes[f"knee_flexion.{side}"])
        foot = deg(tracks.attributes[f"foot_pitch.{side}"])
        assert 25.0 < knee[bottom].min() and knee[bottom].max() < 45.0
        assert knee[pedals].max() < 115.0
        assert 5.0 < foot[bottom].min() and foot[bottom].max() < 20.0
        assert 12.0 < np.ptp(foot[pedals]) < 26.0
    assert len(motion.time) > 100


def test_out_of_the_saddle_the_bicycle_sways_against_the_pushing_leg():
    tracks, motion = TRACKS["sprint"], MOTIONS["sprint"]
    straight = np.abs(deg(motion.lean)) < 4.0
    sway = deg(tracks.attributes["frame_lean"] - motion.lean)
    push = np.sin(tracks.attributes["crank"])  # + while the left pedal goes down
    assert np.corrcoef(sway[straight], push[straight])[0, 1] < -0.9
    assert 6.0 < np.abs(sway[straight]).max() < 15.0  # sprinters: 8 to 15
    hips = on_frame(tracks, "pelvis") - FIGURE.joints["pelvis"]
    assert hips[:, 2].min() > 0.0 and -hips[:, 1].max() > 0.15


def on_frame(tracks, role):
    """A role as the upright frame sees it."""
    off = tracks.position[role] - tracks.position["bike"]
    return FIGURE.joints["bike"] + rot.rotate(rot.conjugate(tracks.rotation["bike"]), off)


@pytest.mark.parametrize("name", ["touring", "road", "city", "criterium"])
def test_in_the_saddle_the_hips_stay_on_it(name):
    off = on_frame(TRACKS[name], "pelvis") - FIGURE.joints["pelvis"]
    assert np.abs(off).max() < 0.004


def test_the_head_looks_ahead_and_stays_near_level():
    """Within 5 to 10 degrees of the horizon; into the turn, before the bars."""
    motion, tracks = MOTIONS["criterium"], TRACKS["criterium"]
    left = rot.rotate(tracks.rotation["head"], X)
    tilt = deg(np.arcsin(dot(left, motion.normal)))
    assert np.abs(tilt).max() < 10.0
    gaze = rot.rotate(tracks.rotation["head"], np.array((0.0, -1.0, 0.0)))
    side = dot(gaze, motion.left)
    entering = (motion.lean * motion.lean_rate > 0.0) & (deg(np.abs(motion.lean)) > 3.0)
    entering &= motion.time < motion.time[-1] - 1.2  # beyond the end the way is straight
    assert np.all((side * np.sign(motion.lean))[entering] > 0.03)
    early = entering & (deg(np.abs(motion.lean)) < 12.0)
    assert np.all(np.abs(side)[early] > np.abs(np.sin(tracks.attributes["steer"][early])))


def test_a_turn_to_the_right_is_a_turn_to_the_left_in_the_mirror():
    """Where the pedals are decided by the turns."""
    motion = MOTIONS["criterium"]
    tracks = TRACKS["criterium"]
    other = map_cyclist(cases.mirrored_motion(motion), FIGURE, STYLES["criterium"])
    for role in ("bike", "front_wheel", "pelvis", "chest", "head"):
        assert np.abs(cases.mirrored(tracks.position[role]) - other.position[role]).max() < 1e-6
    for side in SIDES:
        for role in ("pedal", "hand", "knee"):
            mine = cases.mirrored(tracks.position[f"{role}.{side}"])
            theirs = other.position[cases.other_side(f"{role}.{side}")]
            assert np.abs(mine - theirs).max() < 1e-6
    assert tracks.attributes["steer"] == pytest.approx(-other.attributes["steer"], abs=1e-9)


@pytest.mark.parametrize("height", [1.2, 2.1])
def test_the_bicycle_grows_with_its_rider(height):
    body = cases.figure(cases.CYCLIST, height)
    motion = cases.solve(body, cases.RIDES["touring"])
    tracks = map_cyclist(motion, body, STYLES["touring"])
    for wheel in ("front_wheel", "rear_wheel"):
        assert np.abs(cases.tyre_height(body, motion, tracks, wheel)).max() < 1e-8
    for limb in (*cases.legs(body, tracks).values(), *cases.arms(body, tracks).values()):
        assert limb.shortfall.max() < 1e-6
    radius = body.equipment["wheel_radius"]
    assert radius == pytest.approx(0.336 * height / 1.78)


def test_the_frame_rate_does_not_change_the_ride():
    slow, fast = (cases.solve(FIGURE, cases.RIDES["criterium"], fps=fps) for fps in (24.0, 96.0))
    ways = [map_cyclist(motion, FIGURE, STYLES["criterium"]) for motion in (slow, fast)]
    for role in ("bike", "pelvis", "pedal.L", "hand.R"):
        there = [
            tracks.position[role][:: tracks.clock.per_frame * (1 if i == 0 else 4)]
            for i, tracks in enumerate(ways)
        ]
        assert np.abs(there[0] - there[1]).max() < 0.004, role


def test_what_a_bicycle_would_not_forgive_is_told():
    motion = MOTIONS["criterium"]
    codes = {p.code for p in map_cyclist(
        motion, FIGURE, CyclistStyle(gear=1.5, coast_lean=np.radians(60.0))).problems}
    assert {"CADENCE", "PEDAL_STRIKE"} <= codes
    assert not {p.code for p in TRACKS["touring"].problems}
