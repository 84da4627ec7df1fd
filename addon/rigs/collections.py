# SPDX-License-Identifier: GPL-3.0-or-later
"""A collection for each character, with all that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable

import bpy

_MARK = "poise_character"


def make(home: bpy.types.Collection, name: str) -> bpy.types.Collection:
    """A new collection for a character.

    Args:
        home: what it is linked to.
        name: of the character.
    """
    made = bpy.data.collections.new(name)
    made[_MARK] = True
    home.children.link(made)
    return made


def home_of(scene: bpy.types.Scene, character: bpy.types.Object) -> bpy.types.Collection:
    """Where the collection of another character like one is to be linked: beside its own.

    Args:
        scene: the operator's scene.
        character: the armature object.
    """
    own = [collection for collection in character.users_collection if _MARK in collection]
    for home in (scene.collection, *scene.collection.children_recursive):
        if any(collection in home.children.values() for collection in own):
            return home
    return scene.collection


def tidy(found: Iterable[bpy.types.Collection]) -> None:
    """Remove those of characters that nothing is left in.

    Args:
        found: collections.
    """
    for collection in found:
        if _MARK in collection and not collection.objects and not collection.children:
            bpy.data.collections.remove(collection)
