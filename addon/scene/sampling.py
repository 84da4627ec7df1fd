# SPDX-License-Identifier: GPL-3.0-or-later
"""Animated settings as arrays, sampled wherever the solver steps.

Keyed settings are read from their F-curves, at subframes too. Driven ones
(and those under NLA strips) only have a value once the scene is evaluated, so
they are read in one pass over whole frames and interpolated; the pass is
remembered until something in the file changes.
"""

from __future__ import annotations

import bpy
import numpy as np

from .. import compat, keyframes
from ..context import keep_frame


def animated_settings(
    scene: bpy.types.Scene,
    motion: bpy.types.Object,
    group: str,
    names: tuple[str, ...],
    frames: np.ndarray,
) -> dict[str, np.ndarray]:
    """Values of a motion's animated settings at given (sub)frames.

    Args:
        scene: the operator's scene.
        motion: the Motion object.
        group: settings group on `poise_motion` ("turns").
        names: settings of that group to look for.
        frames: (n,) frame numbers, fractions allowed, ascending.

    Returns:
        name -> (n,) values in Blender units, for animated settings only.
    """
    data = motion.animation_data
    if data is None:
        return {}
    paths = {f"poise_motion.{group}.{name}": name for name in names}
    driven = {d.data_path for d in data.drivers if not d.mute} & paths.keys()
    if any(not track.mute and len(track.strips) for track in data.nla_tracks) and data.use_nla:
        # Strips are blended by Blender: what they touch is read as evaluated.
        for track in data.nla_tracks:
            for strip in track.strips:
                if strip.action is not None:
                    curves = compat.action_fcurves(strip.action, strip.action_slot)
                    driven |= {c.data_path for c in curves} & paths.keys()
        if data.action is not None:
            curves = compat.action_fcurves(data.action, data.action_slot)
            driven |= {c.data_path for c in curves} & paths.keys()
    samples: dict[str, np.ndarray] = {}
    if data.action is not None:
        for curve in compat.action_fcurves(data.action, data.action_slot):
            name = paths.get(curve.data_path)
            if name is None or curve.mute or curve.data_path in driven or curve.is_empty:
                continue
            samples[name] = keyframes.evaluate(curve, frames)
    if driven:
        samples.update(_evaluated(scene, motion, group, [paths[p] for p in driven], frames))
    return samples


def _evaluated(scene, motion, group, names, frames) -> dict[str, np.ndarray]:
    """Values as Blender evaluates them at whole frames, interpolated linearly."""
    whole = np.arange(np.floor(frames[0]), np.ceil(frames[-1]) + 1)
    values = np.empty((len(whole), len(names)))
    with keep_frame(scene):
        for row, frame in enumerate(whole.astype(int).tolist()):
            scene.frame_set(frame)
            evaluated = motion.evaluated_get(bpy.context.evaluated_depsgraph_get())
            settings = getattr(evaluated.poise_motion, group)
            values[row] = [getattr(settings, name) for name in names]
    return {name: np.interp(frames, whole, values[:, i]) for i, name in enumerate(names)}


def is_animated(motion: bpy.types.Object, group: str, names: tuple[str, ...]) -> set[str]:
    """Names of the settings that have keys or drivers.

    Args:
        motion: the Motion object.
        group: settings group on `poise_motion`.
        names: settings of that group to look for.
    """
    data = motion.animation_data
    if data is None:
        return set()
    paths = {f"poise_motion.{group}.{name}": name for name in names}
    found = {d.data_path for d in data.drivers if not d.mute}
    actions = [(data.action, data.action_slot)] if data.action else []
    for track in data.nla_tracks:
        actions += [(s.action, s.action_slot) for s in track.strips if s.action]
    for action, slot in actions:
        found |= {c.data_path for c in compat.action_fcurves(action, slot)}
    return {paths[p] for p in found & paths.keys()}
