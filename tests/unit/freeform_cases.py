# SPDX-License-Identifier: GPL-3.0-or-later
"""A figure of eleven links and the phrases that tests let it dance. It faces -Y."""

from dataclasses import replace

import numpy as np
from poise.solvers import rotations
from poise.solvers.dynamics import Figure
from poise.solvers.dynamics.limbs import limbs
from poise.solvers.freeform import Body, Limb, Posture, PostureSequence
from poise.solvers.freeform.body import links
from poise.solvers.freeform.holds import Hold, keep, whole

NAMES = (
    "pelvis", "trunk", "head", "upper_arm.L", "forearm.L", "upper_arm.R", "forearm.R",
    "thigh.L", "shin.L", "thigh.R", "shin.R",
)
FEET = ("foot.L", "foot.R")


def mannequin():
    """1.75 m tall, 75 kg: arms hang, legs stand."""
    parents = np.array([-1, 0, 1, 1, 3, 1, 5, 0, 7, 0, 9])
    places = np.zeros((11, 3))
    places[1], places[2] = (0, 0, 0.1), (0, 0, 0.5)
    for arm, leg, x in ((3, 7, 1.0), (5, 9, -1.0)):
        places[arm], places[arm + 1] = (0.2 * x, 0, 0.45), (0, 0, -0.3)
        places[leg], places[leg + 1] = (0.1 * x, 0, -0.05), (0, 0, -0.42)
    tips = np.zeros((11, 3))
    tips[0], tips[1], tips[2] = (0, 0, 0.1), (0, 0, 0.5), (0, 0, 0.22)
    tips[[3, 5, 4, 6], 2] = -0.3
    tips[[7, 9, 8, 10], 2] = -0.42, -0.42, -0.44, -0.44
    radii = np.array([0.12, 0.13, 0.09, 0.045, 0.035, 0.045, 0.035, 0.075, 0.05, 0.075, 0.05])
    # Shares of the whole: Winter 2009, table 4.1.
    masses = 75.0 * np.array([0.142, 0.355, 0.081, *(0.028, 0.022) * 2, *(0.1, 0.061) * 2])
    made = limbs(tips, radii, masses)
    axes = np.tile(np.eye(3), (11, 1, 1))
    axes[0] = 0.0
    figure = Figure(
        parents, places, rotations.identity(11), axes, made.masses, made.centres, made.inertias,
        free=True,
    )
    ahead, back = np.array([0.0, -1.0, 0.0]), np.array([0.0, 1.0, 0.0])
    return Body(
        figure,
        (
            Limb("foot.L", (7, 8), tips[8], ahead),
            Limb("foot.R", (9, 10), tips[10], ahead),
            Limb("hand.L", (3, 4), tips[4], back),
            Limb("hand.R", (5, 6), tips[6], back),
        ),
    )


BODY = mannequin()


def pose(
    supports=FEET, at=(0.0, 0.0, 0.0), hips=(0, 0), knees=(0, 0), arms=(0, 0), elbows=(10, 10),
    trunk=0, pitch=0, roll=0, yaw=0, spread=(0, 0), sides=(0, 0), place=None, turns=(0, 0, 0),
):
    """A posture by its angles in degrees: hips, arms and trunk forward, knees bent.

    The mean of the supporting ends, or of the feet, stands `at` a place, unless the pelvis
    has a place of its own. `spread` takes the legs sideways, `sides` the arms.
    """
    joints = rotations.identity(11)

    def about(axis, degrees):
        return rotations.from_axis_angle(np.array(axis, float), np.radians(degrees))

    x, y = (1, 0, 0), (0, 1, 0)
    joints[1] = about(x, trunk)
    for side, (arm, leg, sign) in enumerate(((3, 7, -1.0), (5, 9, 1.0))):
        joints[arm] = rotations.multiply(about(y, sign * sides[side]), about(x, -arms[side]))
        joints[arm + 1] = about(x, -elbows[side])
        joints[leg] = rotations.multiply(about(y, sign * spread[side]), about(x, -hips[side]))
        joints[leg + 1] = about(x, knees[side])
    turn = rotations.multiply(
        about((0, 0, 1), yaw), rotations.multiply(about(y, roll), about(x, pitch))
    )
    if place is None:
        held = joints.copy()
        held[0] = turn
        found = links(BODY, np.zeros((1, 3)), held[None])
        names = supports or FEET
        ends = [
            found.joints[0, m.links[-1]] + rotations.rotate(found.turns[0, m.links[-1]], m.tip)
            for m in BODY.limbs if m.name in names
        ]
        place = np.asarray(at, float) - np.mean(ends, axis=0)
    return Posture(np.array(place, float), turn, joints, tuple(supports), np.array(turns, float))



STAND = dict(arms=(0, 0), hips=(8, 8), knees=(16, 16))
CROUCH = dict(arms=(-40, -40), hips=(80, 80), knees=(95, 95), trunk=25, pitch=15)
PUSH = dict(arms=(125, 125), hips=(8, 8), knees=(20, 20), trunk=5)
LAND = dict(arms=(70, 70), hips=(40, 40), knees=(45, 45), trunk=10)
ABSORB = dict(arms=(-10, -10), hips=(85, 85), knees=(95, 95), trunk=30, pitch=10)


def jump():
    """On the spot and 0.5 m ahead, arms swung."""
    postures = [
        pose(**STAND), pose(**CROUCH), pose(**PUSH),
        pose((), (0, -0.25, 0.3), hips=(30, 30), knees=(60, 60), arms=(150, 150)),
        pose(at=(0, -0.5, 0), **LAND), pose(at=(0, -0.5, 0), **ABSORB),
        pose(at=(0, -0.5, 0), **STAND),
    ]
    return PostureSequence(postures, np.array([0.0, 0.5, 0.8, 1.05, 1.3, 1.55, 2.2]))


def leap():
    """A leap with a half turn to the left, from the left foot onto the right."""
    left, right = ("foot.L",), ("foot.R",)
    step = dict(arms=(40, -30), hips=(5, 60), knees=(15, 80), elbows=(30, 30))
    postures = [
        pose(**STAND),
        pose(left, (0.1, 0, 0), hips=(45, 10), knees=(60, 50), arms=(-30, 30), yaw=10),
        pose(left, (0.1, 0, 0), yaw=40, **step),
        pose((), (0, -0.7, 0.4), hips=(-30, 60), knees=(20, 20), arms=(80, 80), yaw=110),
        pose(right, (-0.1, -1.2, 0), hips=(-10, 25), knees=(30, 35), arms=(60, 60), yaw=180),
        pose(right, (-0.1, -1.2, 0), hips=(0, 60), knees=(50, 75), trunk=20, yaw=190),
        pose(at=(-0.2, -1.2, 0), yaw=180, **STAND),
    ]
    return PostureSequence(postures, np.array([0.0, 0.4, 0.65, 0.9, 1.12, 1.4, 2.1]))


def somersault():
    """Forward, one whole turn, tucked."""
    tuck = dict(hips=(120, 120), knees=(125, 125), arms=(60, 60), elbows=(60, 60), trunk=40)
    postures = [
        pose(**STAND), pose(**CROUCH), pose(pitch=15, **PUSH),
        pose((), (0, -0.4, 0.6), pitch=120, **tuck),
        pose((), (0, -0.7, 0.5), pitch=250, **tuck),
        pose(at=(0, -1.0, 0), pitch=-12, turns=(0, 0, 0), **LAND),
        pose(at=(0, -1.0, 0), **ABSORB), pose(at=(0, -1.0, 0), **STAND),
    ]
    return PostureSequence(postures, np.array([0.0, 0.5, 0.8, 1.0, 1.25, 1.45, 1.7, 2.4]))


def planted(posture, **places):
    """The posture with limbs brought to places (foot_L=(x, y, z))."""
    joints = whole(posture)
    for name, place in places.items():
        limb = next(m for m in BODY.limbs if m.name == name.replace("_", "."))
        hold = Hold(limb, 0, 0, np.array(place, float), np.array([1.0, 0, 0, 0]))
        joints, _ = keep(BODY, hold, posture.place[None], joints)
    return replace(posture, joints=joints[0], supports=tuple(n.replace("_", ".") for n in places))


def cartwheel():
    """To the left, over both hands, without a flight: the body turns about +Y once."""
    wide = dict(sides=(150, 150), spread=(30, 30), elbows=(5, 5))
    foot_l, hand_l, hand_r, foot_r = (0.1, 0, 0), (1.25, 0, 0), (1.65, 0, 0), (2.8, 0, 0)
    postures = [
        planted(pose(place=(0.05, 0, 0.86), hips=(5, 5), knees=(10, 10), sides=(150, 150)),
                foot_L=foot_l, foot_R=(-0.2, 0, 0)),
        planted(pose(place=(0.45, 0, 0.74), roll=105, **wide), foot_L=foot_l, hand_L=hand_l),
        planted(pose(place=(1.45, 0, 1.12), roll=180, **wide), hand_L=hand_l, hand_R=hand_r),
        planted(pose(place=(2.45, 0, 0.74), roll=255, **wide), hand_R=hand_r, foot_R=foot_r),
        planted(pose(place=(2.9, 0, 0.86), hips=(5, 5), knees=(10, 10), sides=(150, 150)),
                foot_L=(3.05, 0, 0), foot_R=foot_r),
    ]
    return PostureSequence(postures, np.array([0.0, 0.5, 0.85, 1.2, 1.7]))


def squat():
    """Down and up, no flight."""
    return PostureSequence(
        [pose(**STAND), pose(**CROUCH), pose(**STAND)], np.array([0.0, 0.6, 1.3])
    )


def dance():
    """Eight postures, the fourth and fifth in the air (Girard 1986, fig. 11)."""
    left, right = ("foot.L",), ("foot.R",)
    postures = [
        pose(**STAND),
        pose(right, (-0.1, 0, 0), hips=(-10, 40), knees=(40, 60), arms=(-40, 50), trunk=15),
        pose(right, (-0.1, 0, 0), hips=(60, 4), knees=(50, 22), arms=(90, 20), trunk=-5),
        pose((), (0, -0.9, 0.4), hips=(75, -40), knees=(10, 20), arms=(110, 10), trunk=-10),
        pose((), (0, -1.4, 0.35), hips=(60, -60), knees=(5, 10), sides=(90, 90), trunk=-10),
        pose(left, (0.1, -1.9, 0), hips=(25, -40), knees=(30, 30), sides=(80, 80)),
        pose(left, (0.1, -1.9, 0), hips=(60, -10), knees=(70, 60), arms=(20, -30), trunk=20),
        pose(at=(0, -1.9, 0), **STAND),
    ]
    times = np.array([0.0, 0.45, 0.75, 0.95, 1.1, 1.28, 1.55, 2.2])
    return PostureSequence(postures, times)


SEQUENCES = {
    "jump": jump, "leap": leap, "somersault": somersault, "cartwheel": cartwheel,
    "squat": squat, "dance": dance,
}
