# SPDX-License-Identifier: GPL-3.0-or-later
"""Tails that Overlap swings beside those that artists keyed: angles over one stride.

    python3 tools/environments.py blender tools/tails.py OUT [--settle S] [--ratio R]

Each clip of a shared rig plays over and over. Its tail is measured against what carries it as
its artist keyed it; then the tail's keys are taken away, all but how it stands on the average,
and it is an overlap. Angles are those of each bone up and down (pitch) and to the side (yaw).
OUT gets a picture of curves for each clip.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import installed

installed.start()

import bpy
import numpy as np
import rig_files
from PIL import Image, ImageDraw

CLIPS = (
    ("fox/Fox.glb", "Walk", "b_Tail01_012"), ("fox/Fox.glb", "Run", "b_Tail01_012"),
    ("quaternius_animals/Wolf.glb", "AnimalArmature|Walk", "Tail1"),
    ("quaternius_animals/Wolf.glb", "AnimalArmature|Gallop", "Tail1"),
    ("quaternius_animals/Horse.glb", "AnimalArmature|Walk", "Tail1"),
    ("quaternius_animals/Horse.glb", "AnimalArmature|Gallop", "Tail1"),
)
STRIDES = 6  # until it swings evenly
PANEL = (460, 260)


def play(rig, name: str, frames: float):
    """Let a clip play over and over from frame 1, alone.

    Args:
        rig: the armature object.
        name: of the clip.
        frames: how many times.
    """
    from poise.addon import compat

    data = rig.animation_data
    for track in list(data.nla_tracks):
        data.nla_tracks.remove(track)
    clip = bpy.data.actions[name]
    data.action = None
    strip = data.nla_tracks.new().strips.new(name, 1, clip)
    strip.action_slot = strip.action_suitable_slots[0]
    strip.repeat = frames
    return clip, list(compat.action_fcurves(clip, strip.action_slot))


def angles(rig, tail: list[str], frames: np.ndarray) -> np.ndarray:
    """(n, k, 2) pitch and yaw of bones against their carrier, from frame to frame, degrees.

    Args:
        rig: the armature object.
        tail: names of the bones, the carrier's child first.
        frames: (n,) when.
    """
    scene, rest = bpy.context.scene, rig.data.bones
    carrier = rest[tail[0]].parent.name
    upright = np.array(rig.matrix_world.to_3x3().normalized() @ rest[carrier].matrix_local.to_3x3())
    found = np.empty((len(frames), len(tail), 2))
    for row, frame in enumerate(frames):
        scene.frame_set(int(frame), subframe=float(frame % 1.0))
        shown = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        heads = [np.array(shown.pose.bones[name].head) for name in tail]
        last = shown.pose.bones[tail[-1]]
        # The last bone's own way: from its head on as it is turned, along the one before at rest.
        on = np.array(rest[tail[-1]].matrix_local.to_3x3()).T @ np.array(
            rest[tail[-1]].head_local - rest[tail[-2]].head_local
        )
        heads.append(heads[-1] + np.array(last.matrix.to_3x3().normalized()) @ on)
        turn = np.array(shown.pose.bones[carrier].matrix.to_3x3().normalized())
        way = np.diff(heads, axis=0) @ turn @ upright.T
        way /= np.linalg.norm(way, axis=1)[:, None]
        found[row, :, 0] = np.degrees(np.arcsin(np.clip(way[:, 2], -1.0, 1.0)))
        found[row, :, 1] = np.degrees(np.arctan2(way[:, 0], np.abs(way[:, 1])))
    return found


def stand_still(rig, curves, tail: list[str], frames: np.ndarray) -> None:
    """Take a tail's keys away and let it stand as it does on the average.

    Args:
        rig: the armature object.
        curves: F-curves of the clip.
        tail: names of its bones.
        frames: (n,) one stride.
    """
    for name in tail:
        own = [c for c in curves if c.data_path.startswith(f'pose.bones["{name}"]')]
        for curve in own:
            mean = float(np.mean([curve.evaluate(f - 1.0) for f in frames]))
            curve.keyframe_points.clear()
            curve.keyframe_points.insert(0.0, mean)
            curve.update()


def measure(file: str, clip: str, first: str, settle: float | None, ratio: float | None):
    """(name, artist's angles, overlap's angles) of one clip over a stride.

    Args:
        file: of the rig.
        clip: name of its action.
        first: first bone of the tail.
        settle: of the overlap; None for its own.
        ratio: likewise.
    """
    from poise.addon import compat

    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    rig = rig_files.bring_in(file)
    tail = [first]
    while rig.data.bones[tail[-1]].children:
        tail.append(rig.data.bones[tail[-1]].children[0].name)
    start, end = bpy.data.actions[clip].frame_range
    stride = end - start
    _action, curves = play(rig, clip, STRIDES)
    frames = 1.0 + (STRIDES - 2) * stride + np.linspace(0.0, stride, 41)
    artist = angles(rig, tail, frames)
    stand_still(rig, curves, tail, 1.0 + np.linspace(0.0, stride, 41))
    bpy.ops.object.mode_set(mode="POSE")
    for bone in rig.pose.bones:
        compat.select_bone(bone, bone.name == first)
    rig.data.bones.active = rig.data.bones[first]
    bpy.ops.poise.motion_add(kind="POSE_TIMING")
    motion = next(o for o in bpy.data.objects if o.poise_motion.character == rig)
    motion.poise_motion.frame_end = int(1 + STRIDES * stride)
    asked = {"settle": settle, "ratio": ratio}
    bpy.ops.poise.overlap_add(**{k: v for k, v in asked.items() if v is not None})
    bpy.ops.poise.bake()
    return f"{Path(file).stem} {clip.split('|')[-1]}", artist, angles(rig, tail, frames)


def lag(values: np.ndarray) -> tuple[float, float]:
    """How far an angle swings, and where in the stride it is highest: first harmonic.

    Args:
        values: (n,) over one stride, both ends.
    """
    wave = np.exp(-2j * np.pi * np.arange(len(values) - 1) / (len(values) - 1))
    first = 2.0 * np.mean(values[:-1] * wave)
    return float(np.ptp(values)), float(-np.angle(first) / (2.0 * np.pi) % 1.0)


def picture(name: str, artist: np.ndarray, ours: np.ndarray) -> Image.Image:
    """Curves of pitch, the artist's above Poise's, from the first bone (dark) to the last.

    Args:
        name: of the clip.
        artist: (n, k, 2) degrees.
        ours: likewise.
    """
    image = Image.new("RGB", (PANEL[0], 2 * PANEL[1]), "white")
    draw = ImageDraw.Draw(image)
    both = np.concatenate((artist[:, :, 0], ours[:, :, 0]))
    low, high = float(both.min()) - 3.0, float(both.max()) + 3.0
    for row, (title, values) in enumerate((("artist", artist), ("overlap", ours))):
        top = row * PANEL[1]
        draw.text((8, top + 4), f"{name}, {title}: pitch {low:.0f} to {high:.0f} degrees", "black")
        for bone in range(values.shape[1]):
            shade = int(200 * bone / max(values.shape[1] - 1, 1))
            x = 8 + (PANEL[0] - 16) * np.linspace(0.0, 1.0, len(values))
            y = top + 24 + (PANEL[1] - 32) * (high - values[:, bone, 0]) / (high - low)
            line = list(zip(x.tolist(), y.tolist(), strict=True))
            draw.line(line, (shade, 60, 220 - shade), 2)
    return image


def main() -> None:
    """Measure all clips, print a table, and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--settle", type=float)
    parser.add_argument("--ratio", type=float)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(f"{'clip':16s} {'bone':4s} {'pitch artist':>20s} {'overlap':>20s} {'yaw artist':>11s} "
          f"{'overlap':>8s}   (swing in degrees, phase of the highest in strides)")
    for file, clip, first in CLIPS:
        if options.only not in f"{file} {clip}":
            continue
        name, artist, ours = measure(file, clip, first, options.settle, options.ratio)
        for bone in range(artist.shape[1]):
            one, two = lag(artist[:, bone, 0]), lag(ours[:, bone, 0])
            sides = (lag(each[:, bone, 1])[0] for each in (artist, ours))
            print(f"{name:16s} {bone + 1:4d} {one[0]:12.1f} at {one[1]:4.2f} {two[0]:12.1f} at "
                  f"{two[1]:4.2f} " + " ".join(f"{side:10.1f}" for side in sides))
        picture(name, artist, ours).save(options.out / f"{name.replace(' ', '_')}.png")
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
