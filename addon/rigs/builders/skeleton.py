# SPDX-License-Identifier: GPL-3.0-or-later
"""Joints and bones of Poise's characters in character space. Numpy only.

Character space: metres, Z up, travel along -Y, +X to the left of travel,
running surface at z = 0. Every length is a share of the stature, after Winter
(Biomechanics and Motor Control of Human Movement, ch. 4) and de Leva (1996).
Winter's half-widths of hips (0.0955) and shoulders (0.129) are those of the
outer surface; joint centres lie further in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import acos, cos, pi, radians, sin, sqrt

import numpy as np

from ....solvers.errors import SettingError

SKIER = "SKIER"
SNOWBOARDER = "SNOWBOARDER"

# Shares of stature.
THIGH, SHIN = 0.245, 0.246
UPPER_ARM, FOREARM, HAND = 0.186, 0.146, 0.075  # hand closed to a fist
GRIP = 0.046  # wrist to the middle of the palm
HIP_HALF, SHOULDER_HALF = 0.056, 0.106  # joint centres
LUMBAR, THORACIC, NECK_BASE, ATLAS, VERTEX = 0.056, 0.130, 0.300, 0.352, 0.470  # above the hips
CLAVICLE = 0.286  # height of the shoulder joints above the hips
ANKLE_HEEL, ANKLE_BALL, ANKLE_TOE = 0.045, 0.078, 0.122  # inside the boot, along the sole
BALL_HEIGHT = 0.032  # ball of the foot under the ankle

# Equipment, shares of stature.
SKI_SOLE, BOARD_SOLE = 0.0775, 0.064  # ankle above the running surface
SKI_STANCE = 0.155  # between the ski centres
BOARD_STANCE = 0.300  # between the ankles along the board
SKI_LENGTH, BOARD_LENGTH = 0.94, 0.88
# Beyond the widest points, in front and behind.
SKI_TIP, SKI_END, BOARD_TIP = 0.059, 0.025, 0.107
# Widths in metres for a stature of REFERENCE; they grow with its square root,
# as they do in a maker's range of lengths.
REFERENCE = 1.78
SKI_WAIST, SKI_SHOVEL, SKI_TAIL = 0.074, 0.124, 0.108
BOARD_WAIST, BOARD_NOSE = 0.250, 0.294
STANCE_FRONT, STANCE_REAR = radians(18.0), radians(-6.0)

UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class BoneSpec:
    """One bone of the rest pose.

    Attributes:
        name: bone name.
        parent: name of the parent, or "".
        head: (3,) metres.
        tail: (3,) metres.
        z_axis: (3,) direction the bone's Z axis leans to (sets the roll).
        collection: name of its bone collection.
        connected: head tied to the parent's tail.
        deform: moves the mesh.
    """

    name: str
    parent: str
    head: np.ndarray
    tail: np.ndarray
    z_axis: np.ndarray
    collection: str
    connected: bool = False
    deform: bool = False


@dataclass(frozen=True)
class Skeleton:
    """Rest pose of a character: joints, facings, bones, equipment sizes.

    Attributes:
        kind: SKIER or SNOWBOARDER.
        height: stature in metres.
        regular: left foot leads (snowboarder only).
        joints: name -> (3,) in metres; names as in `mapping.tracks.Figure`.
        facing: region ("pelvis", "spine", "chest", "neck", "head", "foot.L",
            "hand.L" ...) -> (3, 3) columns left, back, up of the body part
            itself. The mesh is modelled along these; they are not the
            anatomical frames, which are the identity in the rest pose.
        bones: the bones, parents first.
        equipment: lengths in metres as in `mapping.tracks.Figure`.
    """

    kind: str
    height: float
    regular: bool
    joints: dict[str, np.ndarray]
    facing: dict[str, np.ndarray]
    equipment: dict[str, float]
    bones: tuple[BoneSpec, ...] = field(default=())


def unit(vector: np.ndarray) -> np.ndarray:
    """Vector of length 1 along `vector`."""
    vector = np.asarray(vector, dtype=float)
    return vector / np.linalg.norm(vector)


def facing_frame(yaw: float, pitch: float = 0.0) -> np.ndarray:
    """Columns left, back, up of a body part that looks along -Y turned by `yaw`.

    Args:
        yaw: radians about +Z, anticlockwise.
        pitch: radians, positive bends forward.
    """
    c, s = cos(yaw), sin(yaw)
    turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    c, s = cos(pitch), sin(pitch)
    # Forward is -Y, so bending forward takes up (+Z) towards -Y.
    bend = np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
    return turn @ bend


def two_bone_joint(
    start: np.ndarray, end: np.ndarray, first: float, second: float, towards: np.ndarray
) -> np.ndarray:
    """Middle joint of a two-bone limb by the law of cosines.

    Args:
        start: (3,) first joint.
        end: (3,) last joint, within first + second of `start`.
        first: length of the first bone.
        second: length of the second bone.
        towards: (3,) direction the middle joint bends to.

    Returns:
        (3,) position of the middle joint.
    """
    axis = end - start
    distance = float(np.linalg.norm(axis))
    axis = axis / distance
    cosine = (first**2 + distance**2 - second**2) / (2.0 * first * distance)
    angle = acos(min(1.0, max(-1.0, cosine)))
    side = towards - axis * float(axis @ towards)
    return start + first * (cos(angle) * axis + sin(angle) * unit(side))


def sidecut_radius(length: float, waist: float, shovel: float, tail: float) -> float:
    """Radius in metres of the arc through shovel, waist and tail.

    R = L^2 / (8 d) + d / 2, with L the length between the widest points and d
    the depth of the cut.

    Args:
        length: between the widest points, metres.
        waist: width at the narrowest, metres.
        shovel: width at the front, metres.
        tail: width at the back, metres.
    """
    depth = 0.25 * (shovel + tail) - 0.5 * waist
    return length**2 / (8.0 * depth) + 0.5 * depth


def _trunk(
    hip: np.ndarray, height: float, yaws: dict[str, float], lean: float
) -> tuple[dict, dict]:
    """Joints and facings from hips to head, in metres."""
    facing = {
        "pelvis": facing_frame(yaws["pelvis"]),
        "spine": facing_frame(yaws["spine"], 0.7 * lean),
        "chest": facing_frame(yaws["chest"], lean),
        "neck": facing_frame(yaws["neck"], 0.8 * lean),
        "head": facing_frame(yaws["head"]),
    }
    h = height
    joints = {"pelvis": hip}
    joints["spine"] = hip + UP * LUMBAR * h
    joints["chest"] = joints["spine"] + facing["spine"][:, 2] * (THORACIC - LUMBAR) * h
    joints["neck"] = joints["chest"] + facing["chest"][:, 2] * (NECK_BASE - THORACIC) * h
    joints["head"] = joints["neck"] + facing["neck"][:, 2] * (ATLAS - NECK_BASE) * h
    joints["vertex"] = joints["head"] + facing["head"][:, 2] * (VERTEX - ATLAS) * h
    left, back, up = facing["chest"].T
    for side, sign in (("L", 1.0), ("R", -1.0)):
        joints[f"hip.{side}"] = hip + facing["pelvis"][:, 0] * sign * HIP_HALF * h
        root = joints["chest"] + up * (CLAVICLE - THORACIC) * h
        joints[f"shoulder.{side}"] = root + (left * sign * 0.018 - back * 0.022) * h
        joints[f"upper_arm.{side}"] = root + left * sign * SHOULDER_HALF * h
    return joints, facing


def _arm(
    joints: dict, facing: dict, side: str, height: float, upper: np.ndarray, fore: np.ndarray
) -> None:
    """Add elbow, wrist, palm and hand facing, given the directions of both bones."""
    shoulder = joints[f"upper_arm.{side}"]
    elbow = shoulder + unit(upper) * UPPER_ARM * height
    wrist = elbow + unit(fore) * FOREARM * height
    joints[f"elbow_joint.{side}"] = elbow
    joints[f"hand.{side}"] = wrist
    along = unit(fore)
    # The fist: thumb up, knuckles ahead; back is against the knuckles.
    side_axis = unit(np.cross(UP, -along))
    facing[f"hand.{side}"] = np.stack([-side_axis, -along, np.cross(-side_axis, -along)], axis=1)
    joints[f"pole.{side}"] = wrist + along * GRIP * height
    middle = elbow - (shoulder + wrist) / 2.0
    chord = unit(wrist - shoulder)
    bend = unit(middle - chord * float(chord @ middle))
    joints[f"elbow.{side}"] = elbow + bend * 0.22 * height


def _leg(joints: dict, facing: dict, side: str, height: float, toes: np.ndarray) -> None:
    """Add knee, foot and pole of one leg; hip and ankle are there already."""
    hip, ankle = joints[f"hip.{side}"], joints[f"foot.{side}"]
    knee = two_bone_joint(hip, ankle, THIGH * height, SHIN * height, toes)
    joints[f"knee_joint.{side}"] = knee
    chord = unit(ankle - hip)
    bend = unit(toes - chord * float(chord @ toes))
    joints[f"knee.{side}"] = knee + bend * 0.28 * height
    joints[f"toe.{side}"] = ankle + (toes * ANKLE_BALL - UP * BALL_HEIGHT) * height
    facing[f"foot.{side}"] = np.stack([np.cross(-toes, UP), -toes, UP], axis=1)


def _hip_height(horizontal: float, flexion: float, height: float) -> float:
    """Rise from ankle to hip for a knee flexion, the hip being `horizontal` off."""
    a, b = THIGH * height, SHIN * height
    reach_squared = a * a + b * b + 2.0 * a * b * cos(flexion)
    return sqrt(reach_squared - horizontal**2)


def _skier(height: float) -> tuple[dict, dict, dict]:
    half = 0.5 * SKI_STANCE * height
    sole = SKI_SOLE * height
    rise = _hip_height(half - HIP_HALF * height, radians(40.0), height)
    hip = np.array([0.0, 0.004 * height, sole + rise])
    joints, facing = _trunk(
        hip, height, dict.fromkeys(("pelvis", "spine", "chest", "neck", "head"), 0.0), radians(12.0)
    )
    forward = np.array([0.0, -1.0, 0.0])
    for side, sign in (("L", 1.0), ("R", -1.0)):
        joints[f"foot.{side}"] = np.array([sign * half, 0.0, sole])
        joints[f"ski.{side}"] = np.array([sign * half, 0.0, 0.0])
        _leg(joints, facing, side, height, forward)
        _arm(
            joints,
            facing,
            side,
            height,
            np.array([0.40 * sign, -0.22, -0.90]),
            np.array([0.10 * sign, -1.0, 0.02]),
        )
        grip = joints[f"pole.{side}"]
        joints[f"pole_tip.{side}"] = np.array([grip[0], grip[1], 0.0])
    width = sqrt(height / REFERENCE)
    length = SKI_LENGTH * height
    equipment = {
        "ski_length": length,
        "ski_width": SKI_WAIST * width,
        "sidecut": sidecut_radius(
            (SKI_LENGTH - SKI_TIP - SKI_END) * height,
            SKI_WAIST * width,
            SKI_SHOVEL * width,
            SKI_TAIL * width,
        ),
    }
    return joints, facing, equipment


def _snowboarder(height: float) -> tuple[dict, dict, dict]:
    """Regular stance: left foot leads, the body faces the right of travel (-X)."""
    half = 0.5 * BOARD_STANCE * height
    sole = BOARD_SOLE * height
    across = 0.0265 * height  # ankles sit on the heel side of the board's middle
    toes = {
        "L": facing_frame(-0.5 * pi + STANCE_FRONT)[:, 1] * -1.0,
        "R": facing_frame(-0.5 * pi + STANCE_REAR)[:, 1] * -1.0,
    }
    pelvis_yaw = radians(-80.0)
    left = facing_frame(pelvis_yaw)[:, 0]
    ankle = {"L": np.array([across, -half, sole]), "R": np.array([across, half, sole])}
    middle = np.array([across + 0.012 * height, 0.0, 0.0])
    offset = (middle + left * HIP_HALF * height) - ankle["L"]
    rise = _hip_height(float(np.hypot(offset[0], offset[1])), radians(45.0), height)
    hip = middle + UP * (sole + rise)
    yaws = {
        "pelvis": pelvis_yaw,
        "spine": radians(-76.0),
        "chest": radians(-70.0),
        "neck": radians(-42.0),
        "head": radians(-8.0),
    }
    joints, facing = _trunk(hip, height, yaws, radians(12.0))
    for side in ("L", "R"):
        joints[f"foot.{side}"] = ankle[side]
        _leg(joints, facing, side, height, toes[side])
    chest_left, chest_back = facing["chest"][:, 0], facing["chest"][:, 1]
    for side, sign in (("L", 1.0), ("R", -1.0)):
        upper = chest_left * (0.62 * sign) - chest_back * 0.10 - UP * 0.78
        fore = chest_left * (0.50 * sign) - chest_back * 0.62 - UP * 0.28
        _arm(joints, facing, side, height, upper, fore)
        del joints[f"pole.{side}"]
    joints["board"] = np.zeros(3)
    width = sqrt(height / REFERENCE)
    length = BOARD_LENGTH * height
    equipment = {
        "board_length": length,
        "board_width": BOARD_WAIST * width,
        "sidecut": sidecut_radius(
            (BOARD_LENGTH - 2.0 * BOARD_TIP) * height,
            BOARD_WAIST * width,
            BOARD_NOSE * width,
            BOARD_NOSE * width,
        ),
    }
    return joints, facing, equipment


def _mirrored(joints: dict, facing: dict) -> tuple[dict, dict]:
    """The mirror image in X, with sides exchanged."""
    swap = {"L": "R", "R": "L"}

    def name(key: str) -> str:
        return key[:-1] + swap[key[-1]] if key[-2:] in (".L", ".R") else key

    flip = np.diag([-1.0, 1.0, 1.0])
    mirrored_joints = {name(key): flip @ value for key, value in joints.items()}
    # Mirroring a frame exchanges its hand; its left axis is turned back.
    mirrored_facing = {name(key): flip @ value @ flip for key, value in facing.items()}
    return mirrored_joints, mirrored_facing


def build_skeleton(kind: str, height: float, regular: bool = True) -> Skeleton:
    """Rest pose of a character.

    Args:
        kind: SKIER or SNOWBOARDER.
        height: stature in metres.
        regular: snowboarder only: left foot leads; False is goofy, the mirror image.

    Raises:
        SettingError: unknown kind, or a height that is not above 0.
    """
    if not (np.isfinite(height) and height > 0.0):
        raise SettingError("Height", height, "above 0 m")
    if kind == SKIER:
        joints, facing, equipment = _skier(height)
    elif kind == SNOWBOARDER:
        joints, facing, equipment = _snowboarder(height)
        if not regular:
            joints, facing = _mirrored(joints, facing)
    else:
        raise SettingError("Kind", kind, f"{SKIER} or {SNOWBOARDER}")
    joints["root"] = np.zeros(3)
    skeleton = Skeleton(kind, height, regular, joints, facing, equipment)
    return Skeleton(kind, height, regular, joints, facing, equipment, tuple(_bones(skeleton)))


def _bones(skeleton: Skeleton) -> list[BoneSpec]:
    """Controls first, then mechanism and deform bones; parents before children."""
    j, f, h = skeleton.joints, skeleton.facing, skeleton.height
    back = np.array([0.0, 1.0, 0.0])
    bones: list[BoneSpec] = []

    def add(name: str, parent: str, head, tail, z_axis, collection, connected=False) -> None:
        bones.append(
            BoneSpec(
                name,
                parent,
                np.asarray(head),
                np.asarray(tail),
                np.asarray(z_axis),
                collection,
                connected,
            )
        )

    def flat(name: str, parent: str, head, size: float, collection: str) -> None:
        """A bone whose axes are the character's: along +Y, Z up."""
        add(name, parent, head, head + back * size * h, UP, collection)

    def along_foot(name: str, parent: str, side: str, collection: str, connected=False) -> None:
        add(name, parent, j[f"foot.{side}"], j[f"toe.{side}"], UP, collection, connected)

    flat("master", "", j["root"], 0.30, "Controls")
    flat("root", "master", j["root"], 0.20, "Controls")
    add("pelvis", "root", j["pelvis"], j["spine"], -f["pelvis"][:, 1], "Controls")
    add("spine", "pelvis", j["spine"], j["chest"], -f["spine"][:, 1], "Controls")
    add("chest", "spine", j["chest"], j["neck"], -f["chest"][:, 1], "Controls")
    add("neck", "chest", j["neck"], j["head"], -f["neck"][:, 1], "Controls")
    add("head", "neck", j["head"], j["vertex"], -f["head"][:, 1], "Controls")
    if skeleton.kind == SNOWBOARDER:
        flat("board", "root", j["board"], 0.12, "Equipment")
    for side in ("L", "R"):
        hand_tail = j[f"hand.{side}"] - f[f"hand.{side}"][:, 1] * HAND * h
        hand_up = f[f"hand.{side}"][:, 2]
        arm_bend = j[f"elbow.{side}"] - j[f"elbow_joint.{side}"]
        leg_bend = j[f"knee.{side}"] - j[f"knee_joint.{side}"]
        toes = -f[f"foot.{side}"][:, 1]
        add(
            f"shoulder.{side}",
            "chest",
            j[f"shoulder.{side}"],
            j[f"upper_arm.{side}"],
            UP,
            "Controls",
        )
        add(
            f"upper_arm.{side}",
            f"shoulder.{side}",
            j[f"upper_arm.{side}"],
            j[f"elbow_joint.{side}"],
            arm_bend,
            "FK",
        )
        add(
            f"forearm.{side}",
            f"upper_arm.{side}",
            j[f"elbow_joint.{side}"],
            j[f"hand.{side}"],
            arm_bend,
            "FK",
            True,
        )
        add(f"hand.{side}", f"forearm.{side}", j[f"hand.{side}"], hand_tail, hand_up, "FK", True)
        add(f"thigh.{side}", "pelvis", j[f"hip.{side}"], j[f"knee_joint.{side}"], leg_bend, "FK")
        add(
            f"shin.{side}",
            f"thigh.{side}",
            j[f"knee_joint.{side}"],
            j[f"foot.{side}"],
            leg_bend,
            "FK",
            True,
        )
        along_foot(f"foot.{side}", f"shin.{side}", side, "FK", True)
        add(
            f"toe.{side}",
            f"foot.{side}",
            j[f"toe.{side}"],
            j[f"toe.{side}"] + toes * (ANKLE_TOE - ANKLE_BALL) * h,
            UP,
            "FK",
            True,
        )
        flat(f"knee_pole.{side}", "root", j[f"knee.{side}"], 0.05, "IK")
        flat(f"elbow_pole.{side}", "root", j[f"elbow.{side}"], 0.05, "IK")
        add(f"hand_ik.{side}", "root", j[f"hand.{side}"], hand_tail, hand_up, "IK")
        if skeleton.kind == SNOWBOARDER:
            along_foot(f"foot_ik.{side}", "board", side, "IK")
            continue
        flat(f"ski.{side}", "root", j[f"ski.{side}"], 0.12, "Equipment")
        # A boot does not move on its ski, so this is nothing to animate by hand.
        along_foot(f"foot_ik.{side}", f"ski.{side}", side, "Mechanism")
        grip, tip = j[f"pole.{side}"], j[f"pole_tip.{side}"]
        flat(f"pole_tip.{side}", "master", tip, 0.05, "Equipment")
        add(f"MCH-grip.{side}", f"hand_ik.{side}", grip, grip + back * 0.04 * h, UP, "Mechanism")
        add(
            f"MCH-wrist.{side}",
            f"MCH-grip.{side}",
            j[f"hand.{side}"],
            j[f"hand.{side}"] + back * 0.04 * h,
            UP,
            "Mechanism",
        )
        # A hand's back is -Y of the pole's shaft: any axis across it would do.
        add(f"pole.{side}", f"hand.{side}", grip, tip, -back, "Mechanism")
        flat(f"MCH-ski.{side}", f"foot.{side}", j[f"ski.{side}"], 0.12, "Mechanism")
    if skeleton.kind == SNOWBOARDER:
        front = "L" if skeleton.regular else "R"
        flat("MCH-board", f"foot.{front}", j["board"], 0.12, "Mechanism")
    bones.extend(_deform_bones({bone.name: bone for bone in bones}, skeleton.kind))
    return bones


# Deform bone -> (control it follows, deform parent). The hierarchy of the
# deform bones is a plain one, for export to engines.
_DEFORM_CENTRE = {
    "DEF-pelvis": ("pelvis", "root"),
    "DEF-spine": ("spine", "DEF-pelvis"),
    "DEF-chest": ("chest", "DEF-spine"),
    "DEF-neck": ("neck", "DEF-chest"),
    "DEF-head": ("head", "DEF-neck"),
}
_DEFORM_SIDE = {
    "DEF-shoulder": ("shoulder", "DEF-chest"),
    "DEF-upper_arm": ("upper_arm", "DEF-shoulder"),
    "DEF-forearm": ("forearm", "DEF-upper_arm"),
    "DEF-hand": ("hand", "DEF-forearm"),
    "DEF-thigh": ("thigh", "DEF-pelvis"),
    "DEF-shin": ("shin", "DEF-thigh"),
    "DEF-foot": ("foot", "DEF-shin"),
    "DEF-toe": ("toe", "DEF-foot"),
    # Half-way bones keep the volume of a bent joint: they turn half as far as
    # the limb beyond it.
    "DEF-deltoid": ("upper_arm", "DEF-shoulder"),
    "DEF-elbow": ("forearm", "DEF-upper_arm"),
    "DEF-hip": ("thigh", "DEF-pelvis"),
    "DEF-knee": ("shin", "DEF-thigh"),
}
HALF_WAY = ("DEF-deltoid", "DEF-elbow", "DEF-hip", "DEF-knee")


def deform_map(kind: str) -> dict[str, tuple[str, str]]:
    """Deform bone -> (control it follows, deform parent), parents first.

    Args:
        kind: SKIER or SNOWBOARDER.
    """
    bones = dict(_DEFORM_CENTRE)
    for side in ("L", "R"):
        for name, (source, parent) in _DEFORM_SIDE.items():
            sided = parent in ("DEF-pelvis", "DEF-chest")
            bones[f"{name}.{side}"] = (f"{source}.{side}", parent if sided else f"{parent}.{side}")
    if kind == SKIER:
        for side in ("L", "R"):
            bones[f"DEF-ski.{side}"] = (f"ski.{side}", "root")
            bones[f"DEF-pole.{side}"] = (f"pole.{side}", f"DEF-hand.{side}")
    else:
        bones["DEF-board"] = ("board", "root")
    return bones


def is_half_way(name: str) -> bool:
    """True for a deform bone that turns half as far as the bone it follows.

    Args:
        name: name of a deform bone.
    """
    return name.rsplit(".", 1)[0] in HALF_WAY


def _deform_bones(controls: dict[str, BoneSpec], kind: str) -> list[BoneSpec]:
    bones = []
    for name, (source, parent) in deform_map(kind).items():
        spec = controls[source]
        length = 0.4 if is_half_way(name) else 1.0
        tail = spec.head + (spec.tail - spec.head) * length
        bones.append(BoneSpec(name, parent, spec.head, tail, spec.z_axis, "Deform", deform=True))
    return bones
