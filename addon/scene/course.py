# SPDX-License-Identifier: GPL-3.0-or-later
"""A path, obstacles and gates, read from objects as they stand in the world.

Everything comes from evaluated objects: modifiers, parents and scales count.
What comes out is metres.
"""

from __future__ import annotations

from dataclasses import replace

import bpy
import numpy as np
from mathutils import Matrix
from mathutils.geometry import interpolate_bezier
from scipy.interpolate import BSpline

from ...solvers.path import Disc, Gate, MovingDisc, Wall
from ...solvers.path.obstacles import Obstacle
from ...solvers.path.terrain import Surface, TerrainMesh, clip
from .. import compat, motions
from ..context import keep_frame
from ..errors import UserError
from ..placement import moves, world_matrix
from .outlines import LARGE, footprints

# Radius of a figure that another one has to keep away from, and of a gate's poles, metres.
FIGURE_RADIUS, POLE_RADIUS = 0.4, 0.03

# Moving obstacles are looked up at no more than so many frames.
MOST_SAMPLES = 2000

Lines = tuple[tuple[np.ndarray, ...], tuple[bool, ...]]


# -- curves ----------------------------------------------------------------------


def curve_lines(obj: bpy.types.Object, unit_scale: float) -> Lines:
    """A curve's splines as polylines in the world, as Blender draws them.

    Args:
        obj: a curve object.
        unit_scale: metres per Blender unit.

    Returns:
        Polylines (n, 3) in metres, in the order of the splines, and whether
        each is closed.

    Raises:
        UserError: it is no curve, or Blender does not evaluate it.
    """
    _require_type(obj, "CURVE", "Path")
    evaluated = _evaluated(obj)
    coordinates, edges, faces = _mesh_of(evaluated)
    if len(faces):  # it is thick: its middle line is wanted
        lines, cyclic = _middle_lines(evaluated)
    else:
        lines, cyclic = chains(coordinates, edges)
    matrix = np.array(evaluated.matrix_world)
    return tuple(_moved(line, matrix, unit_scale) for line in lines), tuple(cyclic)


def _require_type(obj: bpy.types.Object, kind: str, setting: str) -> None:
    """Refuse what panels do not offer, but scripts may set."""
    if obj.type != kind:
        raise UserError(
            f"{setting} is {obj.name}, which is no {kind.lower()}: choose a {kind.lower()}"
        )


def _evaluated(obj: bpy.types.Object) -> bpy.types.Object:
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    if not evaluated.is_evaluated or obj.name not in bpy.context.view_layer.objects:
        raise UserError(
            f"{obj.name} is not in the scene, or disabled in viewports: bring it back, or choose "
            "another one"
        )
    return evaluated


def _moved(points: np.ndarray, matrix: np.ndarray, unit_scale: float) -> np.ndarray:
    return (points @ matrix[:3, :3].T + matrix[:3, 3]) * unit_scale


def _mesh_of(evaluated: bpy.types.Object) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Vertices (n, 3), edges (m, 2) and triangles (k, 3), in the object's space."""
    try:
        mesh = evaluated.to_mesh()
    except RuntimeError:
        mesh = None
    if mesh is None:
        return np.zeros((0, 3)), np.zeros((0, 2), int), np.zeros((0, 3), int)
    mesh.calc_loop_triangles()
    coordinates = np.empty(3 * len(mesh.vertices), np.float32)
    edges = np.empty(2 * len(mesh.edges), np.int32)
    mesh.vertices.foreach_get("co", coordinates)
    mesh.edges.foreach_get("vertices", edges)
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    mesh.loop_triangles.foreach_get("vertices", triangles)
    evaluated.to_mesh_clear()
    return coordinates.astype(float).reshape(-1, 3), edges.reshape(-1, 2), triangles.reshape(-1, 3)


def chains(points: np.ndarray, edges: np.ndarray) -> tuple[list[np.ndarray], list[bool]]:
    """Lines of vertices that follow each other.

    Args:
        points: (n, 3) vertices.
        edges: (m, 2) between them. Edges between vertices that do not follow
            each other, other than those that close a line, are lines of
            their own.

    Returns:
        Lines (k, 3) and whether each is closed.
    """
    low, high = edges.min(axis=1, initial=len(points)), edges.max(axis=1, initial=-1)
    joined = np.zeros(max(len(points), 1), dtype=bool)
    joined[low[high == low + 1]] = True
    others = {(int(a), int(b)) for a, b in zip(low, high, strict=True) if b > a + 1}
    lines: list[np.ndarray] = []
    cyclic: list[bool] = []
    in_others = {i for edge in others for i in edge}
    first = 0
    while first < len(points):
        last = first
        while last + 1 < len(points) and joined[last]:
            last += 1
        closed = last - first > 1 and (first, last) in others
        others.discard((first, last) if closed else (-1, -1))
        if last > first or first not in in_others:
            lines.append(points[first : last + 1])
            cyclic.append(closed)
        first = last + 1
    for a, b in sorted(others):
        lines.append(points[[a, b]])
        cyclic.append(False)
    return lines, cyclic


def _middle_lines(evaluated: bpy.types.Object) -> tuple[list[np.ndarray], list[bool]]:
    """The splines of a curve that has thickness."""
    curve = evaluated.to_curve(bpy.context.evaluated_depsgraph_get(), apply_modifiers=True)
    lines, cyclic = [], []
    for spline in curve.splines:
        lines.append(_spline_points(spline))
        cyclic.append(bool(spline.use_cyclic_u))
    evaluated.to_curve_clear()
    return lines, cyclic


def _spline_points(spline: bpy.types.Spline) -> np.ndarray:
    steps = max(int(spline.resolution_u), 1)
    if spline.type == "BEZIER":
        knots = list(spline.bezier_points)
        pairs = list(zip(knots[:-1], knots[1:], strict=True))
        if spline.use_cyclic_u and len(knots) > 1:
            pairs.append((knots[-1], knots[0]))
        points = [
            point
            for a, b in pairs
            for point in interpolate_bezier(
                a.co, a.handle_right, b.handle_left, b.co, steps + 1
            )[:-1]
        ]
        if knots and not spline.use_cyclic_u:
            points.append(knots[-1].co)
        return np.array([tuple(point) for point in points]).reshape(-1, 3)
    points = np.array([tuple(point.co) for point in spline.points]).reshape(-1, 4)
    if spline.type == "POLY" or len(points) < 3:
        return points[:, :3]
    # A rational B-spline: weighted points, and the weights, are B-splines.
    order = min(int(spline.order_u), len(points))
    n = len(points)
    weighted = np.concatenate((points[:, :3] * points[:, 3:], points[:, 3:]), axis=1)
    if spline.use_cyclic_u:
        weighted = np.concatenate((weighted, weighted[: order - 1]))
    knots = nurbs_knots(
        n, order, spline.use_cyclic_u, spline.use_endpoint_u, spline.use_bezier_u
    )
    low, high = knots[order - 1], knots[len(weighted)]
    if spline.use_cyclic_u:
        where = np.linspace(low, high, steps * n, endpoint=False)
    else:
        where = np.linspace(low, high, steps * (n - 1))
    values = BSpline(knots, weighted, order - 1)(np.minimum(where, np.nextafter(high, low)))
    return values[:, :3] / values[:, 3:]


def nurbs_knots(
    count: int, order: int, cyclic: bool, endpoint: bool, bezier: bool
) -> np.ndarray:
    """The knots that Blender gives a NURBS spline.

    Args:
        count: control points, without those that repeat on a closed spline.
        order: degree + 1.
        cyclic: closed; the first `order` - 1 points are used again at the end.
        endpoint: the spline begins and ends at its end points.
        bezier: inner knots are `order` - 1 fold, as pieces of Bezier curves.

    Returns:
        (count + order,) knots, `order` - 1 more for a closed spline.
    """
    inner = order - 1 if bezier else 1
    if endpoint:
        first = order - cyclic
    else:
        first = min(2, inner) if bezier else 1
    tail = 2 * order - 1 if cyclic else order if endpoint else 0
    total = count + order + (order - 1 if cyclic else 0)
    apart = int(endpoint and cyclic)  # one knot of its own, before the others
    place = np.arange(max(total - tail - apart, 0))
    body = np.where(place < first, 0, 1 + (place - first) // inner) + apart
    knots = np.concatenate((np.zeros(apart), body))
    end = float(apart + (0 if len(body) < first else 1 + (len(body) - first) // inner))
    return np.concatenate((knots, end + knots[:tail] - knots[0])) if tail else knots


# -- terrain ---------------------------------------------------------------------


def read_terrain(
    obj: bpy.types.Object, low: np.ndarray, high: np.ndarray, unit_scale: float
) -> TerrainMesh:
    """A mesh as Blender evaluates it, where it is near a rectangle of the ground plan.

    Args:
        obj: a mesh object.
        low: (2,) corner of the rectangle, m.
        high: (2,) the other corner, m.
        unit_scale: metres per Blender unit.

    Raises:
        UserError: it is no mesh, Blender does not evaluate it, or it has no faces.
    """
    _require_type(obj, "MESH", "Terrain")
    evaluated = _evaluated(obj)
    known = bpy.context.evaluated_depsgraph_get().objects
    # Either its modifiers are not applied, or there is nothing of it at all.
    if evaluated.data is None or all(other.original != obj for other in known):
        raise UserError(f"{obj.name} is hidden: show it, so that Blender evaluates it")
    mesh = evaluated.data
    mesh.calc_loop_triangles()
    triangles = np.empty(3 * len(mesh.loop_triangles), np.int32)
    if not len(triangles):
        raise UserError(f"{obj.name} has no faces to move on: choose another Terrain")
    mesh.loop_triangles.foreach_get("vertices", triangles)
    points = np.empty(3 * len(mesh.vertices), np.float32)
    mesh.vertices.foreach_get("co", points)
    world = _moved(
        points.reshape(-1, 3).astype(float), np.array(evaluated.matrix_world), unit_scale
    )
    return TerrainMesh(*clip(world, triangles.reshape(-1, 3), low, high), obj.name)


# -- obstacles -------------------------------------------------------------------


def _members(collection: bpy.types.Collection, motion: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects that can be in the way, figures by their armatures, in order of names."""
    own = motion.poise_motion.character
    found = {}
    for obj in collection.all_objects:
        rig = motions.character_of(obj)
        if rig is not None and rig == own:
            continue
        if rig is not None and "poise_kind" in rig:
            obj = rig
        if obj.type in {"LIGHT", "CAMERA", "SPEAKER", "LIGHT_PROBE"} or motions.is_motion(obj):
            continue
        if obj.type == "ARMATURE" and "poise_kind" not in obj:
            continue
        if obj.poise_gate.is_gate or (obj.parent is not None and obj.parent.poise_gate.is_gate):
            continue
        found[obj.session_uid] = obj
    return sorted(found.values(), key=lambda obj: (obj.name, obj.session_uid))


def _is_moving(obj: bpy.types.Object) -> bool:
    return obj.type == "ARMATURE" or moves(obj)


def read_obstacles(
    motion: bpy.types.Object,
    collection: bpy.types.Collection | None,
    ground: float,
    unit_scale: float,
    surface: Surface | None = None,
) -> tuple[list[Obstacle], dict[int, bpy.types.Object]]:
    """What a collection puts in the way, as it stands at the current frame.

    Args:
        motion: the Motion object; its character is not in its own way.
        collection: the obstacles, or None.
        ground: world Z of the ground, m.
        unit_scale: metres per Blender unit.
        surface: the terrain, whose height counts instead of `ground` where it is.

    Returns:
        The obstacles, and for each that moves its place in the list and its object.
    """
    if collection is None:
        return [], {}
    depsgraph = bpy.context.evaluated_depsgraph_get()
    members = _members(collection, motion)
    obstacles: list[Obstacle] = []
    moving: dict[int, bpy.types.Object] = {}
    by_uid = {obj.session_uid for obj in members}
    for obj in members:
        if obj == motion.poise_motion.path.terrain:
            continue  # what carries the figure is not in its way
        evaluated = obj.evaluated_get(depsgraph)
        if not evaluated.is_evaluated or obj.name not in bpy.context.view_layer.objects:
            continue  # put away: not in the way
        first = len(obstacles)
        if obj.type == "ARMATURE":
            obstacles.append(Disc(_root_place(evaluated) * unit_scale, FIGURE_RADIUS, obj.name))
        elif obj.type == "EMPTY":
            if obj.instance_type != "COLLECTION":
                matrix = evaluated.matrix_world
                size = 0.5 * (matrix.col[0].length + matrix.col[1].length)
                radius = obj.empty_display_size * size * unit_scale
                obstacles.append(Disc(np.array(matrix.translation) * unit_scale, radius, obj.name))
        else:
            obstacles += _solid(
                evaluated, evaluated.matrix_world, ground, unit_scale, obj.name, surface
            )
        if _is_moving(obj):
            for place in range(first, len(obstacles)):
                moving[place] = obj
    for instance in depsgraph.object_instances:
        if not instance.is_instance or instance.parent is None:
            continue
        if instance.parent.original.session_uid in by_uid:
            obstacles += _solid(
                instance.instance_object,
                instance.matrix_world.copy(),
                ground,
                unit_scale,
                instance.parent.name,
                surface,
            )
    return obstacles, moving


def _root_place(evaluated: bpy.types.Object) -> np.ndarray:
    bone = evaluated.pose.bones.get("root") if evaluated.pose is not None else None
    place = evaluated.matrix_world.translation
    return np.array(place if bone is None else evaluated.matrix_world @ bone.head)


def _solid(
    evaluated, matrix, ground: float, unit_scale: float, name: str, surface: Surface | None
) -> list[Obstacle]:
    """Footprints of an object, or walls where it is made of lines."""
    if evaluated.type not in {"MESH", "CURVE", "SURFACE", "META", "FONT", "CURVES"}:
        return []
    points, edges, triangles = _mesh_of(evaluated)
    if not len(points):
        return []
    if evaluated.type == "CURVE" and len(triangles):
        lines, cyclic = _middle_lines(evaluated)
    elif not len(triangles):
        lines, cyclic = chains(points, edges)
    else:
        world = _moved(points, np.array(matrix), unit_scale)
        if surface is None:
            return list(footprints(world, triangles, ground, name))
        # Heights over the terrain under each vertex; what is small stands on one level of it.
        x, y, z = np.ascontiguousarray(world.T)
        small = np.ptp(world[:, :2], axis=0).max() <= LARGE
        under = surface.height(x, y, np.full(len(z), z.min()) if small else z)
        world[:, 2] -= np.where(np.isfinite(under), under, ground)
        return list(footprints(world, triangles, 0.0, name, z))
    walls: list[Obstacle] = []
    for line, closed in zip(lines, cyclic, strict=True):
        world = _moved(line, np.array(matrix), unit_scale)
        world = world if surface is not None else world[:, :2]
        if closed:
            world = np.concatenate((world, world[:1]))
        if len(world) > 1 and np.isfinite(world).all():
            walls.append(Wall(world, name))
    return walls


def over_time(
    scene: bpy.types.Scene,
    obstacles: list[Obstacle],
    moving: dict[int, bpy.types.Object],
    start: int,
    n_frames: int,
    fps: float,
    unit_scale: float,
) -> list[Obstacle]:
    """Replace what moves by discs that move with it.

    Args:
        scene: the operator's scene; it stands at the start frame.
        obstacles: from `read_obstacles`.
        moving: from `read_obstacles`.
        start: first frame.
        n_frames: how many frames to look at.
        fps: real frame rate.
        unit_scale: metres per Blender unit.
    """
    if not moving:
        return obstacles
    frames = start + np.unique(
        np.linspace(0, n_frames - 1, min(n_frames, MOST_SAMPLES)).round().astype(int)
    )
    discs = {place: _around(obstacles[place]) for place in moving}
    local = {}
    for place, obj in moving.items():
        if obj.type != "ARMATURE":
            back = np.array(_inverse(world_matrix(obj)))
            middle = np.array((*discs[place].centre[:2], 0.0)) / unit_scale
            middle[2] = world_matrix(obj).translation.z
            local[place] = back[:3, :3] @ middle + back[:3, 3]
    ways = {}
    for place, obj in moving.items():
        keyed = _keyed_way(obj, frames) if obj.type == "ARMATURE" else None
        if keyed is not None:
            ways[place] = keyed * unit_scale
    played = {place: obj for place, obj in moving.items() if place not in ways}
    ways |= {place: np.empty((len(frames), 3)) for place in played}
    with keep_frame(scene):
        for row, frame in enumerate(frames.tolist() if played else ()):
            scene.frame_set(frame)
            depsgraph = bpy.context.evaluated_depsgraph_get()
            for place, obj in played.items():
                evaluated = obj.evaluated_get(depsgraph)
                if place in local:
                    matrix = np.array(evaluated.matrix_world)
                    where = matrix[:3, :3] @ local[place] + matrix[:3, 3]
                else:
                    where = _root_place(evaluated)
                ways[place][row] = where * unit_scale
    times = (frames - start) / fps
    result = list(obstacles)
    for place, disc in discs.items():
        if np.isfinite(ways[place]).all():
            result[place] = MovingDisc(times, ways[place], disc.radius, disc.name)
    return result


def _keyed_way(rig: bpy.types.Object, frames: np.ndarray) -> np.ndarray | None:
    """Where a figure's root is, by its keys alone: nothing has to be evaluated.

    Args:
        rig: a character's armature.
        frames: (n,) frames.

    Returns:
        (n, 3) in Blender units; None where more than these keys moves it.
    """
    root, data = rig.pose.bones.get("root"), rig.animation_data
    if root is None or data is None or moves(rig) or data.nla_tracks or data.use_tweak_mode:
        return None
    if data.action_blend_type != "REPLACE" or data.action_influence < 1.0:
        return None
    keys = compat.action_fcurves(data.action, data.action_slot)
    path = root.path_from_id("location")
    curves = {c.array_index: c for c in keys if c.data_path == path and not c.mute}
    above = tuple(f"{bone.path_from_id()}." for bone in root.parent_recursive)
    held = any(bone.constraints for bone in (root, *root.parent_recursive))
    driven = any(c.data_path.startswith((*above, path)) for c in data.drivers)
    if len(curves) < 3 or held or driven or any(c.data_path.startswith(above) for c in keys):
        return None
    place = np.ones((len(frames), 4))
    for axis in range(3):
        place[:, axis] = [curves[axis].evaluate(frame) for frame in frames.tolist()]
    rest = root.bone.matrix_local
    if root.parent is not None:
        rest = root.parent.matrix @ root.parent.bone.matrix_local.inverted() @ rest
    return (place @ np.array(world_matrix(rig) @ rest).T)[:, :3]


def _inverse(matrix: Matrix) -> Matrix:
    return matrix.inverted_safe()


def _around(item: Obstacle) -> Disc:
    """A disc about an obstacle."""
    if isinstance(item, Disc):
        return replace(item, centre=np.asarray(item.centre, dtype=float)[:2])
    points = np.asarray(item.points, dtype=float)[:, :2]
    middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
    return Disc(middle, float(np.hypot(*(points - middle).T).max()), item.name)


# -- gates -----------------------------------------------------------------------


def gates_of(collection: bpy.types.Collection | None) -> list[bpy.types.Object]:
    """Gates of a collection in the order in which they are passed.

    Args:
        collection: the gates, or None.
    """
    if collection is None:
        return []
    found = [
        obj for obj in collection.all_objects if obj.type == "EMPTY" and obj.poise_gate.is_gate
    ]
    return sorted(found, key=lambda obj: (obj.poise_gate.number, obj.name))


def read_gates(collection: bpy.types.Collection | None, unit_scale: float) -> tuple[Gate, ...]:
    """Gates as pairs of poles in the world.

    Args:
        collection: the gates, or None.
        unit_scale: metres per Blender unit.
    """
    gates = []
    for obj in gates_of(collection):
        matrix = np.array(world_matrix(obj))
        reach = 0.5 * obj.poise_gate.width * matrix[:3, 0]
        left, right = matrix[:3, 3] + reach, matrix[:3, 3] - reach
        radius = POLE_RADIUS if np.hypot(*(2.0 * reach[:2])) * unit_scale > 0.2 else 0.0
        gates.append(Gate(left * unit_scale, right * unit_scale, radius, obj.name))
    return tuple(gates)


def everything(motion: bpy.types.Object) -> list[bpy.types.Object]:
    """Objects that a motion along a path depends on, its character aside.

    Args:
        motion: the Motion object.
    """
    path = motion.poise_motion.path
    found = [path.curve] if path.curve is not None else []
    if path.terrain is not None:
        found.append(path.terrain)
    if path.obstacles is not None:
        found += _members(path.obstacles, motion)
    return found + gates_of(path.gates)
