# SPDX-License-Identifier: GPL-3.0-or-later
"""Figures and motions for the tests of mappings, and what is measured on tracks."""

from dataclasses import replace

import numpy as np
from poise.addon.mapping.body import pendulum_body
from poise.addon.mapping.tracks import SIDES, Figure
from poise.addon.rigs.builders.kinds import (
    BUILDS,
    CYCLIST,
    SKATEBOARDER,
    SKIER,
    SNOWBOARDER,
    TELEMARK,
    build_skeleton,
)
from poise.addon.rigs.builders.skeleton import standard_proportions
from poise.solvers import rotations as rot
from poise.solvers.ik import two_bone
from poise.solvers.motion import Event
from poise.solvers.turning.settings import TurningSettings
from poise.solvers.turning.solve import solve_turning

# Speed m/s, frequency Hz, maximum lean in degrees, curvature limit, rate limit.
TURNS = {
    "beginner": (5.5, 0.167, 10.0, 0.15, 0.5),
    "cruising": (9.0, 0.182, 20.0, 0.15, 0.6),
    "short": (7.0, 0.455, 30.0, 0.30, 1.2),
    "carving": (12.0, 0.250, 40.0, 0.12, 0.5),
    "giant_slalom": (18.0, 0.355, 50.0, 0.10, 0.5),
    "slalom": (12.0, 0.526, 46.0, 0.26, 1.2),
}
TELEMARK_TURNS = {
    "beginner": (6.0, 0.180, 14.0, 0.15, 0.5),
    "classic": (9.0, 0.250, 30.0, 0.15, 0.6),
    "carving": (13.0, 0.250, 38.0, 0.12, 0.5),
    "slalom": (9.0, 0.400, 36.0, 0.26, 1.2),
}
SKATE_TURNS = {
    "beginner": (2.5, 0.220, 6.0, 0.8, 3.0),
    "cruising": (3.5, 0.300, 13.0, 1.0, 4.0),
    "carving": (3.6, 0.380, 21.0, 1.2, 5.0),
    "slalom": (4.5, 0.750, 18.0, 1.4, 8.0),
}
BOARD_TURNS = {
    "beginner": (5.0, 0.167, 9.0, 0.15, 0.4),
    "cruising": (8.0, 0.200, 22.0, 0.15, 0.5),
    "carving": (10.0, 0.278, 38.0, 0.14, 0.5),
    "freestyle": (9.0, 0.357, 25.0, 0.16, 0.7),
}
# The same for bicycles, by style.
RIDES = {
    "city": (4.5, 0.14, 12.0, 0.6, 2.0),
    "touring": (6.0, 0.16, 16.0, 0.5, 2.5),
    "road": (9.0, 0.14, 20.0, 0.4, 2.5),
    "criterium": (11.0, 0.18, 33.0, 0.4, 3.0),
    "sprint": (13.0, 0.12, 8.0, 0.3, 2.0),
    "climbing": (3.2, 0.15, 5.0, 0.5, 2.0),
    "mountain": (6.5, 0.22, 24.0, 0.6, 3.0),
}


# Parts of a body that grow with its trunk, and with its arms.
_TRUNK = ("spine", "chest", "neck", "head", "vertex", "hip", "shoulder", "upper_arm")
_ARM = ("arm", "forearm", "hand", "grip")


def body(trunk=1.0, arms=1.0, thigh=1.0, ankle=1.0, foot=1.0, uneven=0.0, height=1.78):
    """Proportions of a body with the legs of a standard one; all else by factors of that.

    `thigh` takes from the shin what it adds; the left limbs are longer by the share `uneven`,
    the right ones shorter.
    """
    usual = standard_proportions(height)

    def times(value, factor):
        if isinstance(value, dict):
            return {side: part * factor for side, part in value.items()}
        return value * factor

    lengths = {name: times(getattr(usual, name), trunk) for name in _TRUNK}
    lengths |= {name: times(getattr(usual, name), arms) for name in _ARM}
    lengths |= {name: getattr(usual, name) * ankle for name in ("ankle", "ball_height")}
    lengths |= {name: getattr(usual, name) * foot for name in ("ball", "toe")}
    longer = times(usual.thigh, thigh)
    lengths |= {"thigh": longer,
                "shin": {s: usual.thigh[s] + usual.shin[s] - longer[s] for s in SIDES}}
    for name in ("thigh", "shin", "arm", "forearm"):
        pair = lengths[name]
        lengths[name] = {"L": pair["L"] * (1.0 + uneven), "R": pair["R"] * (1.0 - uneven)}
    return replace(usual, **lengths)


# Legs 0.6 and 1.6 times as long against the trunk as usual, arms against the trunk too.
BODIES = {
    "usual": body(),
    "child": body(trunk=1.15, arms=1.1, height=1.1),
    "short legs": body(trunk=1.0 / 0.6, arms=1.0 / 0.6),
    "short legs, short arms": body(trunk=1.0 / 0.6, arms=1.0),
    "short legs, long arms": body(trunk=1.0 / 0.6, arms=1.5 / 0.6),
    "long legs": body(trunk=1.0 / 1.6, arms=1.0 / 1.6),
    "long legs, short arms": body(trunk=1.0 / 1.6, arms=0.6 / 1.6),
    "short arms": body(arms=0.6),
    "long arms": body(arms=1.5),
    "uneven": body(uneven=0.03),
    "short thighs": body(thigh=0.8, ankle=2.5),
    "long thighs": body(thigh=1.2, ankle=0.2, foot=1.5),
}


def figure(kind=SKIER, size=1.78, regular=True):
    """The figure of Poise's own characters or, with given proportions, of others."""
    skeleton = build_skeleton(kind, size, regular)
    joints = skeleton.joints
    equipment = skeleton.equipment | BUILDS[kind].measures(joints, regular)
    return Figure(joints, 75.0, skeleton.height, equipment)


def solve(body, turn=None, seconds=8.0, fps=24.0, **settings):
    """A motion for a figure; `turn` is a row of TURNS."""
    lump = pendulum_body(body)
    values = dict(
        n_frames=round(seconds * fps) + 1, fps=fps, mass=lump.mass, height=lump.height,
        inertia=lump.inertia,
    )
    if turn is not None:
        speed, frequency, lean, bound, rate = turn
        values |= dict(speed=speed, frequency=frequency, sharpness=np.radians(lean),
                       max_curvature=bound, max_curvature_rate=rate)
    return solve_turning(TurningSettings(**(values | settings)))


_MIRROR = np.array((-1.0, 1.0, 1.0))
_OTHER = {"L": "R", "R": "L", "": ""}


def mirrored_motion(motion):
    """The same motion seen in a mirror across x = 0, left and right exchanged."""
    flipped = {name: -getattr(motion, name) for name in (
        "yaw", "heading", "lean", "lean_rate", "lean_acceleration", "curvature", "force_lateral")}
    events = tuple(
        Event(e.kind, e.time, _OTHER[e.side], None if e.position is None else e.position * _MIRROR)
        for e in motion.events
    )
    return replace(
        motion, **flipped, events=events, position=motion.position * _MIRROR,
        forward=motion.forward * _MIRROR, left=-motion.left * _MIRROR,
        normal=motion.normal * _MIRROR, phase=motion.phase + np.pi,
    )


def other_side(role):
    """Role of the other side."""
    return role[:-1] + _OTHER[role[-1]] if role[-2:] in (".L", ".R") else role


def mirrored(position):
    """Positions in the mirror."""
    return position * _MIRROR


def mirrored_turn(rotation):
    """Rotations in the mirror, w >= 0."""
    turned = rotation * np.array((1.0, 1.0, -1.0, -1.0))
    return turned * np.where(turned[:, :1] < 0.0, -1.0, 1.0)


def to_ground(motion, points):
    """Points (n, 3) as left, back, up of the pendulum's foot."""
    axes = np.stack((motion.left, -motion.forward, motion.normal), axis=-1)
    return np.einsum("nij,ni->nj", axes, points - motion.position)


def hips(body, tracks):
    """Hip joints, side -> (n, 3), by forward kinematics from the pelvis."""
    return {
        s: tracks.position["pelvis"] + rot.rotate(
            tracks.rotation["pelvis"], body.joints[f"hip.{s}"] - body.joints["pelvis"])
        for s in SIDES
    }


def ankle(body, tracks, side):
    """Ankle (n, 3): the foot's own track, or where its pedal carries it."""
    if f"foot.{side}" in tracks.position:
        return tracks.position[f"foot.{side}"]
    pedal = f"pedal.{side}"
    return tracks.position[pedal] + rot.rotate(
        tracks.rotation[pedal], np.subtract(body.joints[f"foot.{side}"], body.joints[pedal]))


def legs(body, tracks):
    """side -> solved two-bone leg, as a rig would solve it from the tracks alone."""
    return {
        s: two_bone(hip, ankle(body, tracks, s), tracks.position[f"knee.{s}"], *body.leg(s))
        for s, hip in hips(body, tracks).items()
    }


def arms(body, tracks):
    """side -> solved two-bone arm from shoulder, hand and elbow tracks."""
    found = {}
    for s in SIDES:
        shoulder = tracks.position[f"shoulder.{s}"] + rot.rotate(
            tracks.rotation[f"shoulder.{s}"],
            body.joints[f"upper_arm.{s}"] - body.joints[f"shoulder.{s}"])
        found[s] = two_bone(shoulder, tracks.position[f"hand.{s}"], tracks.position[f"elbow.{s}"],
                            *body.arm(s))
    return found


def centre_of_mass(body, tracks):
    """Centre of mass (n, 3) by Winter's shares: upper body .678 at .626 from hips to
    shoulders, thigh .1 at .433, shank and foot .061 at .606 of their lengths."""
    shoulders = 0.5 * sum(
        tracks.position[f"shoulder.{s}"] + rot.rotate(
            tracks.rotation[f"shoulder.{s}"],
            body.joints[f"upper_arm.{s}"] - body.joints[f"shoulder.{s}"])
        for s in SIDES)
    pelvis = tracks.position["pelvis"]
    total = 0.678 * (pelvis + 0.626 * (shoulders - pelvis))
    hip, leg = hips(body, tracks), legs(body, tracks)
    for s in SIDES:
        knee = leg[s].middle
        total = total + 0.1 * (hip[s] + 0.433 * (knee - hip[s]))
        total = total + 0.061 * (knee + 0.606 * (ankle(body, tracks, s) - knee))
    return total


def tyre_height(body, motion, tracks, wheel):
    """Height (n,) of a tyre's lowest point over the ground, from the wheel's own track.

    A torus: its section's middle is a circle about the axle."""
    axle = rot.rotate(tracks.rotation[wheel], np.array((1.0, 0.0, 0.0)))
    tilt = np.einsum("ij,ij->i", axle, motion.normal)
    up = np.einsum("ij,ij->i", tracks.position[wheel] - motion.position, motion.normal)
    tyre = body.equipment["tyre_radius"]
    return up - (body.equipment["wheel_radius"] - tyre) * np.sqrt(1.0 - tilt**2) - tyre


def corner(tracks, role):
    """Largest second difference of a role's position, as an acceleration in m/s^2."""
    h = tracks.time[1] - tracks.time[0]
    return np.linalg.norm(np.diff(tracks.position[role], 2, axis=0), axis=1).max() / h**2


__all__ = [
    "BOARD_TURNS", "BODIES", "CYCLIST", "RIDES", "SKATEBOARDER", "SKATE_TURNS", "SKIER",
    "SNOWBOARDER", "TELEMARK", "TELEMARK_TURNS", "TURNS", "ankle", "arms", "body",
    "centre_of_mass", "corner", "figure", "hips", "legs", "mirrored", "mirrored_motion",
    "mirrored_turn", "other_side", "solve", "to_ground", "tyre_height",
]
