# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies that are not built like Poise's own: short and long legs and arms, uneven sides.

Angles of cyclists after bike fitting: knee 25 to 45 degrees at the bottom of the stroke, at most
about 120 at the top (PMC9219349; bike fitting).
"""

import importlib.util
from dataclasses import astuple
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from poise.addon.mapping.cyclist import STYLES as RIDING
from poise.addon.mapping.registry import MAPPINGS
from poise.addon.mapping.skateboarder import STYLES as SKATING
from poise.addon.mapping.skier import STYLES as SKIING
from poise.addon.mapping.snowboarder import STYLES as BOARDING
from poise.addon.mapping.telemark import STYLES as TELEMARK
from poise.addon.mapping.tracks import SIDES
from poise.addon.rigs.builders import bicycle, cyclist, kinds
from poise.addon.rigs.builders.kinds import build_skeleton
from poise.solvers import rotations as rot

_spec = importlib.util.spec_from_file_location(
    "mapping_cases", Path(__file__).with_name("mapping_cases.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

BODIES = cases.BODIES
OTHERS = sorted(set(BODIES) - {"usual"})
deg = np.degrees


def use(joints, names, lengths):
    """Share of a limb's length between its ends."""
    return np.linalg.norm(np.subtract(joints[names[1]], joints[names[0]])) / sum(lengths)


@pytest.mark.parametrize("kind", kinds.RIDING)
@pytest.mark.parametrize("name", BODIES)
def test_limbs_have_their_lengths_in_the_rest_pose_and_are_bent(kind, name):
    size = BODIES[name]
    skeleton = build_skeleton(kind, size)
    joints = skeleton.joints
    figure = cases.figure(kind, size)
    assert all(np.isfinite(place).all() for place in joints.values())
    assert all(np.isfinite((b.head, b.tail, b.z_axis)).all() for b in skeleton.bones)
    for s in SIDES:
        assert figure.leg(s) == pytest.approx((size.thigh[s], size.shin[s]), rel=1e-9)
        assert figure.arm(s) == pytest.approx((size.arm[s], size.forearm[s]), rel=1e-9)
        assert use(joints, (f"upper_arm.{s}", f"hand.{s}"), figure.arm(s)) < 0.96
        assert use(joints, (f"hip.{s}", f"foot.{s}"), figure.leg(s)) < 0.995
        # Towards the toes, whichever way those point.
        toes = np.subtract(joints[f"toe.{s}"], joints[f"foot.{s}"]) * (1.0, 1.0, 0.0)
        middle = 0.5 * np.add(joints[f"hip.{s}"], joints[f"foot.{s}"])
        assert np.dot(joints[f"knee_joint.{s}"] - middle, rot.normalise(toes)) > 0.02 * size.height


@pytest.mark.parametrize("height", [1.2, 1.78])
def test_poises_own_cyclists_ride_the_bicycle_as_it_is(height):
    fit, bend = cyclist.fitted(cases.body(height=height))
    assert astuple(fit) == pytest.approx(astuple(bicycle.Fit()), abs=1e-9)
    assert bend == 0.0


@pytest.mark.parametrize("name", OTHERS)
def test_a_bicycle_is_fitted_to_its_rider(name):
    size = BODIES[name]
    figure, usual = cases.figure(cases.CYCLIST, size), cases.figure(cases.CYCLIST)
    joints, scale = figure.joints, size.height / 1.78
    arm = [use(joints, (f"upper_arm.{s}", f"hand.{s}"), figure.arm(s)) for s in SIDES]
    own = use(usual.joints, ("upper_arm.L", "hand.L"), usual.arm("L"))
    # Where stem, frame and trunk go far enough the arms are bent as usual.
    if name not in ("short legs, long arms", "long legs, short arms"):
        assert np.mean(arm) == pytest.approx(own, abs=0.001)
    assert 0.4 < min(arm) and max(arm) <= 0.951
    # The bars are where bars are: between saddle and front wheel, over the tyre.
    grip = joints["grip.L"]
    assert joints["front_wheel"][1] - 0.12 * scale < grip[1] < joints["pelvis"][1] - 0.3 * scale
    assert grip[2] > 2.2 * figure.equipment["wheel_radius"]
    assert 0.12 * scale < grip[0] < 0.40 * scale
    # The saddle is where the legs want it: the pedal at the bottom, toes down by 13 degrees.
    for s in SIDES:
        foot = np.subtract(joints[f"foot.{s}"], joints[f"pedal.{s}"])
        c, n = np.cos(np.radians(13.0)), np.sin(np.radians(13.0))
        foot = (foot[0], foot[1] * c - foot[2] * n, foot[1] * n + foot[2] * c)
        down = joints["crank"] + (joints[f"pedal.{s}"][0], 0.0, 0.0)
        ankle = down - bicycle.SEAT_TUBE * figure.equipment["crank_length"] + foot
        thigh, shin = figure.leg(s)
        far = np.sum((joints[f"hip.{s}"] - ankle) ** 2)
        knee = deg(np.arccos((far - thigh**2 - shin**2) / (2.0 * thigh * shin)))
        assert 30.0 < knee < (55.0 if name == "uneven" else 45.0)


def test_the_mesh_of_the_bicycle_goes_where_its_joints_are():
    """Grips, wheels and saddle of the mesh, by the vertices that their bones move."""
    for name in ("short legs", "long legs, short arms", "short thighs"):
        skeleton = build_skeleton(cases.CYCLIST, BODIES[name])
        mesh, joints = bicycle.bicycle(skeleton), skeleton.joints
        scale = skeleton.height / 1.78
        for s, sign in (("L", 1.0), ("R", -1.0)):
            # A tube along the grip, 11 to 17 mm thick, on both sides of its middle.
            way = np.array((sign * np.cos(bicycle.SWEEP), np.sin(bicycle.SWEEP), 0.0))
            off = mesh.points - joints[f"grip.{s}"]
            along = off @ way
            thick = np.linalg.norm(off - along[:, None] * way, axis=1)
            tube = (np.abs(along) < 0.08 * scale) & (thick < 0.025 * scale)
            assert along[tube].min() < -0.05 * scale and along[tube].max() > 0.05 * scale
            assert 0.010 * scale < np.median(thick[tube]) < 0.018 * scale
        ahead = joints["front_wheel"][1] - skeleton.equipment["wheel_radius"]
        assert mesh.points[:, 1].min() == pytest.approx(ahead, abs=1e-3 * scale)
        seat = np.linalg.norm(mesh.points - joints["pelvis"], axis=1).min()
        assert 0.05 * scale < seat < 0.13 * scale


def rides(name):
    size = BODIES[name]
    figure = cases.figure(cases.CYCLIST, size)
    for style in ("city", "touring", "criterium", "sprint", "climbing", "mountain"):
        yield figure, style, riding(figure, style, size.height / 1.78)


@cache
def usual_rides():
    return {style: tracks for _, style, tracks in rides("usual")}


def riding(figure, style, scale=1.0):
    """A ride as fast for its size as a usual one (equal Froude numbers)."""
    speed, frequency, lean, bound, rate = cases.RIDES[style]
    row = (speed * scale**0.5, frequency / scale**0.5, lean, bound / scale, rate / scale**1.5)
    motion = cases.solve(figure, row, seconds=5.0 * scale**0.5, fps=24.0 / scale**0.5)
    return MAPPINGS[cases.CYCLIST].function(motion, figure, RIDING[style])


@pytest.mark.parametrize("name", OTHERS)
def test_any_body_stays_on_grips_and_pedals_in_every_style(name):
    usual = usual_rides()
    for figure, style, tracks in rides(name):
        for role in tracks.position:
            assert np.isfinite(tracks.position[role]).all() and np.isfinite(
                tracks.rotation[role]).all()
        reached, stood = cases.arms(figure, tracks), cases.legs(figure, tracks)
        for s in SIDES:
            palm = np.subtract(figure.joints[f"grip.{s}"], figure.joints[f"hand.{s}"])
            grip = np.subtract(figure.joints[f"grip.{s}"], figure.joints["fork"])
            hand = reached[s].tip + rot.rotate(tracks.rotation[f"hand.{s}"], palm)
            bar = tracks.position["fork"] + rot.rotate(tracks.rotation["fork"], grip)
            assert np.linalg.norm(hand - bar, axis=1).max() < 1e-3, (style, s)
            assert stood[s].shortfall.max() < 1e-3, (style, s)
            assert 20.0 < deg(reached[s].flexion).min(), (style, s)
            assert deg(reached[s].flexion).max() < 135.0, (style, s)
            assert 15.0 < deg(stood[s].flexion).min() and deg(stood[s].flexion).max() < 122.0
            # Forward, as the frame looks.
            middle = 0.5 * (cases.hips(figure, tracks)[s] + cases.ankle(figure, tracks, s))
            ahead = rot.rotate(tracks.rotation["bike"], np.array((0.0, -1.0, 0.0)))
            knee = np.einsum("ij,ij->i", stood[s].middle - middle, ahead)
            assert knee.min() > 0.02 * figure.height, (style, s)
        # What yields does so without a jerk: accelerations are of a usual rider's kind.
        for role in ("pelvis", "chest", "head"):
            assert cases.corner(tracks, role) < 3.5 * cases.corner(usual[style], role), (
                style, role)


def test_what_the_arms_were_too_short_for_is_told():
    figure = cases.figure(cases.CYCLIST, BODIES["short arms"])
    told = [p for p in riding(figure, "sprint").problems if p.code == "ARM_REACH"]
    # Swaying by 10 degrees with arms of 0.6 the length: 4 degrees less.
    assert [p.bone for p in told] == ["bike"] and deg(told[0].amount) == pytest.approx(4.0, abs=0.1)
    assert told[0].severity == "INFO"
    assert not riding(cases.figure(cases.CYCLIST), "sprint").problems
    figure = cases.figure(cases.CYCLIST, BODIES["short legs, long arms"])
    told = [p for p in riding(figure, "mountain").problems if p.code == "ARM_REACH"]
    assert [p.bone for p in told] == ["chest"] and "less than asked" in told[0].message


SPORTS = {
    cases.SKIER: (cases.TURNS, SKIING, ("beginner", "short", "carving")),
    cases.TELEMARK: (cases.TELEMARK_TURNS, TELEMARK, ("classic", "slalom")),
    cases.SNOWBOARDER: (cases.BOARD_TURNS, BOARDING, ("carving", "freestyle")),
    cases.SKATEBOARDER: (cases.SKATE_TURNS, SKATING, ("carving", "slalom")),
}


@pytest.mark.parametrize("kind", SPORTS)
@pytest.mark.parametrize("name", sorted(set(OTHERS) - {"child", "short legs"}))
def test_any_body_skis_and_boards(kind, name):
    turns, styles, chosen = SPORTS[kind]
    figure = cases.figure(kind, BODIES[name])
    for style in chosen:
        motion = cases.solve(figure, turns[style], seconds=4.0)
        tracks = MAPPINGS[kind].function(motion, figure, styles[style])
        for role in tracks.position:
            assert np.isfinite(tracks.position[role]).all() and np.isfinite(
                tracks.rotation[role]).all()
        for limb in (*cases.legs(figure, tracks).values(), *cases.arms(figure, tracks).values()):
            assert limb.shortfall.max() < 1e-3, style
        for s, leg in cases.legs(figure, tracks).items():
            assert 15.0 < deg(leg.flexion).min() and deg(leg.flexion).max() < 125.0, style
            toes = np.subtract(figure.joints[f"toe.{s}"], figure.joints[f"foot.{s}"])
            toes = rot.normalise(rot.rotate(tracks.rotation[f"foot.{s}"], toes * (1.0, 1.0, 0.0)))
            middle = 0.5 * (cases.hips(figure, tracks)[s] + cases.ankle(figure, tracks, s))
            assert np.einsum("ij,ij->i", leg.middle - middle, toes).min() > 0.05, style
        if kind == cases.SKIER:
            assert tracks.contacts, "poles are planted by whoever plants them otherwise"
        for contact in tracks.contacts:
            s, held = contact.role[-1], (tracks.time >= contact.start) & (
                tracks.time <= contact.end)
            palm = np.subtract(figure.joints[f"pole.{s}"], figure.joints[f"hand.{s}"])
            grip = tracks.position[f"hand.{s}"] + rot.rotate(tracks.rotation[f"hand.{s}"], palm)
            long = np.linalg.norm(grip - contact.position, axis=1)[held]
            assert long == pytest.approx(figure.equipment["pole_length"], abs=1e-3), style
