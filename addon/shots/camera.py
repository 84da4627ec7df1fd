# SPDX-License-Identifier: GPL-3.0-or-later
"""A camera that follows a character, keyed from its solved motion.

The camera rides along a smoothed path, at one distance behind and to the side
of where the character is going on the whole, and looks at a point between the
character and its smoothed place: turns swing through the picture, the camera
does not swing with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import atan, cos, pi, radians, sin, tan

import bpy
import numpy as np
from mathutils import Matrix

from ...solvers.rotations import normalise
from .. import compat, keyframes, motions
from ..errors import UserError
from ..families import view_of
from ..families.base import Solved
from ..families.view import Way
from ..mapping.tracks import HEAD, PELVIS
from . import objects

# The look-at point: share of the character's own place against the smoothed
# one, and how many seconds its own place is smoothed over.
ATTENTION = 0.55
ATTENTION_TIME = 0.25

# The camera's own way is the track, smoothed over this share of a half turn,
# but not so long that a figure in long turns leaves the picture.
CALM = 0.9
CALM_TIME = 1.6

# The figure's middle stands this share of the frame's height under the
# middle of the picture, so that the slope's horizon comes into view over it,
# and the camera looks this far ahead of it, in shares of the distance.
BELOW_MIDDLE = 0.09
LOOK_AHEAD = 0.10

_KEY = "poise_camera"
_FORMER_KEY = "poise_former_camera"


@dataclass(frozen=True)
class ChaseOptions:
    """Where a chase camera rides.

    Attributes:
        figure_share: share of the frame's height that an upright figure
            fills; gives the distance. None to use `distance`.
        distance: metres from the character, along the ground.
        height: metres over the ground.
        side: radians from straight behind, + to the character's left.
        lens: focal length in millimetres.
    """

    figure_share: float | None = 0.34
    distance: float = 9.0
    height: float = 1.8
    side: float = radians(28.0)
    lens: float = 40.0


def smooth(values: np.ndarray, sigma: float, path: bool = True) -> np.ndarray:
    """Gaussian smoothing over time.

    Beyond its ends a path goes on point-mirrored, so that a straight one stays
    as it is; its directions go on mirrored, as those of a point-mirrored path do.

    Args:
        values: (n, k) or (n,) samples.
        sigma: standard deviation in samples; 0 leaves all as it is.
        path: the values are places; False for directions.
    """
    values = np.asarray(values, dtype=float)
    reach = min(int(np.ceil(4.0 * sigma)), len(values) - 1)
    if reach < 1:
        return values.copy()
    before, after = values[reach:0:-1], values[-2 : -reach - 2 : -1]
    if path:
        before, after = 2.0 * values[:1] - before, 2.0 * values[-1:] - after
    padded = np.concatenate((before, values, after))
    weights = np.exp(-0.5 * (np.arange(-reach, reach + 1) / sigma) ** 2)
    weights /= weights.sum()
    flat = padded.reshape(len(padded), -1)
    columns = [np.convolve(flat[:, i], weights, mode="valid") for i in range(flat.shape[1])]
    return np.stack(columns, axis=1).reshape(values.shape)


def frame_angle(scene: bpy.types.Scene, lens: float, sensor: float = 36.0) -> float:
    """Vertical angle of view in radians, with Blender's automatic sensor fit.

    Args:
        scene: its resolution counts.
        lens: focal length, mm.
        sensor: sensor size along the longer side of the picture, mm.
    """
    render = scene.render
    wide = render.resolution_x * render.pixel_aspect_x
    high = render.resolution_y * render.pixel_aspect_y
    return 2.0 * atan(0.5 * sensor * high / max(wide, high) / lens)


def cuts(scene: bpy.types.Scene, start: float, end: float) -> list[bpy.types.TimelineMarker]:
    """Markers that bind the cameras of a span: Blender looks through theirs, not the scene's.

    Before the first of them it looks through that one's, too.

    Args:
        scene: the scene.
        start: first frame.
        end: last frame.
    """
    bound = sorted((m for m in scene.timeline_markers if m.camera is not None),
                   key=lambda marker: marker.frame)
    before = [marker for marker in bound if marker.frame <= start] or bound[:1]
    return before[-1:] + [m for m in bound if start < m.frame <= end and m not in before]


def camera_path(
    way: Way,
    figure: np.ndarray,
    stature: float,
    options: ChaseOptions,
    angle: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Where the camera is and what it looks at.

    Args:
        way: where it goes.
        figure: (n, 3) middle of the figure, metres.
        stature: height of the figure, metres.
        options: where the camera rides.
        angle: vertical angle of view, radians.

    Returns:
        (n, 3) places of the camera and (n, 3) points in the middle of the
        picture, in metres.
    """
    rate = (len(way.time) - 1) / max(float(way.time[-1]), 1e-9)
    pace = way.beat * rate
    normal = normalise(smooth(way.normal, 0.5 * pace, path=False))
    place = smooth(way.position, min(CALM * pace, CALM_TIME * rate))
    whole = way.position[-1] - way.position[0]
    overall = whole / max(float(np.linalg.norm(whole)), 1e-9)
    # Loops have no direction of their own: the whole way's fills in.
    travel = smooth(way.forward, pace, path=False) + 0.1 * overall
    travel = normalise(travel - normal * np.einsum("ni,ni->n", travel, normal)[:, None])
    left = np.cross(normal, travel)
    distance = options.distance
    if options.figure_share is not None:
        distance = 0.5 * stature / tan(0.5 * options.figure_share * angle)
    offset = left * sin(options.side) - travel * cos(options.side)
    camera = place + distance * offset + options.height * normal
    near = smooth(figure, ATTENTION_TIME * rate)
    # The figure's middle rides at a steady height over the smoothed path.
    level = np.einsum("ni,ni->n", figure - way.position, normal).mean()
    target = ATTENTION * near + (1.0 - ATTENTION) * (place + level * normal)
    target = target + LOOK_AHEAD * distance * travel
    return camera, target + BELOW_MIDDLE * 2.0 * distance * tan(0.5 * angle) * normal


def figure_middle(solved: Solved) -> np.ndarray:
    """(n, 3) middle between the figure's feet and head, metres.

    Args:
        solved: a solved motion.
    """
    position = solved.tracks.position
    top = position[HEAD] if HEAD in position else position[PELVIS]
    return 0.5 * (np.asarray(top) + view_of(solved.job).way(solved).position)


def build(
    scene: bpy.types.Scene,
    motion: bpy.types.Object,
    solved: Solved,
    options: ChaseOptions,
) -> bpy.types.Object:
    """Make or renew a motion's chase camera and make it the scene's camera.

    Args:
        scene: the operator's scene.
        motion: the Motion object.
        solved: its solved motion.
        options: where the camera rides.

    Returns:
        The camera object.

    Raises:
        UserError: there is no figure that goes anywhere.
    """
    if solved.root is None or solved.job.figure is None:
        raise UserError(
            f"{motion.name} turns bones, and moves no figure that a camera could follow: choose "
            "another motion"
        )
    settings = motion.poise_motion
    camera = motions.own(motion, lambda m: m.poise_motion.camera)
    if not objects.in_scene(camera, scene) or camera.type != "CAMERA":
        name = f"{motion.name} Camera"
        camera = bpy.data.objects.new(name, bpy.data.cameras.new(name))
        objects.collection_for(scene, motion).objects.link(camera)
        camera[_KEY] = True
        settings.camera = camera
    scale = 1.0 / solved.job.numbers.unit_scale
    way = view_of(solved.job).way(solved)
    camera.data.type = "PERSP"
    camera.data.lens = options.lens
    camera.data.sensor_fit = "AUTO"
    camera.data.clip_start = 0.1 * scale
    camera.data.clip_end = max(1000.0 * scale, 2.0 * way.distance * scale)
    camera.rotation_mode = "XYZ"
    places, targets = camera_path(
        way,
        figure_middle(solved),
        solved.job.figure.height,
        options,
        frame_angle(scene, options.lens, camera.data.sensor_width),
    )
    whole = solved.tracks.clock.every
    key_camera(camera, places[whole] * scale, targets[whole] * scale, solved.job.start_frame)
    if scene.camera != camera:
        if scene.camera is not None:
            camera[_FORMER_KEY] = scene.camera
        scene.camera = camera
    return camera


def key_camera(
    camera: bpy.types.Object, places: np.ndarray, targets: np.ndarray, start_frame: int
) -> None:
    """Key a camera on every frame, in an action of its own.

    Args:
        camera: the camera object.
        places: (n, 3) places in Blender units.
        targets: (n, 3) points to look at.
        start_frame: frame of the first row.
    """
    angles = look_angles(places, targets)
    data = camera.animation_data_create()
    if data.action is None:
        data.action = bpy.data.actions.new(camera.name)
    if data.action_slot is None:
        data.action_slot = compat.new_slot(data.action, camera.name)
    frames = start_frame + np.arange(len(places), dtype=float)
    keyframes.write_channels(
        compat.ensure_channelbag(data.action, data.action_slot),
        [
            keyframes.Channel(path, index, "Object Transforms", frames, values[:, index])
            for path, values in (("location", places), ("rotation_euler", angles))
            for index in range(3)
        ],
    )


def look_angles(places: np.ndarray, targets: np.ndarray) -> np.ndarray:
    """(n, 3) Euler angles XYZ, without jumps, of cameras that look at points.

    Args:
        places: (n, 3) places of the camera.
        targets: (n, 3) points in the middle of the picture.
    """
    angles = np.empty((len(places), 3))
    former = None
    for row, direction in enumerate(normalise(targets - places)):
        back = -direction
        right = np.cross((0.0, 0.0, 1.0), back)
        length = np.linalg.norm(right)
        right = right / length if length > 1e-9 else np.array((1.0, 0.0, 0.0))
        axes = Matrix(np.stack((right, np.cross(back, right), back), axis=1).tolist())
        former = axes.to_euler("XYZ") if former is None else axes.to_euler("XYZ", former)
        angles[row] = former
    return np.unwrap(angles, axis=0, period=2.0 * pi)


def remove(motion: bpy.types.Object) -> int:
    """Remove a motion's chase camera; scenes that look through it get back the former one.

    Args:
        motion: the Motion object.

    Returns:
        How many objects were removed.
    """
    camera = motions.own(motion, lambda m: m.poise_motion.camera)
    if camera is None or _KEY not in camera:
        return 0
    former = camera.get(_FORMER_KEY)
    users = [scene for scene in bpy.data.scenes if scene.camera == camera]
    count = objects.remove(camera)
    motion.poise_motion.property_unset("camera")
    for scene in users:
        scene.camera = former if isinstance(former, bpy.types.Object) else None
    return count
