# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo scenes of riding, and what all demo scenes are made with.

Each is made the way an animator makes it: with the operators of the sidebar,
and keys on the settings of Motion objects.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from math import pi, radians
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

import belongings
import installed
import look
import mannequin

FPS = 24

RED, BLUE, GREEN, AMBER, VIOLET, CYAN = (
    (0.72, 0.06, 0.03), (0.03, 0.16, 0.60), (0.04, 0.38, 0.16),
    (0.86, 0.40, 0.02), (0.32, 0.10, 0.50), (0.02, 0.42, 0.52),
)
SUITS = (RED, BLUE, GREEN, AMBER, VIOLET, CYAN)

SKIER_PRESETS = ("Beginner", "Cruising", "Short Turns", "Slalom", "Carving", "Giant Slalom")

# The pendulum that the paper's examples are for: van de Panne et al. 1993,
# Fig. 6 and 10, with a body of 70 kg whose mass is 1 m over its foot.
PENDULUM = {"auto_body": False, "mass": 70.0, "height": 1.0, "inertia": 5.0}

# Seconds of a whole turn and largest lean of Fig. 6's three phase ellipses.
ELLIPSES = ((2.0, radians(23.0)), (3.0, radians(23.0)), (2.0, radians(7.0)))

# Heading of the fourth track, in degrees at seconds.
HEADING_KEYS = ((0.0, 0.0), (2.0, 0.0), (4.0, 35.0), (6.0, 35.0), (8.0, -20.0), (10.0, -20.0))


def start_scene(seconds: float):
    """An empty scene with daylight, long enough for a motion.

    Args:
        seconds: length of the scene.

    Returns:
        The scene.
    """
    scene = installed.new_file()
    scene.render.fps = FPS
    scene.frame_start, scene.frame_end = 1, 1 + round(seconds * FPS)
    look.workbench(scene)
    return scene


def add(
    kind: str, x: float = 0.0, y: float = 0.0, suit=RED, preset: str = "", goofy: bool = False,
    **turns,
):
    """Add a character that goes along -Y, with a motion over the scene's range.

    Args:
        kind: kind of character, such as "SKIER".
        x: where it stands.
        y: where it stands.
        suit: colour of its jacket.
        preset: name of a preset to begin with.
        goofy: right foot in front, on a board.
        turns: settings of the turns, in Blender units.

    Returns:
        The character's armature object.
    """
    import bpy

    scene = bpy.context.scene
    scene.cursor.location = (x, y, 0.0)
    bpy.ops.poise.character_add(kind=kind, suit=suit, goofy=goofy)
    scene.cursor.location = (0.0, 0.0, 0.0)
    rig = bpy.context.active_object
    if preset:
        bpy.ops.poise.preset_apply(name=preset)
    rig.poise.settings.range_mode = "SCENE"
    for name, value in turns.items():
        setattr(rig.poise.turns, name, value)
    return rig


def key(group, name: str, *keys: tuple[float, float], interpolation: str = "BEZIER") -> None:
    """Key a setting as an animator does, on the Motion object.

    Args:
        group: settings, such as `rig.poise.turns`.
        name: name of the setting.
        keys: (seconds, value) pairs.
        interpolation: Blender's name of the interpolation between keys.
    """
    for seconds, value in keys:
        setattr(group, name, value)
        group.keyframe_insert(name, frame=1 + seconds * FPS)
    data = group.id_data.animation_data
    path = group.path_from_id(name)
    for strip in data.action.layers[0].strips:
        for curve in strip.channelbag(data.action_slot).fcurves:
            if curve.data_path == path:
                for point in curve.keyframe_points:
                    point.interpolation = interpolation


def activate(rig) -> None:
    """Make a character the selected and active object.

    Args:
        rig: the armature object.
    """
    import bpy

    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig


def solve(rig):
    """The active motion of a character, as the bake will write it.

    Args:
        rig: the armature object.
    """
    import bpy
    from poise.addon import pipeline

    return pipeline.solve(pipeline.gather(bpy.context, rig.poise.motion_object))


def finish(rigs, trail: bool = True, grow: bool = True, slope: bool = True) -> None:
    """Bake every motion and lay the tracks; the first motion's hill serves all.

    Args:
        rigs: the armature objects.
        trail: lay tracks on the snow.
        grow: let the tracks grow with the frame.
        slope: make that hill; a motion on a terrain has one.
    """
    import bpy
    from poise.addon import motions

    for number, rig in enumerate(rigs):
        activate(rig)
        bpy.ops.poise.bake_all()
        for motion in motions.motions_of(rig):
            motions.set_active(motion)
            if trail:
                bpy.ops.poise.trail_add(grow=grow)
        if number == 0 and slope:
            bpy.ops.poise.slope_add()
    activate(rigs[0])
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)


def middle_of(rigs) -> np.ndarray:
    """Middle (3,) of everything that characters travel.

    Args:
        rigs: the armature objects.
    """
    places = _places(rigs)
    return 0.5 * (places.min(axis=0) + places.max(axis=0))


def _places(rigs) -> np.ndarray:
    return np.concatenate([solve(rig).motion.position for rig in rigs])


def backdrop(scene, rigs, sun: float = -0.25 * pi, size: float = 1.0) -> None:
    """Sky and mountains around, and the sun.

    Args:
        scene: the scene.
        rigs: the armature objects.
        sun: turn of the sun about +Z in radians.
        size: how far away the mountains are, 1 for half a kilometre.
    """
    places = _places(rigs)
    low, high = places.min(axis=0), places.max(axis=0)
    # From a hill one looks down into a valley; the mountains rise from there.
    fall = high[2] - low[2]
    drop = fall + 90.0 if fall > 1.0 else 0.0
    look.set_sun(scene, sun)
    look.sky(scene, (*(0.5 * (low + high))[:2], high[2] - drop), sun, size=size)


def chase(rig, **options) -> None:
    """Add a camera that follows a character.

    Args:
        rig: the armature object.
        options: of the operator.
    """
    import bpy

    activate(rig)
    bpy.ops.poise.chase_camera_add(**options)
    bpy.context.scene.camera.data.clip_end = look.FAR


def side_by_side(rigs, gap: float = 4.0) -> None:
    """Move characters apart, each to the left of the one before, so that no tracks cross.

    Args:
        rigs: the armature objects, or lists of such that stay together.
        gap: metres between the tracks.
    """
    import bpy

    edge = 0.0
    for group in rigs:
        group = group if isinstance(group, list) else [group]
        across = _places(group)[:, 0]
        shift = edge - across.min()
        edge += np.ptp(across) + gap
        for rig in group:
            rig.location.x += shift
            rig.poise.motion_object.location.x += shift
    bpy.context.view_layer.update()


def skier_presets():
    """The skier's presets side by side on one hill."""
    scene = start_scene(8.0)
    rigs = []
    for suit, preset in zip(SUITS, SKIER_PRESETS, strict=True):
        rigs.append(add("SKIER", suit=suit, preset=preset, slope=radians(14.0)))
        rigs[-1].name = f"{preset} Skier"
    side_by_side(rigs)
    finish(rigs)
    backdrop(scene, rigs, pi)
    middle = middle_of(rigs)
    look.camera(scene, middle + (-8.0, -95.0, 2.0), middle + (0.0, 12.0, -2.0), 34.0)
    return rigs


def snowboarder():
    """A snowboarder carves down a hill."""
    scene = start_scene(8.0)
    rig = add("SNOWBOARDER", preset="Carving", suit=CYAN)
    finish([rig])
    backdrop(scene, [rig])
    chase(rig)
    return [rig]


def skateboarder():
    """A regular and a goofy skateboarder carve side by side along a street."""
    scene = start_scene(8.0)
    rigs = [
        add("SKATEBOARDER", preset="Carving", suit=VIOLET, slope=0.0),
        add("SKATEBOARDER", -2.4, 0.6, AMBER, "Carving", goofy=True, slope=0.0),
    ]
    finish(rigs, trail=False)
    pave(scene)
    backdrop(scene, rigs)
    chase(rigs[0])
    return rigs


def pave(scene) -> None:
    """Asphalt instead of snow.

    Args:
        scene: the scene.
    """
    from poise.addon.shots import objects

    asphalt = objects.plain_material("Asphalt", (0.16, 0.165, 0.18))
    for obj in scene.objects:
        if obj.type == "MESH" and "Slope" in obj.name:
            for slot in obj.material_slots:
                slot.material = asphalt


def cyclist():
    """A cyclist through sharp turns, inside pedal up, who then sprints out of the saddle."""
    scene = start_scene(12.0)
    rig = add("CYCLIST", preset="Criterium", suit=GREEN, frequency=0.2)
    turns, style = rig.poise.turns, rig.poise.cyclist
    key(turns, "speed", (0.0, 9.5), (7.0, 9.5), (11.0, 13.0))
    key(turns, "sharpness", (0.0, radians(32.0)), (6.0, radians(32.0)), (8.0, radians(4.0)))
    key(style, "stand", (0.0, 0.0), (7.0, 0.0), (7.8, 1.0))
    key(style, "cadence", (0.0, 95.0), (7.0, 95.0), (11.0, 110.0))
    finish([rig])
    pave(scene)
    tyre_marks(rig)
    backdrop(scene, [rig])
    chase(rig)
    return [rig]


def tyre_marks(rig) -> None:
    """Turn a character's track into what tyres leave.

    Args:
        rig: the armature object.
    """
    from poise.addon.shots import objects

    trail = rig.poise.motion_object.poise_motion.trail.data
    trail.materials.clear()
    trail.materials.append(objects.plain_material("Tyre", (0.055, 0.055, 0.06)))


def figure_6():
    """Three phase ellipses and the tracks they leave: 1993, Fig. 6."""
    scene = start_scene(6.0)
    rigs = []
    for number, (period, lean) in enumerate(ELLIPSES):
        rig = add(
            "SKIER", suit=SUITS[number], speed=8.0, frequency=1.0 / period, sharpness=lean,
            slope=0.0, **PENDULUM,
        )
        rig.name = f"Ellipse {number + 1}"
        rigs.append(rig)
    side_by_side(rigs[::-1], 2.5)
    finish(rigs)
    return _flat(scene, rigs)


def figure_10():
    """Figure-8s, falling frequency, rising sharpness, changing heading: 1993, Fig. 10."""
    scene = start_scene(10.0)
    shared = {"speed": 8.0, "frequency": 0.5, "sharpness": radians(23.0), "slope": 0.0} | PENDULUM
    first = add("SKIER", suit=RED, **shared)
    period = 1.0 / first.poise.turns.frequency
    # One whole turn behind and turning the other way, so that the tracks cross.
    wave = float(np.interp(period, *_forward(first)))
    second = add("SKIER", y=wave, suit=BLUE, start_phase=pi, **shared)
    slower = add("SKIER", suit=GREEN, **shared)
    key(slower.poise.turns, "frequency", (0.0, 0.6), (10.0, 0.24), interpolation="LINEAR")
    sharper = add("SKIER", suit=AMBER, **shared)
    key(
        sharper.poise.turns, "sharpness", (0.0, radians(6.0)), (10.0, radians(38.0)),
        interpolation="LINEAR",
    )
    heading = add("SKIER", suit=VIOLET, **shared)
    key(heading.poise.turns, "heading", *((t, radians(angle)) for t, angle in HEADING_KEYS))
    rigs = [first, second, slower, sharper, heading]
    names = ("Figure-8 First", "Figure-8 Second", "Slower", "Sharper", "Heading")
    for rig, name in zip(rigs, names, strict=True):
        rig.name = name
    side_by_side([heading, sharper, slower, [first, second]], 3.0)
    finish(rigs)
    return _flat(scene, rigs)


def _forward(rig):
    """Times and forward distances of a character's foot."""
    motion = solve(rig).motion
    return motion.time, motion.position[0, 1] - motion.position[:, 1]


def _flat(scene, rigs):
    """Sky, and cameras from above and ahead, for tracks on level snow."""
    backdrop(scene, rigs, pi)
    places = _places(rigs)
    low, high = places.min(axis=0), places.max(axis=0)
    middle = 0.5 * (low + high)
    look.top_camera(scene, middle, 1.06 * (high[1] - low[1]), -0.5 * pi)
    look.camera(
        scene, (middle[0] - 4.0, low[1] - 16.0, 7.5), (middle[0] + 1.0, middle[1], 0.0), 32.0
    )
    return rigs


def slope_speed():
    """A skier gains speed on a steep hill and loses it where it flattens out."""
    scene = start_scene(12.0)
    rig = add(
        "SKIER", suit=AMBER, speed_mode="SLOPE", speed=4.0, frequency=0.36,
        sharpness=radians(28.0), friction=0.06, drag_area=0.5,
    )
    key(rig.poise.turns, "slope", (0.0, radians(18.0)), (6.0, radians(18.0)), (10.0, radians(2.0)))
    finish([rig])
    backdrop(scene, [rig])
    chase(rig)
    return [rig]


def sparse_keys():
    """The same turns with a key on every frame, and with few exact ones."""
    scene = start_scene(6.0)
    rigs = []
    for number, mode in enumerate(("DENSE", "SPARSE")):
        rig = add("SKIER", suit=SUITS[number], preset="Short Turns")
        rig.name = f"{mode.title()} Keys"
        rig.poise.settings.key_mode = mode
        rig.poise.settings.key_step = 4
        rigs.append(rig)
    side_by_side(rigs)
    finish(rigs)
    backdrop(scene, rigs, pi)
    middle = middle_of(rigs)
    look.camera(scene, middle + (3.0, -34.0, -4.0), middle + (0.0, 4.0, 0.0), 40.0)
    return rigs


def several_motions():
    """Three motions of one skier, each after the one before, on NLA strips."""
    import bpy
    from poise.addon import motions

    scene = start_scene(15.0)
    rig = add("SKIER", suit=GREEN, preset="Cruising", slope=radians(12.0))
    first = rig.poise.settings
    first.range_mode = "OWN"
    first.frame_start, first.frame_end = 1, 1 + 5 * FPS
    bpy.ops.poise.motion_add(name="Short Turns")
    bpy.ops.poise.preset_apply(name="Short Turns")
    second = rig.poise.settings
    second.turns.slope = radians(12.0)
    # The preset's speed is another one: go over to it within a second.
    start = (second.frame_start - 1) / FPS
    key(second.turns, "speed", (start, first.turns.speed), (start + 1.0, second.turns.speed))
    second.frame_end = second.frame_start + 5 * FPS
    bpy.ops.poise.motion_add(name="Carving to the Left")
    bpy.ops.poise.preset_apply(name="Carving")
    third = rig.poise.settings
    third.turns.slope, third.turns.heading = radians(12.0), radians(25.0)
    # It begins slowly, in turns tighter than skis of this preset carve.
    third.turns.max_curvature, third.turns.max_curvature_rate = 0.3, 1.2
    start = (third.frame_start - 1) / FPS
    key(third.turns, "speed", (start, 7.0), (start + 1.5, third.turns.speed))
    third.frame_end = third.frame_start + 5 * FPS
    finish([rig])
    backdrop(scene, [rig])
    # A camera for each motion; markers switch from one to the next.
    for motion in motions.motions_of(rig):
        motions.set_active(motion)
        chase(rig)
        marker = scene.timeline_markers.new(
            motion.name, frame=motion.poise_motion.frame_start
        )
        marker.camera = scene.camera
    scene.frame_set(scene.frame_start)
    return [rig]


def irregular():
    """The same turns evenly, and with a slight irregularity."""
    scene = start_scene(10.0)
    rigs = []
    for number, amount in enumerate((0.0, 0.25)):
        rig = add("SKIER", suit=SUITS[number + 2], preset="Short Turns")
        rig.name = "Irregular" if amount else "Even"
        rig.poise.turns.irregularity, rig.poise.turns.irregularity_seed = amount, 7
        rigs.append(rig)
    side_by_side(rigs)
    finish(rigs)
    backdrop(scene, rigs, pi)
    middle = middle_of(rigs)
    look.camera(scene, middle + (3.0, -48.0, -4.0), middle + (0.0, 6.0, 0.0), 40.0)
    return rigs


def slalom():
    """A skier on a slalom course that was set along a path, between trees."""
    return _slalom("SKIER", BLUE)


def telemark():
    """A telemark skier on the same course, as in Photo 4 of van de Panne et al. 1993."""
    return _slalom("TELEMARK", GREEN)


def _slalom(kind: str, suit):
    import bpy

    scene = start_scene(18.0)
    rig = add(kind, suit=suit)
    rig.poise.motion = "PATH"
    path = rig.poise.path
    path.curve = curve(scene, ((0.0, 0.0), (3.0, -45.0), (-3.0, -90.0), (0.0, -130.0)))
    path.obstacles = _trees(scene)
    path.speed = 8.0
    bpy.ops.poise.slalom_course_add(spacing=15.0, offset=0.5, width=4.0)
    bpy.ops.poise.path_plan()
    scene.frame_end = rig.poise.settings.frame_end
    finish([rig])
    backdrop(scene, [rig])
    chase(rig)
    return [rig]


def descent():
    """A skier down a mountain of rolls and hollows, as fast as gravity and brakes make it."""
    import bpy

    scene = start_scene(18.0)
    rig = add("SKIER", suit=AMBER)
    rig.poise.motion = "PATH"
    path = rig.poise.path
    y = np.arange(0.0, -191.0, -10.0)
    x = 5.5 * np.sin(2.0 * pi * y / 74.0) * np.minimum(-y / 25.0, 1.0)
    path.curve = curve(scene, np.stack((x, y), axis=1))
    path.terrain, path.speed_mode = mountain(scene), "TERRAIN"
    path.speed, path.speed_limit = 4.0, 10.5
    bpy.ops.poise.path_plan()
    scene.frame_end = rig.poise.settings.frame_end
    finish([rig], slope=False)
    backdrop(scene, [rig])
    chase(rig)
    return [rig]


def curve(scene, places, kind: str = "BEZIER"):
    """A curve through places.

    Args:
        scene: the scene.
        places: (n, 2) of the ground plan, or (n, 3), metres.
        kind: "BEZIER" for a smooth one, "POLY" for the points as they are.
    """
    import bpy

    data = bpy.data.curves.new("Path", "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new(kind)
    points = spline.bezier_points if kind == "BEZIER" else spline.points
    points.add(len(places) - 1)
    for point, place in zip(points, places, strict=True):
        x, y, z = (*place, 0.0)[:3]
        point.co = (x, y, z) if kind == "BEZIER" else (x, y, z, 1.0)
        if kind == "BEZIER":
            point.handle_left_type = point.handle_right_type = "AUTO"
    way = bpy.data.objects.new("Path", data)
    scene.collection.objects.link(way)
    return way


def mountain_height(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Height of the demo mountain: a hill of 14 degrees with rolls, hollows and a side.

    Args:
        x: metres.
        y: metres.
    """
    rolls = 0.9 * np.sin(2.0 * pi * y / 34.0 + 0.06 * x) * np.cos(2.0 * pi * x / 70.0)
    bowl = 0.004 * x * x + 1.6 * np.sin(2.0 * pi * (y + 0.5 * x) / 110.0)
    return 0.25 * y + rolls + bowl


def mountain(scene, height=mountain_height, top: float = 40.0):
    """A groomed mountain as a mesh of its own, its faces in lanes of two shades.

    Args:
        scene: the scene.
        height: (x, y) -> z, metres.
        top: y where it begins; it falls along -Y.

    Returns:
        The mesh object.
    """
    import bpy
    from poise.addon.shots import objects, slope

    x, y = np.arange(-50.0, 50.1, 0.5), np.arange(top, top - 300.1, -1.0)
    grid = np.stack(np.meshgrid(x, y, indexing="xy"), axis=-1)
    points = np.concatenate((grid, height(*np.moveaxis(grid, -1, 0))[..., None]), axis=-1)
    index = np.arange(grid.shape[0] * grid.shape[1]).reshape(grid.shape[:2])
    corners = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    faces = np.stack(corners, axis=-1).reshape(-1, 4)
    mesh = bpy.data.meshes.new("Mountain")
    mesh.from_pydata(points.reshape(-1, 3).tolist(), [], faces.tolist())
    for number, colour in enumerate(slope.SNOW):
        mesh.materials.append(objects.plain_material(f"Snow {number + 1}", colour))
    shades = np.tile(slope.groomed(x, 0.5), len(y) - 1)
    mesh.polygons.foreach_set("material_index", shades.astype(np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), dtype=bool))
    hill = bpy.data.objects.new("Mountain", mesh)
    hill.display.show_shadows = False  # it catches them all the same
    scene.collection.objects.link(hill)
    return hill


def fir_mesh():
    """A fir, its trunk 0.22 m thick in radius, its crown well over a skier's head."""
    import bpy
    from poise.addon.shots import objects

    angle = np.linspace(0.0, 2.0 * pi, 10, endpoint=False)
    rings = [(0.22, -0.3), (0.22, 1.4), (1.6, 1.4), (0.7, 3.6), (1.1, 3.6), (0.0, 6.5)]
    points = [(r * np.cos(a), r * np.sin(a), z) for r, z in rings for a in angle]
    faces, shades = [], []
    for ring in range(len(rings) - 1):
        for i in range(10):
            j = (i + 1) % 10
            faces.append((10 * ring + i, 10 * ring + j, 10 * ring + 10 + j, 10 * ring + 10 + i))
            shades.append(0 if ring == 0 else 1)
    mesh = bpy.data.meshes.new("Fir")
    mesh.from_pydata(points, [], faces)
    mesh.materials.append(objects.plain_material("Bark", (0.12, 0.07, 0.04)))
    mesh.materials.append(objects.plain_material("Needles", (0.03, 0.12, 0.06)))
    mesh.polygons.foreach_set("material_index", shades)
    return mesh


def _trees(scene):
    """Firs to both sides of the course, each a trunk and a crown over it."""
    import bpy

    trees = bpy.data.collections.new("Trees")
    scene.collection.children.link(trees)
    mesh = fir_mesh()
    rng = np.random.default_rng(3)
    for number in range(26):
        side = 1.0 if number % 2 else -1.0
        tree = bpy.data.objects.new("Fir", mesh)
        tree.location = (side * rng.uniform(9.0, 22.0), -6.0 * number + rng.uniform(-2, 2), 0.0)
        tree.rotation_euler.z = rng.uniform(0.0, 6.0)
        tree.scale = (rng.uniform(0.8, 1.4),) * 3
        trees.objects.link(tree)
    return trees


def own_rig():
    """Two mannequins on skeletons of their own: one drives its controls, one has keys on its bones.

    Both are rigs that Poise did not make.
    """
    import bpy

    scene = start_scene(8.0)
    rigs = []
    for kind, preset, name, colour in (
        ("SKIER", "Short Turns", "Wooden Mannequin", (0.80, 0.62, 0.40)),
        ("SNOWBOARDER", "Carving", "Blue Mannequin", (0.42, 0.60, 0.72)),
    ):
        rig = mannequin.make(name, colour)
        bpy.ops.poise.rig_setup(kind=kind)
        bpy.ops.poise.preset_apply(name=preset)
        rig.poise.turns.slope = radians(12.0)  # both stand on one hill
        rig.poise.settings.range_mode = "SCENE"
        rigs.append(rig.poise.settings.character)
    side_by_side(rigs)
    finish(rigs)
    activate(rigs[1])
    bpy.ops.poise.bake_to_bones()
    backdrop(scene, rigs)
    chase(rigs[0])
    return rigs


def own_equipment():
    """Two mannequins on things that Poise did not make either: wooden skis, a green bicycle."""
    import bpy

    scene = start_scene(6.0)
    rigs = []
    for kind, name, colour in (
        ("SKIER", "Wooden Mannequin", (0.80, 0.62, 0.40)),
        ("CYCLIST", "Blue Mannequin", (0.42, 0.60, 0.72)),
    ):
        rig = mannequin.make(name, colour)
        bpy.ops.poise.rig_setup(kind=kind)
        rig.poise.turns.slope = 0.0  # both on one plain
        rig.poise.settings.range_mode = "SCENE"
        if kind == "CYCLIST":
            things = belongings.bicycle()
        else:
            things = {f"ski.{side}": belongings.ski(f"Old Ski {side}") for side in "LR"}
            things |= {f"pole.{side}": belongings.pole(f"Bamboo Pole {side}") for side in "LR"}
        activate(rig)
        for role, thing in things.items():
            bpy.ops.poise.equipment_attach(role=role, object=thing.name)
        rigs.append(rig.poise.settings.character)
    side_by_side(rigs)
    finish(rigs)
    backdrop(scene, rigs)
    chase(rigs[1])
    return rigs


SCENES: dict[str, Callable] = {
    scene.__name__: scene
    for scene in (
        skier_presets, snowboarder, cyclist, figure_6, figure_10, slope_speed, sparse_keys,
        several_motions, irregular, slalom, descent, telemark, skateboarder, own_rig,
        own_equipment,
    )
}
