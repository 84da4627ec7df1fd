# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones of other people's rigs do between their keys.

A foot that stands does not move: the point of it that is on the ground in the middle of a
contact stays there from touchdown to liftoff, at quarter frames too. How far a bone is off
elsewhere is told by a bake of the same motion with so many keys that none is off.
"""

import importlib

import bpy
import numpy as np
import pytest
from test_own_rigs import followers, human, places, set_up

QUARTER, LAST = 0.25, 37


def bake(motion, mode="DENSE", between="CONTACTS"):
    """Bake to bones; the line of the problem list on what is off between keys, or None."""
    settings = motion.poise_motion
    settings.key_mode, settings.keys_between = mode, between
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    return next((p for p in settings.problems if p.code == "BETWEEN_KEYS"), None)


def go_to(frame):
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=float(frame - whole))


def slip(poise, rig, controls, motion):
    """Largest way of a point of a foot on the ground from where it was in mid-contact."""
    pipeline = importlib.import_module(f"{poise.__name__}.addon.pipeline")
    tracks = pipeline.solve(pipeline.gather(bpy.context, motion)).tracks
    known, far = followers(poise, controls), 0.0
    contacts = [c for c in tracks.contacts if c.role.startswith("toe_tip.")]
    assert {c.role for c in contacts} == {"toe_tip.L", "toe_tip.R"}
    for contact in contacts:
        bone = known[f"toe.{contact.role[-1]}"][0]
        begin, end = 1.0 + 24.0 * contact.start, 1.0 + 24.0 * contact.end
        quarters = np.arange(np.ceil(begin / QUARTER), np.floor(end / QUARTER) + 1) * QUARTER
        frames = np.union1d(quarters, [begin, end])
        there = []
        for frame in frames:
            go_to(frame)
            there.append(np.array(places(rig, [bone])[bone]))
        middle = np.array(there)[len(frames) // 2]
        point = np.linalg.solve(middle, np.append(contact.position, 1.0))
        moved = (np.array(there) @ point)[:, :3] - contact.position
        far = max(far, float(np.linalg.norm(moved, axis=1).max()))
    return far


@pytest.fixture
def walker(poise, scene):
    human()
    return set_up("BIPED", LAST)


@pytest.mark.parametrize("mode", ["DENSE", "SPARSE"])
@pytest.mark.parametrize("root", ["HIPS", "OBJECT"])
def test_feet_that_stand_do_not_slide_between_frames(poise, walker, mode, root):
    rig, controls, motion = walker
    motion.poise_motion.root_motion = root
    line = bake(motion, mode)
    assert slip(poise, rig, controls, motion) <= 1e-3
    assert line is None or line.severity == "INFO", "nothing in contact is off"


def test_keys_on_whole_frames_alone_say_what_slides(poise, walker):
    rig, controls, motion = walker
    line = bake(motion, between="NONE")
    assert line is not None and line.severity == "WARNING"
    assert "in contact" in line.message
    assert slip(poise, rig, controls, motion) > 2e-3
    action = rig.animation_data.action
    curves = [c for bag in action.layers[0].strips[0].channelbags for c in bag.fcurves]
    assert all(key.co.x == round(key.co.x) for curve in curves for key in curve.keyframe_points)


def test_the_line_names_bone_frame_and_distance(poise, scene):
    human()
    rig, _, motion = set_up("CYCLIST", LAST)
    assert bake(motion, between="ANYWHERE") is None
    exact = {}
    bones = [bone.name for bone in rig.pose.bones]
    for frame in np.arange(1.0, LAST, 0.5):
        go_to(frame)
        exact[frame] = {name: np.array(m) for name, m in places(rig, bones).items()}
    line = bake(motion, between="CONTACTS")
    assert line.severity == "INFO", "a cyclist's feet stand on no ground"
    far = (0.0, "", 0.0)
    for frame, there in exact.items():
        go_to(frame)
        for name, matrix in places(rig, bones).items():
            for end in (0.0, rig.data.bones[name].length):
                point = np.array([0.0, end, 0.0, 1.0])
                off = float(np.linalg.norm((np.array(matrix) - there[name]) @ point))
                far = max(far, (off, name, frame))
    told = float(line.message.split("up to ")[1].split(" mm")[0]) / 1000.0
    assert told == pytest.approx(far[0], abs=1e-4)
    assert line.frame % 1.0 == 0.5
