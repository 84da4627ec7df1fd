# SPDX-License-Identifier: GPL-3.0-or-later
"""A street and what stands in it, read from objects as they stand in the world, in metres.

Coordinates of a street: x along its object's X axis, the way the traffic goes; y from the kerb,
which is the side that is on the right of who drives so, to the other side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import atan2, cos, sin

import bpy
import numpy as np

from ..errors import UserError
from ..placement import require_near, world_matrix

SOLID = ("MESH", "CURVE", "SURFACE", "FONT", "META")
LOW, HIGH = 0.05, 2.0  # m: what ends below or begins above is in nobody's way
MOST = 400  # things that stand in a street


@dataclass(frozen=True)
class Lane:
    """Where a street is.

    Attributes:
        origin: (3,) m, in the world, of x = y = 0.
        yaw: rad about +Z, of its x axis from the world's.
        low: m, x at which it begins.
        high: m, x at which it ends.
        width: m, from the kerb to the other side.
    """

    origin: np.ndarray
    yaw: float
    low: float
    high: float
    width: float

    @property
    def matrix(self) -> np.ndarray:
        """(4, 4) from the street to the world, m."""
        c, s = cos(self.yaw), sin(self.yaw)
        found = np.eye(4)
        found[:2, :2] = [[c, -s], [s, c]]
        found[:3, 3] = self.origin
        return found


def _corners(obj: bpy.types.Object, unit_scale: float) -> np.ndarray:
    """(8, 3) of an object's box in the world, m."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    matrix = np.array(world_matrix(obj), dtype=float)
    corners = np.array([tuple(corner) for corner in evaluated.bound_box])
    return (corners @ matrix[:3, :3].T + matrix[:3, 3]) * unit_scale


def _yaw(obj: bpy.types.Object) -> float:
    """Which way the longer of an object's level axes points, X if it is as long."""
    axis = world_matrix(obj).col[0]
    if axis.to_2d().length < 0.5 * axis.to_3d().length:
        axis = world_matrix(obj).col[1]
    return atan2(axis.y, axis.x)


def read_lane(obj: bpy.types.Object, unit_scale: float) -> Lane:
    """Where a street is: the box of an object.

    Args:
        obj: whose X axis goes along it.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: it has no length or width, or stands nowhere.
    """
    if obj.type not in SOLID:
        raise UserError(f"{obj.name} is no street: choose a mesh that covers it")
    corners, yaw = _corners(obj, unit_scale), _yaw(obj)
    require_near(obj.name, corners)
    c, s = cos(yaw), sin(yaw)
    origin = np.array(world_matrix(obj).translation) * unit_scale
    off = corners - origin
    along, across = off[:, 0] * c + off[:, 1] * s, off[:, 1] * c - off[:, 0] * s
    low, high, kerb = float(along.min()), float(along.max()), float(across.min())
    if not (high - low > 1e-3 and np.ptp(across) > 1e-3):
        raise UserError(f"{obj.name} has no area: choose a mesh that covers the street")
    place = origin + (-s * kerb, c * kerb, 0.0)
    return Lane(place, yaw, low, high, float(np.ptp(across)))


def standing(
    collection: bpy.types.Collection | None, own: bpy.types.Object
) -> Iterator[bpy.types.Object]:
    """What of a collection may be in the way of someone.

    Args:
        collection: of objects; None for nothing.
        own: who moves there: that, and what hangs on it, is in nobody's way.
    """
    for obj in collection.all_objects if collection is not None else ():
        above: bpy.types.Object | None = obj
        while above is not None and above != own:
            above = above.parent
        if above is None and obj.type in SOLID and not obj.hide_render:
            yield obj


def read_boxes(
    collection: bpy.types.Collection | None, lane: Lane, own: bpy.types.Object, unit_scale: float
) -> np.ndarray:
    """What stands in a street.

    Args:
        collection: of objects; None for nothing.
        lane: the street.
        own: who drives there: that, and what hangs on it, is in nobody's way.
        unit_scale: metres per Blender unit.

    Returns:
        (n, 5) x, y, heading, length, width of boxes, m and rad, as seen from the street.

    Raises:
        UserError: there are too many.
    """
    back = np.linalg.inv(lane.matrix)
    found = []
    for obj in standing(collection, own):
        corners = _corners(obj, unit_scale) @ back[:3, :3].T + back[:3, 3]
        if not np.isfinite(corners).all() or corners[:, 2].max() < LOW or (
            corners[:, 2].min() > HIGH
        ):
            continue
        heading = _yaw(obj) - lane.yaw
        c, s = cos(heading), sin(heading)
        along = corners[:, 0] * c + corners[:, 1] * s
        across = corners[:, 1] * c - corners[:, 0] * s
        a, b = 0.5 * (along.max() + along.min()), 0.5 * (across.max() + across.min())
        length, width = float(np.ptp(along)), float(np.ptp(across))
        if length > 1e-4 and width > 1e-4:
            found.append((a * c - b * s, a * s + b * c, heading, length, width))
    if len(found) > MOST:
        raise UserError(
            f"{collection.name} has {len(found)} objects, and a street at most {MOST}: put those "
            "that stand in the way into a collection of their own"
        )
    return np.array(found, dtype=float).reshape(-1, 5)
