# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo scenes of motions along paths: those of the paper, and crowds.

The paper's scenes (van de Panne et al. 1993, Fig. 16 to 18, Photo 5) are those
that tools/lab/courses.py gives as numbers, built as objects.
"""

from __future__ import annotations

import json
import os
from math import pi
from pathlib import Path

import look
import numpy as np
import scenes

COURSE = "POISE_COURSE"  # names a file with a circuit, which none comes along with

FIR_TRUNK = 0.22  # m, radius of the trunk of an unscaled fir
WALL_HEIGHT = 0.02  # m

# A road, metres: the line along its edges, the verge beside it, how far the lawn is
# under it, and the dashes of its middle line: how long, how far apart, how wide.
EDGE_LINE, VERGE, LAWN = 0.14, 1.2, 0.06
DASH, DASH_EVERY, DASH_WIDTH = 2.0, 6.0, 0.07
LAWN_SIZE = 560.0  # from the road to the foot of the mountains

ASPHALT, PAINT, GRAVEL, GRASS = (
    (0.16, 0.165, 0.18), (0.80, 0.80, 0.78), (0.36, 0.33, 0.28), (0.16, 0.28, 0.10),
)

# Half the width of the circuit's road, metres.
CIRCUIT_EDGE = 5.0

# The spiral ramp, metres: radius of its middle, half its width, how thick it is, how far a turn
# climbs and how many there are; straight ways before and after; how far the grade takes to begin.
RADIUS, RAMP_EDGE, DECK, CLIMB, TURNS = 12.0, 2.4, 0.35, 5.0, 2.5
RUN_IN, RUN_OUT, EASE = 14.0, 22.0, 6.0
# Cones on the ramp: turns down from its top, and to the left of its middle.
CONES = ((0.82, 0.1), (0.87, 0.2), (0.92, 0.1), (1.55, -0.3), (1.60, -0.2))
CONCRETE, STEEL, ORANGE = (0.42, 0.42, 0.40), (0.50, 0.53, 0.56), (0.85, 0.22, 0.02)


def tree_skiing():
    """Fig. 16: skiers among trees who look 10 and 12 stages ahead, and take other ways."""
    from lab import courses as numbers

    scene = scenes.start_scene(16.0)
    course, settings = numbers.tree_skiing()
    rigs = []
    for x, stages, suit in ((0.0, 10, scenes.RED), (34.0, 12, scenes.BLUE)):
        rig = follower(scene, "SKIER", course, settings, x, suit)
        path = rig.poise.path
        # At a speed at which the trees are easily passed, both go the same way.
        path.stages, path.speed = stages, 9.0
        rigs.append(rig)
    plan(scene, rigs)
    scenes.finish(rigs)
    scenes.backdrop(scene, rigs)
    scenes.chase(rigs[0])
    return rigs


def slalom_poles():
    """Fig. 17: a slalom whose poles are lines, each to be passed on one side."""
    from lab import courses as numbers
    from poise.addon.scene import course as scene_course
    from poise.addon.shots import objects
    from poise.solvers.path import Wall

    scene = scenes.start_scene(24.0)
    course, settings = numbers.slalom()
    rig = follower(scene, "SKIER", course, settings, 0.0, scenes.VIOLET)
    # The track of the paper's figure all but touches the poles: the body leans over it.
    rig.poise.path.clearance = 0.5
    plan(scene, [rig])
    colours = [
        objects.plain_material(name, rgb)
        for name, rgb in (("Red", (0.70, 0.03, 0.03)), ("Blue", (0.03, 0.10, 0.60)))
    ]
    poles = [
        wall for wall in course.obstacles
        if isinstance(wall, Wall) and wall.name.startswith("Pole")
    ]
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
    from lab import courses as numbers

    return _on_a_road(14.0, numbers.bicycle_corner(), scenes.AMBER)


def potholes():
    """Photo 5: a cyclist who weaves between the potholes of a straight road."""
    from lab import courses as numbers

    return _on_a_road(14.0, numbers.potholes(), scenes.CYAN)


def _on_a_road(seconds, numbers, suit, closed: bool = False, size: float = 1.0):
    """A cyclist on a course between two edges that are the last two of its walls."""
    from poise.solvers.path import Wall

    scene = scenes.start_scene(seconds)
    course, settings = numbers
    rig = follower(scene, "CYCLIST", course, settings, 0.0, suit)
    path = rig.poise.path
    path.curve.data.splines[0].use_cyclic_u = closed
    if closed:
        rig.poise.settings.key_mode = "SPARSE"
    plan(scene, [rig])
    scenes.finish([rig], slope=False)
    scenes.tyre_marks(rig)
    left, right = [item for item in course.obstacles if isinstance(item, Wall)]
    road(scene, left.points[:, :2], right.points[:, :2])
    dashes(scene, course.polylines[0][:, :2])
    firs(scene, np.concatenate((left.points[:, :2], right.points[:, :2])))
    scenes.backdrop(scene, [rig], size=size)
    scenes.chase(rig)
    return [rig]


def circuit():
    """A cyclist around a race circuit, a GeoJSON line that POISE_COURSE names."""
    from lab.courses import BICYCLE, closed_course
    from poise.solvers.path import PathScene, PathSettings, Wall

    file = Path(os.environ[COURSE])
    feature = json.loads(file.read_text(encoding="utf-8"))["features"][0]
    line = closed_course(np.array(feature["geometry"]["coordinates"])[:, :2])
    ahead = np.roll(line, -1, axis=0) - np.roll(line, 1, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    across = CIRCUIT_EDGE * np.stack((-ahead[:, 1], ahead[:, 0]), axis=1)
    edges = tuple(
        Wall(np.concatenate((edge, edge[:1])), name)
        for name, edge in (("Left edge", line + across), ("Right edge", line - across))
    )
    settings = PathSettings(speed=9.0, clearance=0.3, max_lean=np.radians(35.0), **BICYCLE)
    course = PathScene((line,), obstacles=edges, cyclic=(True,))
    # Ranges of mountains stand where such a circuit does not reach.
    return _on_a_road(480.0, (course, settings), scenes.GREEN, closed=True, size=2.2)


def spiral_line() -> np.ndarray:
    """The middle of the spiral ramp, from its top, (n, 3) metres, a quarter of a metre apart."""
    from scipy.integrate import cumulative_trapezoid

    round_ = 2.0 * pi * RADIUS * TURNS
    way = np.linspace(0.0, RUN_IN + round_ + RUN_OUT, round(4.0 * (RUN_IN + round_ + RUN_OUT)))
    angle = pi + np.clip(way - RUN_IN, 0.0, round_) / RADIUS
    beyond = np.minimum(way - RUN_IN, 0.0) + np.maximum(way - RUN_IN - round_, 0.0)
    x = RADIUS + RADIUS * np.cos(angle) - beyond * np.sin(angle)
    y = RADIUS * np.sin(angle) + beyond * np.cos(angle)
    rise = np.clip((way - RUN_IN) / EASE, 0.0, 1.0)
    rise *= np.clip((RUN_IN + round_ - way) / EASE, 0.0, 1.0)
    grade = CLIMB / (2.0 * pi * RADIUS) * rise * rise * (3.0 - 2.0 * rise)
    z = -cumulative_trapezoid(grade, way, initial=0.0)
    return np.stack((x, y, z - z[-1]), axis=1)


def spiral_ramp():
    """A cyclist down a spiral ramp, between rails and around cones, as fast as brakes allow."""
    import bpy
    from poise.addon.shots import objects

    scene = scenes.start_scene(30.0)
    line = spiral_line()
    ahead = np.gradient(line[:, :2], axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    left = np.insert(np.stack((-ahead[:, 1], ahead[:, 0]), axis=1), 2, 0.0, axis=1)
    rig = scenes.add("CYCLIST", *line[0, :2], suit=scenes.AMBER)
    rig.poise.motion = "PATH"
    path = rig.poise.path
    path.curve = scenes.curve(scene, line[::4], kind="POLY")
    path.terrain = _ramp(scene, line, left)
    path.speed_mode, path.speed, path.speed_limit = "TERRAIN", 4.5, 6.0
    path.friction, path.clearance, path.max_curvature_rate = 0.006, 0.45, 0.8
    path.obstacles = bpy.data.collections.new("Obstacles")
    scene.collection.children.link(path.obstacles)
    for side, name in ((1.0, "Left rail"), (-1.0, "Right rail")):
        edge = line + side * (RAMP_EDGE - 0.15) * left
        mesh = bpy.data.meshes.new(name)
        mesh.from_pydata(edge[::4].tolist(), [(i, i + 1) for i in range(len(edge[::4]) - 1)], [])
        path.obstacles.objects.link(bpy.data.objects.new(name, mesh))
        _rail(scene, name, line[::8] + side * RAMP_EDGE * left[::8])
    orange = objects.plain_material("Orange", ORANGE)
    for turns, aside in CONES:
        row = round(4.0 * (RUN_IN + 2.0 * pi * RADIUS * turns))
        _cone(path.obstacles, line[row] + aside * left[row], orange)
    plan(scene, [rig])
    scenes.finish([rig], slope=False)
    scenes.tyre_marks(rig)
    _columns(scene, line)
    outline = LAWN_SIZE * np.array(((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)))
    grass = objects.plain_material("Grass", GRASS)
    lawn = prism(scene, "Lawn", outline, -DECK - 1.0, -LAWN, grass)
    lawn.display.show_shadows = False
    look.set_sun(scene, -0.25 * pi)
    look.sky(scene, (RADIUS, 0.0, -1.0), -0.25 * pi)
    scenes.chase(rig)
    return [rig]


def _ramp(scene, line: np.ndarray, left: np.ndarray):
    """A deck along a line, with a line painted along each of its edges."""
    import bpy
    from poise.addon.shots import objects

    profile = np.array((
        (-RAMP_EDGE, -DECK), (-RAMP_EDGE, 0.0), (-RAMP_EDGE + 0.3, 0.0), (0.0, 0.0),
        (RAMP_EDGE - 0.3, 0.0), (RAMP_EDGE, 0.0), (RAMP_EDGE, -DECK),
    ))
    up = np.array((0.0, 0.0, 1.0))
    points = line[:, None] + profile[:, :1] * left[:, None] + profile[:, 1:] * up
    index = np.arange(points.size // 3).reshape(points.shape[:2])
    after = np.roll(index, -1, axis=1)
    corners = index[:-1], after[:-1], after[1:], index[1:]
    faces = np.stack(corners, axis=-1).reshape(-1, 4)
    mesh = bpy.data.meshes.new("Ramp")
    mesh.from_pydata(points.reshape(-1, 3).tolist(), [], faces.tolist())
    for name, colour in (("Concrete", CONCRETE), ("Asphalt", ASPHALT), ("Paint", PAINT)):
        mesh.materials.append(objects.plain_material(name, colour))
    shades = np.tile((0, 2, 1, 1, 2, 0, 0), len(line) - 1)
    mesh.polygons.foreach_set("material_index", shades.astype(np.int32))
    deck = bpy.data.objects.new("Ramp", mesh)
    scene.collection.objects.link(deck)
    return deck


def _rail(scene, name: str, foot: np.ndarray) -> None:
    """Two bars and posts along the edge of a deck."""
    import bpy
    from poise.addon.shots import objects

    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions, data.bevel_depth, data.bevel_resolution = "3D", 0.035, 1
    bars = [foot + (0.0, 0.0, height) for height in (0.55, 1.05)]
    posts = [np.array((place - (0.0, 0.0, 0.1), place + (0.0, 0.0, 1.05))) for place in foot]
    for places in (*bars, *posts):
        spline = data.splines.new("POLY")
        spline.points.add(len(places) - 1)
        spline.points.foreach_set("co", np.insert(places, 3, 1.0, axis=1).ravel())
    data.materials.append(objects.plain_material("Steel", STEEL))
    scene.collection.objects.link(bpy.data.objects.new(f"{name} bars", data))


def _cone(collection, foot: np.ndarray, material) -> None:
    """A traffic cone, 60 cm high."""
    import bpy

    angle = np.linspace(0.0, 2.0 * pi, 12, endpoint=False)
    rings = [(0.16, 0.0), (0.03, 0.6)]
    points = [(r * np.cos(a), r * np.sin(a), z) for r, z in rings for a in angle]
    faces = [(i, (i + 1) % 12, 12 + (i + 1) % 12, 12 + i) for i in range(12)]
    mesh = bpy.data.meshes.new("Cone")
    mesh.from_pydata(points, [], [*faces, tuple(range(12, 24))])
    mesh.materials.append(material)
    cone = bpy.data.objects.new("Cone", mesh)
    cone.location = foot
    collection.objects.link(cone)


def _columns(scene, line: np.ndarray) -> None:
    """What carries the ramp: columns inside its bend, and two at its upper end."""
    from poise.addon.shots import objects

    concrete = objects.plain_material("Concrete", CONCRETE)
    angle = np.linspace(0.0, 2.0 * pi, 16, endpoint=False)
    ring = 0.35 * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    for number in range(10):
        row = round(4.0 * (RUN_IN + 2.0 * pi * RADIUS * number / 10.0))
        inward = (line[row, :2] - (RADIUS, 0.0)) / RADIUS
        place = line[row, :2] - (RAMP_EDGE + 0.45) * inward
        prism(scene, "Column", place + ring, -1.0, float(line[row, 2]), concrete)
    for side in (-1.5, 1.5):
        top = float(line[8, 2]) - DECK
        prism(scene, "Column", line[8, :2] + (side, 0.0) + ring, -1.0, top, concrete)


def hill_height(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Height of the crowd's hill: 12 degrees, with waves as a groomer leaves them.

    Args:
        x: metres.
        y: metres.
    """
    return 0.21 * y + 0.2 * np.sin(2.0 * pi * y / 38.0 + 0.05 * x) + 0.002 * x * x


def crowd(skiers: int = 50):
    """Fifty skiers down one hill, in the course of each other: those before have right of way."""
    import bpy

    scene = scenes.start_scene(14.0)
    terrain = scenes.mountain(scene, hill_height, 110.0)
    hill = bpy.data.collections.new("On the Hill")
    scene.collection.children.link(hill)
    rng = np.random.default_rng(7)
    rigs, figure = [], None
    for number in range(skiers):
        row, place = divmod(number, 5)
        x = 4.5 * (place - 2.0) + rng.uniform(-0.8, 0.8)
        y = 7.0 * row + rng.uniform(-1.5, 1.5)
        rig = scenes.add("SKIER", x, y, suit=scenes.SUITS[number % len(scenes.SUITS)])
        rig.poise.motion = "PATH"
        path = rig.poise.path
        # Each has a side to go to, and a pace, so that they have to cross and overtake.
        across = rng.uniform(-12.0, 12.0)
        way = ((x, y), (x, y - 12.0), (across, y - 55.0), (across, y - 95.0))
        path.curve = scenes.curve(scene, way)
        path.speed = rng.uniform(5.5, 8.5)
        path.terrain, path.obstacles = terrain, hill
        path.clearance = 1.1  # of its middle from the shoulders of others: room for the poles
        # Each gets down in its own time.
        rig.poise.settings.range_mode = "OWN"
        bpy.ops.poise.path_plan()
        bpy.ops.poise.bake()
        bpy.ops.poise.trail_add()
        if not rigs:
            # While the plan is remembered: later it would be another one.
            scenes.backdrop(scene, [rig])
        # From now on it is in the way of those that follow.
        hill.objects.link(rig)
        rigs.append(rig)
        figure = share_meshes(rig, figure)
        # Else each bake bends the meshes of all of them, frame by frame.
        show_figure(rig, False)
    for rig in rigs:
        show_figure(rig, True)
    # Who has come to the end of its path would stand in the way of those that follow.
    scene.frame_end = min(rig.poise.settings.frame_end for rig in rigs)
    scenes.activate(rigs[0])
    accompany(scene, rigs)
    return rigs


def show_figure(rig, shown: bool) -> None:
    """Show or hide the meshes of a figure in the viewport, for speed.

    Args:
        rig: the armature object.
        shown: False hides them.
    """
    for child in rig.children:
        child.hide_viewport = not shown


def accompany(
    scene, rigs, eye=(-6.0, -28.0, 9.5), lens: float = 47.0, height=None
) -> None:
    """A camera that goes before a crowd, at its mean speed, and looks back at it.

    Args:
        scene: the scene.
        rigs: the armature objects.
        eye: (3,) where it is, as seen from the foremost of them, metres.
        lens: focal length in millimetres.
        height: (x, y) -> height of the ground, metres; None for that of the hill.
    """
    height = height or hill_height
    eye, camera = np.array(eye), None
    for frame in (scene.frame_start, scene.frame_end):
        scene.frame_set(frame)
        feet = np.array([rig.matrix_world @ rig.pose.bones["root"].head for rig in rigs])
        middle = feet.mean(axis=0)
        first = np.array((middle[0], feet[:, 1].min(), 0.0))
        place = first + eye
        place[2] = height(*place[:2]) + eye[2]
        if camera is None:
            camera = look.camera(scene, place, middle + (0.0, 0.0, 1.0), lens)
        look.aim(camera, place, 0.5 * (middle + (*first[:2], height(*first[:2]))))
        camera.keyframe_insert("location", frame=frame)
        camera.keyframe_insert("rotation_euler", frame=frame)
    for strip in camera.animation_data.action.layers[0].strips:
        for curve in strip.channelbag(camera.animation_data.action_slot).fcurves:
            for point in curve.keyframe_points:
                point.interpolation = "LINEAR"
    scene.frame_set(scene.frame_start)


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
    from poise.addon.shots import objects
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


def road(scene, left: np.ndarray, right: np.ndarray) -> None:
    """Asphalt between two lines, which are painted along its edges, and a lawn around.

    Args:
        scene: the scene.
        left: (n, 2) its left edge, metres.
        right: (n, 2) its right edge, a point for each of the left one.
    """
    import bpy
    from poise.addon.shots import objects

    across = (left - right) / np.linalg.norm(left - right, axis=1, keepdims=True)
    paint, verge = EDGE_LINE * across, VERGE * across
    columns = (
        (right - verge, -2.0 * LAWN), (right - paint, 0.0), (right, 0.0),
        (left, 0.0), (left + paint, 0.0), (left + verge, -2.0 * LAWN),
    )
    points = np.stack([np.insert(line, 2, z, axis=1) for line, z in columns], axis=1)
    index = np.arange(points.size // 3).reshape(points.shape[:2])
    corners = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    faces = np.stack(corners, axis=-1).reshape(-1, 4)
    mesh = bpy.data.meshes.new("Road")
    mesh.from_pydata(points.reshape(-1, 3).tolist(), [], faces.tolist())
    for name, colour in (("Asphalt", ASPHALT), ("Paint", PAINT), ("Gravel", GRAVEL)):
        mesh.materials.append(objects.plain_material(name, colour))
    shades = np.tile((2, 1, 0, 1, 2), len(left) - 1)
    mesh.polygons.foreach_set("material_index", shades.astype(np.int32))
    _flat(scene, "Road", mesh)
    both = np.concatenate((left, right))
    (west, south), (east, north) = both.min(axis=0) - LAWN_SIZE, both.max(axis=0) + LAWN_SIZE
    outline = np.array(((west, south), (east, south), (east, north), (west, north)))
    lawn = prism(scene, "Lawn", outline, -1.0, -LAWN, objects.plain_material("Grass", GRASS))
    lawn.display.show_shadows = False


def _flat(scene, name: str, mesh):
    """What lies on the ground: it catches shadows, and throws none."""
    import bpy

    obj = bpy.data.objects.new(name, mesh)
    obj.display.show_shadows = False
    scene.collection.objects.link(obj)


def dashes(scene, line: np.ndarray) -> None:
    """A broken line painted on a road.

    Args:
        scene: the scene.
        line: (n, 2) metres.
    """
    import bpy
    from poise.addon.shots import objects

    way = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(line, axis=0), axis=1))))
    starts = np.arange(0.0, way[-1] - DASH, DASH_EVERY)
    at = starts[:, None] + np.linspace(0.0, DASH, 5)
    middle = np.stack([np.interp(at, way, column) for column in line.T], axis=-1)
    ahead = np.gradient(middle, axis=1)
    ahead /= np.linalg.norm(ahead, axis=2, keepdims=True)
    across = 0.5 * DASH_WIDTH * np.stack((-ahead[..., 1], ahead[..., 0]), axis=-1)
    points = np.stack((middle - across, middle + across), axis=2)
    points = np.insert(points, 2, 0.003, axis=-1)
    index = np.arange(points.size // 3).reshape(points.shape[:3])
    low, high = index[:, :-1], index[:, 1:]
    faces = np.stack((low[..., 0], high[..., 0], high[..., 1], low[..., 1]), axis=-1)
    mesh = bpy.data.meshes.new("Middle Line")
    mesh.from_pydata(points.reshape(-1, 3).tolist(), [], faces.reshape(-1, 4).tolist())
    mesh.materials.append(objects.plain_material("Paint", PAINT))
    _flat(scene, "Middle Line", mesh)


def firs(scene, edges: np.ndarray, every: float = 9.0, gap: float = 4.0) -> None:
    """Firs on the lawn beside a road, by which one sees how fast it goes.

    Args:
        scene: the scene.
        edges: (n, 2) points of the road's edges, metres.
        every: a fir for so many metres of a square lattice around the road.
        gap: none stands nearer to an edge.
    """
    import bpy
    from scipy.interpolate import interp1d
    from scipy.spatial import cKDTree

    fir, rng = scenes.fir_mesh(), np.random.default_rng(11)
    way = np.concatenate(([0.0], np.cumsum(np.linalg.norm(np.diff(edges, axis=0), axis=1))))
    close = cKDTree(interp1d(way, edges, axis=0)(np.arange(0.0, way[-1], 1.0)))
    low, high = edges.min(axis=0) - 40.0, edges.max(axis=0) + 40.0
    lattice = [np.arange(a, b, every) for a, b in zip(low, high, strict=True)]
    places = np.stack(np.meshgrid(*lattice), axis=-1).reshape(-1, 2)
    places = places + rng.uniform(-0.4, 0.4, places.shape) * every
    distance, _nearest = close.query(places)
    # Fewer with the distance: a wood that opens.
    share = 2.5 * gap / (distance + gap) ** 1.2
    stands = (distance > gap) & (distance < 45.0) & (rng.uniform(size=len(places)) < share)
    for place in places[stands]:
        tree = bpy.data.objects.new("Fir", fir)
        tree.location = (*place, -LAWN)
        tree.rotation_euler.z = rng.uniform(0.0, 6.0)
        tree.scale = (rng.uniform(0.7, 1.3),) * 3
        scene.collection.objects.link(tree)


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
    for scene in (tree_skiing, slalom_poles, bicycle_corner, potholes, crowd, spiral_ramp)
}
if COURSE in os.environ:
    SCENES["circuit"] = circuit
