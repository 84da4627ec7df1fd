# SPDX-License-Identifier: GPL-3.0-or-later
"""Auto Keying of bones that were posed, by the rules of Blender's own transforms."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

from ... import compat
from .channels import bone_of


def autokey(context: bpy.types.Context, rig: bpy.types.Object, paths: Iterable[str]) -> int:
    """Key properties at the current frame if Auto Keying is on.

    Args:
        context: Blender's context.
        rig: the armature object.
        paths: data paths of what was posed.

    Returns:
        How many were keyed.
    """
    scene, edit = context.scene, context.preferences.edit
    tools = scene.tool_settings
    if not tools.use_keyframe_insert_auto:
        return 0
    options = {
        name for name, on in (
            ("INSERTKEY_REPLACE", tools.auto_keying_mode == "REPLACE_KEYS"),
            ("INSERTKEY_NEEDED", edit.use_auto_keyframe_insert_needed),
            ("INSERTKEY_CYCLE_AWARE", tools.use_keyframe_cycle_aware),
        ) if on
    }
    if edit.use_keyframe_insert_available:
        data = rig.animation_data
        curves = [] if data is None else compat.action_fcurves(data.action, data.action_slot)
        known = {curve.data_path for curve in curves}
        paths = [path for path in paths if path in known]
    return sum(
        rig.keyframe_insert(
            path, frame=scene.frame_current_final, group=bone_of(path), options=options,
            keytype=tools.keyframe_type,
        )
        for path in paths if _asked_for(scene, path)
    )


def _asked_for(scene: bpy.types.Scene, path: str) -> bool:
    """Whether the active keying set has a property, where only that is to be keyed."""
    chosen = scene.keying_sets_all.active
    if not scene.tool_settings.use_keyframe_insert_keyingset or chosen is None:
        return True
    if chosen.is_path_absolute:
        return any(one.data_path == path for one in chosen.paths)
    called = chosen.bl_idname
    part = "Loc" if path.endswith(".location") else "Rot"
    return part in called or called in ("Available", "WholeCharacter", "WholeCharacterSelected")
