# SPDX-License-Identifier: GPL-3.0-or-later
"""Animals' rigs of other people read as figures on legs."""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import rig_cases
from poise.addon.errors import UserError
from poise.addon.mapping.legged import STYLES, map_legged, pose_joints
from poise.addon.mapping.legs import creature_of
from poise.addon.mapping.limbs import Limb
from poise.addon.rigs.builders.legged import insect
from poise.addon.rigs.controls.creature_fitting import read_creature, target_bones
from poise.addon.rigs.controls.fitting import target_bone
from poise.addon.rigs.recognise.recognition import recognise
from poise.addon.rigs.recognise.rolemap import RoleMap
from poise.solvers.legged import GaitItem, GaitSettings, solve_gait
from poise.solvers.legged.creature import check_creature
from poise.solvers.legged.gait import PRESETS, metachronal

TAIL = [f"tail.{number}" for number in range(1, 5)]


def read(skeleton):
    found = recognise(skeleton)
    assert [found.roles[role] for role in TAIL] == TAIL
    return read_creature(skeleton, found, 1.0, "DOG").figure


def towards_the_body(given):
    """The same with the bones of the tail from its tip to the pelvis, as a spine that begins
    there has them."""
    ends = {bone.name: (bone.head, bone.tail) for bone in given.bones}
    bones = []
    for bone in given.bones:
        if bone.name in TAIL:
            head, tail = ends[bone.name]
            bone = replace(bone, head=tail, tail=head)
        bones.append(bone)
    return type(given).of(bones)


def test_a_tail_has_its_joints_where_it_bends_whichever_way_its_bones_run():
    joints = rig_cases.quadruped()
    given = rig_cases.skeleton(joints)
    straight, turned = read(given), read(towards_the_body(given))
    base = straight.joints["pelvis"] - np.array(joints["pelvis"][1])
    for role in (*TAIL, "tail_tip"):
        assert turned.joints[role] == pytest.approx(straight.joints[role], abs=1e-9)
    for role in TAIL:
        assert straight.joints[role] - base == pytest.approx(joints[role][1], abs=1e-9)


@pytest.mark.parametrize(("role", "upon"), [("spine.2", "spine.1"), ("neck.2", "neck.1"),
                                            ("neck.1", "chest"), ("tail.3", "tail.2")])
def test_bones_in_one_place_are_one_joint(role, upon):
    """A control between two joints in one place would have no length: Blender drops such bones."""
    joints = rig_cases.quadruped()
    if role not in joints or upon not in joints:
        pytest.fail(f"the case has {sorted(joints)}")
    joints[role] = (joints[role][0], joints[upon][1])
    given = rig_cases.skeleton(joints)
    figure = read_creature(given, recognise(given), 1.0, "DOG").figure
    for line in ((*figure.trunk, *figure.neck), figure.tail):
        places = np.array([figure.joints[one] for one in line])
        assert np.linalg.norm(np.diff(places, axis=0), axis=1).min() > 1e-3
    assert {"pelvis", "chest"} <= set(figure.trunk) and "head" in figure.neck


def test_ends_that_an_importer_made_up_tell_nothing_about_a_tail():
    # All bones end behind their heads, nearer to the pelvis or not.
    joints = rig_cases.quadruped()
    straight = read(rig_cases.skeleton(joints))
    for pointing, length in ((False, 1.0), (False, -1.5)):
        given = rig_cases.skeleton(joints, pointing=pointing)
        bones = [replace(b, tail=b.head + length * (b.tail - b.head)) for b in given.bones]
        made_up = read(type(given).of(bones))
        for role in TAIL:
            assert made_up.joints[role] - made_up.joints["pelvis"] == pytest.approx(
                straight.joints[role] - straight.joints["pelvis"], abs=1e-9
            )


@pytest.mark.parametrize("first", [0.04, 0.08, 0.3])
def test_legs_of_two_bones_stand_on_the_end_of_the_second(first):
    """However short the first is: a foot was put under the joint between them, 0.5 m beside."""
    joints = {role: at for role, at in rig_cases.insect(3).items() if not role.startswith("leg")}
    ends = {}
    for number, ahead in ((1, -0.25), (2, 0.0), (3, 0.25)):
        for side, x in (("L", 1.0), ("R", -1.0)):
            upper, lower = (f"leg{number}.{part}.{side}" for part in (1, 2))
            joints[upper] = "pelvis", (0.08 * x, ahead, 0.2)
            joints[lower] = upper, ((0.08 + first) * x, ahead, 0.22)
            ends[lower] = np.array(((0.6 + first) * x, 1.5 * ahead, 0.0))
    given = rig_cases.skeleton(joints)
    bones = [replace(bone, tail=ends.get(bone.name, bone.tail)) for bone in given.bones]
    given = type(given).of(bones)
    roles = RoleMap("STRUCTURE", "LEGS", {role: role for role in joints})
    figure = read_creature(given, roles, 1.0, "INSECT").figure
    assert len(figure.legs) == 6
    for leg in figure.legs:
        role = leg.segments[-1]
        shift = figure.joints[role] - np.array(joints[role][1])
        assert figure.joints[leg.tip] == pytest.approx(ends[role] + shift, abs=1e-9)
        assert figure.joints[leg.tip][2] == pytest.approx(0.0, abs=1e-9)


def plain_horse(**changes):
    """Bones of a horse of 1.6 m whose straight forelegs hang on its chest, without a blade."""
    joints = {
        "root": ("", (0, 0, 0)),
        "pelvis": ("root", (0, 0.75, 1.62)), "spine.1": ("pelvis", (0, 0.38, 1.50)),
        "chest": ("spine.1", (0, -0.05, 1.46)), "neck.1": ("chest", (0, -0.80, 1.55)),
        "head": ("neck.1", (0, -1.35, 2.20)),
    }
    fore = {
        "fore.1": ("chest", (0.22, -0.72, 1.26)), "fore.2": ("fore.1", (0.22, -0.75, 0.63)),
        "fore.3": ("fore.2", (0.22, -0.70, 0.21)), "fore.4": ("fore.3", (0.22, -0.75, 0.08)),
    }
    hind = {
        "hind.1": ("pelvis", (0.22, 0.66, 1.58)), "hind.2": ("hind.1", (0.22, 0.51, 1.17)),
        "hind.3": ("hind.2", (0.22, 0.98, 0.71)), "hind.4": ("hind.3", (0.22, 0.97, 0.21)),
        "hind.5": ("hind.4", (0.22, 0.91, 0.08)),
    }
    joints |= rig_cases.both(fore | changes) | rig_cases.both(hind)
    return rig_cases.skeleton(joints), joints


def read_horse(given, joints, own=False):
    roles = RoleMap("STRUCTURE", "QUADRUPED", {role: role for role in joints})
    return read_creature(given, roles, 1.0, "HORSE", own=own).figure


@pytest.mark.parametrize(("own", "followed"), [(False, ["via"]), (True, [])])
def test_skin_without_a_role_follows_where_the_rigs_own_controls_do_not(own, followed):
    """A bone with skin on the thigh of a Rigify rig goes along with the role above it."""
    given, joints = plain_horse()
    bones = [*given.bones, replace(
        given.by_name["hind.2.L"], name="DEF-twist.L", parent="hind.2.L", deform=True)]
    bones = [b if b.name == "DEF-twist.L" else replace(b, deform=False) for b in bones]
    roles = RoleMap(
        "RIGIFY", "QUADRUPED", {role: role for role in joints}, controls={"torso": "torso"}
    )
    made = read_creature(type(given).of(bones), roles, 1.0, "HORSE", own=own)
    along = {role: bone for role, bone in made.bones.items() if made.carriers[role] != role}
    assert [role.split(".")[0] for role in along] == followed
    assert [made.carriers[role] for role in along] == ["hind.2.L"] * len(followed)
    assert made.bones["root"] == "root"


def test_straight_forelegs_without_a_blade_hang_in_a_sling():
    """Those that are bent where they stand give by themselves, and a blade for what hangs on it;
    bones that are connected, and controls of the rig's own, cannot be moved."""
    given, joints = plain_horse()
    hung = {"fore.L": "fore.sling.L", "fore.R": "fore.sling.R", "hind.L": "", "hind.R": ""}
    figure = read_horse(given, joints)
    assert {leg.name: leg.sling for leg in figure.legs} == hung
    for leg, solved in zip(figure.legs, creature_of(figure).legs, strict=True):
        stands = np.linalg.norm(solved.hip - solved.foot - solved.ankle)
        if leg.sling:
            assert solved.length == pytest.approx(1.1 * stands)
        assert solved.length > 1.01 * stands
    bent = plain_horse(**{"fore.2": ("fore.1", (0.22, -0.55, 0.75))})
    blade = plain_horse(**{"clavicle": ("chest", (0.10, -0.5, 1.50)),
                           "fore.1": ("clavicle", (0.22, -0.72, 1.26))})
    tied = type(given).of([replace(b, connected=b.name.startswith("fore.1")) for b in given.bones])
    for figure in (read_horse(*bent), read_horse(*blade), read_horse(tied, joints),
                   read_horse(given, joints, own=True)):
        assert {leg.sling for leg in figure.legs} == {""}
    # Blades that lead aside, or are short, cannot give.
    for at in ((0.05, -0.72, 1.26), (0.10, -0.6, 1.40)):
        figure = read_horse(*plain_horse(**{
            "clavicle": ("chest", at), "fore.1": ("clavicle", (0.22, -0.72, 1.26)),
        }))
        assert {leg.name: leg.sling for leg in figure.legs} == hung
        assert {leg.blade for leg in figure.legs} == {""}


@pytest.mark.parametrize("shared", [False, True])
def test_what_a_connected_leg_hangs_on_moves_for_it(shared):
    """Blender keeps a connected bone at its parent's end: the leg moves with that, unless the
    other leg, or the trunk, hangs on it, too. Legs that nothing can move are named."""
    given, joints = plain_horse()
    bones = []
    for bone in given.bones:
        if bone.name.startswith("fore.1"):
            side = "M" if shared else bone.name[-1]
            rib = replace(bone, name=f"rib.{side}", head=bone.head + (0.0, 0.1, 0.2),
                          tail=bone.head, connected=False)
            bones += [rib] if rib.name not in [b.name for b in bones] else []
            bone = replace(bone, parent=rib.name, connected=True)
        bones.append(bone)
    roles = RoleMap("STRUCTURE", "QUADRUPED", {role: role for role in joints})
    made = read_creature(type(given).of(bones), roles, 1.0, "HORSE")
    slings = {leg.sling for leg in made.figure.legs if leg.name.startswith("fore")}
    along = {bone: made.carriers[role] for role, bone in made.bones.items() if role not in joints}
    if shared:
        assert slings == {""} and along == {}
        assert made.stiff == ("fore.1.L", "fore.1.R")
        return
    assert slings == {"fore.sling.L", "fore.sling.R"} and made.stiff == ()
    assert along == {f"rib.{side}": f"fore.sling.{side}" for side in "LR"}
    hangs = {bone.name: bone.parent for bone in target_bones(made)}
    for role, bone in made.bones.items():
        if bone in along:
            assert hangs[target_bone(role)] == f"fore_sling.{bone[-1]}"


@pytest.mark.parametrize(
    ("gait", "froude"),
    [("WALK", 0.15), ("TROT", 0.9), ("CANTER_LEFT", 2.2), ("GALLOP_LEFT", 3.1)],
)
def test_legs_in_slings_carry_weight_straight(gait, froude):
    """In the middle third of the support, carpi of horses and cows that artists animated are bent
    by 4 to 7 degrees, to which 6 are added; their shoulders are 1.1 % lower in the mean than where
    they stand (4 added), and go up and down by 4 % in a walk. Strides are as long as the gait's law
    has them (5 %), feet where the solver has them."""
    figure = read_horse(*plain_horse())
    creature = creature_of(figure)
    hip = creature.hip_height()
    speed = float(np.sqrt(froude * 9.81 * hip))
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(gait),), speed=speed, n_frames=193, fps=60.0,
    ))
    tracks = map_legged(motion, figure, STYLES["horse"])
    assert not motion.problems
    assert not tracks.problems
    joint, _ = pose_joints(tracks, figure)
    law = PRESETS[gait]
    stride = law.stride * hip * froude**law.stride_exponent
    for number, leg in enumerate(figure.legs):
        prints = [p for p in motion.footprints if p.leg == leg.name and p.on > 0.0][:-1]
        for mark, after in zip(prints[:-1], prints[1:], strict=True):
            assert (after.on - mark.on) * speed == pytest.approx(stride, rel=0.05)
        if not leg.sling:
            continue
        elbow, carpus, fetlock = (joint[role] for role in leg.segments[:3])
        bend = np.degrees(angle_between(carpus - elbow, fetlock - carpus))
        held = np.zeros(len(motion.time), bool)
        for mark in prints:
            third = (mark.off - mark.on) / 3.0
            held |= (motion.time > mark.on + third) & (motion.time < mark.off - third)
            at = (motion.time >= mark.on) & (motion.time <= mark.off)
            off = tracks.position[leg.tip][at] - motion.foot_position[at, number]
            assert np.abs(off).max() < 1e-9
        assert bend[held].max() < 13.0
        high = motion.hip[:, number, 2] / creature.legs[number].hip[2]
        assert high.mean() > 0.949
        assert gait != "WALK" or np.ptp(high) < 0.045
        # The sling gives no farther, and no faster, than a body does that falls by as much.
        hung = np.linalg.norm(tracks.position[leg.sling] - motion.hip[:, number], axis=1)
        assert hung.max() < 0.14 * creature.legs[number].hip[2]
        assert np.abs(np.diff(hung)).max() * 60.0 < np.sqrt(9.81 * hip)


@pytest.mark.parametrize(("gait", "froude"), [("WALK", 0.15), ("GALLOP_LEFT", 3.1)])
def test_shoulder_blades_give_for_straight_legs(gait, froude):
    """As the sling does where there is none: carpi were bent by 34 degrees in a walk, and by 70 in
    a gallop, while the shoulder stayed as it was. The same 7 degrees and 6 are allowed."""
    figure = read_horse(*plain_horse(**{
        "clavicle": ("chest", (0.10, -0.5, 1.50)), "fore.1": ("clavicle", (0.22, -0.72, 1.26)),
    }), own=True)
    creature = creature_of(figure)
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(gait),), n_frames=145, fps=60.0,
        speed=float(np.sqrt(froude * 9.81 * creature.hip_height())),
    ))
    tracks = map_legged(motion, figure, STYLES["horse"])
    assert not motion.problems
    assert not tracks.problems
    joint, _ = pose_joints(tracks, figure)
    for number, leg in enumerate(figure.legs):
        at = motion.contact[:, number]
        off = tracks.position[leg.tip] - motion.foot_position[:, number]
        assert np.abs(off[at]).max() < 1e-9
        if not leg.blade:
            continue
        elbow, carpus, fetlock = (joint[role] for role in leg.segments[:3])
        bend = np.degrees(angle_between(carpus - elbow, fetlock - carpus))
        held = np.zeros(len(motion.time), bool)
        for mark in (p for p in motion.footprints if p.leg == leg.name):
            third = (mark.off - mark.on) / 3.0
            held |= (motion.time > mark.on + third) & (motion.time < mark.off - third)
        assert held.any() and bend[held].max() < 13.0
        # The shoulder goes no quicker than joints of trotting horses do (Back et al. 1995).
        rate = np.gradient(tracks.attributes[f"bend.{leg.segments[0]}"], tracks.time)
        assert np.abs(rate).max() < 20.0


def angle_between(a, b):
    cosine = np.sum(a * b, axis=-1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
    return np.arccos(np.clip(cosine, -1.0, 1.0))


def stretched(random, pairs=2, bones=3, off=0.0, splay=0.0, shorter=0.0, ahead=False):
    """An animal with its legs stretched out: rest pose and roles.

    Joints are `off` the line from hip to ground, the legs of 1 m `splay` (rad) from the upright,
    and the first one on the left shorter by a share. Where `ahead`, the last bone is a paw.
    """
    joints = {"pelvis": ("", (0, 0.5, 1.05)), "chest": ("pelvis", (0, -0.4, 1.05))}
    girdles = ("hind", "fore") if pairs == 2 else [f"leg{n + 1}" for n in range(pairs)][::-1]
    ends = {}
    for number, girdle in enumerate(girdles):
        shares = np.concatenate(([0.0], np.cumsum(random.dirichlet(np.full(bones, 20.0)))))
        shares[-1] = 1.0
        bent = np.zeros((bones + 1, 3))
        bent[1:-1] = random.normal(size=(bones - 1, 3)) * off
        for side, sign in (("L", 1.0), ("R", -1.0)):
            down = np.array((sign * np.sin(splay), 0.0, -np.cos(splay)))
            long = 1.0 - shorter * (number == 0 and side == "L")
            hip = np.array((0.2 * sign, 0.5 - number / (pairs - 1), np.cos(splay)))
            points = hip + long * shares[:, None] * down + bent * (sign, 1.0, 1.0)
            if ahead:
                points[-1] = points[-2] + (0.0, -0.2, points[-1][2] - points[-2][2])
            names = [f"{girdle}.{n + 1}.{side}" for n in range(bones)]
            for parent, name, point in zip(("pelvis", *names), names, points, strict=False):
                joints[name] = parent, tuple(point)
            ends[names[-1]] = points[-1]
    given = rig_cases.skeleton(joints)
    bones_ = [replace(bone, tail=ends.get(bone.name, bone.tail)) for bone in given.bones]
    roles = RoleMap("STRUCTURE", "QUADRUPED" if pairs == 2 else "LEGS", {r: r for r in joints})
    return type(given).of(bones_), roles


STRETCHED = [
    (bones, off, shorter, ahead)
    for bones, ahead in ((2, False), (3, False), (3, True), (4, False), (4, True), (5, False))
    for off in (0.0, 1e-4, 0.02)
    for shorter in (0.0, 0.03)
]


@pytest.mark.parametrize(("pairs", "splay"), [(2, 0.0), (2, 0.3), (3, 0.0), (3, 0.9)])
def test_legs_that_are_stretched_out_stand_bent(pairs, splay):
    """Blender's IK solver bends chains by what they are bent in rest, and gaits need some room:
    with legs in a line there was neither. Segments keep their lengths, feet stand on the ground,
    also that of a shorter leg, and what no joint needs is left as it is.
    """
    random = np.random.default_rng(7)
    for case in STRETCHED:
        bones, off, shorter, ahead = case
        given, roles = stretched(random, pairs, bones, off, splay, shorter, ahead)
        creature = read_creature(given, roles, 1.0, "DOG" if pairs == 2 else "INSECT")
        figure, ends = creature.figure, {bone.name: bone for bone in given.bones}
        check_creature(creature_of(figure))
        for chain, leg in zip(figure.legs, creature_of(figure).legs, strict=True):
            limb = Limb(figure, chain, leg)
            assert limb.rest_bend[chain.bend] < -np.radians(1.9), case
            assert figure.joints[chain.tip][2] == pytest.approx(0.0, abs=1e-9), case
            own = [ends[role].head for role in chain.segments]
            own.append(ends[chain.segments[-1]].tail)
            far = np.linalg.norm(np.diff(own, axis=0), axis=1)
            assert figure.lengths(chain)[:-1] == pytest.approx(far[:-1], abs=1e-9), case
            assert figure.lengths(chain)[-1] == pytest.approx(far[-1], abs=2e-3), case
            # The rig's bones go along: each ends where the next one begins.
            for above, below in zip(chain.segments[:-1], chain.segments[1:], strict=True):
                turn = creature.moves[above][:3, :3]
                place = creature.heads[above] + turn @ (ends[below].head - ends[above].head)
                assert place == pytest.approx(creature.heads[below], abs=1e-9), case
            if off == 0.0 and not ahead and pairs == 2:  # stifles ahead, elbows behind
                hip, knee, end = (figure.joints[r] for r in (*chain.segments, chain.tip)[:3])
                out = (knee - hip) - (end - hip) * (knee[2] - hip[2]) / (end[2] - hip[2])
                assert out[1] * (1.0 if chain.name.startswith("fore") else -1.0) > 0.0, case


def test_an_animal_that_stands_bent_on_all_feet_keeps_its_rest_pose():
    joints = rig_cases.quadruped()
    given = rig_cases.skeleton(joints)
    creature = read_creature(given, recognise(given), 1.0, "DOG")
    for move in creature.moves.values():
        assert np.array_equal(move, np.eye(4))


def test_legs_that_no_lowering_bends_are_refused_with_the_way_out():
    given, roles = stretched(np.random.default_rng(0), pairs=3, splay=1.5)
    words = r"Bug cannot go on its left hind, .*: in Edit Mode bend its joints, or move its foot"
    with pytest.raises(UserError, match=words):
        read_creature(given, roles, 1.0, "INSECT", name="Bug")


def splayed(seed, pairs, made_up):
    """An animal with pairs of arched legs to its sides, of two to four bones, cut at random.

    Where `made_up`, as importers have it, bones do not tell where they end.
    """
    random = np.random.default_rng(seed)
    joints = {"pelvis": ("", (0, 0.2, 0.3)), "chest": ("pelvis", (0, 0, 0.3)),
              "head": ("chest", (0, -0.3, 0.3))}
    bones, out, knee = int(random.integers(2, 5)), random.uniform(0.1, 0.6), random.uniform(0, 0.3)
    fan, high, ends = random.uniform(1.0, 2.0), random.uniform(0.1, 0.35), {}
    for number in range(pairs):
        y, size = -0.2 + 0.4 * number / (pairs - 1), random.uniform(0.8, 1.2)
        shares = np.concatenate(([0.0], np.sort(random.uniform(0.1, 0.9, bones - 1)), [1.0]))
        for side, sign in (("L", 1.0), ("R", -1.0)):
            points = np.stack((
                sign * (0.08 + out * size * shares), y * (1.0 + (fan - 1.0) * shares),
                high * (1.0 - shares) + 4.0 * knee * size * shares * (1.0 - shares),
            ), axis=1)
            names = [f"leg{number + 1}.{n + 1}.{side}" for n in range(bones)]
            for parent, name, point in zip(("pelvis", *names), names, points, strict=False):
                joints[name] = parent, tuple(point)
            ends[names[-1]] = points[-1]
    given = rig_cases.skeleton(joints, pointing=not made_up)
    if not made_up:
        given = type(given).of([replace(b, tail=ends.get(b.name, b.tail)) for b in given.bones])
    return given, RoleMap("STRUCTURE", "LEGS", {role: role for role in joints})


@pytest.mark.parametrize(
    ("seed", "pairs", "made_up"),
    [
        (31, 3, False), (33, 4, False), (38, 3, False), (43, 4, False), (58, 4, False),
        (68, 4, False), (166, 4, False), (36, 3, True), (46, 4, True), (102, 2, True),
        (106, 3, True), (90, 5, True),
    ],
)
def test_splayed_legs_go_as_they_are_set_up(seed, pairs, made_up):
    """At the speed and gait that insects begin with, 0.45 m/s where the middle of hips is as high
    as theirs, no leg is too short for its foothold, nor folds too little, and feet stay on it.
    The solver knows how far, and how near, joints let a leg reach."""
    figure = read_creature(*splayed(seed, pairs, made_up), 1.0, "INSECT").figure
    creature = creature_of(figure)
    speed = 0.45 * np.sqrt(creature.hip_height() / creature_of(insect()).hip_height())
    names = tuple(leg.name for leg in figure.legs)
    wave = metachronal(names, 0.67, 1.0 / 3.0)
    ripple = replace(PRESETS["RIPPLE"], legs=names, duty=wave.duty, phase=wave.phase)
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(ripple),), speed=float(speed), n_frames=33,
    ))
    tracks = map_legged(motion, figure, STYLES["insect"])
    assert not {p.code for p in tracks.problems} & {"LEG_STRETCHED", "LEG_CRUSHED"}
    for number, (leg, solved) in enumerate(zip(figure.legs, creature.legs, strict=True)):
        limb = Limb(figure, leg, solved)
        assert solved.length <= limb.longest * (1.0 + 1e-3)
        off = np.linalg.norm(tracks.position[leg.tip] - motion.foot_position[:, number], axis=1)
        assert off[motion.contact[:, number]].max() < 1e-3


@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_paws_have_the_soles_of_their_meshes(scale):
    """Of a paw that stands on the front end of its sole no point is under the ground; a bone
    above that lies on the ground, too, turns with it. Without a mesh bones tell."""
    given = rig_cases.skeleton({
        role: (parent, tuple(np.array(at) / scale)) for role, (parent, at) in
        rig_cases.quadruped().items()
    })
    found = recognise(given)
    plain = read_creature(given, found, scale, "DOG").figure
    for lies in (False, True):
        skin, shapes = {}, {}
        for leg in plain.legs:
            last, above = (given.by_name[found.roles[role]].head * scale
                           for role in (leg.segments[-1], leg.segments[-2]))
            paw = [(0.0, last[1] - x, z) for x, z in ((-0.01, 0.0), (0.08, 0.0), (0.1, 0.02))]
            pad = [(0.0, above[1] + 0.02, 0.0 if lies else 0.5 * above[2])]
            skin[leg.segments[-1]], skin[leg.segments[-2]] = np.array(paw), np.array(pad)
            shapes[leg.name] = np.array([*paw, *pad]) if lies else np.array(paw)
        skin = {role: points / scale for role, points in skin.items()}
        figure = read_creature(given, found, scale, "DOG", skin).figure
        for leg, was in zip(figure.legs, plain.legs, strict=True):
            assert leg.turning == (2 if lies else 0)
            assert leg.ankle == leg.segments[-2 if lies else -1]
            tip = figure.joints[leg.tip]
            root = given.by_name[found.roles["pelvis"]].head * scale - figure.joints["pelvis"]
            points = shapes[leg.name] - root * (0.0, 1.0, 0.0)
            ahead = tip[1] - points[:, 1]
            for pivot, angle in (0.0, -0.6), (-leg.heel, 0.3):
                high = (ahead - pivot) * np.sin(angle) + points[:, 2] * np.cos(angle)
                assert high.min() > -1e-9
                assert high.min() < 1e-9, "and one is on it"
            assert was.turning == 0
