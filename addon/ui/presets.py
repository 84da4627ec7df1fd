# SPDX-License-Identifier: GPL-3.0-or-later
"""Presets of turns and body style, in Blender's own preset menus.

Poise's presets lie in the package, the animator's where Blender keeps presets.
"""

from __future__ import annotations

from pathlib import Path

import bpy

from ..mapping.registry import MAPPINGS
from ..scene.figures import legs_of

# The folder that holds `presets/`, as Blender's search wants it.
ROOT = str(Path(__file__).resolve().parents[2])


def subdir(character: bpy.types.Object | None) -> str:
    """Preset folder for a kind of character, below Blender's preset folders.

    Args:
        character: the armature object; None reads as a skier.
    """
    kind = character.poise.kind if character is not None else "SKIER"
    return f"poise/{MAPPINGS[kind].group}" if kind in MAPPINGS else "poise/skier"


def gait_subdir(n_legs: int) -> str:
    """Preset folder for lists of gaits, below Blender's preset folders.

    Args:
        n_legs: number of the character's legs.
    """
    return f"poise/gait/{n_legs}_legs"


def is_gaits(path: str) -> bool:
    """Whether a preset is a list of gaits.

    Args:
        path: its file.
    """
    return Path(path).parent.parent.name == "gait"


def find(character: bpy.types.Object, name: str) -> str | None:
    """Path of a preset by file name or by the name shown in the menu.

    Args:
        character: the armature object.
        name: "carving" or "Carving".

    Returns:
        The path, or None where there is no such preset.
    """
    for folder in folders(character):
        found = bpy.utils.preset_find(name, folder) or bpy.utils.preset_find(
            name, folder, display_name=True
        )
        if found:
            return found
    return None


def alike(path: str, one: bpy.types.Object, other: bpy.types.Object) -> bool:
    """Whether a preset that suits a character suits another one, too.

    Args:
        path: the preset's file.
        one: an armature object with a motion.
        other: the one that it suits.
    """
    if is_gaits(path):
        legs = [len(legs_of(character.poise.motion_object)) for character in (one, other)]
        return legs[0] == legs[1]
    return bool(one.poise.kind) and subdir(one) == subdir(other)


def folders(character: bpy.types.Object) -> tuple[str, ...]:
    """Folders of all presets for a character, below Blender's preset folders.

    Args:
        character: the armature object.
    """
    legs = len(legs_of(character.poise.motion_object))
    return (subdir(character), gait_subdir(legs)) if legs else (subdir(character),)


def register() -> None:
    """Let Blender's preset menus find Poise's own presets."""
    bpy.utils.register_preset_path(ROOT)


def unregister() -> None:
    """Take Poise's presets out of the menus."""
    bpy.utils.unregister_preset_path(ROOT)
