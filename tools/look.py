# SPDX-License-Identifier: GPL-3.0-or-later
"""Daylight on a mountain in Workbench, for demo scenes and the manual's pictures."""

from __future__ import annotations

from math import atan2, cos, pi, radians, sin

import numpy as np

# Where the sun stands as seen by a camera that looks along -Y: to its left,
# behind it. The studio light is turned with it, so that what is lit and where
# shadows fall agree.
SUN = (0.74, 0.22, 0.60)
STUDIO_TURN = radians(-118.0)

ZENITH = (0.105, 0.250, 0.560)
HORIZON = (0.640, 0.790, 0.930)
VALLEY = (0.560, 0.690, 0.840)
SKY_BANDS = 64
PEAK = (0.93, 0.96, 1.00)
ROCK = (0.24, 0.33, 0.48)

# Ranges of mountains: radii of foot and back, height, haze from 0 to 1.
RANGES = (
    (560.0, 800.0, 70.0, 0.30),
    (820.0, 1080.0, 150.0, 0.52),
    (1100.0, 1400.0, 260.0, 0.72),
)
SKY_RADIUS = 1500.0  # metres
FAR = 3.0 * SKY_RADIUS


def workbench(scene, yaw: float = 0.0, width: int = 960, height: int = 540) -> None:
    """Sun, shadows and material colours.

    Args:
        scene: the scene to render.
        yaw: turn of the sun about +Z in radians; 0 suits a camera that looks
            along -Y.
        width: of the picture in pixels.
        height: of the picture in pixels.
    """
    import bpy

    render = scene.render
    render.engine = "BLENDER_WORKBENCH"
    render.resolution_x, render.resolution_y = width, height
    render.resolution_percentage = 100
    settings = render.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "IMAGE"
    settings.file_format, settings.color_mode = "PNG", "RGB"
    scene.view_settings.view_transform = "Standard"
    scene.view_settings.look = "None"
    scene.view_settings.exposure, scene.view_settings.gamma = 0.85, 1.0
    display, shading = scene.display, scene.display.shading
    display.render_aa = "16"
    set_sun(scene, yaw)
    display.shadow_focus, display.shadow_shift = 0.3, 0.1
    shading.light = "STUDIO"
    if "paint.sl" in bpy.context.preferences.studio_lights:
        shading.studio_light = "paint.sl"
    shading.use_world_space_lighting = True
    shading.color_type = "MATERIAL"
    shading.show_shadows, shading.shadow_intensity = True, 0.42
    shading.show_cavity, shading.cavity_type = True, "BOTH"
    shading.cavity_ridge_factor, shading.cavity_valley_factor = 0.8, 1.0
    shading.show_object_outline = False
    world = scene.world or bpy.data.worlds.new("Sky")
    world.color = HORIZON
    scene.world = world
    shading.background_type = "WORLD"


def set_sun(scene, yaw: float = 0.0, elevation: float | None = None) -> None:
    """Turn the sun and the studio light about the vertical.

    Args:
        scene: the scene to render.
        yaw: radians about +Z.
        elevation: radians over the horizon, or None for the usual height.
    """
    x, y, z = SUN
    if elevation is not None:
        flat = (x * x + y * y) ** 0.5
        x, y, z = x / flat * cos(elevation), y / flat * cos(elevation), sin(elevation)
    # Blender keeps this vector with Y up and -Z to the back.
    scene.display.light_direction = (cos(yaw) * x - sin(yaw) * y, z, -sin(yaw) * x - cos(yaw) * y)
    turn = STUDIO_TURN - yaw
    scene.display.shading.studiolight_rotate_z = atan2(sin(turn), cos(turn))


def camera(scene, place, target, lens: float = 50.0, name: str = "Camera"):
    """Add a camera that looks at a point, and make it the scene's.

    Args:
        scene: the scene to render.
        place: world position (3,).
        target: point in the middle of the picture (3,).
        lens: focal length in millimetres.
        name: name of the camera.

    Returns:
        The camera object.
    """
    import bpy

    made = bpy.data.objects.new(name, bpy.data.cameras.new(name))
    scene.collection.objects.link(made)
    made.data.lens = lens
    made.data.clip_start, made.data.clip_end = 0.2, FAR
    aim(made, place, target)
    scene.camera = made
    return made


def aim(camera, place, target) -> None:
    """Put a camera somewhere and let it look at a point.

    Args:
        camera: the camera object.
        place: world position (3,).
        target: point in the middle of the picture (3,).
    """
    from mathutils import Vector

    camera.location = place
    camera.rotation_euler = (Vector(target) - Vector(place)).to_track_quat("-Z", "Y").to_euler()


def top_camera(scene, centre, width: float, yaw: float = 0.0, name: str = "Top Camera"):
    """Add an orthographic camera that looks straight down.

    Args:
        scene: the scene to render.
        centre: point in the middle of the picture (3,).
        width: metres across the longer side of the picture.
        yaw: turn of the picture about +Z; 0 has +X to the right.
        name: name of the camera.

    Returns:
        The camera object.
    """
    made = camera(scene, (centre[0], centre[1], centre[2] + 60.0), centre, name=name)
    made.data.type = "ORTHO"
    made.data.ortho_scale = width
    made.rotation_euler = (0.0, 0.0, yaw)
    return made


def _material(name, colour):
    import bpy

    material = bpy.data.materials.new(name)
    material.diffuse_color = (*colour, 1.0)
    material.roughness = 1.0
    return material


def _backdrop(scene, name, vertices, faces, materials, indices, normal=None):
    """A mesh far away: no shadows, not to be selected."""
    import bpy

    mesh = bpy.data.meshes.new(name)
    mesh.from_pydata(vertices.tolist(), [], faces.tolist())
    for material in materials:
        mesh.materials.append(material)
    mesh.polygons.foreach_set("material_index", np.asarray(indices, np.int32))
    if normal is not None:
        # One normal for all of it: the light leaves its colours as they are.
        mesh.polygons.foreach_set("use_smooth", np.ones(len(faces), bool))
        mesh.normals_split_custom_set([normal] * len(mesh.loops))
    mesh.update()
    obj = bpy.data.objects.new(name, mesh)
    obj.hide_select = True
    obj.display.show_shadows = False
    scene.collection.objects.link(obj)
    return obj


def sky(
    scene, centre=(0.0, 0.0, 0.0), yaw: float = 0.0, seed: int = 4, size: float = 1.0
) -> None:
    """A sky that grows paler down to the horizon, and a ring of far mountains.

    Args:
        scene: the scene to add it to.
        centre: its middle (3,); the horizon is at its height.
        yaw: turn of the sun about +Z in radians.
        seed: shapes of the mountains.
        size: how much farther away and larger all of it is than 0.5 to 1.5 km.
    """
    around = np.linspace(0.0, 2.0 * pi, 49)
    up = np.concatenate(([-0.5 * pi], np.linspace(-0.12, 0.5 * pi, SKY_BANDS)))
    ring = np.stack((np.cos(around), np.sin(around)), axis=1)
    vertices = np.concatenate(
        [np.column_stack((cos(a) * ring, np.full(len(ring), sin(a)))) for a in up]
    )
    n = len(ring)
    rows, columns = np.meshgrid(np.arange(len(up) - 1), np.arange(n - 1), indexing="ij")
    first = (rows * n + columns).ravel()
    faces = np.stack((first, first + n, first + n + 1, first + 1), axis=1)
    middle = 0.5 * (up[:-1] + up[1:])
    share = np.clip(middle / radians(50.0), 0.0, 1.0) ** 0.55
    colours = np.outer(1.0 - share, HORIZON) + np.outer(share, ZENITH)
    colours[middle < -0.05] = VALLEY
    _backdrop(
        scene, "Sky", vertices * size * SKY_RADIUS + np.asarray(centre), faces,
        [_material(f"Sky {i + 1}", colour) for i, colour in enumerate(colours)],
        rows.ravel(), (0.0, 0.0, 1.0),
    )
    _mountains(scene, np.asarray(centre, float), seed, yaw, size)


def _mountains(scene, centre, seed, yaw, size):
    """Three ranges of mountains, paler and bluer with distance and down to the valley."""
    random = np.random.default_rng(seed)
    sun = np.array((cos(yaw) * SUN[0] - sin(yaw) * SUN[1], sin(yaw) * SUN[0] + cos(yaw) * SUN[1]))
    sun = np.array((*sun, 0.35)) / np.hypot(np.hypot(*sun), 0.35)
    for number, (near, far, height, haze) in enumerate(RANGES):
        vertices, faces = _range(random, near, far, height)
        corners = vertices[faces]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        faces = np.where(normal[:, 2:] < 0.0, faces[:, ::-1], faces)
        normal *= np.sign(normal[:, 2:]) / np.linalg.norm(normal, axis=1, keepdims=True)
        level = np.clip(corners[:, :, 2].mean(axis=1) / height, 0.0, 1.0)
        bare = normal[:, 2] < 0.52 + 0.06 * random.standard_normal(len(faces))
        light = 0.55 + 0.45 * np.clip(normal @ sun, 0.0, 1.0)
        colour = np.where(bare[:, None], ROCK, PEAK) * light[:, None]
        mist = (haze + (1.0 - haze) * (1.0 - level) ** 2.2)[:, None]
        colour = colour * (1.0 - mist) + np.asarray(VALLEY) * mist
        # A few shades, each a material: Workbench has one colour for a material.
        steps = np.round(colour * 24.0).astype(int)
        shades, index = np.unique(steps, axis=0, return_inverse=True)
        materials = [
            _material(f"Mountain {number + 1}.{i + 1}", shade / 24.0)
            for i, shade in enumerate(shades)
        ]
        _backdrop(
            scene, f"Mountains {number + 1}", size * vertices + centre, faces, materials,
            np.ravel(index), (0.0, 0.0, 1.0),
        )


def _range(random, near, far, height):
    """Vertices and triangles of a ring of mountains between two radii."""
    columns, rows = 260, 9
    angle = np.linspace(0.0, 2.0 * pi, columns, endpoint=False)
    ridge, relief = np.zeros(columns), np.zeros((rows, columns))
    for octave in range(6):
        waves = 5 * 2**octave
        phase = random.uniform(0.0, 2.0 * pi, 3)
        shift = np.linspace(0.0, 1.0, rows)[:, None] * random.uniform(-2.0, 2.0)
        wave = [np.sin((waves + 2 * k) * angle + phase[k] + shift) for k in range(3)]
        folds = 1.0 - np.abs(sum(wave) / 1.8)
        ridge += folds[rows // 2] * 0.55**octave
        if octave > 1:
            relief += folds * 0.55**octave
    ridge = (ridge - ridge.min()) / np.ptp(ridge)
    across = np.linspace(0.0, 1.0, rows)
    profile = np.interp(across, (0.0, 0.5, 0.8, 1.0), (0.0, 0.36, 1.0, 0.8))
    radius = near + (far - near) * across[:, None] + np.zeros(columns)
    radius += random.uniform(-0.25, 0.25, (rows, columns)) * (far - near) / rows
    tall = height * profile[:, None] * (0.25 + 0.75 * ridge + 0.16 * (relief - relief.mean()))
    tall[0] = -0.5 * height
    vertices = np.stack((radius * np.cos(angle), radius * np.sin(angle), tall), axis=-1)
    index = np.arange(rows * columns).reshape(rows, columns)
    right = np.roll(index, -1, axis=1)
    faces = [
        np.stack((index[:-1], right[:-1], right[1:]), axis=-1).reshape(-1, 3),
        np.stack((index[:-1], right[1:], index[1:]), axis=-1).reshape(-1, 3),
    ]
    return vertices.reshape(-1, 3), np.concatenate(faces)


def floor(scene, size: float = 60.0):
    """Add a plain white floor, for pictures of figures alone.

    Args:
        scene: the scene to add it to.
        size: metres.

    Returns:
        The floor object.
    """
    import bpy

    mesh = bpy.data.meshes.new("Snow Floor")
    corners = [(x * size, y * size, -0.001) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    mesh.from_pydata(corners, [], [(0, 1, 2, 3)])
    mesh.materials.append(_material("Snow Floor", (0.90, 0.94, 1.0)))
    obj = bpy.data.objects.new("Snow Floor", mesh)
    scene.collection.objects.link(obj)
    return obj
