# SPDX-License-Identifier: GPL-3.0-or-later
"""An animal's rig of someone else's as a figure on legs, and bones that stand as its own. Numpy.

The controls are built in the rig's own rest pose: every joint is the head of the rig's
bone, so its bones follow without being turned into another stance. Legs that stand straight
are eased first, and their bones turned as much.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

import numpy as np

from ....solvers import rotations
from ....solvers.errors import SettingError
from ....solvers.legged.creature import check_creature
from ....solvers.legged.gait import spoken_leg
from ...errors import UserError
from ...mapping.easing import CannotStand, Eased, eased
from ...mapping.legs import HOOF, PAW, TIP, LegChain, LeggedFigure, creature_of
from ..builders.creature import sling
from ..builders.skeleton import BACK, UP, BoneSpec, unit
from ..recognise.rolemap import SIDES, RoleMap
from ..recognise.skeleton import Skeleton as RestPose
from .fitting import FORWARD, control_bone, ends_of_sole, target_bone

if TYPE_CHECKING:
    from .own_controls import Control

# A last segment steeper than this is a hoof, one that lies flatter a paw, radians.
STEEP = np.radians(40.0)
# A last segment longer than this share of its leg is no foot: the leg stands on a point.
LONG = 0.22
# A shoulder blade shorter than this share of a straight leg under it turns in vain.
SHORT_BLADE = 0.22
# A first segment shorter than this share of the longest only leads out of the body.
STUB = 0.4
# A bone that goes so many times farther out than along, or down, leads aside; a leg goes down.
ASIDE = 3.0
# m; bones shorter than that Blender may drop.
NO_LENGTH = 1e-4
# A tail higher than this share of the last joint is not on the ground.
LOW = 0.35
# A foot that hangs higher than the other one of its pair by less than this share of its leg's
# height stands on the ground as that does.
EVEN = 0.005
# A segment whose mesh comes down nearer to the ground than this share of its joint's height lies
# on it, and turns with the foot.
LIES = 0.1
# Legs that are straighter than this share of their length bend the usual way.
BENT = 0.02
# Legs that point closer to the usual way than this, sine of the angle, cannot bend that way.
ALONG = 0.3
# A bone ends where another begins if it is as near as this share of its length.
NEAR = 0.05
# Names of pairs of legs from the front, of a body with three.
PAIRS = ("fore", "middle", "hind")


@dataclass(frozen=True, eq=False)
class CreatureRest:
    """How a rig stands in character space: metres, Z up, facing -Y.

    Attributes:
        figure: its rest pose as a figure on legs, which are bent and stand on the ground.
        moves: role -> (4, 4) from the rig's rest pose to the figure's.
        bones: role -> name of its bone. Besides roles these hold "via.1" and so on: bones
            of a Rigify rig that carry skin and go along with one that has a role, and those
            that legs in slings are connected to.
        carriers: role -> bone of the controls that it goes along with.
        heads: role -> (3,) head of that bone.
        axes: role -> (3, 3) columns are the bone's axes.
        origin: (3,) the origin in armature space.
        turn: (4,) armature space to character space.
        scale: metres per unit of the armature.
        stiff: first bones of straight forelegs that nothing lets give where they hang.
    """

    figure: LeggedFigure
    moves: Mapping[str, np.ndarray]
    bones: Mapping[str, str]
    carriers: Mapping[str, str]
    heads: Mapping[str, np.ndarray]
    axes: Mapping[str, np.ndarray]
    origin: np.ndarray
    turn: np.ndarray
    scale: float
    stiff: tuple[str, ...]


def read_creature(
    rest: RestPose,
    rolemap: RoleMap,
    scale: float,
    kind: str,
    skin: Mapping[str, np.ndarray] | None = None,
    name: str = "The rig",
    own: bool = False,
) -> CreatureRest:
    """A rig's rest pose as a figure on legs.

    Args:
        rest: its bones.
        rolemap: which bone plays which role.
        scale: metres per unit of the armature, above 0.
        kind: what it is to be ("HORSE", "DOG", "INSECT").
        skin: role -> (n, 3) points of the mesh that follow a leg's last bone or the one before,
            in armature space. Where a leg has none, its bones tell where its foot is.
        name: of the rig, for messages.
        own: controls of the rig's own are to follow, rather than all bones with skin.

    Raises:
        UserError: it has no pelvis, or no pair of legs of two bones or more, or cannot go on
            its legs as they stand.
    """
    matrix = rotations.to_matrix(np.asarray(rolemap.turn, dtype=float))
    roles = {role: bone for role, bone in rolemap.roles.items() if bone in rest}
    named = rest.by_name
    heads = {role: matrix @ named[bone].head * scale for role, bone in roles.items()}
    tails = {role: matrix @ named[bone].tail * scale for role, bone in roles.items()}
    if "pelvis" not in roles:
        raise UserError(f"{name} has no bone for pelvis: choose one in the roles")
    found = []
    for girdle in rolemap.girdles():
        for side in SIDES:
            leg = tuple(role for role in rolemap.leg_roles(girdle, side) if role in roles)
            if len(leg) < 2:
                raise UserError(
                    f"{name} has no leg of two bones for {girdle}.{side}: choose them in the roles"
                )
            found.append((girdle, side, leg))
    if not found or rolemap.body == "BIPED":
        raise UserError(f"{name} does not stand on four legs or more: set it up as a biped")
    # No control of a rig's own moves where a leg hangs.
    movers = {} if own else _movers(rest, found, roles)
    skin = {
        role: np.asarray(points, dtype=float) @ matrix.T * scale
        for role, points in (skin or {}).items() if len(points)
    }
    soles = [skin[leg[-1]][:, 2].min() for _, _, leg in found if leg[-1] in skin]
    ends = [min(heads[leg[-1]][2], tails[leg[-1]][2]) for _, _, leg in found]
    ground = min(soles or ends)
    feet = np.mean([heads[leg[-1]] for _, _, leg in found], axis=0)
    shift = np.array([0.5 * (heads["pelvis"][0] + feet[0]), feet[1], ground])
    heads = {role: point - shift for role, point in heads.items()}
    tails = {role: point - shift for role, point in tails.items()}
    skin = {role: points - shift for role, points in skin.items()}
    standing = _standing(_figure(rolemap, found, heads, tails, kind, movers, skin), name)
    figure = standing.figure
    used = {"root", *figure.trunk, *figure.neck, *figure.tail}
    used |= {role for leg in figure.legs for role in leg.limb}
    bones = {role: bone for role, bone in roles.items() if role in used}
    carriers = {role: role for role in bones}
    if rolemap.controls and not own:
        for bone, role in _along(rest, bones):
            via = f"via.{len(bones)}"
            bones[via], carriers[via] = bone, role
    for leg in figure.legs:
        mover = movers.get(leg.segments[0], "")
        if leg.sling and mover not in bones.values():
            via = f"via.{len(bones)}"
            bones[via], carriers[via] = mover, leg.sling
    stiff = [
        roles[leg.segments[0]] for leg in figure.legs
        if leg.segments[0].startswith("fore.") and not leg.sling
        and _straight([heads[role] for role in leg.segments])
        and not (leg.blade and _gives([heads[role] for role in leg.limb]))
    ]
    moves = {role: standing.moves[carrier] for role, carrier in carriers.items()}
    heads = {role: matrix @ named[bone].head * scale - shift for role, bone in bones.items()}
    axes = {
        role: matrix @ np.asarray(named[bone].axes, dtype=float) for role, bone in bones.items()
    }
    return CreatureRest(
        figure=figure,
        moves=moves,
        bones=bones,
        carriers=carriers,
        heads={role: _moved(moves[role], head) for role, head in heads.items()},
        axes={role: moves[role][:3, :3] @ turned for role, turned in axes.items()},
        origin=matrix.T @ shift / scale,
        turn=np.asarray(rolemap.turn, dtype=float),
        scale=scale,
        stiff=tuple(stiff),
    )


def _movers(
    rest: RestPose, found: list[tuple[str, str, tuple[str, ...]]], roles: Mapping[str, str]
) -> dict[str, str]:
    """Role of a leg -> the bone that takes all from there on along to another place.

    That is its own, or, of bones that are connected, the one that they are connected to in the
    end; none where more than the leg hangs on that.
    """
    movers = {}
    for _, _, leg in found:
        own = {*leg, leg[0].replace("fore.1", "clavicle")}
        others = [bone for role, bone in roles.items() if role not in own]
        busy = {above for bone in others for above in (bone, *rest.ancestors(bone))}
        for role in leg:
            bone = rest.by_name[roles[role]]
            while bone.connected and bone.parent in rest.by_name and bone.parent not in busy:
                bone = rest.by_name[bone.parent]
            if not bone.connected:
                movers[role] = bone.name
    return movers


def _standing(figure: LeggedFigure, name: str) -> Eased:
    """The figure with its legs eased, which the solver of gaits takes."""
    way_out = "in Edit Mode bend its joints, or move its foot in under the body"
    try:
        standing = eased(figure)
        check_creature(creature_of(standing.figure))
    except CannotStand as error:
        raise UserError(
            f"{name} cannot go on its {spoken_leg(error.leg.name)}, which lowering its body does "
            f"not bend: {way_out}"
        ) from error
    except SettingError as error:
        said = f"{name} cannot go on its legs as they stand ({error}): {way_out}"
        raise UserError(said) from error
    return standing


def _moved(move: np.ndarray, point: np.ndarray) -> np.ndarray:
    return move[:3, :3] @ point + move[:3, 3]


def _along(rest: RestPose, bones: Mapping[str, str]) -> list[tuple[str, str]]:
    """Bones of a Rigify rig with skin but no role, each with the nearest role above it."""
    role_of = {bone: role for role, bone in bones.items()}
    found = []
    for bone in rest.bones:
        if not bone.deform or bone.name in role_of:
            continue
        line = [bone.name, *rest.ancestors(bone.name)]
        above = (name.replace("ORG-", "DEF-", 1) for name in line)
        near = next((role_of[name] for name in above if name in role_of), "")
        if near:
            found.append((bone.name, near))
    return found


def _figure(
    rolemap: RoleMap,
    found: list[tuple[str, str, tuple[str, ...]]],
    heads: dict[str, np.ndarray],
    tails: dict[str, np.ndarray],
    kind: str,
    movers: Collection[str],
    skin: Mapping[str, np.ndarray],
) -> LeggedFigure:
    joints = dict(heads)
    joints["root"] = np.zeros(3)

    def row(family: str) -> list[str]:
        numbered = (f"{family}.{n}" for n in range(1, 99))
        return [role for role in numbered if role in heads]

    trunk = ["pelvis", *row("spine")] + (["chest"] if "chest" in heads else [])
    neck = row("neck") + (["head"] if "head" in heads else [])
    line = _apart([*trunk, *neck], heads, {"pelvis", trunk[-1]})
    trunk, neck = [r for r in trunk if r in line], [r for r in neck if r in line]
    tail = _apart(row("tail"), heads, set())
    if "head" in heads:
        joints["muzzle"] = tails["head"]
    if tail and _inward(tail, heads, tails):
        joints |= {role: tails[role] for role in tail}
        joints["tail_tip"] = heads[tail[-1]]
    elif tail:
        joints["tail_tip"] = tails[tail[-1]]
    hung = _hung(found, heads, tails)
    legs = []
    girdles = list(dict.fromkeys(girdle for girdle, _, _ in found))
    four = set(girdles) == {"hind", "fore"}
    order = ["hind", "fore"] if four else girdles[::-1]
    for number, girdle in enumerate(order):
        for _, side, roles in (one for one in found if one[0] == girdle):
            legs.append(_leg(joints, tails, girdle, side, roles, number if four else 0,
                             girdles, movers, hung[roles[-1]], skin))
    tall = [joints[leg.limb[0]][2] for leg in legs]
    withers = max([joints[trunk[-1]][2], *tall])
    span = float(np.ptp([joints[role][1] for role in (*trunk, *neck, *tail)]))
    return LeggedFigure(
        kind, joints, tuple(legs), tuple(trunk), tuple(neck), tuple(tail),
        height=float(withers) if four else max(span, float(withers)),
    )


def _hung(
    found: list[tuple[str, str, tuple[str, ...]]],
    heads: dict[str, np.ndarray],
    tails: dict[str, np.ndarray],
) -> dict[str, float]:
    """Last bone of each leg -> how much higher its foot hangs than the lower one of its pair."""
    low = {(g, side): min(heads[leg[-1]][2], tails[leg[-1]][2]) for g, side, leg in found}
    hung = {}
    for girdle, side, leg in found:
        over = low[girdle, side] - min(low[girdle, other] for other in SIDES)
        even = EVEN * (heads[leg[0]][2] - low[girdle, side])
        hung[leg[-1]] = float(over) if over > even else 0.0
    return hung


def _apart(line: list[str], heads: dict[str, np.ndarray], kept: Collection[str]) -> list[str]:
    """Of roles in a line those that are apart: a bone between two in one place has no length.

    Of several in one place the first stays, or those of `kept`; the others' bones go along.
    """
    found: list[str] = []
    for role in line:
        same = bool(found) and float(np.linalg.norm(heads[role] - heads[found[-1]])) < NO_LENGTH
        if not same:
            found.append(role)
        elif role in kept and found[-1] not in kept:
            found[-1] = role
    return found


def _inward(
    tail: list[str], heads: dict[str, np.ndarray], tails: dict[str, np.ndarray]
) -> bool:
    """Whether the bones of a tail run towards the body, as in a spine that begins at its tip.

    Each ends where the one nearer to the body begins, the first at the pelvis. Ends of bones that
    an importer made up are anywhere.
    """
    first = tail[0]
    body = (heads["pelvis"], tails["pelvis"])
    away, near = (
        min(float(np.linalg.norm(place[first] - end)) for end in body) for place in (heads, tails)
    )
    lengths = {role: float(np.linalg.norm(tails[role] - heads[role])) for role in tail}
    if near >= away or (len(tail) == 1 and near > 0.5 * lengths[first]):
        return False
    return all(
        float(np.linalg.norm(tails[role] - heads[nearer])) < NEAR * lengths[role]
        for nearer, role in zip(tail[:-1], tail[1:], strict=True)
    )


def _leg(
    joints: dict[str, np.ndarray],
    tails: dict[str, np.ndarray],
    girdle: str,
    side: str,
    roles: tuple[str, ...],
    number: int,
    girdles: list[str],
    movers: Collection[str],
    ground: float,
    skin: Mapping[str, np.ndarray],
) -> LegChain:
    while len(roles) > 3 and _leads_aside([joints[role] for role in roles]):
        roles = roles[1:]
    points = [joints[role] for role in roles]
    length = float(sum(np.linalg.norm(b - a) for a, b in zip(points[:-1], points[1:], strict=True)))
    last, end = points[-1], tails[roles[-1]]
    high, rise = last[2] - ground, end[2] - ground
    reach = float(np.linalg.norm(end - last))
    flat = (end - last) * (1.0, 1.0, 0.0)
    # Of two bones the second is all of the leg below its knee, however short the first is.
    far = reach > 2.0 * length and abs(rise) > LIES * high
    below = -rise > LOW * high
    if rise > LOW * high or (far if len(roles) > 2 else below):
        # Its tail is anywhere: a foot a third longer than its joint is high.
        ahead = max(1.3 * high, 0.04 * length)
        flat = ahead * _out(girdle, points)
    tip = last * (1.0, 1.0, 0.0) + flat + ground * UP
    foot_length = float(np.linalg.norm(tip - last))
    steep = float(np.arctan2(high, np.linalg.norm(flat)))
    foot = TIP
    if len(roles) > 2 and foot_length < LONG * (length + foot_length):
        foot = HOOF if steep > STEEP else PAW
    heel = 0.0 if foot == TIP else foot_length * (1.5 if foot == HOOF else 1.15)
    turning = 0
    if foot != TIP and roles[-1] in skin:
        meshes = [skin[roles[-1]]]
        front = max(_sole(meshes, last)[1], 0.04 * length)
        tip = np.array([tip[0], last[1] - front, ground])
        above = skin.get(roles[-2])
        if len(roles) > 3 and above is not None:
            low = above[:, 2].min() - meshes[0][:, 2].min()
            if low < LIES * (points[-2][2] - ground):
                meshes, turning = [*meshes, above], 2
        heel = front + max(_sole(meshes, last)[0], 0.0)
    tip_role, pole_role = f"{girdle}.tip.{side}", f"{girdle}.pole.{side}"
    joints[tip_role] = tip
    lengths = [np.linalg.norm(b - a) for a, b in zip(points, (*points[1:], tip), strict=True)]
    # Stubs that only lead out of the body, and a coxa, are not bent.
    # Those that are bent are both above the foot.
    last_bend = max(len(roles) - 2 - (turning or (foot != TIP)), 0)
    long = [n for n in range(last_bend) if lengths[n] > STUB * max(lengths)]
    bend = long[0] if long else last_bend
    a, b, c = (*points, tip)[bend : bend + 3]
    chord = unit(c - a)
    off = (b - a) - chord * float(chord @ (b - a))
    size = float(np.linalg.norm(c - a))
    out = off if np.linalg.norm(off) > BENT * size else _usual(girdle, side, chord)
    joints[pole_role] = b + unit(out) * 0.8 * size
    blade = f"clavicle.{side}"
    carries = girdle == "fore" and blade in joints
    slung = ""
    stiff = girdle == "fore" and _straight(points)
    if stiff and roles[0] in movers and not (carries and _gives([joints[blade], *points])):
        carries = False
        slung = f"{girdle}.sling.{side}"
        joints[slung] = points[0]
    name = f"{girdle}.{side}"
    if girdle.startswith("leg"):
        place = girdles.index(girdle)
        name = f"{PAIRS[place]}.{side}" if len(girdles) == len(PAIRS) else name
    return LegChain(
        name, number, roles, bend, pole_role, tip_role, blade if carries else "",
        heel=heel, foot=foot, sling=slung, turning=turning,
    )


def _out(girdle: str, points: list[np.ndarray]) -> np.ndarray:
    """Where a foot points: ahead, or, of legs that go out to the side, on in their plane."""
    aside = (points[-1] - points[0]) * (1.0, 1.0, 0.0)
    if girdle.startswith("leg") and np.linalg.norm(aside) > ALONG * (points[0] - points[-1])[2]:
        return unit(aside)
    return -BACK


def _straight(points: list[np.ndarray]) -> bool:
    """Whether a leg stands all but stretched out, and has nothing to give under load."""
    length = sum(float(np.linalg.norm(b - a)) for a, b in zip(points[:-1], points[1:], strict=True))
    return float(np.linalg.norm(points[-1] - points[0])) > (1.0 - BENT) * length


def _gives(points: list[np.ndarray]) -> bool:
    """Whether the shoulder blade, the first bone of a limb, turns far enough under load."""
    blade, leg = points[1] - points[0], points[-1] - points[1]
    long = np.linalg.norm(blade) > SHORT_BLADE * np.linalg.norm(leg)
    return bool(long) and not _leads_aside(points)


def _sole(meshes: list[np.ndarray], joint: np.ndarray) -> tuple[float, float]:
    """How far the ends of a sole, its lowest point on the ground, are behind a joint and ahead."""
    points = np.concatenate(meshes)
    return ends_of_sole((points - joint) @ FORWARD, points[:, 2] - points[:, 2].min())


def _usual(girdle: str, side: str, chord: np.ndarray) -> np.ndarray:
    """Where the middle joint of a leg that is straight along `chord` goes when it is bent.

    Insects bend their legs up, or to their sides if they stand on them as on stilts.
    """
    aside = np.array([1.0 if side == "L" else -1.0, 0.0, 0.0])
    for way in ({"hind": -BACK, "fore": BACK}.get(girdle, UP), aside, UP):
        across = way - chord * float(chord @ way)
        if np.linalg.norm(across) > ALONG:
            break
    return across


def _leads_aside(points: list[np.ndarray]) -> bool:
    """Whether the first bone of a leg only leads out to the side of the body, as a hip bone.

    It is a part of the trunk: the leg swings in the plane below it, in which the bone would be a
    crank of next to no length. Legs that go out to the side themselves, as insects' do, begin
    with such bones.
    """
    first, rest = np.abs(points[1] - points[0]), np.abs(points[-1] - points[1])
    return bool(first[0] > ASIDE * np.hypot(*first[1:]) and rest[2] > ASIDE * rest[0])


def target_bones(creature: CreatureRest) -> tuple[BoneSpec, ...]:
    """Bones for the controls that stand as the rig's own bones would, each on its control.

    Args:
        creature: the rig's rest pose.
    """
    size = 0.03 * creature.figure.height
    slings = {leg.sling: sling(leg) for leg in creature.figure.legs}
    made = []
    for role in creature.bones:
        head, axes = creature.heads[role], creature.axes[role]
        tail = head + axes[:, 1] * size
        carrier = slings.get(creature.carriers[role], creature.carriers[role])
        made.append(BoneSpec(target_bone(role), carrier, head, tail, axes[:, 2], "Mechanism"))
    return tuple(made)


def control_bones(
    creature: CreatureRest, rest: RestPose, controls: Collection[Control]
) -> tuple[BoneSpec, ...]:
    """Bones for the controls that stand as the rig's own controls would.

    Each hangs on the target of its role.

    Args:
        creature: the rig's rest pose.
        rest: the rig's bones.
        controls: the rig's controls that are driven.
    """
    size = 0.03 * creature.figure.height
    matrix = rotations.to_matrix(creature.turn)
    made = []
    for control in controls:
        bone = rest.by_name[control.bone]
        move = creature.moves[control.role]
        head = _moved(move, matrix @ (bone.head - creature.origin) * creature.scale)
        axes = move[:3, :3] @ matrix @ np.asarray(bone.axes, dtype=float)
        made.append(
            BoneSpec(
                control_bone(control.name), target_bone(control.role), head,
                head + axes[:, 1] * size, axes[:, 2], "Mechanism",
            )
        )
    return tuple(made)


def to_json(figure: LeggedFigure) -> str:
    """A figure as text, to be kept on its controls.

    Args:
        figure: the figure.
    """
    stored = {
        "kind": figure.kind,
        "trunk": figure.trunk,
        "neck": figure.neck,
        "tail": figure.tail,
        "mass": figure.mass,
        "height": figure.height,
        "legs": [asdict(leg) for leg in figure.legs],
        "joints": {role: [float(v) for v in place] for role, place in figure.joints.items()},
    }
    return json.dumps(stored)


def from_json(text: str) -> LeggedFigure:
    """Read it back.

    Args:
        text: what `to_json` gave.

    Raises:
        ValueError: it is something else.
    """
    try:
        stored = json.loads(text)
        legs = tuple(
            LegChain(**{**leg, "segments": tuple(leg["segments"])}) for leg in stored["legs"]
        )
        return LeggedFigure(
            stored["kind"],
            {role: np.array(place, dtype=float) for role, place in stored["joints"].items()},
            legs,
            tuple(stored["trunk"]),
            tuple(stored["neck"]),
            tuple(stored["tail"]),
            mass=float(stored["mass"]),
            height=float(stored["height"]),
        )
    except (TypeError, KeyError, AttributeError) as error:
        raise ValueError("this is no figure on legs") from error
