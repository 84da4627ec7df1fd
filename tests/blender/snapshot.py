# SPDX-License-Identifier: GPL-3.0-or-later
"""One canonical snapshot of all data-blocks, for every "as it was" test.

`snapshot()` walks everything that `bpy.data` holds (values, keys, identities,
users, custom properties) through RNA into a flat dict of path -> value;
`diff()` names what two of them do not have in common. What belongs to the
window (screens, workspaces) is left out, and numbers that Blender computes
anew at every evaluation are rounded.

    before = snapshot()
    ...
    assert diff(before, snapshot()) == []
"""

from __future__ import annotations

import hashlib
import re
import warnings
from collections.abc import Iterable
from typing import NamedTuple

import bpy
import numpy as np

LEFT_OUT = {"all_ids", "window_managers", "screens", "workspaces", "libraries"}

# Properties that say nothing about the file, or only repeat what is elsewhere.
SKIPPED = {
    "rna_type", "bl_rna", "original", "preview", "depsgraph", "is_evaluated", "tag",
    "is_runtime_data", "id_data", "asset_data", "active_bone", "animation_visualization",
    "error_location", "error_rotation", "image_data", "pixels", "all_objects", "children_recursive",
    "objects_recursive", "users_scene", "users_collection", "bound_box", "icon_id", "is_valid",
    "is_dirty", "statistics", "keying_sets_all", "is_updated", "is_updated_data", "vector",
    "linear_colorspace_settings", "wireframe_color_type", "x_axis", "y_axis", "z_axis",
    "tail_local", "head_local",
    # Reading these makes attributes of the mesh.
    "uv_layer_stencil", "uv_layer_clone",
}

# What these point to is owned, and listed, elsewhere.
REFERENCED = (
    bpy.types.ActionGroup, bpy.types.ActionSlot, bpy.types.Bone, bpy.types.BoneCollection,
    bpy.types.FCurve, bpy.types.LayerCollection, bpy.types.NlaStrip, bpy.types.NlaTrack,
    bpy.types.Node, bpy.types.NodeSocket, bpy.types.PoseBone, bpy.types.ViewLayer,
    bpy.types.Constraint, bpy.types.Modifier, bpy.types.ShapeKey, bpy.types.MaterialSlot,
    bpy.types.Attribute, bpy.types.ObjectBase, bpy.types.VertexGroup,
)

# Evaluated again by Blender at every update.
COMPUTED = re.compile(
    r"(matrix|matrix_\w+|head|tail|length|dimensions|center|frame_range|curve_frame_range)$"
)
DIGITS = 4

KEY_ARRAYS = (
    ("co", 2), ("handle_left", 2), ("handle_right", 2), ("interpolation", 1), ("easing", 1),
    ("type", 1), ("handle_left_type", 1), ("handle_right_type", 1),
)
MANY = 256  # items of a collection above which they are read as arrays


def snapshot() -> dict[str, object]:
    """Everything in the file: path -> value.

    Values are numbers, strings, tuples and digests of long arrays. Data-blocks
    are `collection['name']`, those of a library `collection['name', 'library']`.
    """
    found: dict[str, object] = {}
    known: dict[str, list[_Property]] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        for prop in bpy.data.bl_rna.properties:
            if prop.type != "COLLECTION" or prop.identifier in LEFT_OUT:
                continue
            for block in getattr(bpy.data, prop.identifier):
                if isinstance(block, bpy.types.ID):
                    path = f"{prop.identifier}[{_label(block)}]"
                    _Walk(found, known).struct(path, block, block)
    for scene in bpy.data.scenes:
        for layer in scene.view_layers:
            path = f"scenes[{scene.name!r}].view_layers[{layer.name!r}]"
            found[f"{path}.active"] = _reference(layer.objects.active)
            found[f"{path}.selected"] = tuple(
                sorted(obj.name for obj in layer.objects if obj.select_get(view_layer=layer))
            )
            found[f"{path}.hidden"] = tuple(
                sorted(obj.name for obj in layer.objects if obj.hide_get(view_layer=layer))
            )
    for obj in bpy.data.objects:
        found[f"objects[{_label(obj)}].mode"] = obj.mode
    return found


def diff(
    before: dict[str, object], after: dict[str, object], ignore: Iterable[str] = ()
) -> list[str]:
    """What differs between two snapshots, one line each, sorted by path.

    Args:
        before: a snapshot.
        after: a later one.
        ignore: regular expressions; paths in which one is found do not count.
    """
    patterns = [re.compile(pattern) for pattern in ignore]
    lines = []
    for path in sorted(before.keys() | after.keys()):
        old, new = before.get(path, "(absent)"), after.get(path, "(absent)")
        if _same(old, new) or any(p.search(path) for p in patterns):
            continue
        lines.append(f"{path}: {old!r} -> {new!r}")
    return lines


def counts() -> dict[str, int]:
    """Number of data-blocks of each kind."""
    return {
        prop.identifier: len(getattr(bpy.data, prop.identifier))
        for prop in bpy.data.bl_rna.properties
        if prop.type == "COLLECTION" and prop.identifier not in LEFT_OUT
    }


def _same(a: object, b: object) -> bool:
    if a == b or (a != a and b != b):  # a number that is not one equals itself here
        return True
    return isinstance(a, tuple) and isinstance(b, tuple) and repr(a) == repr(b)


def _label(block: bpy.types.ID) -> str:
    return repr(block.name) if block.library is None else repr((block.name, block.library.name))


def _rounded(value):
    """What Blender computes, to as many digits as it computes alike each time."""
    if isinstance(value, float):
        return round(value, DIGITS) + 0.0
    if isinstance(value, tuple):
        value = tuple(round(v, DIGITS) + 0.0 for v in value)
        if any(v != v for v in value):
            # Of a matrix with a part that is no number, which others are
            # none depends on the way Blender took to compute it.
            return (float("nan"),)
    return value


def _reference(value) -> str | None:
    if value is None:
        return None
    name = getattr(value, "name", None) or getattr(value, "identifier", "")
    return f"<{type(value).__name__} {name}>"


class _Property(NamedTuple):
    """A property, asked once for all structs that have it."""

    name: str
    kind: str  # its type, or FLAGS, or ARRAY
    computed: bool


def _properties(value) -> list[_Property]:
    """Those of a struct that count."""
    found = []
    for prop in value.bl_rna.properties:
        name, kind = prop.identifier, prop.type
        if name in SKIPPED:
            continue
        if isinstance(value, bpy.types.Mesh) and kind == "COLLECTION" and (
            name not in {"materials", "color_attributes"}
        ):
            continue
        if kind == "ENUM" and prop.is_enum_flag:
            kind = "FLAGS"
        elif kind != "COLLECTION" and getattr(prop, "is_array", False):
            kind = "ARRAY"
        found.append(_Property(name, kind, COMPUTED.match(name) is not None))
    return found


class _Walk:
    def __init__(self, found: dict[str, object], known: dict[str, list[_Property]]) -> None:
        self.found, self.known = found, known
        self.seen: set[tuple[int, str]] = set()

    def struct(self, path: str, value, owner: bpy.types.ID) -> None:
        # A struct at the start of another shares its address: the type counts too.
        identity = (value.as_pointer(), value.bl_rna.identifier)
        if identity in self.seen:
            return
        self.seen.add(identity)
        if isinstance(value, bpy.types.Mesh):
            self.mesh(path, value)
        properties = self.known.get(identity[1])
        if properties is None:
            properties = self.known[identity[1]] = _properties(value)
        for prop in properties:
            if prop.name == "name" and value is owner:
                continue
            try:
                child = getattr(value, prop.name)
            except (AttributeError, RuntimeError, TypeError):
                continue
            self.property(f"{path}.{prop.name}", prop, child, owner)
        if hasattr(value, "keys") and not isinstance(value, bpy.types.bpy_prop_collection):
            self.custom(path, value)

    def property(self, path: str, prop: _Property, value, owner: bpy.types.ID) -> None:
        if prop.kind == "POINTER":
            if value is None:
                self.found[path] = None
            elif isinstance(value, bpy.types.ID):
                self.found[path] = _reference(value)
                if value.is_embedded_data:
                    self.struct(path, value, value)
            elif isinstance(value, REFERENCED):
                self.found[path] = _reference(value)
            else:
                self.struct(path, value, owner)
        elif prop.kind == "COLLECTION":
            self.collection(path, value, owner)
        elif prop.kind == "FLAGS":
            self.found[path] = tuple(sorted(value))
        else:
            if prop.kind == "ARRAY":
                value = tuple(np.array(value, dtype=float).ravel().tolist())
            self.found[path] = _rounded(value) if prop.computed else value

    def collection(self, path: str, items, owner: bpy.types.ID) -> None:
        if not len(items):
            return
        self.found[f"{path}.count"] = len(items)
        if path.endswith(".keyframe_points"):
            for name, width in KEY_ARRAYS:
                kind = np.float32 if width == 2 else np.int32
                array = np.empty(len(items) * width, kind)
                items.foreach_get(name, array)
                self.found[f"{path}.{name}"] = tuple(array.tolist())
            return
        for i, item in enumerate(items):
            if item is None:
                self.found[f"{path}[{i}]"] = None
                continue
            if isinstance(item, bpy.types.ID):
                self.found[f"{path}[{i}]"] = _reference(item)
                continue
            key = getattr(item, "name", "") or i
            if isinstance(item, bpy.types.FCurve):
                key = (item.data_path, item.array_index)
            inner = f"{path}[{key!r}]"
            if inner + ".place" in self.found:
                inner = f"{path}[{key!r}, {i}]"
            self.found[inner + ".place"] = i
            self.struct(inner, item, owner)

    def mesh(self, path: str, mesh: bpy.types.Mesh) -> None:
        for name, items, attribute, width, kind in (
            ("vertices", mesh.vertices, "co", 3, np.float32),
            ("loops", mesh.loops, "vertex_index", 1, np.int32),
            ("polygons", mesh.polygons, "loop_start", 1, np.int32),
        ):
            array = np.empty(len(items) * width, kind)
            items.foreach_get(attribute, array)
            self.found[f"{path}.{name}"] = len(items), _digest(array)
        for attribute in mesh.attributes:
            where = f"{path}.attributes[{attribute.name!r}]"
            self.found[where] = attribute.data_type, attribute.domain, len(attribute.data)
        weights = hashlib.sha1(usedforsecurity=False)
        for vertex in mesh.vertices:
            for group in vertex.groups:
                weights.update(f"{group.group} {group.weight:.6g};".encode())
            weights.update(b"|")
        self.found[f"{path}.weights"] = weights.hexdigest()

    def custom(self, path: str, value) -> None:
        try:
            keys = list(value.keys())
        except TypeError:
            return
        for key in keys:
            self.item(f"{path}[{key!r}]", value[key])

    def item(self, path: str, value) -> None:
        if isinstance(value, bpy.types.ID):
            self.found[path] = _reference(value)
        elif hasattr(value, "to_dict"):
            for key in value.keys():
                self.item(f"{path}[{key!r}]", value[key])
        elif hasattr(value, "to_list"):
            array = np.array(value.to_list(), dtype=float)
            self.found[path] = (len(array), _digest(array)) if len(array) > MANY else tuple(array)
        elif isinstance(value, (list, tuple)):
            self.found[f"{path}.count"] = len(value)
            for i, item in enumerate(value):
                self.item(f"{path}[{i}]", item)
        elif isinstance(value, (bool, int, float, str, bytes)) or value is None:
            self.found[path] = value


def _digest(array: np.ndarray) -> str:
    return hashlib.sha1(array.tobytes(), usedforsecurity=False).hexdigest()
