# SPDX-License-Identifier: GPL-3.0-or-later
"""Bodies read from the rest poses of rigs, and how their bones follow Poise's controls."""

from dataclasses import replace

import numpy as np
import pytest
from poise.addon.errors import UserError
from poise.addon.rigs.builders.kinds import BIPED, RIDING, build_skeleton
from poise.addon.rigs.builders.skeleton import standard_proportions
from poise.addon.rigs.controls import fitting
from poise.addon.rigs.recognise.rolemap import RoleMap
from poise.addon.rigs.recognise.skeleton import BoneRest, Skeleton
from poise.solvers import rotations as rot

HEIGHT = 1.78
CHAIN = ("root", "pelvis", "spine.1", "chest", "neck.1", "head")


def t_pose(size, roles_without=()):
    """A body that stands upright with its arms spread: role -> (parent, head, tail)."""
    middle = np.array([0.0, 0.0, size.ankle + size.thigh["L"] + size.shin["L"]])
    spine = middle + size.spine
    chest = spine + size.chest
    neck = chest + size.neck
    head = neck + size.head
    found = {
        "root": ("", np.zeros(3), np.array([0.0, 0.2, 0.0])),
        "pelvis": ("root", middle, spine),
        "spine.1": ("pelvis", spine, chest),
        "chest": ("spine.1", chest, neck),
        "neck.1": ("chest", neck, head),
        "head": ("neck.1", head, head + size.vertex),
    }
    for side, sign in (("L", 1.0), ("R", -1.0)):
        out, down = np.array([sign, 0.0, 0.0]), np.array([0.0, 0.0, -1.0])
        shoulder = chest + size.upper_arm[side]
        elbow = shoulder + out * size.arm[side]
        wrist = elbow + out * size.forearm[side]
        hip = middle + size.hip[side]
        knee = hip + down * size.thigh[side]
        ankle = knee + down * size.shin[side]
        ball = ankle + np.array([0.0, -size.ball, -size.ball_height])
        tip = ankle + np.array([0.0, -size.toe, -size.ankle])
        found |= {
            f"clavicle.{side}": ("chest", chest + size.shoulder[side], shoulder),
            f"upper_arm.{side}": (f"clavicle.{side}", shoulder, elbow),
            f"forearm.{side}": (f"upper_arm.{side}", elbow, wrist),
            f"hand.{side}": (f"forearm.{side}", wrist, wrist + out * size.hand),
            f"thigh.{side}": ("pelvis", hip, knee),
            f"shin.{side}": (f"thigh.{side}", knee, ankle),
            f"foot.{side}": (f"shin.{side}", ankle, ball),
            f"toe.{side}": (f"foot.{side}", ball, tip),
        }
    return {role: entry for role, entry in found.items() if role not in roles_without}


def rest_of(bodies, turn=None, scale=1.0, axes=None):
    """The rest pose of such a body as armature space has it, and its roles."""
    matrix = np.eye(3) if turn is None else rot.to_matrix(rot.conjugate(turn))
    bones = [
        BoneRest(
            name=f"B-{role}",
            parent=f"B-{parent}" if parent else "",
            head=matrix @ head / scale,
            tail=matrix @ tail / scale,
            axes=np.eye(3) if axes is None else axes[role],
        )
        for role, (parent, head, tail) in bodies.items()
    ]
    roles = {role: f"B-{role}" for role in bodies}
    rolemap = RoleMap("STRUCTURE", "BIPED", roles)
    if turn is not None:
        rolemap = replace(rolemap, turn=turn)
    return Skeleton.of(bones), rolemap


def uneven(height=HEIGHT):
    """Proportions of nobody in particular, with one longer side."""
    size = standard_proportions(height)
    return replace(
        size,
        thigh={"L": 0.47, "R": 0.46},
        shin={"L": 0.43, "R": 0.44},
        arm={"L": 0.35, "R": 0.33},
        forearm={"L": 0.24, "R": 0.25},
        spine=np.array([0.0, 0.02, 0.13]),
        chest=np.array([0.0, -0.01, 0.19]),
    )


@pytest.mark.parametrize(("turned", "scale"), [(False, 1.0), (True, 1.0), (True, 0.01)])
def test_proportions_are_read_back_from_a_rest_pose(turned, scale):
    """However the armature lies and in whatever unit (+Y up, centimetres)."""
    turn = rot.about_x(np.array([np.pi / 2]))[0] if turned else None
    size = uneven()
    body = fitting.read_body(*rest_of(t_pose(size), turn, scale), scale)
    found = fitting.proportions_of(body)
    for name in ("thigh", "shin", "arm", "forearm"):
        for side in "LR":
            assert getattr(found, name)[side] == pytest.approx(getattr(size, name)[side], abs=1e-9)
    for name in ("spine", "chest", "neck", "head", "vertex"):
        assert np.allclose(getattr(found, name), getattr(size, name), atol=1e-9)
    for side in "LR":
        assert np.allclose(found.upper_arm[side], size.upper_arm[side], atol=1e-9)
        assert found.hip[side][0] == pytest.approx(size.hip[side][0], abs=1e-9)
    assert found.ball == pytest.approx(size.ball, abs=1e-9)
    # Stature follows from the legs, as for Poise's own figures.
    assert found.height == pytest.approx(0.5 * (0.90 + 0.90) / (0.245 + 0.246), rel=1e-9)


def _shoe(ankle, heel, toe):
    """Points of a flat sole, 25 mm of it rounded off at both ends, and of the leg over it."""
    ends = [(0.0, x) for x in np.linspace(-heel + 0.025, toe - 0.025, 9)]
    ends += [(0.025, -heel), (0.025, toe), (0.1, 0.0)]
    return np.array([ankle * (1.0, 0.0, 0.0) + (0.0, ankle[1] - x, z) for z, x in ends])


@pytest.mark.parametrize(("fold", "stiff"), [(None, True), (0.06, True), (0.15, False)])
@pytest.mark.parametrize(("turned", "scale"), [(False, 1.0), (True, 0.01)])
def test_soles_are_those_of_the_mesh(fold, stiff, turned, scale):
    """Of feet that fold no point of the sole is under the ground when it stands on heel or tip."""
    turn = rot.about_x(np.array([np.pi / 2]))[0] if turned else None
    size = standard_proportions(HEIGHT)
    bodies = t_pose(size if fold is None else replace(size, ball=fold))
    if fold is None:
        bodies = {role: entry for role, entry in bodies.items() if not role.startswith("toe")}
    body = fitting.read_body(*rest_of(bodies, turn, scale), scale, 0.0)
    matrix = np.eye(3) if turn is None else rot.to_matrix(turn)
    skin = {
        side: (_shoe(body.points[f"foot.{side}"], 0.09, 0.22) / scale) @ matrix + body.origin
        for side in "LR"
    }
    before = fitting.proportions_of(body)
    found, body = fitting.fit_soles(before, body, skin)
    assert body.stiff == stiff
    assert 0.0649 < found.heel < 0.0901 and 0.1949 < found.toe < 0.2351
    assert found.ball == before.ball if not stiff else 0.1949 < found.ball < 0.2201
    for side in "LR" if stiff else "":
        points = _shoe(body.points[f"foot.{side}"], 0.09, 0.22)
        ahead = body.points[f"foot.{side}"][1] - points[:, 1]
        for pivot, angle in (found.ball, -0.6), (-found.heel, 0.3):
            high = (ahead - pivot) * np.sin(angle) + points[:, 2] * np.cos(angle)
            assert high.min() > -1e-9
    # Without a mesh there is nothing to go by.
    assert fitting.fit_soles(before, body, {"L": np.zeros((0, 3))})[0] is before


@pytest.mark.parametrize("kind", sorted(RIDING))
def test_controls_stand_at_the_joints_of_the_rig(kind):
    """Targets laid out from bone to bone end where the controls' own joints are."""
    body = fitting.read_body(*rest_of(t_pose(uneven())), 1.0)
    skeleton = build_skeleton(kind, fitting.proportions_of(body))
    followed = {one.role: one for one in fitting.follow(body, skeleton)}
    j = skeleton.joints
    for side in "LR":
        hip = followed[f"thigh.{side}"]
        knee = hip.head + hip.align @ (
            body.points[f"shin.{side}"] - body.points[f"thigh.{side}"]
        )
        assert np.allclose(hip.head, j[f"hip.{side}"], atol=1e-9)
        assert np.allclose(knee, j[f"knee_joint.{side}"], atol=1e-9)
        shin = followed[f"shin.{side}"]
        ankle = knee + shin.align @ (body.points[f"foot.{side}"] - body.points[f"shin.{side}"])
        assert np.allclose(ankle, j[f"foot.{side}"], atol=1e-9)
        # The sole lies as the equipment does.
        up = followed[f"foot.{side}"].align @ np.array([0.0, 0.0, 1.0])
        assert up @ skeleton.facing[f"foot.{side}"][:, 2] == pytest.approx(1.0, abs=1e-9)
    for one in followed.values():
        assert np.allclose(one.align.T @ one.align, np.eye(3), atol=1e-9)
        assert np.linalg.det(one.align) == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [BIPED, *sorted(RIDING)])
def test_both_legs_are_bent_where_one_is_shorter(kind):
    """The stance was that of two legs of the mean length: the shorter one did not reach its foot,
    its knee on the line between, and inverse kinematics did not bend it."""
    size = replace(
        standard_proportions(HEIGHT), thigh={"L": 0.44, "R": 0.41}, shin={"L": 0.44, "R": 0.42}
    )
    body = fitting.read_body(*rest_of(t_pose(size)), 1.0)
    found = fitting.proportions_of(body)
    # The soles are as far under both ankles: the foot of the shorter leg hangs in the air.
    assert found.ankle == pytest.approx(size.ankle, abs=1e-9)
    j = build_skeleton(kind, found).joints
    for side in "LR":
        hip, knee, ankle = (j[f"{part}.{side}"] for part in ("hip", "knee_joint", "foot"))
        assert np.linalg.norm(knee - hip) == pytest.approx(size.thigh[side], abs=1e-9)
        assert np.linalg.norm(ankle - knee) == pytest.approx(size.shin[side], abs=1e-9)
        assert np.linalg.norm(ankle - hip) < 0.995 * (size.thigh[side] + size.shin[side])


def test_several_bones_of_a_spine_share_what_it_does():
    """Between lumbar and thoracic control each bone turns a little farther."""
    bodies = t_pose(standard_proportions(HEIGHT))
    parent, head, tail = bodies["spine.1"]
    cut = [head + (tail - head) * s for s in (0.0, 1 / 3, 2 / 3, 1.0)]
    del bodies["spine.1"]
    above = "pelvis"
    for i in range(3):
        bodies[f"spine.{i + 1}"] = (above, cut[i], cut[i + 1])
        above = f"spine.{i + 1}"
    bodies["chest"] = (above, *bodies["chest"][1:])
    body = fitting.read_body(*rest_of(bodies), 1.0)
    skeleton = build_skeleton("SNOWBOARDER", fitting.proportions_of(body))
    followed = {one.role: one for one in fitting.follow(body, skeleton)}
    shares = [followed[f"spine.{i}"].share for i in (1, 2, 3)]
    assert shares == pytest.approx([0.0, 1 / 3, 2 / 3])
    # Angle from the lumbar to the thoracic facing, in equal parts.
    angles = [
        np.arccos((np.trace(followed["spine.1"].align.T @ followed[r].align) - 1) / 2)
        for r in ("spine.2", "spine.3", "chest")
    ]
    assert angles == pytest.approx(np.array([1, 2, 3]) * angles[0], abs=1e-6)


def test_bones_between_two_roles_go_along_with_the_first():
    """A hip joint bone between pelvis and thigh, as in motion capture skeletons."""
    rest, rolemap = rest_of(t_pose(standard_proportions(HEIGHT)))
    by_name = dict(rest.by_name)
    middle = BoneRest(
        "HipJoint", "B-pelvis", by_name["B-pelvis"].head, by_name["B-thigh.L"].head
    )
    by_name["B-thigh.L"] = replace(by_name["B-thigh.L"], parent="HipJoint", connected=True)
    body = fitting.read_body(Skeleton.of([*by_name.values(), middle]), rolemap, 1.0)
    via = next(role for role, bone in body.bones.items() if bone == "HipJoint")
    assert body.carriers[via] == "pelvis"
    assert f"thigh.{'L'}" not in body.loose
    skeleton = build_skeleton("SKIER", fitting.proportions_of(body))
    followed = {one.role: one for one in fitting.follow(body, skeleton)}
    assert np.allclose(followed[via].align, followed["pelvis"].align)


def test_a_pelvis_that_is_connected_moves_what_it_is_connected_to():
    """Blender ignores the location of a connected bone."""
    rest, rolemap = rest_of(t_pose(standard_proportions(HEIGHT)))
    by_name = dict(rest.by_name)
    by_name["B-pelvis"] = replace(by_name["B-pelvis"], connected=True)
    body = fitting.read_body(Skeleton.of(by_name.values()), rolemap, 1.0)
    assert "root" not in body.bones and "pelvis" not in body.loose
    via = next(role for role, bone in body.bones.items() if bone == "B-root")
    assert via in body.loose and body.carriers[via] == "pelvis"


def test_limbs_on_a_bone_with_another_role_are_held_in_their_places():
    """Thighs that hang on the spine, clavicles that hang on the neck, turn with these."""
    rest, rolemap = rest_of(t_pose(standard_proportions(HEIGHT)))
    by_name = dict(rest.by_name)
    for bone, above in (("thigh", "spine.1"), ("clavicle", "neck.1")):
        for side in "LR":
            name = f"B-{bone}.{side}"
            by_name[name] = replace(by_name[name], parent=f"B-{above}")
    body = fitting.read_body(Skeleton.of(by_name.values()), rolemap, 1.0)
    assert body.loose == {"root", "pelvis", "thigh.L", "thigh.R", "clavicle.L", "clavicle.R"}
    assert body.carriers["thigh.L"] == "pelvis" and body.carriers["clavicle.L"] == "chest"


def test_skin_between_root_and_pelvis_goes_with_the_pelvis():
    """It would stay where the root is, on the ground, while the hips move."""
    rest, rolemap = rest_of(t_pose(standard_proportions(HEIGHT)))
    by_name = dict(rest.by_name)
    pelvis = by_name["B-pelvis"]
    middle = BoneRest("Centre", "B-root", pelvis.head, pelvis.tail)
    by_name["B-pelvis"] = replace(pelvis, parent="Centre")
    for skin, carrier in (({}, "root"), ({"Centre": 1.0}, "pelvis")):
        skeleton = Skeleton.of([*by_name.values(), middle], skin=skin)
        body = fitting.read_body(skeleton, rolemap, 1.0)
        via = next(role for role, bone in body.bones.items() if bone == "Centre")
        assert body.carriers[via] == carrier
        assert (via in body.loose) == bool(skin)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"body": "QUADRUPED"}, "two legs"),
        ({"roles": {"pelvis": "B-pelvis"}}, "thigh"),
    ],
)
def test_what_is_no_biped_is_refused(change, match):
    rest, rolemap = rest_of(t_pose(standard_proportions(HEIGHT)))
    with pytest.raises(UserError, match=match):
        fitting.read_body(rest, replace(rolemap, **change), 1.0)


def test_a_leg_without_length_is_refused():
    bodies = t_pose(standard_proportions(HEIGHT))
    bodies["shin.L"] = ("thigh.L", bodies["thigh.L"][1], bodies["shin.L"][2])
    body = fitting.read_body(*rest_of(bodies), 1.0)
    with pytest.raises(UserError, match="length"):
        fitting.proportions_of(body)


@pytest.mark.parametrize("missing", [("neck.1",), ("chest",), ("spine.1", "neck.1"),
                                     ("clavicle.L", "clavicle.R"), ("toe.L", "toe.R"),
                                     ("hand.L", "hand.R"), ("root",),
                                     ("upper_arm.L", "forearm.L", "hand.L", "clavicle.L")])
@pytest.mark.parametrize("kind", sorted(RIDING))
def test_missing_optional_roles_drop_only_what_needs_them(missing, kind):
    bodies = t_pose(standard_proportions(HEIGHT), roles_without=missing)
    kept = {}
    for role, (parent, head, tail) in bodies.items():
        while parent and parent not in bodies:
            parent = t_pose(standard_proportions(HEIGHT))[parent][0]
        kept[role] = (parent, head, tail)
    body = fitting.read_body(*rest_of(kept), 1.0)
    skeleton = build_skeleton(kind, fitting.proportions_of(body))
    followed = fitting.follow(body, skeleton)
    assert {one.role for one in followed} == set(kept)
    for bone in (*skeleton.bones, *fitting.target_bones(body, skeleton, followed)):
        assert np.isfinite(bone.head).all() and np.isfinite(bone.tail).all()
        assert np.linalg.norm(bone.tail - bone.head) > 1e-4, bone.name
