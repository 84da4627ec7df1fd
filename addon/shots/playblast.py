# SPDX-License-Identifier: GPL-3.0-or-later
"""A quick movie in Workbench, with every setting of the scene left as it was.

Frames are rendered one by one to a temporary folder, so that a window lives on between them,
and become a movie at the end. Each is seen as Blender's own animation would show it: through the
camera that a marker binds, where there is one.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from math import atan2, cos, radians, sin
from pathlib import Path

import bpy
import numpy as np

from ..context import keep_frame
from ..errors import UserError
from ..placement import world_matrix
from ..steps import Steps

SKY = (0.13, 0.29, 0.54)

# The sun stands to the left of the camera, so that figures have a lit side and
# shadows fall to the right, where they are seen. All directions are for a
# camera that looks along -Y.
SUN = (0.74, 0.22, 0.60)
STUDIO_TURN = radians(-118.0)
EXPOSURE = 1.0

# Reading these makes Blender complain where it is not drawn.
_UNREADABLE = {"wireframe_color_type"}

# Pictures of a contact sheet: columns, most rows, and width of each in pixels.
SHEET = (4, 3, 480)

# Share of the time that frames take, the rest is for writing them as a movie.
FRAMES = 0.9


there = lru_cache(maxsize=64)(Path.is_file)
"""Whether a movie is there; panels ask at every redraw, the disc is asked once."""


def movie_path(motion: bpy.types.Object) -> Path:
    """Where a motion's movie goes: beside the file, or in the system's temporary folder.

    Blender's own temporary folder goes when it quits, with all that is in it.

    Args:
        motion: the Motion object.
    """
    name = f"poise_{bpy.path.clean_name(motion.name)}.mp4"
    if bpy.data.is_saved:
        return Path(bpy.path.abspath("//")) / name
    kept = bpy.context.preferences.filepaths.temporary_directory
    return Path(kept or tempfile.gettempdir()) / name


def _values(struct: bpy.types.bpy_struct) -> dict[str, object]:
    """Every plain setting of a struct that can be set."""
    values = {}
    for prop in struct.bl_rna.properties:
        if prop.is_readonly or prop.type in {"POINTER", "COLLECTION"}:
            continue
        if prop.identifier in _UNREADABLE:
            continue
        value = getattr(struct, prop.identifier)
        values[prop.identifier] = tuple(value) if getattr(prop, "is_array", False) else value
    return values


def _put_back(struct: bpy.types.bpy_struct, values: dict[str, object]) -> None:
    """Set what differs; again while one setting still hangs on another (a codec on its format)."""
    for _attempt in range(3):
        now = _values(struct)
        differing = {name: value for name, value in values.items() if now[name] != value}
        if not differing:
            return
        for name, value in differing.items():
            try:
                setattr(struct, name, value)
            except TypeError:  # an enumeration whose items depend on one set later
                continue


@contextmanager
def kept_settings(scene: bpy.types.Scene) -> Iterator[None]:
    """Leave everything that decides how a scene renders as it was.

    Args:
        scene: the scene that is rendered inside.
    """
    render = scene.render
    structs = (
        render, render.image_settings, render.ffmpeg, scene.display, scene.display.shading,
        scene.display_settings, scene.view_settings,
    )
    before = [(struct, _values(struct)) for struct in structs]
    world, camera = scene.world, scene.camera
    try:
        with keep_frame(scene):
            yield
    finally:
        # Last: going to a frame takes the camera that a marker binds there.
        scene.world, scene.camera = world, camera
        for struct, values in before:
            _put_back(struct, values)


def _workbench(scene: bpy.types.Scene, width: int, height: int) -> None:
    """Daylight, material colours and shadows, as the camera stands now."""
    render = scene.render
    render.engine = "BLENDER_WORKBENCH"
    render.resolution_x, render.resolution_y, render.resolution_percentage = width, height, 100
    render.film_transparent = False
    for name in ("use_border", "use_compositing", "use_sequencer", "use_multiview", "use_stamp",
                 "use_placeholder"):
        setattr(render, name, False)
    render.use_overwrite = render.use_file_extension = True
    scene.view_settings.view_transform = "Standard"
    scene.view_settings.look = "None"
    scene.view_settings.exposure, scene.view_settings.gamma = EXPOSURE, 1.0
    display, shading = scene.display, scene.display.shading
    display.render_aa = "8"
    turn = _camera_yaw(scene)
    x, y, z = SUN
    # Blender keeps this vector with Y up and -Z to the back.
    display.light_direction = (
        cos(turn) * x - sin(turn) * y, z, -sin(turn) * x - cos(turn) * y
    )
    display.shadow_focus, display.shadow_shift = 0.3, 0.1
    shading.light = "STUDIO"
    if "paint.sl" in bpy.context.preferences.studio_lights:
        shading.studio_light = "paint.sl"
    shading.use_world_space_lighting = True
    shading.studiolight_rotate_z = _wrapped(STUDIO_TURN - turn)
    shading.color_type = "MATERIAL"
    shading.background_type = "WORLD"
    shading.show_shadows, shading.shadow_intensity = True, 0.45
    # The other type is noisy with few samples.
    shading.show_cavity, shading.cavity_type = True, "SCREEN"
    shading.show_object_outline = False
    shading.show_backface_culling = False
    shading.show_xray = False


def _camera_yaw(scene: bpy.types.Scene) -> float:
    """Where the scene's camera looks now, as a turn about +Z from -Y, in radians."""
    view = -world_matrix(scene.camera).col[2].to_3d()
    return atan2(view.x, -view.y) if view.to_2d().length > 1e-6 else 0.0


def _wrapped(angle: float) -> float:
    return atan2(sin(angle), cos(angle))


@contextmanager
def _sky(scene: bpy.types.Scene) -> Iterator[None]:
    """A blue sky in place of the scene's world."""
    sky = bpy.data.worlds.new("Poise Sky")
    sky.color = SKY
    former, scene.world = scene.world, sky
    try:
        yield
    finally:
        scene.world = former
        bpy.data.worlds.remove(sky)


def size_of(scene: bpy.types.Scene, percentage: float) -> tuple[int, int]:
    """Width and height of a movie in pixels, even as the codec wants them.

    Args:
        scene: its resolution counts.
        percentage: of the scene's full resolution.
    """
    return tuple(
        max(16, 2 * round(0.005 * percentage * side))
        for side in (scene.render.resolution_x, scene.render.resolution_y)
    )


def movie_steps(
    scene: bpy.types.Scene, path: Path, start: int, end: int, percentage: float
) -> Steps[None]:
    """Render frames to an H.264 movie.

    Args:
        scene: the scene to render, which has a camera.
        path: the movie's file.
        start: first frame.
        end: last frame.
        percentage: size, of the scene's full resolution.

    Raises:
        UserError: the movie cannot be written.
    """
    _make_folder(path)
    with tempfile.TemporaryDirectory() as folder:
        stills = [Path(folder) / f"{frame - start:05d}.png" for frame in range(start, end + 1)]
        with kept_settings(scene), _sky(scene):
            scene.frame_set((start + end) // 2)
            _workbench(scene, *size_of(scene, percentage))
            # A quarter of the time that many samples take where the CPU draws.
            scene.display.render_aa = "FXAA"
            _as_pictures(scene)
            for number, still in enumerate(stills):
                scene.frame_set(start + number)
                scene.render.filepath = str(still)
                _render(still, write_still=True)
                yield FRAMES * (number + 1) / len(stills)
        _encode(scene, stills, path, size_of(scene, percentage))
    there.cache_clear()


def _as_pictures(scene: bpy.types.Scene) -> None:
    """Write every frame to a file of its own, without loss and quickly."""
    settings = scene.render.image_settings
    if hasattr(settings, "media_type"):
        settings.media_type = "IMAGE"
    settings.file_format, settings.color_mode = "PNG", "RGBA"
    settings.color_depth, settings.compression = "8", 0


def _encode(
    scene: bpy.types.Scene, stills: list[Path], path: Path, size: tuple[int, int]
) -> None:
    """Make a movie of pictures, at a scene's frame rate."""
    made = bpy.data.scenes.new("Poise Movie")
    try:
        strips = made.sequence_editor_create().strips
        strip = strips.new_image("Movie", str(stills[0]), 1, 1, fit_method="ORIGINAL")
        for still in stills[1:]:
            strip.elements.append(still.name)
        render = made.render
        render.resolution_x, render.resolution_y = size
        render.resolution_percentage = 100
        render.fps, render.fps_base = scene.render.fps, scene.render.fps_base
        made.view_settings.view_transform = "Standard"
        made.frame_start, made.frame_end = 1, len(stills)
        settings = render.image_settings
        if hasattr(settings, "media_type"):
            settings.media_type = "VIDEO"
        settings.file_format, settings.color_mode = "FFMPEG", "RGB"
        ffmpeg = render.ffmpeg
        ffmpeg.format, ffmpeg.codec, ffmpeg.audio_codec = "MPEG4", "H264", "NONE"
        ffmpeg.constant_rate_factor, ffmpeg.gopsize = "HIGH", 12
        render.filepath = str(path)
        _render(path, animation=True, scene=made.name)
    finally:
        bpy.data.scenes.remove(made)


def sheet_steps(scene: bpy.types.Scene, path: Path, start: int, end: int) -> Steps[None]:
    """Render moments of a motion and lay them out in one picture, in reading order.

    Twelve of them, or every frame if there are not so many.

    Args:
        scene: the scene to render, which has a camera.
        path: the PNG's file.
        start: first frame.
        end: last frame.

    Raises:
        UserError: the picture cannot be written.
    """
    _make_folder(path)
    columns, rows, width = SHEET
    moments = min(columns * rows, end - start + 1)
    columns, rows = min(columns, moments), -(-moments // columns)
    percentage = 100.0 * width / scene.render.resolution_x
    width, height = size_of(scene, percentage)
    sheet = np.ones((rows * height, columns * width, 4), np.float32)
    with kept_settings(scene), _sky(scene), tempfile.TemporaryDirectory() as folder:
        scene.frame_set((start + end) // 2)
        _workbench(scene, width, height)
        _as_pictures(scene)
        moment = Path(folder) / "moment.png"
        for number, frame in enumerate(np.linspace(start, end, moments).round().astype(int)):
            scene.frame_set(int(frame))
            scene.render.filepath = str(moment)
            _render(moment, write_still=True)
            row, column = divmod(number, columns)
            bottom = (rows - 1 - row) * height
            sheet[bottom : bottom + height, column * width : (column + 1) * width] = _pixels(moment)
            yield (number + 1) / moments
    _save(sheet, path)


def _render(path: Path, **options: bool | str) -> None:
    try:
        bpy.ops.render.render(**options)
    except RuntimeError as error:
        raise UserError(f"{path} could not be rendered: {str(error).strip()}") from error
    if not path.is_file() or path.stat().st_size == 0:
        raise UserError(f"{path} could not be written: choose another file")


def _make_folder(path: Path) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"The folder {path.parent} cannot be made: {error.strerror}") from error


def _pixels(path: Path) -> np.ndarray:
    """(height, width, 4) of a picture, bottom row first."""
    image = bpy.data.images.load(str(path))
    try:
        width, height = image.size
        flat = np.empty(width * height * 4, np.float32)
        image.pixels.foreach_get(flat)
        return flat.reshape(height, width, 4)
    finally:
        bpy.data.images.remove(image)


def _save(pixels: np.ndarray, path: Path) -> None:
    height, width = pixels.shape[:2]
    image = bpy.data.images.new("Poise Sheet", width, height, alpha=True)
    try:
        image.pixels.foreach_set(np.ascontiguousarray(pixels, np.float32).ravel())
        image.filepath_raw, image.file_format = str(path), "PNG"
        image.save()
    except RuntimeError as error:
        raise UserError(f"{path} could not be written: {str(error).strip()}") from error
    finally:
        bpy.data.images.remove(image)
