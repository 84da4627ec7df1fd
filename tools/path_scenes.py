# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo scenes of motions along paths: those of the paper, and crowds.

The paper's scenes (van de Panne et al. 1993, Fig. 16 to 18, Photo 5) are those
that solvers/path/scenes.py gives as numbers, built as objects.
"""

from __future__ import annotations

import json
import os
from math import pi
from pathlib import Path

import numpy as np
import scenes

COURSE = "POISE_COURSE"  # names a file with a circuit, which none comes along with

FIR_TRUNK = 0.22  # m, radius of the trunk of an unscaled fir
WALL_HEIGHT = 0.02  # m


def tree_skiing():
    """Fig. 16: skiers among trees who look 10 and 12 stages ahead, and take other ways."""
    from poise.solvers.path import scenes as numbers

    scene = scenes.start_scene(16.0)
    course, settings = numbers.tree_skiing()
    rigs = []
    for x, stages, suit in ((0.0, 10, scenes.RED), (34.0, 12, scenes.BLUE)):
        rig = follower(scene, "SKIER", course, settings, x, suit)
        path = rig.poise.path
        # As many values as the paper tries: with 9, both go the same way. So they do at
        # most speeds at which the trees are easily passed.
        path.stages, path.values, path.speed = stages, 7, 8.5
        rigs.append(rig)
    plan(scene, rigs)
    scenes.finish(rigs)
    scenes.backdrop(scene, rigs)
    scenes.chase(rigs[0])
    return rigs


def slalom_poles():
    """Fig. 17: a slalom whose poles are lines, each to be passed on one side."""
    from poise.addon.scene import course as scene_course
    from poise.addon.scene import objects
    from poise.solvers.path import Wall
    from poise.solvers.path import scenes as numbers

    scene = scenes.start_scene(24.0)
    course, settings = numbers.slalom()
    rig = follower(scene, "SKIER", course, settings, 0.0, scenes.VIOLET)
    plan(scene, [rig])
    colours = [
        objects.plain_material(name, rgb)
        for name, rgb in (("Red", (0.70, 0.03, 0.03)), ("Blue", (0.03, 0.10, 0.60)))
    ]
    poles = [
        wall for wall in course.obstacles
        if isinstance(wall, Wall) and wall.name.startswith("Pole")
    ]  # fmt: skip
    for number, wall in enumerate(poles):
        angle = np.linspace(0.0, 2.0 * pi, 12, endpoint=False)
        ring = scene_course.POLE_RADIUS * np.stack((np.cos(angle), np.sin(angle)), axis=1)
        prism(scene, wall.name, wall.points[0][:2] + ring, 0.0, 1.8, colours[number % 2])
    scenes.finish([rig])
    scenes.backdrop(scene, [rig])
    scenes.chase(rig)
    return [rig]


def bicycle_corner():
    """Fig. 18: a cyclist around the corner of a road, whose edges are in the way."""
    from poise.addon.scene import objects
    from poise.solvers.path import scenes as numbers

    scene, rig, course = _on_a_road(numbers.bicycle_corner(), scenes.AMBER)
    kerb = objects.plain_material("Kerb", (0.62, 0.63, 0.60))
    for wall in course.obstacles:
        line = wall.points[:, :2]
        ahead = np.gradient(line, axis=0)
        ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
        across = 0.09 * np.stack((-ahead[:, 1], ahead[:, 0]), axis=1)
        for start, end, left, right in zip(line, line[1:], across, across[1:], strict=False):
            outline = np.array((start - left, end - right, end + right, start + left))
            prism(scene, wall.name, outline, -0.02, 0.10, kerb)
    scenes.backdrop(scene, [rig])
    scenes.chase(rig)
    return [rig]


def potholes():
    """Photo 5: a cyclist who weaves between the potholes of a straight road."""
    from poise.solvers.path import scenes as numbers

    scene, rig, _course = _on_a_road(numbers.potholes(), scenes.CYAN)
    scenes.backdrop(scene, [rig])
    scenes.chase(rig)
    return [rig]


def _on_a_road(numbers, suit):
    """A cyclist who has ridden a course of the paper, on asphalt: scene, armature and course."""
    scene = scenes.start_scene(14.0)
    course, settings = numbers
    rig = follower(scene, "CYCLIST", course, settings, 0.0, suit)
    # Steered more gently than in the paper's numbers: so it weaves less.
    rig.poise.path.max_curvature_rate = 0.8
    plan(scene, [rig])
    scenes.finish([rig])
    scenes.pave(scene)
    scenes.tyre_marks(rig)
    return scene, rig, course


def circuit():
    """A cyclist around a race circuit, a GeoJSON line that POISE_COURSE names."""
    from poise.solvers.path.scenes import closed_course

    file = Path(os.environ[COURSE])
    feature = json.loads(file.read_text(encoding="utf-8"))["features"][0]
    line = closed_course(np.array(feature["geometry"]["coordinates"])[:, :2])
    scene = scenes.start_scene(60.0)
    rig = scenes.add("CYCLIST", *line[0], suit=scenes.GREEN)
    rig.poise.motion = "PATH"
    rig.poise.settings.key_mode = "SPARSE"
    path = rig.poise.path
    path.curve = scenes.curve(scene, line[::4], kind="POLY")
    path.curve.data.splines[0].use_cyclic_u = True
    path.speed, path.lean_limit = 9.0, np.radians(35.0)
    plan(scene, [rig])
    scenes.finish([rig])
    scenes.pave(scene)
    scenes.tyre_marks(rig)
    scenes.backdrop(scene, [rig])
    scenes.chase(rig)
    return [rig]


def crowd(skiers: int = 50):
    """Fifty skiers down one hill, in the course of each other: those before have right of way."""
    import bpy

    scene = scenes.start_scene(14.0)
    hill = bpy.data.collections.new("On the hill")
    scene.collection.children.link(hill)
    rng = np.random.default_rng(7)
    rigs, figure = [], None
    for number in range(skiers):
        row, place = divmod(number, 5)
        x = 4.0 * (place - 2.0) + rng.uniform(-0.8, 0.8)
        y = 7.0 * row + rng.uniform(-1.5, 1.5)
        rig = scenes.add("SKIER", x, y, suit=scenes.SUITS[number % len(scenes.SUITS)])
        rig.poise.motion = "PATH"
        path = rig.poise.path
        # Each has a side to go to, and a pace, so that they have to cross and overtake.
        across = rng.uniform(-9.0, 9.0)
        way = ((x, y), (x, y - 12.0), (across, y - 55.0), (across, y - 95.0))
        path.curve = scenes.curve(scene, way)
        path.speed = rng.uniform(5.5, 8.5)
        path.clearance = 0.7
        path.obstacles = hill
        rig.poise.settings.frame_start = 1
        bpy.ops.poise.path_plan()
        bpy.ops.poise.bake()
        # From now on it is in the way of those that follow.
        hill.objects.link(rig)
        rigs.append(rig)
        figure = share_meshes(rig, figure)
    scene.frame_end = max(rig.poise.settings.frame_end for rig in rigs)
    scenes.activate(rigs[0])
    bpy.ops.poise.slope_add()
    scenes.backdrop(scene, rigs)
    return rigs


# -- numbers as objects ----------------------------------------------------------


def follower(scene, kind: str, course, settings, x: float, suit):
    """A character on one of the paper's courses, with everything that stands beside it.

    Args:
        scene: the scene.
        kind: kind of character.
        course: `PathScene` of one spline.
        settings: `PathSettings` with plain numbers.
        x: how far to the left all of it stands, metres.
        suit: colour of the jacket.

    Returns:
        The character's armature object.
    """
    import bpy

    shift = np.array((x, 0.0))
    line = course.polylines[0][:, :2] + shift
    rig = scenes.add(kind, *line[0], suit=suit)
    rig.poise.motion = "PATH"
    path = rig.poise.path
    path.curve = scenes.curve(scene, line, kind="POLY")
    path.speed, path.clearance = settings.speed, settings.clearance
    path.lean_limit = settings.max_lean
    if np.isfinite(settings.max_curvature):
        path.max_curvature = settings.max_curvature
    if np.isfinite(settings.max_curvature_rate):
        path.max_curvature_rate = settings.max_curvature_rate
    path.obstacles = bpy.data.collections.new("Obstacles")
    scene.collection.children.link(path.obstacles)
    obstacles(path.obstacles, course.obstacles, shift)
    return rig


def plan(scene, rigs) -> None:
    """Plan the paths of characters; the scene becomes as long as the longest.

    Args:
        scene: the scene.
        rigs: the armature objects.
    """
    import bpy

    for rig in rigs:
        rig.poise.settings.range_mode = "OWN"
        scenes.activate(rig)
        bpy.ops.poise.path_plan()
    scene.frame_end = max(rig.poise.settings.frame_end for rig in rigs)


def obstacles(collection, items, shift) -> None:
    """Firs for discs, holes for polygons, lines on the ground for walls.

    Args:
        collection: where they are linked.
        items: obstacles of a `PathScene`.
        shift: (2,) by how much all are moved, metres.
    """
    import bpy
    from poise.addon.scene import objects
    from poise.solvers.path import Disc, Polygon

    fir = scenes.fir_mesh()
    hole = objects.plain_material("Hole", (0.02, 0.02, 0.025))
    for number, item in enumerate(items):
        if isinstance(item, Disc):
            tree = bpy.data.objects.new(item.name, fir)
            tree.location = (*(item.centre[:2] + shift), 0.0)
            tree.rotation_euler.z = 2.4 * number
            tree.scale = (item.radius / FIR_TRUNK,) * 3
            collection.objects.link(tree)
        elif isinstance(item, Polygon):
            prism(collection, item.name, item.points + shift, 0.0, WALL_HEIGHT, hole)
        else:
            mesh = bpy.data.meshes.new(item.name)
            line = [(x, y, 0.0) for x, y in (item.points[:, :2] + shift).tolist()]
            mesh.from_pydata(line, [(i, i + 1) for i in range(len(line) - 1)], [])
            collection.objects.link(bpy.data.objects.new(item.name, mesh))


def prism(owner, name: str, outline: np.ndarray, low: float, high: float, material):
    """An upright prism.

    Args:
        owner: a scene, or a collection to link it to.
        name: name of the object.
        outline: (n, 2) corners, anticlockwise, metres.
        low: height of its bottom.
        high: height of its top.
        material: its material.
    """
    import bpy

    n = len(outline)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(
        [(x, y, z) for z in (low, high) for x, y in outline.tolist()],
        [],
        [*((i, (i + 1) % n, n + (i + 1) % n, n + i) for i in range(n)), tuple(range(n, 2 * n))],
    )
    mesh.materials.append(material)
    obj = bpy.data.objects.new(name, mesh)
    getattr(owner, "collection", owner).objects.link(obj)
    return obj


def share_meshes(rig, meshes: dict | None) -> dict:
    """Let a crowd of one kind of figure share its meshes; suits stay apart.

    Args:
        rig: the armature object of the next figure.
        meshes: from the figures before, or None.

    Returns:
        To be handed in with the next figure.
    """
    import bpy

    meshes = meshes or {}
    for child in rig.children:
        if child.type != "MESH":
            continue
        former, materials = child.data, [slot.material for slot in child.material_slots]
        child.data = meshes.setdefault(former.name.removeprefix(rig.name), former)
        for slot, material in zip(child.material_slots, materials, strict=True):
            slot.link = "OBJECT"
            slot.material = material
        if child.data != former:
            bpy.data.meshes.remove(former)
    return meshes


SCENES = {
    scene.__name__: scene
    for scene in (tree_skiing, slalom_poles, bicycle_corner, potholes, crowd)
}
if COURSE in os.environ:
    SCENES["circuit"] = circuit
