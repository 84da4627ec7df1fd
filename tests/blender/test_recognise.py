# SPDX-License-Identifier: GPL-3.0-or-later
"""Rigs that other people made, imported and recognised.

The files are not part of the project: POISE_RIGS names their folder, and tests
skip where it is missing. Its rig_roles.json says which bone plays which role.
"""

from dataclasses import replace

import bpy
import numpy as np
import pytest
from poise.addon.rigs.recognise import RoleMap, Skeleton, recognise
from poise.addon.rigs.skeletons import read_skeleton
from poise.solvers import rotations
from rig_files import FOLDER, KIN, KNOWN, bring_in, expected, expected_controls

PLAIN = [name for name, roles in KNOWN.items() if "com" not in roles]
RIGIFY = [name for name, roles in KNOWN.items() if "com" in roles]

pytestmark = pytest.mark.skipif(not KNOWN, reason="no rigs to import: POISE_RIGS names them")

KINDS = {"cmu_walk/02_01.bvh": "BVH", "animateddrawings_bvh/zombie.bvh": "BVH"}
# Two bones of the spine lie over the forelegs: their shape does not tell them from a neck.
SHAPE_MISSES = {
    "quaternius_animals/Horse.glb": {"chest", "spine.2", "neck.1", "neck.2", "neck.3"},
    "quaternius_animals/Wolf.glb": {"chest", "spine.2", "neck.1", "neck.2", "neck.3"},
}


def report(name: str, found: RoleMap, wanted: dict[str, str], how: str) -> set[str]:
    """Print a line of the table; the roles that are wrong or missing."""
    wrong = {role for role in wanted if role in found.roles and found.roles[role] != wanted[role]}
    missing = set(wanted) - set(found.roles)
    print(
        f"\n{name:34} {how:6} {found.kind:18} {found.body:10} "
        f"right {len(wanted) - len(wrong) - len(missing):3} wrong {len(wrong)} "
        f"missing {len(missing)} unsure {len(found.unsure)}"
    )
    return wrong | missing


def nameless(skeleton: Skeleton) -> tuple[Skeleton, dict[str, str]]:
    """A skeleton whose bones are called B0, B1 and so on, and which is which."""
    names = {bone.name: f"B{number}" for number, bone in enumerate(skeleton.bones)}
    bones = [replace(bone, name=names[bone.name], parent=names.get(bone.parent, ""), targets=())
             for bone in skeleton.bones]
    skin = {names[name]: weight for name, weight in skeleton.skin.items()}
    return Skeleton.of(bones, skin, skeleton.upright), names


def facing(obj: bpy.types.Object, found: RoleMap) -> tuple[np.ndarray, np.ndarray]:
    """Character's up and forward in the world."""
    back = rotations.conjugate(found.turn)
    world = np.array(obj.matrix_world, dtype=float)[:3, :3]
    up, forward = (
        world @ rotations.rotate(back, np.array(axis)) for axis in ((0, 0, 1.0), (0, -1.0, 0))
    )
    return up / np.linalg.norm(up), forward / np.linalg.norm(forward)


@pytest.mark.parametrize("name", PLAIN)
def test_imported_rig(scene, name):
    obj = bring_in(name)
    bpy.context.view_layer.update()
    skeleton = read_skeleton(obj)
    wanted = expected(KNOWN[name])
    found = recognise(skeleton)
    assert not report(name, found, wanted, "names")
    assert not found.missing
    assert found.kind == KINDS.get(name, "STRUCTURE")
    assert found.body == {"biped": "BIPED", "quadruped": "QUADRUPED"}[KNOWN[name]["kind"]]
    for girdle in ("hind", "fore"):
        for side in "LR":
            foot = KNOWN[name].get(f"{girdle}_foot", {}).get(side)
            assert foot is None or found.leg(girdle, side)[-1] == foot
    controls = {*KNOWN[name].get("poles", ())}
    assert not controls & set(found.roles.values())

    up, forward = facing(obj, found)
    if name.endswith((".glb", ".gltf")):
        assert up @ [0.0, 0.0, 1.0] > 0.95  # glTF stands upright once it is imported
    heads = {role: np.array(obj.matrix_world @ obj.data.bones[bone].head_local)
             for role, bone in found.roles.items()}
    if found.body == "QUADRUPED":
        assert (heads["head"] - heads["pelvis"]) @ forward > 0.0
    assert (heads["head"] - heads["pelvis"]) @ up > 0.0

    blank, names = nameless(skeleton)
    again = recognise(blank)
    misses = report(name, again, {role: names[bone] for role, bone in wanted.items()}, "shape")
    assert misses <= SHAPE_MISSES.get(name, set())
    assert misses <= again.unsure | set(wanted) - set(again.roles)
    assert again.turn == pytest.approx(found.turn, abs=1e-6)


@pytest.mark.parametrize("name", RIGIFY)
def test_rigify(scene, name):
    obj = bring_in(name)
    roles = KNOWN[name]
    found = recognise(read_skeleton(obj))
    report(name, found, {}, "names")
    human = roles["kind"] == "biped"
    assert found.kind == ("RIGIFY_HUMAN" if human else "RIGIFY_QUADRUPED")
    assert not found.missing
    assert all(bone.startswith("DEF-") for role, bone in found.roles.items() if role != "root")
    wanted = expected_controls(roles)
    for side in "LR":
        if human:
            assert found.leg("", side) == [f"DEF-{bone}.{side}"
                                           for bone in ("thigh", "shin", "foot", "toe")]
        else:
            assert found.leg("hind", side) == [
                f"DEF-{bone}.{side}"
                for bone in ("thigh", "lower_leg", "hind_foot", "r_toe", "r_hoof")]
            assert found.leg("fore", side) == [
                f"DEF-{bone}.{side}"
                for bone in ("upper_arm", "forearm", "forefoot", "f_toe", "f_hoof")]
    assert {key: found.controls.get(key) for key in wanted} == wanted
    for key, bone in found.controls.items():
        assert bone in obj.pose.bones
        if "_switch." in key:
            assert "IK_FK" in obj.pose.bones[bone]
    assert found.turn == pytest.approx([1.0, 0.0, 0.0, 0.0])


@pytest.mark.parametrize("name", KIN)
def test_files_beside_those_of_the_table(scene, name):
    """The same rigs with other figures: roles as for their kin."""
    found = recognise(read_skeleton(bring_in(name)))
    assert not report(name, found, expected(KNOWN[KIN[name]]), "names")
    assert not found.missing


@pytest.mark.parametrize("name", ["kenney_vehicles/vehicle-motorcycle.glb",
                                  "milktruck/CesiumMilkTruck.gltf"])
def test_vehicles_have_no_armature(scene, name):
    try:
        bpy.ops.import_scene.gltf(filepath=str(FOLDER / name))
    except RuntimeError as error:
        pytest.skip(f"the importer refuses it: {error}")
    assert not [obj for obj in bpy.data.objects if obj.type == "ARMATURE"]


def test_reading_changes_nothing(scene):
    """Neither mode nor pose nor any value: reading is looking."""
    obj = bring_in("quaternius_man/Casual.glb")
    bpy.context.view_layer.objects.active = obj
    before = [tuple(value for row in bone.matrix for value in row) for bone in obj.pose.bones]
    first = read_skeleton(obj)
    assert [tuple(v for row in b.matrix for v in row) for b in obj.pose.bones] == before
    assert obj.mode == "OBJECT"
    again = read_skeleton(obj)
    assert [bone.name for bone in again.bones] == [bone.name for bone in first.bones]
    assert again.skin == first.skin
    # Rigid parts count as skin too: the head of this figure has weights.
    assert first.skin["Head"] > first.skin["Neck"]
