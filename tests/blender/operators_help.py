# SPDX-License-Identifier: GPL-3.0-or-later
"""What the tests of operators share: characters, refusals, keys, undo."""

from __future__ import annotations

import atexit
import re
import shutil
import tempfile
from pathlib import Path

import bpy
import numpy as np
import pytest
from bake_rigs import skins_off, world_errors
from snapshot import diff, snapshot

FPS = 24.0

# Blender counts a material's embedded node tree as unused after an undo, and
# forgets whose particles the tool settings edit. Dimensions are what an object's
# last evaluation left: of one that is put away they are those of another time.
UNDO_NOISE = (r"node_tree\.users$", r"particle_edit\.object$", r"\.dimensions$")


def add(kind="SKIER", frames=37, **turns):
    """Add a character; returns the armature and its Motion object.

    Args:
        kind: kind of character.
        frames: frames of its motion, from frame 1.
        turns: settings of the turns.
    """
    bpy.ops.poise.character_add(kind=kind)
    rig = bpy.context.object
    motion = rig.poise.motion_object
    settings = motion.poise_motion
    settings.frame_start, settings.frame_end = 1, frames
    for name, value in turns.items():
        setattr(settings.turns, name, value)
    return rig, motion


_FILES: dict[str, str] = {}


def load(kind="SKIER", frames=37, **turns):
    """Open a file with a character in it, which is built once a process; see `add`.

    Building takes a second, opening the file a moment. References to what was
    in Blender before are void afterwards.
    """
    if kind not in _FILES:
        bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
        add(kind, frames=37)
        folder = tempfile.mkdtemp(prefix="poise-files-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        _FILES[kind] = str(Path(folder) / f"{kind}.blend")
        bpy.ops.wm.save_as_mainfile(filepath=_FILES[kind], copy=True)
    bpy.ops.wm.open_mainfile(filepath=_FILES[kind])
    rig = bpy.context.object
    motion = rig.poise.motion_object
    settings = motion.poise_motion
    settings.frame_end = frames
    for name, value in turns.items():
        setattr(settings.turns, name, value)
    # What follows is undone to here.
    bpy.ops.ed.undo_push(message="opened")
    return rig, motion


def activate(*objects):
    """Select some objects; the last one becomes the active one."""
    layer = bpy.context.view_layer
    for obj in layer.objects:
        obj.select_set(obj in objects)
    layer.objects.active = objects[-1] if objects else None


def settled():
    """A snapshot once Blender has evaluated everything."""
    bpy.context.view_layer.update()
    return snapshot()


def call(name):
    """The operator `bpy.ops.poise.<name>`."""
    return getattr(bpy.ops.poise, name)


def sentence(error):
    """The one sentence of a refusal, without Blender's "Error: ".

    A traceback, a second line or an empty text fails the test.
    """
    text = str(error).strip()
    assert "Traceback" not in text and "Error: Python" not in text, text
    text = text.removeprefix("Error: ")
    assert text and "\n" not in text, text
    return text


def refused(operator, match, ignore=(), /, **arguments):
    """Call an operator that has to refuse with one sentence and change nothing.

    Args:
        operator: its name, without "poise.".
        match: regular expression that the sentence has to contain.
        ignore: see `snapshot.diff`.
        arguments: of the operator.

    Returns:
        The sentence.
    """
    before = settled()
    with pytest.raises(RuntimeError) as caught:
        call(operator)(**arguments)
    text = sentence(caught.value)
    assert re.search(match, text), text
    changed = diff(before, settled(), ignore)
    assert not changed, changed[:8]
    return text


def undoable(operator, /, **arguments):
    """Call an operator as the user does, with an undo step of its own.

    An undo step with the present state is pushed before.
    """
    bpy.ops.ed.undo_push(message="before")
    return call(operator)("EXEC_DEFAULT", True, **arguments)


def curves_of(rig):
    """F-curves of the action that a rig plays."""
    from poise.addon import compat

    data = rig.animation_data
    return compat.action_fcurves(data.action, data.action_slot)


def keys_of(curves):
    """(data path, index) -> keys with handles as a (k, 6) array."""
    found = {}
    for curve in curves:
        points = curve.keyframe_points
        columns = []
        for name in ("co", "handle_left", "handle_right"):
            flat = np.empty(2 * len(points), np.float32)
            points.foreach_get(name, flat)
            columns.append(flat.reshape(-1, 2))
        found[curve.data_path, curve.array_index] = np.concatenate(columns, axis=1)
    return found


def assert_same_keys(first, second):
    """Two results of `keys_of` are identical, bit for bit."""
    assert first.keys() == second.keys()
    different = [key for key in first if not np.array_equal(first[key], second[key])]
    assert different == []


def solved(motion):
    """A motion, gathered and solved as the bake does it."""
    from poise.addon import pipeline

    return pipeline.solve(pipeline.gather(bpy.context, motion))


def errors_by_role(motion, frames=None):
    """Role -> largest world-space error of a baked rig in metres and radians.

    Args:
        motion: the Motion object.
        frames: frames from the start, halves allowed; None for all.
    """
    from poise.addon import baking

    done = solved(motion)
    return {
        role: _errors(motion, done, {role: bone}, frames)
        for role, bone in baking.bindings_of(motion).items()
    }


def errors_of(motion, frames=None):
    """Largest world-space error of a baked rig in metres and radians.

    Args:
        motion: the Motion object.
        frames: frames from the start, halves allowed; None for all.
    """
    from poise.addon import baking

    return _errors(motion, solved(motion), baking.bindings_of(motion), frames)


def _errors(motion, done, bindings, frames):
    from poise.addon.rigs import characters
    from poise.solvers import rotations

    rig, job = motion.poise_motion.character, done.job
    return world_errors(
        rig,
        bindings,
        done.tracks,
        job.start_frame,
        frames=frames,
        axes=rotations.to_matrix(characters.rest_axes(rig)),
        unit=job.numbers.unit_scale,
    )


def assert_follows(motion, far=1e-3, wide=5e-3, frames=None):
    """A baked rig is where its motion says: positions in metres, directions in radians."""
    errors = errors_of(motion, frames)
    assert errors[0] < far and errors[1] < wide, errors


@skins_off()
def world_path(rig, bone, frames):
    """(n, 3) world position of a bone's head, in Blender units, at some frames."""
    scene = bpy.context.scene
    before = scene.frame_current_final
    places = []
    for frame in frames:
        whole = int(np.floor(frame))
        scene.frame_set(whole, subframe=float(frame - whole))
        evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places.append(evaluated.matrix_world @ evaluated.pose.bones[bone].head)
    scene.frame_set(int(np.floor(before)), subframe=float(before - np.floor(before)))
    return np.array(places)
