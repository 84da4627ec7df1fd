# SPDX-License-Identifier: GPL-3.0-or-later
"""A rig of someone else's as a body: its lengths, and how its bones follow ours. Numpy only.

Poise's controls stand in the stance of a sport; another rig rests in a T, an A
or some other pose, with bones that point anywhere. Both are compared through
anatomy: a limb's own direction and the way it bends, a foot's toes and sole, a
hand's fingers and thumb; the trunk stands upright in every rest pose. What is
found is one rotation per bone, `align`, that takes its rest pose into ours.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from ....solvers import rotations
from ...errors import UserError
from ...mapping.tracks import GAZE
from ..builders import skeleton as standard
from ..builders.skeleton import (
    BACK,
    UP,
    BoneSpec,
    Proportions,
    Skeleton,
    standard_proportions,
    unit,
)
from ..recognise.rolemap import ENGINE, RoleMap
from ..recognise.skeleton import Skeleton as RestPose

if TYPE_CHECKING:
    from .own_controls import Control

SIDES = ("L", "R")
FORWARD = -BACK

# A knee or elbow counts as bent in the rest pose if it stands off the straight
# line by more than this share of the limb.
BENT = 0.02

# Slopes of soles on their heel as they land, and on their front end as they leave the ground.
LANDS, LEAVES = np.tan(0.3), np.tan(0.6)

# A foot folds at a joint between these shares of the way from the ankle to its tip.
FOLDS = 0.4, 0.95

# No joint of the trunk is nearer to the one before than this share of a leg.
LEAST = 0.02


@dataclass(frozen=True, eq=False)
class BodyRest:
    """The rest pose of a rig in character space: metres, Z up, facing -Y.

    Attributes:
        points: role -> (3,) head of its bone; the origin is on the ground
            between the ankles.
        tails: role -> (3,) tail of its bone.
        axes: role -> (3, 3) columns are the bone's axes.
        bones: role -> name of the bone. Besides roles of the rig these hold
            "via.1", "via.2" ...: bones without a role that one role's bone hangs
            on another by, and that have to keep still in between.
        carriers: role -> role that carries it along, or "".
        loose: roles whose bone does not hang on the bone of the role before,
            so that it has to be moved as well as turned.
        origin: (3,) the origin in armature space.
        turn: (4,) armature space to character space.
        scale: metres per unit of the armature.
        stiff: toes go along with the feet.
    """

    points: Mapping[str, np.ndarray]
    tails: Mapping[str, np.ndarray]
    axes: Mapping[str, np.ndarray]
    bones: Mapping[str, str]
    carriers: Mapping[str, str]
    loose: frozenset[str]
    origin: np.ndarray
    turn: np.ndarray
    scale: float
    stiff: bool = False


@dataclass(frozen=True, eq=False)
class Follow:
    """How one bone of the rig follows the controls.

    Attributes:
        role: its role.
        bone: its name on the rig.
        first: control that it turns with.
        second: control that it turns with in part, or "".
        share: of the way from the first to the second, 0 to 1.
        align: (3, 3) takes its rest pose into the stance of the controls.
        parent: role that carries it along, or "".
        head: (3,) where it is in the rest pose of the controls, metres.
        carried: (3,) where the role that carries it along would put it there.
        located: its place is copied too, not its rotation alone.
    """

    role: str
    bone: str
    first: str
    second: str
    share: float
    align: np.ndarray
    parent: str
    head: np.ndarray
    carried: np.ndarray
    located: bool

    @property
    def controls(self) -> tuple[str, ...]:
        """The controls that it turns with: one or two."""
        return (self.first, self.second) if self.second else (self.first,)


def carrier(role: str, roles: Mapping[str, object]) -> str:
    """The role that carries another one along: the nearest one towards the root.

    Args:
        role: a role.
        roles: the roles that the rig has.
    """
    base, _, last = role.rpartition(".")
    side = last if last in SIDES else ""
    name = base if side else role
    fixed = {
        "pelvis": ("root",),
        "spine.1": ("pelvis",),
        "clavicle": ("chest",),
        "upper_arm": ("clavicle", "chest"),
        "forearm": ("upper_arm",),
        "hand": ("forearm",),
        "thigh": ("pelvis",),
        "shin": ("thigh",),
        "foot": ("shin",),
        "toe": ("foot",),
        "eye": ("head",),
        **{family: (end,) for family, end in ENGINE.items()},
    }
    neck = sorted((r for r in roles if r.startswith("neck.")), key=_number)
    spine = sorted((r for r in roles if r.startswith("spine.")), key=_number)
    if name == "chest":
        above: tuple[str, ...] = (*spine[::-1], "pelvis")
    elif name.startswith("spine.") and name != "spine.1":
        above = (*(r for r in spine[::-1] if _number(r) < _number(name)), "pelvis")
    elif name.startswith("neck."):
        above = (*(r for r in neck[::-1] if _number(r) < _number(name)), "chest", *spine[::-1])
    elif name == "head":
        above = (*neck[::-1], "chest", *spine[::-1])
    else:
        above = fixed.get(name, ())
    for candidate in above:
        sided = f"{candidate}.{side}" if f"{candidate}.{side}" in roles else candidate
        if sided in roles:
            return sided
    return "pelvis" if name not in ("root", "pelvis") and "pelvis" in roles else ""


def _number(role: str) -> int:
    return int(role.rpartition(".")[2])


# A thigh or shin that is shorter than this share of the leg has no direction.
NO_LENGTH = 0.01

# Limbs of the controls have the rig's own lengths: their joints are the rig's.
_LIMB_JOINTS = {
    "upper_arm": "upper_arm", "forearm": "elbow_joint", "hand": "hand",
    "thigh": "hip", "shin": "knee_joint", "foot": "foot",
}

# Roles that go along with another one's bone, by themselves where they hang on it.
ALONG = ("eye", "tail", *ENGINE)

EYES = ("eye.L", "eye.R")

# Roles that the controls have an answer to.
_DRIVEN = (
    "root", "pelvis", "spine", "chest", "neck", "head", "clavicle", "upper_arm", "forearm",
    "hand", "thigh", "shin", "foot", "toe",
)


def read_body(
    rest: RestPose, rolemap: RoleMap, scale: float, sole: float | None = None, name: str = "The rig"
) -> BodyRest:
    """A rig's rest pose in character space.

    Args:
        rest: its bones.
        rolemap: which bone plays which role.
        scale: metres per unit of the armature, above 0.
        sole: height of the soles in armature units along character space's up,
            where a mesh tells it; None to take the lowest end of feet and toes.
        name: of the rig, for messages.

    Raises:
        UserError: it has no two legs that reach from a pelvis to the ground.
    """
    if rolemap.body != "BIPED":
        raise UserError(f"{name} does not stand on two legs: this needs a pelvis and two legs")
    needed = ["pelvis", *(f"{part}.{s}" for s in SIDES for part in ("thigh", "shin", "foot"))]
    lacking = [role for role in needed if rolemap.roles.get(role, "") not in rest]
    if lacking:
        raise UserError(f"{name} has no bone for {', '.join(lacking)}: choose one in the roles")
    roles = {
        role: bone
        for role, bone in rolemap.roles.items()
        if bone in rest and role.split(".")[0] in _DRIVEN
    }
    for role in (r for r in rolemap.roles if r.split(".")[0] in ALONG):
        bone, above = rolemap.roles[role], carrier(role, roles)
        if role in EYES:
            # They go along with the head anyway, but turn by themselves.
            if bone in rest and above == "head":
                roles[role] = bone
            continue
        if bone in rest and above and not {roles[above], *_tail(roles)} & {
            *rest.ancestors(bone)
        }:
            roles[role] = bone
    carriers, loose = _hang(rest, roles)
    matrix = rotations.to_matrix(np.asarray(rolemap.turn, dtype=float))
    own = rest.by_name
    heads = {role: matrix @ own[bone].head * scale for role, bone in roles.items()}
    tails = {role: matrix @ own[bone].tail * scale for role, bone in roles.items()}
    ankles = 0.5 * (heads["foot.L"] + heads["foot.R"])
    if sole is None:
        ends = [p[r][2] for p in (heads, tails) for r in roles if r.split(".")[0] in
                ("foot", "toe")]
        low = min(ends)
    else:
        low = sole * scale
    shift = np.array([ankles[0], ankles[1], low])
    return BodyRest(
        points={role: point - shift for role, point in heads.items()},
        tails={role: point - shift for role, point in tails.items()},
        axes={role: matrix @ np.asarray(own[bone].axes, dtype=float) for role, bone in
              roles.items()},
        bones=roles,
        carriers=carriers,
        loose=frozenset(loose),
        origin=matrix.T @ shift / scale,
        turn=np.asarray(rolemap.turn, dtype=float),
        scale=scale,
    )


def _tail(roles: Mapping[str, str]) -> list[str]:
    """Bones of the tail among those of roles."""
    return [bone for role, bone in roles.items() if role.startswith("tail.")]


def _hang(rest: RestPose, roles: dict[str, str]) -> tuple[dict[str, str], set[str]]:
    """What carries each role, and which roles have to be moved as well as turned.

    Bones between two roles are added to the roles. Where one of them has a role of
    its own, what hangs on it is moved off its place by it. Blender moves no bone that
    is connected to its parent: where the pelvis is, what it is connected to goes
    along with it, be it the root.
    """
    loose = {"root", "pelvis"} & set(roles)
    carried = "pelvis"
    while rest.by_name[roles[carried]].connected:
        above = rest.parent(roles[carried])
        loose -= {carried, "root" if above == roles.get("root") else carried}
        roles.pop("root" if above == roles.get("root") else "", None)
        carried = f"via.{1 + sum(r.startswith('via.') for r in roles)}"
        roles[carried] = above
        loose.add(carried)
    carriers = {role: "pelvis" for role in roles if role.startswith("via.")}
    taken = {bone for role, bone in roles.items() if not role.startswith("via.")}
    for role, bone in list(roles.items()):
        if role in carriers:
            continue
        carriers[role] = above = carrier(role, roles)
        if not above:
            continue
        between = rest.ancestors(bone)
        if roles[above] not in between:
            if role != "pelvis":
                loose.add(role)
            continue
        between = between[: between.index(roles[above])]
        if role != "pelvis" and any(name in taken for name in between):
            loose.add(role)  # a thigh on the spine, a clavicle on the neck
        for name in between:
            if name not in roles.values():
                via = f"via.{1 + sum(r.startswith('via.') for r in roles)}"
                roles[via], carriers[via] = name, above
                if role == "pelvis" and rest.skin.get(name, 0.0) > 0.0:
                    # Skin above the hips, as on a centre of gravity, would stay behind.
                    carriers[via] = "pelvis"
                    loose.add(via)
    return carriers, loose


def _joints(body: BodyRest) -> dict[str, np.ndarray]:
    """Joints as the controls have them; what the rig lacks stands where a standard body has it."""
    at = body.points
    hips = {s: at[f"thigh.{s}"] for s in SIDES}
    leg = sum(
        float(np.linalg.norm(at[f"shin.{s}"] - hips[s]))
        + float(np.linalg.norm(at[f"foot.{s}"] - at[f"shin.{s}"]))
        for s in SIDES
    ) / 2.0
    usual = standard_proportions(leg / (standard.THIGH + standard.SHIN))
    least = LEAST * leg
    found = {"pelvis": 0.5 * (hips["L"] + hips["R"])}
    trunk = [f"spine.{i}" for i in range(1, 99) if f"spine.{i}" in at]
    top = next((at[r] for r in ("neck.1", "head") if r in at), None)
    arms = [at[f"upper_arm.{s}"] for s in SIDES if f"upper_arm.{s}" in at]
    if top is None:
        rise = usual.spine + usual.chest + usual.neck
        top = found["pelvis"] + rise if not arms else np.mean(arms, axis=0) + UP * 0.1 * rise[2]
    chest = at.get("chest")
    if chest is None or (chest - found["pelvis"]) @ UP < 2.0 * least:
        chest = found["pelvis"] + (top - found["pelvis"]) * 0.45
    spine = at[trunk[0]] if trunk else found["pelvis"] + 0.43 * (chest - found["pelvis"])
    if (spine - found["pelvis"]) @ UP < least or (chest - spine) @ UP < least:
        spine = found["pelvis"] + 0.43 * (chest - found["pelvis"])
    if (top - chest) @ UP < least:
        # A neck that begins where the chest does: the chest's own joint is lower.
        chest = spine + 0.6 * (top - spine)
    found |= {"spine": spine, "chest": chest, "neck": top}
    head = at.get("head")
    if head is None or (head - top) @ UP < least:
        head = top + usual.head
    crown = body.tails["head"] if "head" in at else head + usual.vertex
    if (crown - head) @ UP < 2.0 * least:
        crown = head + usual.vertex
    found |= {"head": head, "vertex": crown}
    for side, sign in (("L", 1.0), ("R", -1.0)):
        upper = at.get(f"upper_arm.{side}", chest + usual.upper_arm[side])
        inner = at.get(f"clavicle.{side}")
        if inner is None or np.linalg.norm(upper - inner) < least:
            inner = chest + usual.shoulder[side]
            inner = np.array([0.17 * (upper - chest)[0] + chest[0], inner[1], upper[2]])
            if np.linalg.norm(upper - inner) < least:
                inner = upper - np.array([sign, 0.0, 0.0]) * 2.0 * least
        found[f"upper_arm.{side}"], found[f"shoulder.{side}"] = upper, inner
    return found


def proportions_of(body: BodyRest) -> Proportions:
    """Lengths of a rig's body.

    Args:
        body: its rest pose.

    Returns:
        Proportions whose stature is that of a standard body of these legs.
    """
    at, tails = body.points, body.tails
    joints = _joints(body)
    thigh = {s: _distance(at[f"thigh.{s}"], at[f"shin.{s}"]) for s in SIDES}
    shin = {s: _distance(at[f"shin.{s}"], at[f"foot.{s}"]) for s in SIDES}
    whole = max(thigh[s] + shin[s] for s in SIDES)
    if min(*thigh.values(), *shin.values()) < max(1e-9, NO_LENGTH * whole):
        raise UserError("A leg of the rig has no length: check the roles of thighs and shins")
    height = 0.5 * (sum(thigh.values()) + sum(shin.values())) / (standard.THIGH + standard.SHIN)
    usual = standard_proportions(height)
    arm, forearm = dict(usual.arm), dict(usual.forearm)
    for side in SIDES:
        if f"forearm.{side}" in at and f"upper_arm.{side}" in at:
            arm[side] = _distance(at[f"upper_arm.{side}"], at[f"forearm.{side}"])
            wrist = at.get(f"hand.{side}", tails[f"forearm.{side}"])
            forearm[side] = _distance(at[f"forearm.{side}"], wrist)
    reach = 0.5 * sum(forearm.values()) / usual.forearm["L"]
    # The foot of a shorter leg hangs over the ground.
    ankle = max(float(min(at[f"foot.{s}"][2] for s in SIDES)), 0.2 * usual.ankle)
    lengths = []
    for side in SIDES:
        end = at.get(f"toe.{side}", tails[f"foot.{side}"]) - at[f"foot.{side}"]
        lengths.append((float(np.hypot(end[0], end[1])), -float(end[2])))
    ball, drop = np.mean(lengths, axis=0)
    if "toe.L" not in at:
        # The foot's tail may be anywhere between ball and tip, or straight down.
        ball, drop = usual.ball, ankle * usual.ball_height / usual.ankle
    ball = float(np.clip(ball, 0.4 * usual.ball, 2.5 * usual.ball))
    drop = float(np.clip(drop, 0.0, ankle))
    middle = joints["pelvis"]
    return Proportions(
        height=height,
        spine=joints["spine"] - middle,
        chest=joints["chest"] - joints["spine"],
        neck=joints["neck"] - joints["chest"],
        head=joints["head"] - joints["neck"],
        vertex=joints["vertex"] - joints["head"],
        hip={s: at[f"thigh.{s}"] - middle for s in SIDES},
        shoulder={s: joints[f"shoulder.{s}"] - joints["chest"] for s in SIDES},
        upper_arm={s: joints[f"upper_arm.{s}"] - joints["chest"] for s in SIDES},
        thigh=thigh,
        shin=shin,
        arm=arm,
        forearm=forearm,
        hand=usual.hand * reach,
        grip=usual.grip * reach,
        heel=ball * usual.heel / usual.ball,
        ball=ball,
        toe=ball * usual.toe / usual.ball,
        ball_height=drop,
        ankle=ankle,
    )


def ends_of_sole(along: np.ndarray, high: np.ndarray) -> tuple[float, float]:
    """Where a foot touches the ground that stands on the heel, and on the front end of its sole.

    At an angle t that is where x - z cot t is largest, x along the sole and z above it: none
    of its points is under the ground then, nor at smaller angles.

    Args:
        along: (n,) how far points of its mesh are ahead of a joint, m.
        high: (n,) their heights over the ground, those under it counting as on it, m.

    Returns:
        How far the heel is behind the joint, and the front end ahead, m.
    """
    high = np.maximum(high, 0.0)
    return float((-along - high / LANDS).max()), float((along - high / LEAVES).max())


def fit_soles(
    size: Proportions, body: BodyRest, skin: Mapping[str, np.ndarray]
) -> tuple[Proportions, BodyRest]:
    """Feet as they roll on the ground, from the mesh around them.

    Feet that fold at the ball roll over it while the toes lie flat; all others, and those
    whose toes begin at the ankle, are stiff and roll over their tip.

    Args:
        size: lengths of the body by its bones.
        body: its rest pose, the soles at its height 0.
        skin: side -> (n, 3) points of the mesh that follow the foot, in armature space.

    Returns:
        The lengths with heel, ball and toe as the mesh has them, the larger of both sides, and
        the rest pose, its feet stiff or not; as they were where a side has no mesh.
    """
    matrix = rotations.to_matrix(body.turn)
    ends = []
    for side in SIDES:
        points = np.asarray(skin.get(side, ()), dtype=float).reshape(-1, 3)
        if not len(points):
            return size, body
        places = (points - body.origin) @ matrix.T * body.scale
        ankle, toes = body.points[f"foot.{side}"], _toes(body, side)
        fold = float((body.points.get(f"toe.{side}", ankle) - ankle) @ toes)
        ends.append((*ends_of_sole((places - ankle) @ toes, places[:, 2]), fold))
    heel, tip, fold = (float(value) for value in np.max(ends, axis=0))
    least = LEAST * (sum(size.thigh.values()) + sum(size.shin.values())) / len(SIDES)
    heel, tip = max(heel, least), max(tip, 2.0 * least)
    if FOLDS[0] * tip < fold < FOLDS[1] * tip:
        return replace(size, heel=heel, toe=max(tip, size.ball / FOLDS[1])), body
    size = replace(size, heel=heel, ball=tip, toe=tip / FOLDS[1], ball_height=size.ankle)
    return size, replace(body, stiff=True)


def _distance(a: np.ndarray, b: np.ndarray) -> float:
    return float(np.linalg.norm(b - a))


def _across(vector: np.ndarray, axis: np.ndarray) -> np.ndarray:
    return vector - axis * float(vector @ axis)


def _limb_frame(along: np.ndarray, bend: np.ndarray) -> np.ndarray:
    """Columns: across, along the bone, the way that the limb bends."""
    y = unit(along)
    z = _across(bend, y)
    if np.linalg.norm(z) < 1e-6:
        z = _across(np.eye(3)[int(np.argmin(np.abs(y)))], y)
    z = unit(z)
    return np.stack([np.cross(y, z), y, z], axis=1)


def _bend(start: np.ndarray, middle: np.ndarray, end: np.ndarray, usual: np.ndarray) -> np.ndarray:
    """Which way a limb bends: as it stands, or the usual way where it is straight."""
    chord = end - start
    length = float(np.linalg.norm(chord))
    off = _across(middle - start, chord / length) if length > 1e-12 else np.zeros(3)
    size = float(np.linalg.norm(off))
    return off if size > BENT * length and off @ usual > 0.2 * size else usual


def _toes(body: BodyRest, side: str) -> np.ndarray:
    """Horizontal direction (3,) of a foot."""
    foot = body.points[f"foot.{side}"]
    end = body.points.get(f"toe.{side}", body.tails[f"foot.{side}"])
    flat = (end - foot) * (1.0, 1.0, 0.0)
    shin = float(np.linalg.norm(foot - body.points[f"shin.{side}"]))
    if np.linalg.norm(flat) < 0.05 * shin:
        return FORWARD
    return unit(flat)


def _rest_frames(body: BodyRest, side: str) -> dict[str, np.ndarray]:
    """Anatomical frames of one side's limbs in the rig's rest pose."""
    at = body.points
    hip, knee, ankle = (at[f"{part}.{side}"] for part in ("thigh", "shin", "foot"))
    toes = _toes(body, side)
    bend = _bend(hip, knee, ankle, toes)
    foot = np.stack([np.cross(-toes, UP), -toes, UP], axis=1)
    frames = {
        "thigh": _limb_frame(knee - hip, bend),
        "shin": _limb_frame(ankle - knee, bend),
        "foot": foot,
        "toe": foot,
    }
    if f"upper_arm.{side}" not in at or f"forearm.{side}" not in at:
        return frames
    shoulder, elbow = at[f"upper_arm.{side}"], at[f"forearm.{side}"]
    wrist = at.get(f"hand.{side}", body.tails[f"forearm.{side}"])
    bend = _bend(shoulder, elbow, wrist, BACK)
    frames["upper_arm"] = _limb_frame(elbow - shoulder, bend)
    frames["forearm"] = _limb_frame(wrist - elbow, bend)
    if f"hand.{side}" in at:
        # Fingers go on along the forearm; whether arms hang or are spread, thumbs look ahead.
        frames["hand"] = _hand_frame(wrist - elbow)
    return frames


def _hand_frame(along: np.ndarray) -> np.ndarray:
    """Columns left, back, up of a hand, as the controls have them: the thumb is up."""
    back = -unit(along)
    thumb = _across(FORWARD, back)
    thumb = unit(thumb) if np.linalg.norm(thumb) > 0.2 else unit(_across(UP, back))
    return np.stack([np.cross(back, thumb), back, thumb], axis=1)


def _stance_frames(skeleton: Skeleton, side: str) -> dict[str, np.ndarray]:
    """The same frames in the stance of the controls."""
    j, facing = skeleton.joints, skeleton.facing
    knee = j[f"knee.{side}"] - j[f"knee_joint.{side}"]
    elbow = j[f"elbow.{side}"] - j[f"elbow_joint.{side}"]
    return {
        "thigh": _limb_frame(j[f"knee_joint.{side}"] - j[f"hip.{side}"], knee),
        "shin": _limb_frame(j[f"foot.{side}"] - j[f"knee_joint.{side}"], knee),
        "foot": facing[f"foot.{side}"],
        "toe": facing[f"foot.{side}"],
        "upper_arm": _limb_frame(j[f"elbow_joint.{side}"] - j[f"upper_arm.{side}"], elbow),
        "forearm": _limb_frame(j[f"hand.{side}"] - j[f"elbow_joint.{side}"], elbow),
        "hand": facing[f"hand.{side}"],
    }


def follow(
    body: BodyRest, skeleton: Skeleton, displaced: Collection[str] = ()
) -> tuple[Follow, ...]:
    """How every bone with a role follows the controls, those nearer to the root first.

    Args:
        body: the rig's rest pose.
        skeleton: the controls, built with the rig's proportions.
        displaced: bones that do not stay in the place that the rest pose gives
            them under their parents.
    """
    facing = skeleton.facing
    aligns: dict[str, np.ndarray] = {}
    sources: dict[str, tuple[str, str, float]] = {}
    for role in body.points:
        name, _, side = role.rpartition(".")
        if name == "via":
            continue
        if role == "root":
            aligns[role], sources[role] = np.eye(3), ("root", "", 0.0)
        elif role.startswith(("spine.", "neck.")):
            family, number = name, int(side)
            beyond = {"spine": "chest", "neck": "head"}[family]
            count = sum(r.startswith(family + ".") for r in body.points)
            share = (number - 1) / count
            aligns[role] = _between(facing[family], facing[beyond], share)
            sources[role] = (family, beyond if share else "", share)
        elif role in ("pelvis", "chest", "head"):
            aligns[role], sources[role] = facing[role], (role, "", 0.0)
        elif name == "clavicle":
            aligns[role], sources[role] = facing["chest"], (f"shoulder.{side}", "", 0.0)
        elif name in ("upper_arm", "forearm", "hand", "thigh", "shin", "foot", "toe"):
            there = _rest_frames(body, side).get(name)
            if there is None:
                continue
            aligns[role] = _stance_frames(skeleton, side)[name] @ there.T
            first = f"foot.{side}" if name == "toe" and body.stiff else role
            sources[role] = (first, "", 0.0)
    for role in body.points:
        above = body.carriers[role]
        if role.split(".")[0] in ("via", *ALONG) and above in aligns:
            aligns[role], sources[role] = aligns[above], sources[above]
            # An eye that is not carried by the head would be pulled out of it.
            if role in EYES and above == "head" and role not in body.loose:
                sources[role] = (GAZE, "", 0.0)
    middle = 0.5 * (body.points["thigh.L"] + body.points["thigh.R"])
    heads: dict[str, np.ndarray] = {}
    found = []
    for role in _downwards(body.carriers):
        if role not in aligns:
            continue
        above = body.carriers[role]
        if role == "root":
            heads[role] = body.points[role]
        elif role == "pelvis":
            heads[role] = (
                skeleton.joints["pelvis"] + aligns[role] @ (body.points[role] - middle)
            )
        else:
            heads[role] = heads[above] + aligns[above] @ (body.points[role] - body.points[above])
        name, _, side = role.rpartition(".")
        joint = _LIMB_JOINTS.get(name)
        found.append(
            Follow(
                role=role,
                bone=body.bones[role],
                first=sources[role][0],
                second=sources[role][1],
                share=sources[role][2],
                align=aligns[role],
                parent=above,
                head=skeleton.joints[f"{joint}.{side}"] if joint else heads[role],
                carried=heads[role],
                located=role in body.loose or body.bones[role] in displaced,
            )
        )
    return tuple(found)


def _between(first: np.ndarray, second: np.ndarray, share: float) -> np.ndarray:
    if share == 0.0:
        return first
    a, b = rotations.from_matrix(first[None]), rotations.from_matrix(second[None])
    return rotations.to_matrix(rotations.slerp(a, b, share))[0]


def _downwards(carriers: Mapping[str, str]) -> list[str]:
    """Roles, each after the one that carries it."""

    def depth(role: str) -> int:
        above = carriers.get(role, "")
        return 0 if not above else 1 + depth(above)

    return sorted(carriers, key=depth)


def target_bones(
    body: BodyRest, skeleton: Skeleton, followed: tuple[Follow, ...]
) -> tuple[BoneSpec, ...]:
    """Bones for the control rig that stand as the rig's own bones would.

    A target hangs on its control and has the axes of the rig's bone. The links
    of a chain stand where the rig's trunk will be, so that the controls' arms
    begin at the rig's own shoulders.

    Args:
        body: the rig's rest pose.
        skeleton: the controls.
        followed: what `follow` found.
    """
    bones = []
    size = 0.03 * skeleton.height
    known = {one.role: one for one in followed}
    trunk = trunk_roles(known)
    for one in followed:
        axes = one.align @ body.axes[one.role]
        carried = one.first
        if one.role in trunk:
            # Where its controls would put it, and the link that turns with them.
            for control in one.controls:
                name = link_bone(one.role, control)
                bones.append(_standing(name, control, one.carried, axes, size))
            carried = link_bone(one.role)
        elif one.role.startswith("via.") and one.parent in trunk:
            carried = link_bone(one.parent)
        if one.role in trunk or one.role.startswith("upper_arm."):
            above = link_bone(one.parent) if one.parent in trunk else "pelvis"
            bones.append(_standing(link_bone(one.role), above, one.carried, axes, size))
        bones.append(_standing(target_bone(one.role), carried, one.head, axes, size))
    return tuple(bones)


def gaze_bone(
    skeleton: Skeleton, body: BodyRest, followed: tuple[Follow, ...], rest: RestPose
) -> tuple[BoneSpec, ...]:
    """The control of the eyes, between them; none for a rig without eyes.

    Args:
        skeleton: the controls.
        body: the rig's rest pose.
        followed: what `follow` found.
        rest: the rig's bones; one with controls of its own has its eyes there.
    """
    known = {one.role: one for one in followed}
    if "head" not in known:
        return ()
    matrix = rotations.to_matrix(body.turn)
    points = [body.points[one.role] for one in followed if one.first == GAZE]
    points = points or [
        matrix @ (rest.by_name[name].head - body.origin) * body.scale
        for name in (f"ORG-{role}" for role in EYES)
        if name in rest
    ]
    if not points:
        return ()
    head = known["head"]
    middle = head.head + head.align @ (np.mean(points, axis=0) - body.points["head"])
    ahead = -skeleton.facing["head"][:, 1] * 0.06 * skeleton.height
    up = skeleton.facing["head"][:, 2]
    return (BoneSpec(GAZE, "head", middle, middle + ahead, up, "Controls"),)


def control_bones(
    body: BodyRest,
    skeleton: Skeleton,
    followed: tuple[Follow, ...],
    rest: RestPose,
    controls: Collection[Control],
    gaze: bool = False,
) -> tuple[BoneSpec, ...]:
    """Bones for the control rig that stand as the rig's own controls would.

    Each hangs on the target of its role, that of the eyes on their control.

    Args:
        body: the rig's rest pose.
        skeleton: the controls.
        followed: what `follow` found.
        rest: the rig's bones.
        controls: the rig's controls that are driven.
        gaze: there is a control of the eyes.
    """
    matrix = rotations.to_matrix(body.turn)
    known = {one.role: one for one in followed}
    bones = []
    for control in controls:
        one, own = known[control.role], rest.by_name[control.bone]
        point = matrix @ (own.head - body.origin) * body.scale
        head = one.head + one.align @ (point - body.points[one.role])
        axes = one.align @ matrix @ np.asarray(own.axes, dtype=float)
        bones.append(
            _standing(
                control_bone(control.name),
                GAZE if gaze and control.name == "eyes" else target_bone(one.role),
                head, axes, 0.03 * skeleton.height,
            )
        )
    return tuple(bones)


def control_bone(name: str) -> str:
    """The bone of the controls that stands as one of the rig's own controls.

    Args:
        name: name of a control, as `rigify.controls` has it.
    """
    return f"CTL-{name}"


def target_bone(role: str) -> str:
    """The bone of the controls that stands as a role's bone on the rig.

    Args:
        role: the role.
    """
    return f"TGT-{role}"


def link_bone(role: str, control: str = "") -> str:
    """The bone of the controls that stands where a role's bone on the rig is carried to.

    Args:
        role: a role of the trunk, or that of an upper arm.
        control: a control, for the bone that turns as that control says.
    """
    return f"CHN-{role}-{control}" if control else f"CHN-{role}"


def trunk_roles(roles: Mapping[str, object]) -> list[str]:
    """Roles of the chain from the pelvis to head and arms, both left out.

    Args:
        roles: the roles that the rig has.
    """
    return [
        role
        for role in roles
        if role == "chest" or role.split(".")[0] in ("spine", "clavicle", "neck")
    ]


def _standing(
    name: str, parent: str, head: np.ndarray, axes: np.ndarray, size: float
) -> BoneSpec:
    return BoneSpec(name, parent, head, head + axes[:, 1] * size, axes[:, 2], "Mechanism")
