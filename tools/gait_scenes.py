# SPDX-License-Identifier: GPL-3.0-or-later
"""Demo scenes of legged motion."""

from __future__ import annotations

from math import pi, radians

import numpy as np
import path_scenes
import scenes

GRASS, EARTH, STONE, ROCK = (
    (0.17, 0.30, 0.11), (0.30, 0.22, 0.13), (0.40, 0.39, 0.37), (0.27, 0.25, 0.23),
)

# A flight of stairs: how high and how deep a step is, how many there are, how wide they
# are, and how long the landing at the top is, metres.
RISE, TREAD, STEPS, STAIR_WIDTH, LANDING = 0.16, 0.32, 9, 2.4, 2.0
GOLDEN = 0.5 * (5.0**0.5 - 1.0)
# Coats and manes of a herd: bay, chestnut, black, dun, grey, linear RGB.
COATS = (
    ((0.24, 0.09, 0.04), (0.02, 0.015, 0.01)), ((0.35, 0.13, 0.05), (0.40, 0.18, 0.08)),
    ((0.035, 0.03, 0.03), (0.02, 0.02, 0.02)), ((0.50, 0.36, 0.18), (0.05, 0.04, 0.03)),
    ((0.48, 0.48, 0.48), (0.62, 0.62, 0.60)),
)
STAIRS_FROM = 3.0  # m from the start


def walker(kind: str, x: float = 0.0, y: float = 0.0, colours=None, **settings):
    """A character on legs that goes along -Y, with a motion over the scene's range.

    Args:
        kind: kind of character, such as "HORSE".
        x: where it stands.
        y: where it stands.
        colours: part -> linear RGB, where it is another one than usual.
        settings: settings of its gait.

    Returns:
        The character's armature object.
    """
    import bpy

    scene = bpy.context.scene
    scene.cursor.location = (x, y, 0.0)
    bpy.ops.poise.character_add(kind=kind, **(colours or {}))
    scene.cursor.location = (0.0, 0.0, 0.0)
    rig = bpy.context.active_object
    rig.poise.settings.range_mode = "SCENE"
    for name, value in settings.items():
        setattr(rig.poise.gait, name, value)
    return rig


def field(scene, name: str, height, low, high, spacing: float, colours):
    """Ground as a mesh over a grid, its faces in patches of two colours.

    Args:
        scene: the scene.
        name: of the object.
        height: (x, y) -> z, metres.
        low: (2,) corner, metres.
        high: (2,) the other corner.
        spacing: of the grid, metres.
        colours: two linear RGB.

    Returns:
        The mesh object.
    """
    import bpy
    from poise.addon.shots import objects

    x, y = (np.arange(a, b + 0.5 * spacing, spacing) for a, b in zip(low, high, strict=True))
    grid = np.stack(np.meshgrid(x, y, indexing="xy"), axis=-1)
    points = np.concatenate((grid, height(grid[..., 0], grid[..., 1])[..., None]), axis=-1)
    index = np.arange(grid.shape[0] * grid.shape[1]).reshape(grid.shape[:2])
    corners = index[:-1, :-1], index[:-1, 1:], index[1:, 1:], index[1:, :-1]
    faces = np.stack(corners, axis=-1).reshape(-1, 4)
    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(points.reshape(-1, 3).tolist(), [], faces.tolist())
    for number, colour in enumerate(colours):
        mesh.materials.append(objects.plain_material(f"{name} {number + 1}", colour))
    middle = points.reshape(-1, 3)[faces].mean(axis=1)
    shade = np.sin(0.9 * middle[:, 0] + np.sin(0.5 * middle[:, 1])) * np.sin(0.7 * middle[:, 1])
    mesh.polygons.foreach_set("material_index", (shade > 0.35).astype(np.int32))
    mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), dtype=bool))
    made = bpy.data.objects.new(name, mesh)
    made.display.show_shadows = False  # it catches them all the same
    scene.collection.objects.link(made)
    return made


def bake(rigs) -> None:
    """Bake the motions of characters.

    Args:
        rigs: the armature objects.
    """
    import bpy

    for rig in rigs:
        scenes.activate(rig)
        bpy.ops.poise.bake_all()
    scenes.activate(rigs[0])
    bpy.context.scene.frame_set(bpy.context.scene.frame_start)


def prints(scene, rig) -> None:
    """The footprints of a character as flat shapes on the ground, coloured by leg.

    Args:
        scene: the scene.
        rig: the armature object.
    """
    import bpy
    from poise.addon.families.gait import view as gait_view
    from poise.addon.shots import objects

    motion = scenes.solve(rig).motion
    for leg in motion.creature.legs:
        lines = [
            gait_view.outline(motion.creature, p)[:-1] for p in motion.footprints
            if p.leg == leg.name
        ]
        if not lines:
            continue
        count = len(lines[0])
        faces = [tuple(range(i * count, (i + 1) * count)) for i in range(len(lines))]
        mesh = bpy.data.meshes.new("Footprints")
        mesh.from_pydata(np.concatenate(lines).tolist(), [], faces)
        colour = gait_view.leg_colour(motion.creature, leg.name)[:3]
        mesh.materials.append(objects.plain_material(f"Prints {leg.name}", colour))
        made = bpy.data.objects.new(f"{rig.name} {leg.name}", mesh)
        made.display.show_shadows = False
        scene.collection.objects.link(made)


def meadow(scene, rigs, half: float = 60.0):
    """Level grass under and around characters.

    Args:
        scene: the scene.
        rigs: the armature objects.
        half: how far it reaches beyond their ways, metres.
    """
    places = np.concatenate([scenes.solve(rig).motion.position for rig in rigs])
    low, high = places[:, :2].min(axis=0) - half, places[:, :2].max(axis=0) + half
    return field(
        scene, "Meadow", lambda x, y: np.full(np.shape(x), -0.004), low, high, 4.0,
        (GRASS, (0.20, 0.33, 0.12)),
    )


def horse_gaits():
    """A horse that speeds up from a walk to a gallop, around a bend."""
    scene = scenes.start_scene(16.0)
    rig = walker("HORSE", mode="AUTOMATIC")
    # Straight on, a half circle of 22 m to the left, and straight back.
    angle = np.linspace(0.0, pi, 13)
    bend = np.stack((22.0 * (1.0 - np.cos(angle)), -45.0 - 22.0 * np.sin(angle)), axis=1)
    line = np.concatenate((((0.0, 0.0), (0.0, -15.0), (0.0, -30.0)), bend,
                           ((44.0, -25.0), (44.0, 0.0), (44.0, 30.0))))
    rig.poise.gait.path = scenes.curve(scene, line)
    scenes.key(
        rig.poise.gait, "speed", (0.0, 1.5), (2.5, 1.7), (6.5, 4.5), (9.5, 8.0), (13.0, 11.0),
        interpolation="LINEAR",
    )
    bake([rig])
    prints(scene, rig)
    meadow(scene, [rig])
    scenes.backdrop(scene, [rig])
    scenes.chase(rig, side=radians(62.0), figure_share=0.42)
    return [rig]


def rolling(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Height of the dog's field: hollows and humps of a few metres.

    Args:
        x: metres.
        y: metres.
    """
    return (
        0.30 * np.sin(2.0 * pi * y / 9.0 + 0.3 * x) * np.cos(2.0 * pi * x / 13.0)
        + 0.04 * np.sin(2.0 * pi * y / 2.7 + x) + 0.03 * np.sin(2.0 * pi * x / 1.9)
    )


def dog_terrain():
    """A dog that trots over humps and hollows, on a winding way."""
    scene = scenes.start_scene(10.0)
    rig = walker("DOG", speed=1.9)
    rig.poise.gait.sequence[0].gait = "TROT"
    y = np.arange(0.0, -24.1, -3.0)
    rig.poise.gait.path = scenes.curve(
        scene, np.stack((1.6 * np.sin(2.0 * pi * y / 14.0), y), axis=1)
    )
    rig.poise.gait.terrain = field(
        scene, "Field", rolling, (-14.0, -40.0), (14.0, 12.0), 0.2, (GRASS, EARTH)
    )
    bake([rig])
    prints(scene, rig)
    scenes.backdrop(scene, [rig])
    scenes.chase(rig, side=radians(70.0), height=0.8, figure_share=0.4)
    return [rig]


def stairs(scene):
    """A flight of stairs up along -Y, a landing, and one down again.

    Args:
        scene: the scene.

    Returns:
        The mesh object.
    """
    import bpy
    from poise.addon.shots import objects

    profile = [(12.0, 0.0), (-STAIRS_FROM, 0.0)]
    for step in range(STEPS):
        y = profile[-1][0]
        profile += [(y, (step + 1) * RISE)]
        profile += [(y - (TREAD if step + 1 < STEPS else LANDING), (step + 1) * RISE)]
    for step in reversed(range(STEPS)):
        y = profile[-1][0]
        profile += [(y, step * RISE), (y - (TREAD if step else 16.0), step * RISE)]
    half = 0.5 * STAIR_WIDTH
    points = [(x, y, z) for y, z in profile for x in (-half, half)]
    faces = [(2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1) for i in range(len(profile) - 1)]
    # Walls under both sides, down to the ground.
    count = len(points)
    points += [(x, y, 0.0) for x, y, _z in points]
    for side in (0, 1):
        for i in range(len(profile) - 1):
            here, there = 2 * i + side, 2 * i + 2 + side
            if points[here][1] != points[there][1] and points[here][2] > 0.0:
                faces.append((here, there, count + there, count + here))
    mesh = bpy.data.meshes.new("Stairs")
    mesh.from_pydata(points, [], faces)
    mesh.materials.append(objects.plain_material("Stone", STONE))
    made = bpy.data.objects.new("Stairs", mesh)
    scene.collection.objects.link(made)
    return made


def biped_stairs():
    """A person who walks up a flight of stairs, over the landing, and down again."""
    import bpy

    scene = scenes.start_scene(17.0)
    rig = walker("BIPED")
    gait = rig.poise.gait
    gait.terrain = stairs(scene)
    # Stair by stair: each foot passes one, so that a stride takes two.
    bpy.ops.poise.gait_add(preset="WALK_BIPED")
    stairway = gait.sequence[1]
    stairway.name, stairway.start_by = "On the Stairs", "DISTANCE"
    stairway.distance = STAIRS_FROM - 0.8
    stairway.stride_by, stairway.stroke = "STROKE", 0.61 * 2.0 * TREAD
    scenes.key(gait, "speed", (0.0, 1.1), (1.6, 1.1), (2.6, 0.6), interpolation="LINEAR")
    bake([rig])
    prints(scene, rig)
    field(
        scene, "Square", lambda x, y: np.full(np.shape(x), -0.02), (-30.0, -40.0), (30.0, 30.0),
        1.0, ((0.34, 0.34, 0.33), (0.37, 0.36, 0.35)),
    )
    scenes.backdrop(scene, [rig])
    scenes.chase(rig, side=radians(75.0), height=1.5, figure_share=0.5)
    return [rig]


def boulders(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Height of the insect's rocks: rounded stones in a row of sizes.

    Args:
        x: metres.
        y: metres.
    """
    rng = np.random.default_rng(5)
    height = np.zeros(np.shape(x))
    for _ in range(260):
        cx, cy = rng.uniform(-3.0, 3.0), rng.uniform(-8.0, 1.0)
        radius = rng.uniform(0.08, 0.35)
        tall = radius * rng.uniform(0.2, 0.5)
        far = ((x - cx) ** 2 + (y - cy) ** 2) / radius**2
        height = np.maximum(height, tall * np.sqrt(np.maximum(1.0 - far, 0.0)))
    return height


def insect_rocks():
    """An insect of six legs that climbs over stones."""
    scene = scenes.start_scene(12.0)
    rig = walker("INSECT", speed=0.45)
    rig.poise.gait.terrain = field(
        scene, "Stones", boulders, (-3.2, -9.0), (3.2, 2.0), 0.04, (ROCK, STONE)
    )
    bake([rig])
    prints(scene, rig)
    scenes.backdrop(scene, [rig])
    scenes.chase(rig, side=radians(60.0), height=0.7, figure_share=0.35)
    return [rig]


def rigify_cat():
    """A cat that Rigify generated walks along a winding way, by its own controls."""
    import bpy
    import cat

    scene = scenes.start_scene(8.0)
    rig = cat.make()
    bpy.ops.poise.rig_setup(kind="DOG")
    controls = rig.poise.settings.character
    rig.poise.settings.range_mode = "SCENE"
    y = np.arange(0.0, -6.1, -0.75)
    rig.poise.gait.path = scenes.curve(
        scene, np.stack((0.25 * np.sin(2.0 * pi * y / 4.0), y), axis=1)
    )
    rig.poise.gait.speed = 0.62
    bake([controls])
    prints(scene, controls)
    field(
        scene, "Terrace", lambda x, y: np.full(np.shape(x), -0.002), (-8.0, -16.0), (8.0, 8.0),
        0.2, ((0.46, 0.45, 0.42), (0.50, 0.49, 0.46)),
    )
    scenes.backdrop(scene, [controls])
    scenes.chase(controls, side=radians(75.0), height=0.28, figure_share=0.5)
    return [controls]


def herd(animals: int = 30, seconds: float = 6.0):
    """Thirty horses at a canter, each at its own pace and with its own lead.

    Args:
        animals: how many.
        seconds: how long they go.
    """
    scene = scenes.start_scene(seconds)
    rng = np.random.default_rng(11)
    rigs, figure = [], None
    for number in range(animals):
        row, place = divmod(number, 5)
        x = 2.6 * (place - 2.0) + rng.uniform(-0.6, 0.6)
        coat, hair = COATS[rng.integers(len(COATS))]
        rig = walker(
            "HORSE", x, 5.2 * row + rng.uniform(-0.5, 0.5), {"coat": coat, "hair": hair}
        )
        gait = rig.poise.gait
        gait.sequence[0].gait = rng.choice(("CANTER_LEFT", "CANTER_RIGHT", "GALLOP_LEFT"))
        # Those behind each other about equally fast, so that none runs into another.
        gait.speed = 7.0 + 0.35 * np.sin(2.0 * place) + rng.uniform(-0.08, 0.08)
        gait.start_phase = (number * GOLDEN) % 1.0  # no two of a few in step
        rigs.append(rig)
        figure = path_scenes.share_meshes(rig, figure)
        # Else each bake bends the meshes of all of them, frame by frame.
        path_scenes.show_figure(rig, False)
    bake(rigs)
    for rig in rigs:
        path_scenes.show_figure(rig, True)
    meadow(scene, rigs, 80.0)
    scenes.backdrop(scene, rigs)
    path_scenes.accompany(scene, rigs, (-9.0, -13.0, 3.4), 38.0, lambda x, y: 0.0)
    return rigs


SCENES = {
    scene.__name__: scene
    for scene in (horse_gaits, dog_terrain, biped_stairs, insect_rocks, rigify_cat, herd)
}
