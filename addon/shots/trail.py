# SPDX-License-Identifier: GPL-3.0-or-later
"""The track left on the snow, and what happens on it, as meshes with attributes.

Each ski or board leaves a ribbon on the ground. Across the direction of
travel it is as wide as what slides there: the running surface seen from
above, tilted by the edge angle and turned by the skid angle. A tyre leaves one
as wide as itself.
"""

from __future__ import annotations

from dataclasses import dataclass

import bpy
import numpy as np

from ...solvers.motion import Event, TurningMotion
from ...solvers.rotations import normalise, rotate
from .. import motions
from ..families.base import Solved
from ..mapping.bicycle import tyre_track
from ..mapping.ground import terrain_over
from ..mapping.registry import MAPPINGS
from ..mapping.tracks import (
    BOARD,
    FRONT_WHEEL,
    REAR_WHEEL,
    SIDES,
    SKI,
    RoleTracks,
    side_role,
)
from . import objects

# How far the ribbons float over the ground, metres: enough against flicker at
# a hundred metres, too little to be seen. The right one is on top.
LIFT = {"L": 0.006, "R": 0.008, "": 0.006}

# A ski on edge still leaves a groove of this width, metres.
GROOVE = 0.035

# Slower than this (m/s) a direction of travel means nothing.
STANDING = 0.05

COLOUR = (0.53, 0.64, 0.83)

EVENT_CODES = {"EDGE_CHANGE": 1, "POLE_PLANT": 2, "POLE_LIFT": 3, "FALL": 4, "STOP": 5}
SIDE_CODES = {"L": 1, "R": -1, "": 0}
MARKER_NAMES = {"POLE_PLANT": "Plant", "FALL": "Fall", "STOP": "Stop"}

_PREFIX_KEY = "poise_marker_prefix"
_GROWTH_KEY = "poise_trail_growth"


@dataclass(frozen=True)
class Ribbon:
    """What one ski or board leaves behind.

    Attributes:
        side: "L", "R", or "" for a board.
        left: (n, 3) left rim in the world, metres.
        right: (n, 3) right rim.
        length: (n,) way along the middle, metres.
        edge_angle: (n,) radians, + tilted to the left.
        skid_angle: (n,) radians from the direction of travel to the tips, + left.
    """

    side: str
    left: np.ndarray
    right: np.ndarray
    length: np.ndarray
    edge_angle: np.ndarray
    skid_angle: np.ndarray


def equipment_roles(tracks: RoleTracks) -> tuple[tuple[str, str], ...]:
    """(role, side) of everything that runs on the ground.

    Args:
        tracks: role tracks of a figure.
    """
    sided = tuple((side_role(SKI, side), side) for side in SIDES)
    middle = tuple((role, "") for role in (BOARD, FRONT_WHEEL, REAR_WHEEL))
    return tuple(pair for pair in (*sided, *middle) if pair[0] in tracks.position)


def ribbons(motion: TurningMotion, tracks: RoleTracks, equipment: dict) -> tuple[Ribbon, ...]:
    """The ribbons of a motion.

    Args:
        motion: the motion, for its ground.
        tracks: where skis, board or wheels are.
        equipment: lengths in metres, as `Figure.equipment` has them.
    """
    return tuple(
        _ribbon(motion, tracks, role, side, equipment) for role, side in equipment_roles(tracks)
    )


def _ribbon(motion, tracks, role, side, equipment) -> Ribbon:
    if role in (FRONT_WHEEL, REAR_WHEEL):
        return _tyre(motion, tracks, role, equipment)
    kind = "board" if role == BOARD else "ski"
    long = equipment.get(f"{kind}_length", 1.6)
    wide = equipment.get(f"{kind}_width", 0.1)
    place = np.asarray(tracks.position[role])
    turn = np.asarray(tracks.rotation[role])
    normal = motion.normal
    velocity = np.gradient(place, tracks.time, axis=0)
    velocity -= normal * np.einsum("ni,ni->n", velocity, normal)[:, None]
    moving = np.linalg.norm(velocity, axis=1) > STANDING
    tips = rotate(turn, np.array((0.0, -1.0, 0.0)))
    up = rotate(turn, np.array((0.0, 0.0, 1.0)))
    tips_flat = normalise(tips - normal * np.einsum("ni,ni->n", tips, normal)[:, None])
    ahead = np.where(moving[:, None], normalise(velocity), tips_flat)
    across = np.cross(normal, ahead)
    skid = np.arctan2(
        np.einsum("ni,ni->n", tips_flat, across), np.einsum("ni,ni->n", tips_flat, ahead)
    )
    tilt = np.arctan2(
        np.einsum("ni,ni->n", up, np.cross(normal, tips_flat)), np.einsum("ni,ni->n", up, normal)
    )
    width = long * np.abs(np.sin(skid)) + wide * np.abs(np.cos(tilt) * np.cos(skid))
    half = 0.5 * np.maximum(width, GROOVE)[:, None] * across
    # On edge the running surface is above the ground: the groove is in the ground.
    height = np.einsum("ni,ni->n", place - motion.position, normal)
    over = terrain_over(motion, place - height[:, None] * normal)
    middle = place + normal * (LIFT[side] + over - height)[:, None]
    steps = np.linalg.norm(np.diff(place, axis=0), axis=1)
    return Ribbon(
        side=side,
        left=middle + half,
        right=middle - half,
        length=np.concatenate(([0.0], np.cumsum(steps))),
        edge_angle=tilt,
        skid_angle=skid,
    )


def _tyre(motion, tracks, role, equipment) -> Ribbon:
    """What a tyre leaves where it touches the ground."""
    axle, lean, place = tyre_track(motion, tracks, role, equipment)
    half = equipment["tyre_radius"] * axle
    # The rear wheel's track lies on the front wheel's.
    middle = place + motion.normal * LIFT["L" if role == FRONT_WHEEL else "R"]
    steps = np.linalg.norm(np.diff(place, axis=0), axis=1)
    return Ribbon("", middle + half, middle - half, np.concatenate(([0.0], np.cumsum(steps))),
                  lean, np.zeros(len(place)))


def build(
    scene: bpy.types.Scene, motion: bpy.types.Object, solved: Solved, grow: bool = True
) -> bpy.types.Object:
    """Make or renew a motion's trail and the points of its events.

    The ribbons carry lean, curvature, force (in body weights), phase,
    edge_angle, skid_angle, speed, time, frame and side; the points of the
    events, a child object, carry event (`EVENT_CODES`), side, time and frame.

    Args:
        scene: the operator's scene.
        motion: the Motion object.
        solved: its solved motion.
        grow: show only what has been skied up to the current frame.

    Returns:
        The trail object.
    """
    settings = motion.poise_motion
    scale = 1.0 / solved.job.numbers.unit_scale
    trail = _own_trail(motion)
    first_time = not objects.in_scene(trail, scene)
    trail = objects.mesh_object(trail, f"{motion.name} Trail", scene, motion)
    settings.trail = trail
    _fill_trail(trail.data, solved, scale)
    if first_time:
        trail.data.materials.clear()
        trail.data.materials.append(objects.plain_material("Trail", COLOUR, 0.6))
    _set_growth(trail, grow)
    points = next((child for child in trail.children if child.type == "MESH"), None)
    points = objects.mesh_object(points, f"{motion.name} Events", scene, motion)
    points.parent = trail
    points.hide_render = True
    _fill_events(points.data, solved, scale)
    return trail


def _fill_trail(mesh: bpy.types.Mesh, solved: Solved, scale: float) -> None:
    motion, tracks, job = solved.motion, solved.tracks, solved.job
    strips = ribbons(motion, tracks, dict(job.figure.equipment))
    count = len(tracks.time)
    vertices, faces, uvs = [], [], []
    for number, strip in enumerate(strips):
        vertices.append(np.stack((strip.left, strip.right), axis=1).reshape(-1, 3))
        row = 2 * (number * count + np.arange(count - 1))
        # Anticlockwise from above, so that the faces look up.
        faces.append(np.stack((row, row + 1, row + 3, row + 2), axis=1))
        sides = np.array((0.0, 1.0, 1.0, 0.0))
        along = np.stack((strip.length[:-1],) * 2 + (strip.length[1:],) * 2, axis=1)
        uvs.append(np.stack((np.broadcast_to(sides, along.shape), along), axis=2))
    mesh.from_pydata(
        (np.concatenate(vertices) * scale).tolist(), [], np.concatenate(faces).tolist()
    )
    layer = mesh.uv_layers.get("UVMap") or mesh.uv_layers.new(name="UVMap")
    layer.data.foreach_set("uv", np.concatenate(uvs).astype(np.float32).ravel())
    weight = motion.leg_force / (motion.mass * motion.gravity)
    shared = {
        "lean": motion.lean,
        "curvature": motion.curvature,
        "force": weight,
        "phase": motion.phase,
        "speed": motion.speed,
        "time": motion.time,
        "frame": job.start_frame + motion.clock.frames,
    }
    for name, values in shared.items():
        both = np.tile(np.repeat(values, 2), len(strips))
        objects.set_attribute(mesh, name, both.astype(np.float32))
    for name in ("edge_angle", "skid_angle"):
        values = np.concatenate([np.repeat(getattr(strip, name), 2) for strip in strips])
        objects.set_attribute(mesh, name, values.astype(np.float32))
    codes = [np.full(2 * count, SIDE_CODES[strip.side], np.int32) for strip in strips]
    objects.set_attribute(mesh, "side", np.concatenate(codes), "INT")
    mesh.update()


def _fill_events(mesh: bpy.types.Mesh, solved: Solved, scale: float) -> None:
    events = placed_events(solved)
    mesh.from_pydata([tuple(event.position * scale) for event in events], [], [])
    times = np.array([event.time for event in events], np.float32)
    frames = solved.job.start_frame + solved.motion.clock.frame_of(times)
    kinds = np.array([EVENT_CODES.get(event.kind, 0) for event in events], np.int32)
    sides = np.array([SIDE_CODES[event.side] for event in events], np.int32)
    objects.set_attribute(mesh, "event", kinds, "INT")
    objects.set_attribute(mesh, "side", sides, "INT")
    objects.set_attribute(mesh, "time", times)
    objects.set_attribute(mesh, "frame", frames.astype(np.float32))
    mesh.update()


def placed_events(solved: Solved) -> list[Event]:
    """Events in order of time, each with a place; without one, where the foot is then.

    Args:
        solved: a solved motion.
    """
    motion = solved.motion
    events = []
    for event in solved.tracks.events:
        place = event.position
        if place is None:
            place = np.array([np.interp(event.time, motion.time, motion.position[:, i])
                              for i in range(3)])
        events.append(Event(event.kind, event.time, event.side, np.asarray(place, dtype=float)))
    return sorted(events, key=lambda event: event.time)


def _set_growth(trail: bpy.types.Object, grow: bool) -> None:
    """A Geometry Nodes modifier that hides what comes after the current frame."""
    modifier = next((m for m in trail.modifiers if m.type == "NODES"
                     and m.node_group is not None and _GROWTH_KEY in m.node_group), None)
    if grow and modifier is None:
        modifier = trail.modifiers.new("Grow with Frame", "NODES")
        modifier.node_group = _growth_group()
    elif not grow and modifier is not None:
        group = modifier.node_group
        trail.modifiers.remove(modifier)
        if group.users == 0:
            bpy.data.node_groups.remove(group)


def _growth_group() -> bpy.types.NodeTree:
    """Deletes points whose `frame` is later than the scene's; shared by all trails."""
    for group in bpy.data.node_groups:
        if _GROWTH_KEY in group and group.library is None:
            return group
    group = bpy.data.node_groups.new("Grow with Frame", "GeometryNodeTree")
    group[_GROWTH_KEY] = True
    group.is_modifier = True
    group.interface.new_socket("Geometry", in_out="INPUT", socket_type="NodeSocketGeometry")
    group.interface.new_socket("Geometry", in_out="OUTPUT", socket_type="NodeSocketGeometry")
    nodes, links = group.nodes, group.links
    enter = nodes.new("NodeGroupInput")
    leave = nodes.new("NodeGroupOutput")
    now = nodes.new("GeometryNodeInputSceneTime")
    frame = nodes.new("GeometryNodeInputNamedAttribute")
    frame.data_type = "FLOAT"
    frame.inputs["Name"].default_value = "frame"
    later = nodes.new("FunctionNodeCompare")
    later.data_type, later.operation = "FLOAT", "GREATER_THAN"
    delete = nodes.new("GeometryNodeDeleteGeometry")
    delete.domain = "POINT"
    for column, node in enumerate((now, frame, later, enter, delete, leave)):
        node.location = (200.0 * column - 600.0, 0.0)
    links.new(frame.outputs[0], later.inputs[0])
    links.new(now.outputs["Frame"], later.inputs[1])
    links.new(enter.outputs[0], delete.inputs["Geometry"])
    links.new(later.outputs[0], delete.inputs["Selection"])
    links.new(delete.outputs[0], leave.inputs[0])
    return group


def add_markers(scene: bpy.types.Scene, motion: bpy.types.Object, solved: Solved) -> int:
    """Put a timeline marker at every change of turns, plant, fall and stop.

    Markers of an earlier run are replaced; no other marker is touched.

    Args:
        scene: the operator's scene.
        motion: the Motion object; it remembers the prefix of its markers.
        solved: its solved motion.

    Returns:
        How many markers there are.
    """
    remove_markers(motion)
    # Markers have no place for an identity but their name.
    prefix = f"{motion.name}: "
    motion[_PREFIX_KEY] = prefix
    mapping = MAPPINGS.get(solved.job.kind)
    names = MARKER_NAMES | ({} if mapping is None else {"EDGE_CHANGE": mapping.change})
    count = 0
    for event in placed_events(solved):
        if event.kind not in names:
            continue
        name = " ".join(part for part in (names[event.kind], event.side) if part)
        frame = round(solved.job.start_frame + float(solved.motion.clock.frame_of(event.time)))
        scene.timeline_markers.new((prefix + name)[:63], frame=frame)
        count += 1
    return count


def remove_markers(motion: bpy.types.Object) -> int:
    """Remove a motion's timeline markers, in whatever scene they are.

    Args:
        motion: the Motion object.

    Returns:
        How many were removed.
    """
    prefix = motions.own(motion, lambda m: m.get(_PREFIX_KEY))
    if not prefix:
        return 0
    count = 0
    for scene in bpy.data.scenes:
        for marker in list(scene.timeline_markers):
            if marker.name.startswith(prefix):
                scene.timeline_markers.remove(marker)
                count += 1
    del motion[_PREFIX_KEY]
    return count


def _own_trail(motion: bpy.types.Object) -> bpy.types.Object | None:
    """A motion's trail; no other object that a script has put in its place."""
    trail = motions.own(motion, lambda m: m.poise_motion.trail)
    is_trail = trail and trail.type == "MESH" and "lean" in trail.data.attributes
    return trail if is_trail else None


def remove_helpers(motion: bpy.types.Object) -> int:
    """Remove what was made from a motion's bake: trail, events, markers, chase camera, balls.

    The slope stays: it is ground for other things too.

    Args:
        motion: the Motion object.

    Returns:
        How many objects and markers were removed.
    """
    from . import balls, camera

    count = objects.remove(_own_trail(motion))
    motion.poise_motion.property_unset("trail")
    count += camera.remove(motion) + balls.remove(motion)
    return count + remove_markers(motion)
