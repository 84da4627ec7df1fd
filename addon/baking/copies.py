# SPDX-License-Identifier: GPL-3.0-or-later
"""A second character like the first: rig, meshes, equipment, motions, and bakes of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import bpy

from .. import motions
from ..bake import beside
from ..baked import baked_of, holder_of
from ..errors import UserError
from ..rigs import collections
from ..rigs.controls import control_rig
from ..rigs.equipment import own_equipment
from ..shots import gates
from .current import rigs_of

# What Blender would let original and copy share, where the preferences say so.
_OF_THEIR_OWN = tuple(
    f"use_duplicate_{kind}" for kind in ("action", "armature", "curve", "material", "mesh")
)
_NUMBER = "poise_copied"


def duplicate(
    context: bpy.types.Context, character: bpy.types.Object, *, shared: bool = False
) -> bpy.types.Object:
    """Copy a character with all that is its own; trails, cameras and footprints stay behind.

    Args:
        context: Blender's context, in Object Mode; copies are selected afterwards.
        character: the armature object.
        shared: let the copy's motions go along the same curves and through the same gates
            instead of copies of these.

    Returns:
        The copy, in a collection of its own.

    Raises:
        UserError: the character is in no collection of this scene.
    """
    if context.scene not in character.users_scene:
        raise UserError(f"{character.name} is not in this scene: link it to a collection")
    moved = motions.motions_of(character)
    leading = [] if shared else _leading(moved)
    parts = list(dict.fromkeys([*_body(character), *moved, *leading]))
    copies = _copied(context, parts)
    copy, rig = copies[character], control_rig.rig_of(copies[character])
    home = collections.make(collections.home_of(context.scene, character), (rig or copy).name)
    for obj in copies.values():
        for collection in obj.users_collection:
            collection.objects.unlink(obj)
        home.objects.link(obj)
    for original in moved:
        motion = copies[original]
        motion.poise_motion.gait.footprint_collection = None
        motions.part(motion)
        _bake_again(original, motion)
        if not shared:
            _gates(context.scene, motion, copies)
    chosen = [copy, *(copies[obj] for obj in (*moved, *leading))]
    context.view_layer.update()
    for obj in context.view_layer.objects:
        obj.select_set(obj in chosen or obj == rig)
    context.view_layer.objects.active = copy
    return copy


def _body(character) -> Iterator[bpy.types.Object]:
    """The character, the rig that it drives, and what they carry."""
    carried = [obj for found in own_equipment.attached(character).values() for obj in found]
    for root in (character, control_rig.rig_of(character), *carried):
        if root is not None:
            within = (root, *root.children_recursive)
            yield from (o for o in within if o.type != "CAMERA" and o.library is None)


def _leading(moved) -> list[bpy.types.Object]:
    """Curves and gates that lead motions."""
    found: list[bpy.types.Object | None] = []
    for settings in (motion.poise_motion for motion in moved):
        found += [settings.path.curve, settings.gait.path]
        found += settings.path.gates.all_objects if settings.path.gates is not None else []
    return [obj for obj in dict.fromkeys(found) if obj is not None and obj.library is None]


def _copied(context, parts) -> dict[bpy.types.Object, bpy.types.Object]:
    """Original -> copy; copies point to copies. Hidden ones are copied, too."""
    layer = context.view_layer
    shelf = bpy.data.collections.new("Poise")
    context.scene.collection.children.link(shelf)
    for obj in parts:
        shelf.objects.link(obj)
    layer.update()
    flags = [(obj.hide_get(), obj.hide_viewport, obj.hide_select) for obj in parts]
    for number, obj in enumerate(parts):
        obj[_NUMBER] = number
        obj.hide_viewport = obj.hide_select = False
    layer.update()
    for obj in layer.objects:
        if obj in parts:
            obj.hide_set(False)
        obj.select_set(obj in parts)
    layer.objects.active = parts[0]
    with _all_their_own(context.preferences):
        bpy.ops.object.duplicate(linked=False)
    made = {obj[_NUMBER]: obj for obj in layer.objects.selected}
    for number, (obj, (hidden, viewport, select)) in enumerate(zip(parts, flags, strict=True)):
        for each in (obj, made[number]):
            del each[_NUMBER]
            each.hide_set(hidden)
            each.hide_viewport, each.hide_select = viewport, select
    bpy.data.collections.remove(shelf)
    return {obj: made[number] for number, obj in enumerate(parts)}


@contextmanager
def _all_their_own(preferences) -> Iterator[None]:
    """Have Blender copy what belongs to objects with them, whatever its user prefers."""
    edit, dirty = preferences.edit, preferences.is_dirty
    former = {name: getattr(edit, name) for name in _OF_THEIR_OWN}
    try:
        for name in former:
            setattr(edit, name, True)
        yield
    finally:
        for name, value in former.items():
            setattr(edit, name, value)
        preferences.is_dirty = dirty


def _bake_again(original, motion) -> None:
    """Let a copied bake be as up to date as the original is: drivers tell names of objects."""
    for bones, rigs in enumerate(zip(rigs_of(original), rigs_of(motion), strict=True)):
        before, after = baked_of(original, bool(bones)), baked_of(motion, bool(bones))
        if before is None or after is None or beside.has_changed(rigs[0], before):
            continue
        record = replace(after.record, beside=beside.digest_of(rigs[1], after))
        holder_of(motion, bool(bones)).record = record.to_json()


def _gates(scene, motion, copies) -> None:
    """Let a copied motion go through copies of the gates."""
    path = motion.poise_motion.path
    if path.gates is None:
        return
    found = [copies[obj] for obj in path.gates.all_objects]
    path.gates = None
    for obj in found:
        gates.collection_of(scene, motion).objects.link(obj)
