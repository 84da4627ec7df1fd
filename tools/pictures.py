# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual's pictures: docs/images/*.png.

    python tools/pictures.py [--draft] [NAME ...]

Everything is rendered from demo scenes, in Workbench without a window, except
the pictures of the window itself, which the window tests leave under out/gui and
out/gui-manual.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from math import degrees, pi, radians
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

sys.path.insert(0, str(Path(__file__).resolve().parent))

import installed
import look
import scenes

ROOT = Path(__file__).resolve().parents[1]
IMAGES = ROOT / "docs" / "images"
OUT = ROOT / "out"

LARGEST = 320_000  # bytes of a picture
INK, PAPER, FAINT = (24, 36, 54), (255, 255, 255), (150, 162, 178)

DRAFT = False


# -- Rendering ----------------------------------------------------------------------


def render(scene, width: int, height: int, samples: int = 8) -> Image.Image:
    """Render the scene's camera at the current frame.

    Args:
        scene: the scene.
        width: pixels.
        height: pixels.
        samples: of each pixel, 5, 8, 11, 16 or 32.
    """
    import bpy

    settings = scene.render
    share = 0.5 if DRAFT else 1.0
    settings.resolution_x, settings.resolution_y = round(width * share), round(height * share)
    settings.resolution_percentage = 100
    settings.dither_intensity = 0.0  # noise that would treble the file
    scene.display.render_aa = "5" if DRAFT else str(samples)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "picture.png"
        settings.filepath = str(path)
        bpy.ops.render.render(write_still=True)
        picture = Image.open(path).convert("RGB")
    return picture if not DRAFT else picture.resize((width, height), Image.LANCZOS)


def palette_of(picture: Image.Image) -> Image.Image:
    """A palette of 256 colours that does not spend them all on snow and sky.

    Each colour counts with the root of its pixels: figures are small and colourful.

    Args:
        picture: the picture.
    """
    colours, counts = np.unique(
        np.asarray(picture).reshape(-1, 3) // 3 * 3, axis=0, return_counts=True
    )
    flat = np.repeat(colours, np.sqrt(counts).astype(int), axis=0).astype(np.uint8)
    side = int(np.ceil(len(flat) ** 0.5))
    sample = np.resize(flat, (side * side, 3)).reshape(side, side, 3)
    return Image.fromarray(sample).quantize(256, Image.Quantize.MEDIANCUT, kmeans=3)


def save(picture: Image.Image, name: str) -> None:
    """Write a picture of the manual, small enough for a repository.

    Args:
        picture: the picture.
        name: file name without suffix.
    """
    IMAGES.mkdir(parents=True, exist_ok=True)
    path = IMAGES / f"{name}.png"
    picture = picture.convert("RGB")
    if DRAFT:
        picture.resize((picture.width // 2, picture.height // 2), Image.BOX).save(path)
        return
    for share in (1.0, 0.9, 0.8, 0.7, 0.6):
        size = tuple(round(share * side) for side in picture.size)
        smaller = picture if share == 1.0 else picture.resize(size, Image.LANCZOS)
        packed = smaller.quantize(
            palette=palette_of(smaller), dither=Image.Dither.FLOYDSTEINBERG
        )
        packed.save(path, optimize=True)
        if path.stat().st_size <= LARGEST:
            print(f"{path.relative_to(ROOT)}  {size[0]} x {size[1]}, "
                  f"{path.stat().st_size / 1000:.0f} kB")
            return
    raise RuntimeError(f"{path.name} does not get smaller than {LARGEST} bytes")


def text(picture, place, words: str, size: int = 24, colour=INK, anchor: str = "la") -> None:
    """Write on a picture.

    Args:
        picture: the picture.
        place: pixels (x, y) from the upper left corner.
        words: what to write.
        size: height of the letters in pixels.
        colour: RGB from 0 to 255.
        anchor: Pillow's name of the corner that stands at `place`.
    """
    font = ImageFont.load_default(size)
    ImageDraw.Draw(picture).text(place, words, colour, font, anchor)


def tiles(pictures: Sequence[Image.Image], columns: int, gap: int = 6, labels=()) -> Image.Image:
    """Pictures side by side in rows, each with a label in its corner.

    Args:
        pictures: all of the same size.
        columns: pictures in a row.
        gap: pixels between them.
        labels: texts.
    """
    wide, high = pictures[0].size
    rows = -(-len(pictures) // columns)
    sheet = Image.new(
        "RGB", (columns * (wide + gap) - gap, rows * (high + gap) - gap), PAPER
    )
    for number, picture in enumerate(pictures):
        if number < len(labels):
            text(picture, (14, 10), labels[number], 22)
        row, column = divmod(number, columns)
        sheet.paste(picture, (column * (wide + gap), row * (high + gap)))
    return sheet


# -- Figures in the scene -----------------------------------------------------------


def exposures(rig, frames, place=None) -> list:
    """Copies of a character's figure, as it stands at some frames.

    Args:
        rig: the armature object.
        frames: frames, whole or not.
        place: matrix that moves the copies, or None.

    Returns:
        The new mesh objects.
    """
    import bpy
    from poise.addon.rigs import characters

    scene = bpy.context.scene
    made = []
    for frame in frames:
        scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for worn in characters.figure_meshes(rig):
            evaluated = worn.evaluated_get(depsgraph)
            mesh = bpy.data.meshes.new_from_object(evaluated, depsgraph=depsgraph)
            copy = bpy.data.objects.new(f"{worn.name} {frame:g}", mesh)
            matrix = evaluated.matrix_world.copy()
            copy.matrix_world = matrix if place is None else place @ matrix
            scene.collection.objects.link(copy)
            made.append(copy)
    return made


def hide(rig, hidden: bool = True) -> None:
    """Keep a character's figure out of the picture.

    Args:
        rig: the armature object.
        hidden: False to show it again.
    """
    from poise.addon.rigs import characters

    for worn in characters.figure_meshes(rig):
        worn.hide_render = hidden


def at(rig, seconds: float, name: str) -> np.ndarray:
    """Where a bone's head is in the world, and leave the scene at that frame.

    Args:
        rig: the armature object.
        seconds: from the start of the scene.
        name: of the bone.
    """
    import bpy

    frame = 1.0 + seconds * scenes.FPS
    bpy.context.scene.frame_set(int(frame), subframe=frame % 1.0)
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return np.array(evaluated.matrix_world @ evaluated.pose.bones[name].head)


def moments(
    rig, times, place, target, lens: float, size: tuple[int, int], turning: bool = False
) -> list[Image.Image]:
    """A character at some times, from a camera that goes along with its pelvis.

    Args:
        rig: the armature object.
        times: seconds.
        place: of the camera, from the pelvis, metres.
        target: what it looks at, from the pelvis.
        lens: focal length, mm.
        size: of each picture, pixels.
        turning: turn camera and sun with the direction of travel.
    """
    import bpy
    from mathutils import Matrix

    scene = bpy.context.scene
    motion = scenes.solve(rig).motion if turning else None
    pictures = []
    for time in times:
        hip = at(rig, time, "pelvis")
        yaw = float(np.interp(time, motion.time, motion.yaw)) if turning else 0.0
        turn = np.array(Matrix.Rotation(yaw, 3, "Z"))
        if turning:
            look.set_sun(scene, yaw + pi)
        camera = look.camera(scene, hip + turn @ place, hip + turn @ target, lens)
        pictures.append(render(scene, *size))
        bpy.data.objects.remove(camera)
    return pictures


def whole_turn(rig) -> np.ndarray:
    """Eight times in the turn that begins half a turn after the start, seconds."""
    return (0.5 + np.arange(8) / 8.0) / rig.poise.turns.frequency


def trail_of(rig):
    """The trail object of a character's active motion.

    Args:
        rig: the armature object.
    """
    return rig.poise.settings.trail


def ramp(share: np.ndarray, colours) -> np.ndarray:
    """Colours along a ramp.

    Args:
        share: (n,) from 0 to 1.
        colours: (k, 3) evenly spaced.

    Returns:
        (n, 3) colours.
    """
    stops = np.linspace(0.0, 1.0, len(colours))
    return np.stack(
        [np.interp(share, stops, np.asarray(colours)[:, i]) for i in range(3)], axis=1
    )


LEAN_RAMP = ((0.02, 0.20, 0.75), (0.30, 0.60, 0.95), (0.90, 0.92, 0.95),
             (0.98, 0.55, 0.15), (0.80, 0.08, 0.02))
HEAT_RAMP = ((0.05, 0.18, 0.55), (0.08, 0.50, 0.62), (0.25, 0.68, 0.30),
             (0.95, 0.75, 0.10), (0.85, 0.10, 0.03))


def colour_trail(trail, name: str, low: float, high: float, colours, steps: int = 64) -> None:
    """Paint a trail by one of its attributes, in steps, each a material.

    Args:
        trail: the trail object.
        name: of the attribute.
        low: value at the ramp's start.
        high: value at its end.
        colours: the ramp.
        steps: number of materials.
    """
    mesh = trail.data
    values = np.empty(len(mesh.vertices))
    mesh.attributes[name].data.foreach_get("value", values)
    corners = np.empty(len(mesh.loops), np.int32)
    mesh.loops.foreach_get("vertex_index", corners)
    mean = values[corners].reshape(-1, 4).mean(axis=1)
    index = np.clip((mean - low) / (high - low) * steps, 0, steps - 1).astype(np.int32)
    mesh.materials.clear()
    for number, colour in enumerate(ramp((np.arange(steps) + 0.5) / steps, colours)):
        mesh.materials.append(look._material(f"{name} {number + 1}", colour))
    mesh.polygons.foreach_set("material_index", index)
    mesh.update()


def standard(colour) -> tuple[int, int, int]:
    """A linear colour as 8-bit sRGB.

    Args:
        colour: (3,) from 0 to 1.
    """
    c = np.clip(np.asarray(colour, float), 0.0, 1.0)
    c = np.where(c <= 0.0031308, 12.92 * c, 1.055 * c ** (1 / 2.4) - 0.055)
    return tuple(int(round(255 * v)) for v in c)


# -- Plots --------------------------------------------------------------------------


class Plot:
    """A plot on white, drawn three times as large and reduced, for smooth lines."""

    SCALE = 3

    def __init__(self, width, height, x_range, y_range, margin=(64, 20, 24, 46)):
        """Start with a frame and no lines.

        Args:
            width: pixels.
            height: pixels.
            x_range: numbers at the left and right side.
            y_range: numbers at the lower and upper side.
            margin: left, top, right, bottom in pixels.
        """
        self.size = (width, height)
        self.image = Image.new("RGB", (width * self.SCALE, height * self.SCALE), PAPER)
        self.draw = ImageDraw.Draw(self.image)
        self.x_range, self.y_range, self.margin = x_range, y_range, margin
        self.words: list[tuple] = []
        left, top, right, bottom = margin
        self.box = (left, top, width - right, height - bottom)
        corners = [self.box[:2], (self.box[2], top), self.box[2:], (left, self.box[3])]
        self._line([*corners, corners[0]], FAINT, 1.2)

    def place(self, x, y):
        """Pixels (n, 2) of points."""
        left, top, right, bottom = self.box
        x, y = np.broadcast_arrays(np.atleast_1d(x), np.atleast_1d(y))
        u = (x - self.x_range[0]) / (self.x_range[1] - self.x_range[0])
        v = (y - self.y_range[0]) / (self.y_range[1] - self.y_range[0])
        return np.stack((left + u * (right - left), bottom - v * (bottom - top)), axis=1)

    def _line(self, points, colour, width):
        flat = [tuple(self.SCALE * np.asarray(point)) for point in points]
        self.draw.line(flat, colour, round(self.SCALE * width), "curve")

    def line(self, x, y, colour=INK, width=2.5):
        """Draw a line through points."""
        self._line(self.place(x, y), colour, width)

    def dots(self, x, y, colour=INK, radius=4.0, hollow=False):
        """Draw a dot at each point."""
        r = radius * self.SCALE
        for px, py in self.place(x, y) * self.SCALE:
            box = (px - r, py - r, px + r, py + r)
            if hollow:
                self.draw.ellipse(box, PAPER, colour, round(1.5 * self.SCALE))
            else:
                self.draw.ellipse(box, colour)

    def ticks(self, x=(), y=(), x_name="", y_name="", size=17):
        """Numbers along the axes, with faint lines, and the axes' names."""
        left, top, right, bottom = self.box
        for value in x:
            px = self.place(value, self.y_range[0])[0]
            self._line([px, (px[0], top)], (226, 231, 238), 1.0)
            self.words.append(((px[0], bottom + 6), f"{value:g}", size, INK, "ma"))
        for value in y:
            py = self.place(self.x_range[0], value)[0]
            self._line([py, (right, py[1])], (226, 231, 238), 1.0)
            self.words.append(((left - 8, py[1]), f"{value:g}", size, INK, "rm"))
        if x_name:
            self.words.append((((left + right) / 2, bottom + 24), x_name, size, INK, "ma"))
        if y_name:
            self.words.append(((left + 8, top + 6), y_name, size, INK, "la"))

    def label(self, x, y, words, colour=INK, size=19, anchor="lm"):
        """Write at a point."""
        self.words.append((tuple(self.place(x, y)[0]), words, size, colour, anchor))

    def finish(self) -> Image.Image:
        """The plot as a picture."""
        picture = self.image.resize(self.size, Image.LANCZOS)
        for place, words, size, colour, anchor in self.words:
            text(picture, place, words, size, colour, anchor)
        return picture


def stack(pictures: Sequence[Image.Image], across: bool = False) -> Image.Image:
    """Pictures below each other, or side by side, without a gap.

    Args:
        pictures: of one width, or of one height.
        across: side by side.
    """
    wide = [picture.width for picture in pictures]
    high = [picture.height for picture in pictures]
    size = (sum(wide), max(high)) if across else (max(wide), sum(high))
    sheet = Image.new("RGB", size, PAPER)
    place = 0
    for picture in pictures:
        sheet.paste(picture, (place, 0) if across else (0, place))
        place += picture.width if across else picture.height
    return sheet


def tint(colour, share: float = 0.55):
    """A jacket's colour as a track on snow.

    Args:
        colour: linear RGB.
        share: 0 keeps the track's own colour.
    """
    from poise.addon.shots.trail import COLOUR

    mixed = (1.0 - share) * np.asarray(COLOUR) + share * np.sqrt(np.asarray(colour))
    return (*mixed, 1.0)


def ink(colour) -> tuple[int, int, int]:
    """A jacket's colour, dark enough to read as text on snow.

    Args:
        colour: linear RGB.
    """
    return standard(0.45 * np.asarray(colour))


# -- The pictures -------------------------------------------------------------------

# Kind, suit, preset, the part of a whole turn at which it is seen, and where it stands, metres.
CAST = (
    ("SKATEBOARDER", "VIOLET", "Carving", 0.25, 3.4),
    ("CYCLIST", "GREEN", "Criterium", 0.25, 1.6),
    ("SKIER", "RED", "Carving", 0.75, 0.3),
    ("TELEMARK", "AMBER", "Classic", 0.75, -1.7),
    ("SNOWBOARDER", "CYAN", "Carving", 0.25, -4.0),
)


def characters() -> Image.Image:
    """All kinds of characters, each in the middle of a turn, outside to outside."""
    import bpy
    from mathutils import Matrix

    scene = scenes.start_scene(8.0)
    cast = []
    for kind, suit, preset, part, x in CAST:
        rig = scenes.add(kind, suit=getattr(scenes, suit), preset=preset, slope=0.0)
        scenes.activate(rig)
        bpy.ops.poise.bake()
        cast.append((rig, part, x))
    scenes.finish([cast[2][0]], trail=False)
    for rig, part, x in cast:
        moment = part / rig.poise.turns.frequency
        foot = at(rig, moment, "root")
        motion = scenes.solve(rig).motion
        yaw = float(np.interp(moment, motion.time, motion.yaw))
        place = (
            Matrix.Translation((x, 0.0, 0.0))
            @ Matrix.Rotation(radians(-34.0) - yaw, 4, "Z")
            @ Matrix.Translation(-foot)
        )
        exposures(rig, [scene.frame_current_final], place)
        hide(rig)
    look.set_sun(scene, pi)
    look.sky(scene, (0.0, 0.0, 0.0), pi)
    look.camera(scene, (0.4, -14.0, 1.75), (-0.1, 0.0, 0.85), 48.0)
    return render(scene, 1800, 560)


# Kind, gait, speed in m/s, share of the stride that has gone, place, yaw.
WALKERS = (
    ("HORSE", "TROT", 3.5, 0.10, (-1.95, 0.9), radians(-62.0)),
    ("BIPED", "WALK_BIPED", 1.4, 0.02, (0.30, 0.1), radians(-38.0)),
    ("DOG", "TROT", 2.2, 0.12, (1.45, -0.6), radians(-60.0)),
    ("INSECT", "TRIPOD", 0.8, 0.30, (2.65, -1.1), radians(-40.0)),
)


def creatures() -> Image.Image:
    """All kinds of characters on legs, each in a gait of its own."""
    import bpy

    scene = scenes.start_scene(1.0)
    for kind, gait, speed, share, place, yaw in WALKERS:
        bpy.ops.poise.character_add(kind=kind)
        rig = bpy.context.view_layer.objects.active
        bpy.data.objects.remove(rig.poise.motion_object)
        step_into(rig, kind, gait, speed, share)
        rig.location = (*place, 0.0)
        rig.rotation_euler.z = yaw
    look.floor(scene)
    look.set_sun(scene, pi)
    look.camera(scene, (0.2, -9.6, 1.5), (0.15, 0.0, 0.88), 42.0)
    return render(scene, 1500, 520)


def step_into(rig, kind: str, gait: str, speed: float, share: float) -> None:
    """Pose a character as it is in a gait; its root stays where it is.

    Args:
        rig: the character.
        kind: its kind.
        gait: name of a preset.
        speed: m/s.
        share: of a stride, after a touchdown of the first leg.
    """
    import bpy
    from poise.addon.mapping.legged import STYLES, map_legged
    from poise.addon.mapping.legs import creature_of
    from poise.addon.rigs import characters
    from poise.addon.rigs.pose.frames import armature_frames
    from poise.addon.rigs.pose.solver import RigSolver
    from poise.solvers.legged import GaitItem, GaitSettings, solve_gait

    figure = characters.figure_of(rig)
    motion = solve_gait(GaitSettings(
        creature=creature_of(figure), sequence=(GaitItem(gait),), speed=speed, n_frames=97,
    ))
    tracks = map_legged(motion, figure, STYLES[kind.lower()])
    leg = motion.footprints[0].leg
    on, after = [f.on for f in motion.footprints if f.leg == leg and f.on > 1.0][:2]
    at = round((on + share * (after - on)) / (motion.time[1] - motion.time[0]))
    solver = RigSolver(
        rig, characters.ROLE_BONES[kind],
        armature_frames(rig.name, np.array(rig.matrix_world)[None]), 1.0,
        characters.rest_axes(rig),
    )
    for track in solver.solve(
        {role: places[at : at + 1] for role, places in tracks.position.items()},
        {role: turns[at : at + 1] for role, turns in tracks.rotation.items()},
    ):
        if track.role == "root":
            continue
        bone = rig.pose.bones[track.bone]
        if track.location is not None:
            bone.location = track.location[0]
        if track.rotation is not None:
            setattr(bone, track.property, track.rotation[0])
    bpy.context.view_layer.update()


def turn_sequence() -> Image.Image:
    """One skier at many moments of a left and a right turn."""
    scene = scenes.start_scene(6.0)
    rig = scenes.add("SKIER", preset="Slalom")
    scenes.finish([rig], grow=False)
    scenes.backdrop(scene, [rig], pi)
    period = 1.0 / rig.poise.turns.frequency
    first = 1.0 * period
    moments = first + period * np.linspace(0.0, 0.9, 8)
    middle = at(rig, first + 0.5 * period, "root")
    exposures(rig, 1.0 + moments * scenes.FPS)
    hide(rig)
    look.camera(scene, middle + (-11.0, -24.0, 1.0), middle + (0.2, -2.7, 0.1), 48.0)
    return render(scene, 1600, 720)


def _top(rigs, width, every):
    """Tracks from straight above, with the skiers at regular moments."""
    import bpy

    scene = bpy.context.scene
    for rig in rigs:
        scenes.activate(rig)
        bpy.ops.poise.trail_add(grow=False)
        suit = next(m for m in rig_materials(rig) if "acket" in m.name or "uit" in m.name)
        trail_of(rig).data.materials[0].diffuse_color = tint(suit.diffuse_color[:3])
        last = scene.frame_end
        exposures(rig, 1.0 + np.arange(every, (last - 1) / scenes.FPS + 1e-6, every) * scenes.FPS)
        hide(rig)
    camera = bpy.data.objects["Top Camera"]
    camera.data.ortho_scale = width
    scene.camera = camera
    look.set_sun(scene, pi, radians(33.0))
    return scene, camera


def rig_materials(rig):
    """Materials of a character's figure."""
    from poise.addon.rigs import characters

    return characters.materials_of(rig)


def figure_6() -> Image.Image:
    """Three phase ellipses, and the tracks they leave."""
    rigs = scenes.figure_6()
    scene, camera = _top(rigs, 51.0, 0.5)
    tracks = render(scene, 1190, 480)
    plot = Plot(410, 480, (-95.0, 95.0), (-32.0, 32.0), (58, 60, 16, 150))
    plot.ticks((-60, 0, 60), (-20, 0, 20), "lean rate, degrees per second", "lean, degrees")
    angle = np.linspace(0.0, 2.0 * pi, 200)
    for number, (period, lean) in enumerate(scenes.ELLIPSES):
        colour = standard(scenes.SUITS[number])
        top = degrees(lean)
        plot.line(top * 2.0 * pi / period * np.cos(angle), top * np.sin(angle), colour, 3.0)
        text_at = (plot.box[0], 386 + 28 * number)
        plot.words.append(
            (text_at, f"{number + 1}   {period:g} s a turn, {top:.0f}° lean", 20, colour, "la")
        )
    plot.words.append(((205, 20), "Three phase ellipses", 25, INK, "ma"))
    ends = [project(camera, at(rig, 0.0, "root"), 1190, 480) for rig in rigs]
    for number, place in enumerate(ends):
        text(tracks, (14, place[1]), str(number + 1), 30, ink(scenes.SUITS[number]), "lm")
    scale_bar(tracks, 1190 / 51.0, 10.0)
    return stack((plot.finish(), tracks), across=True)


def project(camera, point, width, height):
    """Pixels of a world point."""
    import bpy
    from bpy_extras.object_utils import world_to_camera_view
    from mathutils import Vector

    u, v, _depth = world_to_camera_view(bpy.context.scene, camera, Vector(point))
    return u * width, (1.0 - v) * height


def scale_bar(picture, pixels_per_metre, metres) -> None:
    """Draw a bar of a length in the lower right corner."""
    x1, y = picture.width - 24, picture.height - 24
    x0 = x1 - metres * pixels_per_metre
    draw = ImageDraw.Draw(picture)
    draw.line([(x0, y), (x1, y)], INK, 3)
    for x in (x0, x1):
        draw.line([(x, y - 6), (x, y + 6)], INK, 3)
    text(picture, ((x0 + x1) / 2, y - 10), f"{metres:g} m", 20, INK, "mb")


def figure_10() -> Image.Image:
    """Figure-8s, falling frequency, rising sharpness, changing heading."""
    rigs = scenes.figure_10()
    scene, camera = _top(rigs, 92.0, 1.0)
    lows = scenes._places(rigs).min(axis=0), scenes._places(rigs).max(axis=0)
    middle = 0.5 * (lows[0] + lows[1])
    camera.location.x, camera.location.y = middle[0], middle[1]
    tracks = render(scene, 1600, 860)
    words = (
        (0, "1  two skiers out of phase"), (2, "2  falling frequency"),
        (3, "3  rising sharpness"), (4, "4  changing heading"),
    )
    for index, label in words:
        x, y = project(camera, at(rigs[index], 0.0, "root"), 1600, 860)
        suit = scenes.SUITS[index]
        text(tracks, (max(x, 16.0), y - 34), label, 24, ink(suit), "lb")
    scale_bar(tracks, 1600 / 92.0, 10.0)
    return tracks


def presets() -> Image.Image:
    """The skier's presets, each at the top of a left turn."""
    rigs = scenes.skier_presets()
    import bpy

    scene = bpy.context.scene
    for rig in rigs:
        hide(rig)
    pictures, labels = [], []
    for rig in rigs:
        solved = scenes.solve(rig)
        turns = rig.poise.turns
        # The second left turn, or the first of a slow one.
        moment = (1.25 if turns.frequency > 0.2 else 0.25) / turns.frequency
        hip = at(rig, moment, "pelvis")
        motion = solved.motion
        hide(rig, False)
        camera = look.camera(scene, hip + (-1.6, -6.2, -0.75), hip + (0.15, 0.0, -0.12), 50.0)
        pictures.append(render(scene, 528, 400))
        hide(rig)
        bpy.data.objects.remove(camera)
        force = motion.leg_force.max() / (motion.mass * motion.gravity)
        labels.append(f"{rig.name.removesuffix(' Skier')}: {turns.speed:g} m/s, "
                      f"{degrees(turns.sharpness):.0f}°, {force:.1f} g")
    return tiles(pictures, 3, labels=labels)


def telemark_sheet() -> Image.Image:
    """A telemark skier through one whole turn, seen from its side: the change of lead."""

    scene = scenes.start_scene(8.0)
    rig = scenes.add("TELEMARK", preset="Classic", suit=scenes.GREEN)
    scenes.finish([rig])
    scenes.backdrop(scene, [rig])
    look.set_sun(scene, pi)
    pictures = moments(
        rig, whole_turn(rig), (-4.4, -4.4, -0.5), (0.0, 0.0, -0.12), 50.0, (396, 360)
    )
    return tiles(pictures, 4)


def skateboarder_sheet() -> Image.Image:
    """A skateboarder through one whole turn: toe side, change, heel side."""
    import bpy

    rig, other = scenes.skateboarder()
    hide(other)
    scene = bpy.context.scene
    look.set_sun(scene, pi)
    pictures = moments(
        rig, whole_turn(rig), (-1.9, -4.9, -0.25), (0.0, 0.0, -0.12), 50.0, (396, 360)
    )
    return tiles(pictures, 4)


def snowboarder_sheet() -> Image.Image:
    """A snowboarder through one whole turn: toe side, change of edges, heel side."""
    import bpy

    (rig,) = scenes.snowboarder()
    scene = bpy.context.scene
    look.set_sun(scene, pi)
    pictures = moments(
        rig, whole_turn(rig), (-1.7, -6.0, -0.7), (0.0, 0.0, -0.15), 50.0, (396, 360)
    )
    return tiles(pictures, 4)


def slope() -> Image.Image:
    """Speed from gravity: the track coloured by speed, and the speed over time."""
    import bpy

    (rig,) = scenes.slope_speed()
    scene = bpy.context.scene
    bpy.ops.poise.trail_add(grow=False)
    solved = scenes.solve(rig)
    motion = solved.motion
    top = 2.0 * np.ceil(motion.speed.max() / 2.0)
    colour_trail(trail_of(rig), "speed", 0.0, top, HEAT_RAMP)
    exposures(rig, 1.0 + np.arange(0.5, 12.0, 1.0) * scenes.FPS)
    hide(rig)
    low, high = motion.position.min(axis=0), motion.position.max(axis=0)
    middle = 0.5 * (low + high)
    look.set_sun(scene, pi)
    end = motion.position[-1]
    look.camera(scene, end + (-9.0, -13.0, 5.0), (middle[0], end[1] + 30.0, end[2] + 2.5), 34.0)
    picture = render(scene, 1600, 620)
    plot = Plot(1600, 240, (0.0, 12.0), (0.0, top), (70, 14, 24, 50))
    plot.ticks(range(0, 13), np.arange(0, top + 1, 4), "seconds", "speed, m/s")
    share = motion.speed / top
    for i in range(0, len(share) - 8, 8):
        plot.line(motion.time[i : i + 9], motion.speed[i : i + 9],
                  standard(ramp(share[i : i + 1], HEAT_RAMP)[0]), 4.0)
    return stack((picture, plot.finish()))


def trail() -> Image.Image:
    """The same track coloured by lean and by force."""
    import bpy

    scene = scenes.start_scene(8.0)
    rig = scenes.add("SKIER", preset="Short Turns")
    scenes.finish([rig], grow=False)
    scenes.backdrop(scene, [rig], pi)
    motion = scenes.solve(rig).motion
    track = trail_of(rig)
    foot = at(rig, 6.6, "root")
    look.camera(scene, foot + (-5.0, -11.0, 3.5), foot + (0.0, 8.0, -0.6), 34.0)
    force = motion.leg_force / (motion.mass * motion.gravity)
    lean = max(abs(motion.lean))
    pictures = []
    for name, low, high, colours in (
        ("lean", -lean, lean, LEAN_RAMP), ("force", force.min(), force.max(), HEAT_RAMP)
    ):
        colour_trail(track, name, low, high, colours)
        picture = render(scene, 797, 600)
        if name == "lean":
            legend(picture, colours, f"{degrees(lean):.0f}° right", f"{degrees(lean):.0f}° left",
                   "lean")
        else:
            legend(picture, colours, f"{low:.2f} g", f"{high:.2f} g", "force on the legs")
        pictures.append(picture)
    del bpy
    return tiles(pictures, 2)


def legend(picture, colours, low, high, name) -> None:
    """Draw a ramp of colours with its ends in the upper left corner."""
    wide, high_px = 260, 18
    bar = (ramp(np.linspace(0.0, 1.0, wide), colours))
    bar = np.array([standard(colour) for colour in bar], np.uint8)
    picture.paste(Image.fromarray(np.repeat(bar[None], high_px, axis=0)), (18, 44))
    text(picture, (18, 12), name, 22)
    text(picture, (18, 66), low, 18)
    text(picture, (18 + wide, 66), high, 18, INK, "ra")


def edges() -> Image.Image:
    """Skis on edge, close: the outside ski carries, the inside one leads."""
    scene = scenes.start_scene(6.0)
    rig = scenes.add("SKIER", preset="Carving")
    scenes.finish([rig])
    scenes.backdrop(scene, [rig], pi)
    moment = 1.25 / rig.poise.turns.frequency - 1.0 / rig.poise.turns.frequency
    foot = at(rig, moment, "root")
    pictures = []
    for offset, target, sun in (((-1.1, -3.4, -0.35), (0.05, 0.0, 0.22), pi),
                                ((2.6, 2.6, 0.75), (0.0, -0.2, 0.16), -0.25 * pi)):
        look.set_sun(scene, sun)
        look.camera(scene, foot + offset, foot + target, 50.0)
        pictures.append(render(scene, 797, 560))
    return tiles(pictures, 2)


def body() -> Image.Image:
    """What the body adds: legs as a spring, angulation, pole plant."""
    import bpy

    scene = scenes.start_scene(8.0)
    rig = scenes.add("SKIER", preset="Short Turns")
    scenes.finish([rig], grow=True)
    scenes.backdrop(scene, [rig], pi)
    period = 1.0 / rig.poise.turns.frequency
    solved = scenes.solve(rig)
    plant = next(e.time for e in solved.tracks.events if e.kind == "POLE_PLANT" and e.time > 2.0)
    pictures = []
    for moment in (period * 1.5, period * 1.75, plant + 0.04):
        hip = at(rig, moment, "pelvis")
        camera = look.camera(scene, hip + (-1.3, -5.4, -0.9), hip + (0.0, 0.0, -0.1), 50.0)
        pictures.append(render(scene, 530, 560))
        bpy.data.objects.remove(camera)
    return tiles(pictures, 3, labels=("Change of edges: the legs stretch",
                                      "Full turn: the legs give way", "Pole plant"))


def phase() -> Image.Image:
    """The phase diagram and the course over time of turns that grow sharper."""
    from poise.addon.drawing import diagrams

    scenes.start_scene(8.0)
    rig = scenes.add("SKIER", speed=8.0, frequency=0.5, slope=0.0)
    scenes.key(rig.poise.turns, "sharpness", (0.0, radians(8.0)), (8.0, radians(30.0)),
               interpolation="LINEAR")
    motion = scenes.solve(rig).motion
    pictures = []
    for draw, width, height in ((diagrams.phase_diagram, 460, 460),
                                (diagrams.time_diagram, 640, 460)):
        pixels = diagrams.rasterise(draw(motion, width, height), 1.45)
        pictures.append(Image.fromarray(np.rint(255 * pixels[..., :3]).astype(np.uint8)))
    return stack(pictures, across=True)


def rig_controls() -> Image.Image:
    """The rigs' controls around translucent figures: three on snow, two on wheels."""
    return stack([
        _controls(("SKIER", 0), ("TELEMARK", 3), ("SNOWBOARDER", 5)),
        _controls(("SKATEBOARDER", 4), ("CYCLIST", 2)),
    ])


def _controls(*cast: tuple[str, int]) -> Image.Image:
    """Kinds of characters with their suits' numbers, side by side."""
    import bpy

    scene = scenes.start_scene(4.0)
    for number, (kind, suit) in enumerate(cast):
        x = 2.0 * (0.5 * (len(cast) - 1) - number)
        rig = scenes.add(kind, x=x, suit=scenes.SUITS[suit], slope=0.0)
        motion = rig.poise.motion_object
        rig.rotation_euler.z = radians(-28.0)
        bpy.context.view_layer.update()
        exposures(rig, [1])
        hide(rig)
        draw_controls(rig)
        bpy.data.objects.remove(motion)
    for material in bpy.data.materials:
        if material.users and not material.name.startswith(("Control", "Sky", "Snow", "Mountain")):
            material.diffuse_color[3] = 0.45
    look.floor(scene)
    look.set_sun(scene, pi)
    look.camera(scene, (0.0, -8.4, 1.6), (0.0, 0.0, 0.92), 48.0)
    return render(scene, 1500, 620)


def draw_controls(rig) -> None:
    """The custom shapes of a rig's visible controls as tubes in their colours."""
    import bpy
    from mathutils import Matrix, Vector

    palettes = bpy.context.preferences.themes[0].bone_color_sets
    hidden = {
        bone.name
        for collection in rig.data.collections_all if not collection.is_visible
        for bone in collection.bones
    }
    evaluated = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    for bone in evaluated.pose.bones:
        shape = bone.custom_shape
        if shape is None or bone.name in hidden or bone.bone.hide:
            continue
        own = bone.custom_shape_transform or bone
        size = Vector(bone.custom_shape_scale_xyz)
        if bone.use_custom_shape_bone_size:
            size *= bone.length
        matrix = (
            rig.matrix_world @ own.matrix
            @ Matrix.LocRotScale(
                Vector(bone.custom_shape_translation), bone.custom_shape_rotation_euler, size
            )
        )
        palette = bone.color.palette if bone.color.palette != "DEFAULT" else bone.bone.color.palette
        colour = (0.1, 0.1, 0.1)
        if palette.startswith("THEME"):
            colour = palettes[int(palette[5:]) - 1].normal[:]
        elif palette == "CUSTOM":
            colour = bone.color.custom.normal[:]
        curve = bpy.data.curves.new(f"Control {bone.name}", "CURVE")
        curve.dimensions = "3D"
        curve.bevel_depth, curve.bevel_resolution = 0.006, 1
        for edge in shape.data.edges:
            spline = curve.splines.new("POLY")
            spline.points.add(1)
            for point, index in zip(spline.points, edge.vertices, strict=True):
                point.co = (*(matrix @ shape.data.vertices[index].co), 1.0)
        curve.materials.append(look._material(f"Control {bone.name}", [c**2.2 for c in colour]))
        obj = bpy.data.objects.new(f"Control {bone.name}", curve)
        obj.display.show_shadows = False
        bpy.context.scene.collection.objects.link(obj)


def keys() -> Image.Image:
    """A key on every frame against few exact ones, on the same channel."""
    rigs = scenes.sparse_keys()
    curves = []
    for rig in rigs:
        data = rig.animation_data
        bag = data.action.layers[0].strips[0].channelbag(data.action_slot)
        curves.append(next(
            c for c in bag.fcurves if c.data_path == 'pose.bones["root"].location'
            and c.array_index == 0
        ))
    frames = np.linspace(20.0, 70.0, 1200)
    values = np.array([curves[1].evaluate(frame) for frame in frames])
    room = 0.15 * np.ptp(values)
    pictures = []
    for curve, name, colour in zip(
        curves, ("Every Frame", "Sparse"), (standard(scenes.RED), standard(scenes.BLUE)),
        strict=True,
    ):
        plot = Plot(800, 420, (20, 70), (values.min() - room, values.max() + room),
                    (24, 20, 20, 50))
        plot.ticks(range(20, 71, 10), (), "frame", name)
        plot.line(frames, [curve.evaluate(frame) for frame in frames], colour, 2.5)
        points = [p for p in curve.keyframe_points if 20 <= p.co[0] <= 70]
        if name == "Sparse":
            for p in points:
                ends = np.array((p.handle_left, p.co, p.handle_right))
                plot.line(ends[:, 0], ends[:, 1], FAINT, 1.5)
                plot.dots(ends[[0, 2], 0], ends[[0, 2], 1], FAINT, 3.0)
        plot.dots([p.co[0] for p in points], [p.co[1] for p in points], colour, 4.5, True)
        pictures.append(plot.finish())
    return stack(pictures, across=True)


def several_motions() -> Image.Image:
    """One run of three motions, and the strips they are baked to."""
    import bpy
    from poise.addon import motions

    (rig,) = scenes.several_motions()
    scene = bpy.context.scene
    found = motions.motions_of(rig)
    colours = (scenes.GREEN, scenes.AMBER, scenes.BLUE)
    places = []
    for motion, colour in zip(found, colours, strict=True):
        motions.set_active(motion)
        bpy.ops.poise.trail_add(grow=False)
        motion.poise_motion.trail.data.materials[0].diffuse_color = tint(colour, 0.8)
        places.append(scenes.solve(rig).motion.position)
    scene.timeline_markers.clear()  # they would switch cameras
    exposures(rig, 1.0 + np.arange(0.25, 15.0, 0.75) * scenes.FPS)
    hide(rig)
    every = np.concatenate(places)
    middle = 0.5 * (every.min(axis=0) + every.max(axis=0))
    length = np.ptp(every[:, 1])
    look.set_sun(scene, pi, radians(33.0))
    look.top_camera(scene, middle, 1.06 * length, -0.5 * pi)
    picture = render(scene, 1600, 460)
    strips = Plot(1600, 190, (1, 361), (0.0, 3.0), (190, 10, 24, 46))
    strips.ticks(range(1, 362, 60), (), "frame")
    for number, (motion, colour) in enumerate(zip(found, colours, strict=True)):
        settings = motion.poise_motion
        corners = strips.place([settings.frame_start, settings.frame_end],
                               [2.85 - number, 2.15 - number]) * strips.SCALE
        strips.draw.rectangle([tuple(corners[0]), tuple(corners[1])], standard(tint(colour)[:3]))
        strips.words.append(((16, strips.place(1, 2.5 - number)[0][1]), motion.name, 18, INK, "lm"))
    return stack((picture, strips.finish()))


def irregular() -> Image.Image:
    """Even turns above, irregular ones below."""
    rigs = scenes.irregular()
    import bpy

    scene = bpy.context.scene
    places = scenes._places(rigs)
    middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
    for rig in rigs:
        scenes.activate(rig)
        bpy.ops.poise.trail_add(grow=False)
        period = 1.0 / rig.poise.turns.frequency
        exposures(rig, 1.0 + np.arange(0.25, 10.0 / period, 0.5) * period * scenes.FPS)
        hide(rig)
    width = 1.06 * np.ptp(places[:, 1])
    look.top_camera(scene, middle, width, -0.5 * pi)
    look.set_sun(scene, pi, radians(33.0))
    picture = render(scene, 1600, 480)
    for rig, amount in zip(rigs, ("none", "0.25"), strict=True):
        x, y = project(scene.camera, at(rig, 0.0, "root"), 1600, 480)
        text(picture, (x, y + 62), f"Irregularity {amount}", 22, INK, "la")
    return picture


def fall() -> Image.Image:
    """A carver brakes to where the skis no longer turn tightly enough, and falls."""
    scene = scenes.start_scene(5.0)
    rig = scenes.add("SKIER", preset="Carving")
    scenes.key(rig.poise.turns, "speed", (2.0, 12.0), (3.0, 5.0))
    scenes.finish([rig], grow=False)
    scenes.backdrop(scene, [rig], pi)
    moments = np.array((2.1, 2.5, 2.9, 3.3, 3.7, 3.95, 4.12, 4.35))
    middle = at(rig, 3.3, "root")
    exposures(rig, 1.0 + moments * scenes.FPS)
    hide(rig)
    look.camera(scene, middle + (-9.0, -11.0, 0.8), middle + (0.0, 0.0, 0.55), 40.0)
    return render(scene, 1600, 640)


# Pictures of the window: name -> (folder and ending of the window tests' picture, part
# of it as left, top, right and bottom in shares, or None for all of it).
WINDOW_PICTURES = {
    "window": ("gui", "lean-dragged", None),
    "turns_panel": ("gui-manual", "turns-panel", (0.642, 0.169, 0.803, 0.701)),
    "overlay": ("gui", "lean-dragged", (0.0, 0.055, 0.642, 0.905)),
    "bake_panel": ("gui", "baked", (0.642, 0.412, 0.803, 0.562)),
    "preset_menu": ("gui-manual", "preset-menu", (0.642, 0.169, 0.851, 0.384)),
    "body_panel": ("gui-manual", "body-panel", (0.642, 0.197, 0.803, 0.903)),
    "problem_list": ("gui-manual", "problem-list", (0.642, 0.224, 0.803, 0.570)),
}


def window_pictures() -> None:
    """Take over the pictures that the window tests left under out, if they did."""
    for name, (folder, ending, part) in WINDOW_PICTURES.items():
        found = sorted((OUT / folder).glob(f"*-{ending}.png"))
        if not found:
            print(f"{name}: there is no out/{folder}/*-{ending}.png, make gui-test leaves it")
            continue
        picture = Image.open(found[-1])
        if part is not None:
            wide, high = picture.size
            left, top, right, bottom = part
            picture = picture.crop(
                (round(left * wide), round(top * high), round(right * wide), round(bottom * high))
            )
        save(picture, name)


def skier_sheet() -> Image.Image:
    """Moments of a run, through the chase camera."""
    import bpy

    scene = scenes.start_scene(8.0)
    rig = scenes.add("SKIER", preset="Giant Slalom")
    scenes.finish([rig])
    scenes.backdrop(scene, [rig])
    scenes.chase(rig, figure_share=0.54, lens=50.0)
    period = 1.0 / rig.poise.turns.frequency
    pictures = []
    for number in range(8):
        at(rig, period * (0.5 + number / 8.0), "root")
        pictures.append(render(scene, 480, 300))
    del bpy
    return tiles(pictures, 4, 4)


def cyclist_sheet() -> Image.Image:
    """A cyclist into a sharp turn, through it and out of it, and in the sprint after that."""
    import bpy
    from mathutils import Matrix, Vector

    (rig,) = scenes.cyclist()
    scene = bpy.context.scene
    motion = scenes.solve(rig).motion
    pictures = []
    for number, moment in enumerate((0.0, 0.35, 0.8, 1.25, 2.2, 3.75, 5.0, 10.6)):
        foot = Vector(at(rig, moment, "root"))
        yaw = float(np.interp(moment, motion.time, motion.yaw))
        turn = Matrix.Rotation(yaw, 3, "Z")
        look.set_sun(scene, yaw - 0.5)
        away = turn @ Vector((1.5, -4.2, 1.25) if number < 6 else (4.3, -1.4, 1.2))
        camera = look.camera(
            scene, foot + away, foot + turn @ Vector((0.0, 0.0, 0.78)), 66.0
        )
        pictures.append(render(scene, 400, 420))
        bpy.data.objects.remove(camera)
    return tiles(pictures, 4, 4)


def slalom() -> Image.Image:
    """A skier through a slalom course: the whole of it, and eight moments on the way."""
    import bpy

    (rig,) = scenes.slalom()
    scene = bpy.context.scene
    seconds = (scene.frame_end - 1) / scenes.FPS
    times = seconds * (0.19 + 0.1 * np.arange(8))
    pictures = moments(rig, times, (-2.5, -11.0, 1.6), (0.0, 0.0, -0.1), 45.0, (480, 320))
    return tiles(pictures, 4, 4)


def descent() -> Image.Image:
    """A skier over rolls and hollows, eight moments on the way, each with its speed."""
    import bpy

    (rig,) = scenes.descent()
    scene = bpy.context.scene
    motion = scenes.solve(rig).motion
    seconds = (scene.frame_end - 1) / scenes.FPS
    pictures = []
    for number in range(8):
        time = seconds * (0.06 + 0.125 * number)
        hip = at(rig, time, "pelvis")
        eye = hip + (-7.0, -8.0, 0.0)  # low over the snow, downhill: there its shape shows
        eye[2] = scenes.mountain_height(*eye[:2]) + 1.8
        camera = look.camera(scene, eye, hip + (0.0, 0.0, 0.1), 45.0)
        picture = render(scene, 480, 320)
        speed = np.interp(time, motion.time, motion.speed)
        text(picture, (14, 12), f"{speed:.1f} m/s")
        pictures.append(picture)
        bpy.data.objects.remove(camera)
    return tiles(pictures, 4, 4)


def tree_skiing() -> Image.Image:
    """Both ways through the wood of Fig. 16 from above, and moments of the second."""
    import bpy
    import path_scenes

    rigs = path_scenes.tree_skiing()
    scene = bpy.context.scene
    seconds = (scene.frame_end - 1) / scenes.FPS
    pictures = [
        picture
        for number, rig in enumerate((*rigs, *rigs))
        for picture in moments(
            rig, [seconds * (0.38 + 0.14 * number)], (-0.8, -5.0, 0.9), (0.0, 0.0, -0.2), 34.0,
            (325, 230),
        )
    ]
    places = scenes._places(rigs)
    middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
    wide = float(np.ptp(places[:, 1])) + 8.0
    bark, angle = look._material("Cut", (0.10, 0.05, 0.02)), np.linspace(0.0, 2.0 * pi, 13)[:-1]
    ring_of_one = np.stack((np.cos(angle), np.sin(angle)), axis=1)
    for rig in rigs:
        suit = next(m for m in rig_materials(rig) if "acket" in m.name)
        path = rig.poise.path.curve.data.splines[0]
        drawn([point.co[:2] for point in path.points], ASIDE, 0.25)
        drawn(scenes._places([rig])[::8, :2], suit.diffuse_color[:3], 0.35, 0.1)
        hide(rig)
        for tree in rig.poise.path.obstacles.objects:
            ring = path_scenes.FIR_TRUNK * tree.scale.x * ring_of_one
            path_scenes.prism(scene, "Trunk", np.array(tree.location.xy) + ring, 0.0, 1.2, bark)
    top = look.top_camera(scene, middle, wide, 0.5 * pi)
    # The trunks are in the way, and crowns would hide the tracks: they are cut off.
    top.data.clip_start = top.location.z - 1.6
    scene.camera = top
    look.set_sun(scene, pi, radians(33.0))
    high = round(1318 * (float(np.ptp(places[:, 0])) + 20.0) / wide)
    return stack((render(scene, 1318, high), tiles(pictures, 4, 6)))


def own_rig_sheet() -> Image.Image:
    """A rig of one's own in its rest pose, and the same on skis and on a snowboard."""
    import bpy

    controls = scenes.own_rig()
    scene = bpy.context.scene
    look.set_sun(scene, pi)
    pictures = [
        picture
        for one, place in zip(controls, ((-1.2, -4.6, 0.3), (-1.7, -4.6, 0.3)), strict=True)
        for picture in moments(one, whole_turn(one)[::2], place, (0.0, 0.0, -0.12), 50.0,
                               (396, 420))
    ]
    return tiles(pictures, 4)


def own_equipment_sheet() -> Image.Image:
    """A mannequin on its own skis, and one on its own bicycle."""
    import bpy

    skier, cyclist = scenes.own_equipment()
    look.set_sun(bpy.context.scene, pi)
    size = 300, 260
    skiing = moments(skier, [2.2], (-1.9, -4.0, 0.4), (0.0, 0.0, -0.15), 50.0, size)
    riding = moments(cyclist, [1.0], (-4.0, 0.3, 0.1), (0.0, 0.0, -0.15), 50.0, size)
    return tiles([*skiing, *riding], 2)


def drawn(points, colour, width: float, height: float = 0.05, closed: bool = False) -> None:
    """A line over the ground, for pictures from above.

    Args:
        points: (n, 2) metres.
        colour: linear RGB.
        width: metres.
        height: of its middle over the ground, metres.
        closed: join the last point to the first.
    """
    import bpy

    line = scenes.curve(bpy.context.scene, points, "POLY")
    line.location.z = height
    line.data.bevel_depth, line.data.bevel_resolution = 0.5 * width, 0
    line.data.splines[0].use_cyclic_u = closed
    line.data.materials.append(look._material("Line", colour))
    line.display.show_shadows = False


WAY, TRACK, BARRED = (0.95, 0.95, 0.95), (0.95, 0.62, 0.02), (0.80, 0.04, 0.03)
ASIDE = (0.10, 0.11, 0.13)  # a path on snow


def walls_of(rig) -> list[np.ndarray]:
    """Lines (n, 2) that a character on a path may not cross: meshes without faces."""
    return [
        np.array([obj.matrix_world @ vertex.co for vertex in obj.data.vertices])[:, :2]
        for obj in rig.poise.path.obstacles.objects
        if obj.type == "MESH" and not obj.data.polygons
    ]


def from_above(rig, size: tuple[int, int], room: float, width: float = 0.3) -> Image.Image:
    """The whole of a path that runs down: what may not be crossed, the path, and the track.

    Args:
        rig: the armature object.
        size: of the picture, pixels.
        room: metres beyond the ends of the track.
        width: of the lines, metres.
    """
    import bpy

    scene = bpy.context.scene
    places = scenes._places([rig])
    middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
    for line in walls_of(rig):
        drawn(line, BARRED, width)
    path = rig.poise.path.curve.data.splines[0]
    drawn([point.co[:2] for point in path.points], ASIDE, 0.7 * width)
    drawn(places[::8, :2], TRACK, width, 0.3)
    hide(rig)
    look.top_camera(scene, middle, float(np.ptp(places[:, 1])) + 2.0 * room, 0.5 * pi)
    look.set_sun(scene, pi, radians(33.0))
    return render(scene, *size)


def slalom_poles() -> Image.Image:
    """The slalom of Fig. 17: moments of it, and from above the lines that its poles are."""
    import bpy
    import path_scenes

    (rig,) = path_scenes.slalom_poles()
    scene = bpy.context.scene
    seconds = (scene.frame_end - 1) / scenes.FPS
    times = seconds * (0.2 + 0.055 * np.arange(8))
    sheet = tiles(
        moments(rig, times, (-2.2, -8.0, 1.0), (0.0, 0.0, -0.15), 45.0, (396, 300)), 4
    )
    return stack((from_above(rig, (sheet.width, 190), 5.0), sheet))


def bicycle_corner() -> Image.Image:
    """The corner of Fig. 18 with the cyclist at many moments, and from near on the way."""
    import bpy
    import path_scenes

    (rig,) = path_scenes.bicycle_corner()
    scene = bpy.context.scene
    seconds = (scene.frame_end - 1) / scenes.FPS
    times = seconds * (0.40 + 0.06 * np.arange(4))
    size = (396, 330)
    near = tiles(moments(rig, times, (-1.2, -4.6, 0.5), (0.0, 0.0, -0.1), 45.0, size, True), 4)
    look.set_sun(scene, pi)
    exposures(rig, 1.0 + np.arange(0.15, 0.86, 0.06) * seconds * scenes.FPS)
    hide(rig)
    look.camera(scene, (10.0, -62.0, 15.0), (7.0, -35.0, 0.0), 38.0)
    return stack((render(scene, near.width, 620), near))


def potholes() -> Image.Image:
    """The cyclist of Photo 5 at many moments between the holes, and from near at four of them."""
    import bpy
    import path_scenes

    (rig,) = path_scenes.potholes()
    scene = bpy.context.scene
    look.set_sun(scene, pi)
    seconds = (scene.frame_end - 1) / scenes.FPS
    times = seconds * (0.33 + 0.085 * np.arange(4))
    near = tiles(moments(rig, times, (-1.6, -5.0, 0.9), (0.0, 0.0, -0.1), 45.0, (396, 330)), 4)
    exposures(rig, 1.0 + np.arange(0.2, 0.95, 0.075) * seconds * scenes.FPS)
    hide(rig)
    look.camera(scene, (-4.5, -76.0, 4.0), (0.6, -48.0, 0.4), 46.0)
    return stack((render(scene, near.width, 560), near))


def spiral_ramp() -> Image.Image:
    """The cyclist at many moments on three turns of a ramp, and from near between the cones."""
    import bpy
    import path_scenes

    (rig,) = path_scenes.spiral_ramp()
    scene = bpy.context.scene
    motion = scenes.solve(rig).motion
    # At the first three cones, and on the turn under them, where there are none.
    first = path_scenes.RUN_IN + 2.0 * pi * path_scenes.RADIUS * 0.80
    times = np.interp(first + np.array((0.0, 4.5, 10.0, 80.0)), motion.distance, motion.time)
    size = (330, 270)
    near = tiles(moments(rig, times, (-1.9, -6.0, 1.6), (0.0, 0.0, -0.2), 42.0, size, True), 4)
    look.set_sun(scene, 0.83 * pi)
    exposures(rig, 1.0 + np.linspace(0.05, 0.93, 12) * (scene.frame_end - 1))
    hide(rig)
    look.camera(scene, (-13.0, -34.0, 18.0), (11.0, 0.0, 4.6), 40.0)
    sheet = stack((render(scene, near.width, 700, 5), near))
    # Rails everywhere: they make a large file, and three samples in one are better than one.
    return sheet.resize((600, round(600 * sheet.height / sheet.width)), Image.LANCZOS)


def crowd() -> Image.Image:
    """Fifty skiers down one hill, from before them."""
    import bpy
    import path_scenes

    path_scenes.crowd()
    scene = bpy.context.scene
    look.set_sun(scene, pi)
    scene.frame_set(1 + round(5.5 * scenes.FPS))
    # A million faces that throw shadows: each sample takes a software renderer long.
    return render(scene, 1400, 660, 5)


def circuit() -> Image.Image:
    """A lap of a race circuit from above, and moments in the corner of the largest lean."""
    import bpy
    import path_scenes

    (rig,) = path_scenes.circuit()
    scene = bpy.context.scene
    motion = scenes.solve(rig).motion
    sharpest = float(motion.time[np.argmax(np.abs(motion.lean))])
    times = sharpest + np.array((-2.0, -0.9, 0.0, 1.2))
    size = (396, 330)
    near = tiles(moments(rig, times, (-1.2, -4.6, 0.5), (0.0, 0.0, -0.1), 45.0, size, True), 4)
    places = motion.position
    middle = 0.5 * (places.min(axis=0) + places.max(axis=0))
    hide(rig)
    for obj in scene.objects:
        if obj.name.startswith("Fir"):
            obj.hide_render = True
    corner = at(rig, sharpest, "root")
    edges, path = walls_of(rig), [p.co[:2] for p in rig.poise.path.curve.data.splines[0].points]
    look.set_sun(scene, pi, radians(60.0))
    # The corner first, with thin lines; then all of it, with thick ones over them.
    for line in edges:
        drawn(line, BARRED, 0.25)
    drawn(path, WAY, 0.3, 0.1, True)
    drawn(places[::8, :2], TRACK, 0.4, 0.3)
    look.top_camera(scene, corner, 46.0)
    inset = render(scene, 470, 380)
    scale_bar(inset, 470 / 46.0, 10.0)
    for line in edges:
        drawn(line, BARRED, 1.5)
    drawn(places[::24, :2], TRACK, 4.0, 1.0)
    wide = 1.06 * float(np.ptp(places[:, 0]))
    look.top_camera(scene, middle, wide)
    size = near.width, 1000
    whole = render(scene, *size)
    x, y = project(scene.camera, corner, *size)
    draw = ImageDraw.Draw(whole)
    draw.rectangle((x - 14, y - 14, x + 14, y + 14), outline=PAPER, width=3)
    draw.rectangle((1085, 25, 1085 + 476, 25 + 386), PAPER)
    whole.paste(inset, (1088, 28))
    scale_bar(whole, size[0] / wide, 200.0)
    return stack((whole, near))


def telemark_slalom() -> Image.Image:
    """A telemark skier through the slalom course, eight moments on the way: Photo 4."""
    import bpy

    (rig,) = scenes.telemark()
    seconds = (bpy.context.scene.frame_end - 1) / scenes.FPS
    times = seconds * (0.3 + 0.05 * np.arange(8))
    return tiles(moments(rig, times, (-2.2, -7.0, 0.8), (0.0, 0.0, -0.15), 45.0, (396, 300)), 4)


def gait() -> Image.Image:
    """A horse that speeds up around a bend: a moment of each of its gaits."""
    import gait_scenes
    from poise.addon.families.gait.view import label

    (rig,) = gait_scenes.horse_gaits()
    motion = scenes.solve(rig).motion
    pictures = []
    for name, start, end in motion.gaits:
        time = start + 0.7 * (min(end, motion.time[-1]) - start)
        (picture,) = moments(
            rig, (time,), (-6.6, -1.6, 0.25), (0.0, -0.55, -0.35), 46.0, (700, 420), True
        )
        row = int(np.searchsorted(motion.time, time))
        speed = float(np.linalg.norm(motion.velocity[row, :2]))
        text(picture, (14, 12), f"{label(name)}, {speed:.1f} m/s")
        pictures.append(picture)
    return tiles(pictures, 2, 4)


def ground() -> Image.Image:
    """A dog on rolling ground, a person on stairs, an insect on stones: two moments of each."""
    import bpy
    import gait_scenes

    columns = []
    for build, frames, closer in (
        (gait_scenes.dog_terrain, (92, 118), 1.0),
        (gait_scenes.biped_stairs, (170, 285), 1.4),
        (gait_scenes.insect_rocks, (130, 150), 1.7),
    ):
        build()
        bpy.context.scene.camera.data.lens *= closer
        pictures = []
        for frame in frames:
            bpy.context.scene.frame_set(frame)
            pictures.append(render(bpy.context.scene, 420, 330))
        columns.append(pictures)
    return tiles([pictures[row] for row in range(2) for pictures in columns], 3, 4)


def rigify_cat() -> Image.Image:
    """A cat that Rigify generated, at four moments of a stride."""
    import bpy
    import gait_scenes

    gait_scenes.rigify_cat()
    scene, pictures = bpy.context.scene, []
    for frame in (64, 67, 70, 73):
        scene.frame_set(frame)
        pictures.append(render(scene, 560, 300))
    return tiles(pictures, 2, 4)


def herd() -> Image.Image:
    """Thirty horses come along; takes some minutes."""
    import bpy
    import gait_scenes

    gait_scenes.herd()
    bpy.context.scene.frame_set(80)
    return render(bpy.context.scene, 768, 432)


def footprints() -> Image.Image:
    """A horse whose later footprints were bent aside, seen from above and along its way."""
    import bpy
    import gait_scenes

    scene = scenes.start_scene(7.0)
    rig = gait_scenes.walker("HORSE", speed=1.6)
    gait_scenes.meadow(scene, [rig])
    before = scenes.solve(rig).motion.position
    bpy.ops.poise.footprints_edit()
    shown = {obj: obj.poise_footprint for obj in bpy.data.objects if obj.poise_footprint.motion}
    for obj, info in shown.items():
        obj.select_set(info.on > 2.0)
        obj.hide_render = False
    bpy.ops.poise.footprints_bend(angle=radians(60.0))
    one = next(o for o, info in shown.items() if (info.leg, info.index) == ("fore.R", 1))
    one.location.x -= 0.25
    scenes.activate(rig)
    bpy.ops.poise.footprints_adapt()
    after = scenes.solve(rig).motion.position
    gait_scenes.bake([rig])
    for way, colour in ((before, (0.9, 0.9, 0.9)), (after, (0.95, 0.75, 0.05))):
        drawn(way[:, :2], colour, 0.035, 0.01)
    exposures(rig, [1 + round(24.0 * t) for t in (0.6, 3.0, 5.2, 6.9)])
    hide(rig)
    middle = 0.5 * (after[0] + after[-1]) * (1.0, 1.0, 0.0)
    look.camera(scene, middle + (9.0, 0.4, 9.9), middle + (0.4, -0.4, 0.3), 31.0)
    return render(scene, 900, 468)


def gait_diagram() -> Image.Image:
    """The gait diagram of a horse that walks, trots and canters."""
    import gait_scenes
    from poise.addon.drawing import diagrams

    scenes.start_scene(7.0)
    rig = gait_scenes.walker("HORSE")
    scenes.key(rig.poise.gait, "speed", (0.0, 1.6), (7.0, 4.6), interpolation="LINEAR")
    for preset, start in (("TROT", 2.2), ("CANTER_LEFT", 4.6)):
        rig.poise.gait.add(preset).start = start
    motion = scenes.solve(rig).motion
    pixels = diagrams.rasterise(diagrams.gait_diagram(motion), 1.3)
    return Image.fromarray(np.rint(255 * pixels[..., :3]).astype(np.uint8))


def pose_timing() -> Image.Image:
    """A person who catches a ball and throws it back: moments of it."""
    import posing_scenes

    (rig,) = posing_scenes.pose_timing()
    frames = (8, 16, 23, 34, posing_scenes.WIND_UP, posing_scenes.RELEASE, 55,
              posing_scenes.THROUGH)
    times = [(frame - 1) / scenes.FPS for frame in frames]
    taken = moments(rig, times, (-3.6, -1.3, 0.5), (0.0, -0.55, 0.12), 50.0, (396, 330))
    return tiles(taken, 4, labels=[f"frame {frame}" for frame in frames])


def limb_pose() -> Image.Image:
    """An arm posed by its hand, by its elbow, and with the hand anchored: a row each."""
    import bpy

    scene = scenes.start_scene(1.0)
    bpy.ops.poise.character_add(kind="BIPED")
    rig = bpy.context.object
    bpy.ops.object.mode_set(mode="POSE")
    pose = partial(bpy.ops.poise.limb_pose, limb="arm.L")
    taken, labels = [], []
    look.camera(scene, (0.75, -2.7, 1.6), (-0.03, -0.1, 1.25), 82.0)
    rows = (
        ("Move End", lambda x: pose(mode="MOVE", offset=(0.12 * x, -0.1 * x, 0.28 * x))),
        ("Turn Joint", lambda x: pose(mode="TURN", joint=2, axis="X", angle=0.7 * x)),
        ("Anchored", lambda x: pose(mode="ANCHOR", angle=0.75 * x + 0.75)),
    )
    for name, turn in rows:
        for step in (-1.0, 0.0, 1.0):
            for bone in rig.pose.bones:
                bone.matrix_basis.identity()
            pose(mode="MOVE", offset=(-0.25, -0.30, 0.22))
            turn(step)
            taken.append(render(scene, 330, 300))
            labels.append(name if step < 0.0 else "")
    return tiles(taken, 3, labels=labels)


def pose_gains() -> Image.Image:
    """Fig. 1 and 3 of the paper on poses: one target from many start rates, by two controllers."""
    from poise.solvers.posing import critical_gain, move

    # Angles from the set-point, 1 rad; the target is at 1.045 after 10 s.
    start, target, end, rates = 4.0, 0.045, 10.0, np.linspace(-1.5, 4.0, 12)
    times = np.linspace(0.0, end, 400)
    tuned = critical_gain(start, 0.0, target, end).frequency
    still = critical_gain(start, 0.0, target, end).frequency
    sides = []
    for name, gains in (
        ("one gain, right from rest", np.full(len(rates), tuned)),
        ("the gain found for each", critical_gain(start, rates, target, end).frequency),
    ):
        whole = Plot(430, 420, (0.0, 10.4), (0.0, 8.6), (40, 8, 12, 46))
        whole.ticks((0, 2, 4, 6, 8, 10), (0, 2, 4, 6, 8), "s", "rad")
        near = Plot(220, 420, (8.4, 10.1), (0.98, 1.18), (48, 8, 12, 46))
        near.ticks((9, 10), (1.0, 1.05, 1.1, 1.15), "s, near the end")
        ways = [*zip(rates, gains, map(standard, ramp(np.linspace(0.0, 1.0, 12), HEAT_RAMP)),
                     strict=True), (0.0, still, INK)]
        for plot in (whole, near):
            shown = times[times >= plot.x_range[0]]
            for rate, gain, colour in ways:
                angles = 1.0 + move(start, rate, gain, 1.0, shown)[0]
                inside = angles <= plot.y_range[1]
                plot.line(shown[inside], angles[inside], colour, 2.4 if colour == INK else 2.0)
            plot.dots(end, 1.0 + target, (206, 40, 40), 7.0, hollow=True)
        ends = 1.0 + move(start, rates, gains, 1.0, end)[0]
        whole.label(3.2, 8.0, name, size=18)
        whole.label(3.2, 7.4, f"after 10 s {ends.min():.3f} to {ends.max():.3f} rad", size=15)
        sides += [whole.finish(), near.finish()]
    return stack(sides, across=True)


def _strobe(motion, name: str) -> Image.Image:
    """A row of pictures of the arm that blocks balls: from each to the next, and all at once."""
    from lab import blocking

    times, angles = np.array(blocking.TIMES), blocking.ANGLES
    turned = 2.0 * np.arctan2(motion.turns[:, 0, 1], motion.turns[:, 0, 0])
    blocked = blocking.errors(motion) < blocking.BLOCKS
    way = np.stack((np.sin(angles), -np.cos(angles)), axis=1) * blocking.REACH
    first = np.concatenate(([0.0], times[:-1]))
    panels = []
    for begin, end, which in (*zip(first, times, range(4), strict=True), (0.0, times[-1], None)):
        plot = Plot(236, 316, (-0.3, 0.86), (-0.78, 0.8), (2, 2, 2, 2))
        metre = (plot.box[2] - plot.box[0]) / 1.16
        rows = np.flatnonzero((motion.times > begin - 1e-9) & (motion.times < end + 1e-9))
        if which is None:
            rows = rows[::2]
        for k, row in enumerate(rows):
            share = k / max(len(rows) - 1, 1)
            tip = blocking.LENGTH * np.array((np.sin(turned[row]), -np.cos(turned[row])))
            colour = tuple(round(c + (p - c) * (0.86 - 0.86 * share)) for c, p in
                           zip((52, 92, 150), PAPER, strict=True))
            for extra, shade in ((1.2, PAPER), (0.0, colour)):
                radius = blocking.RADIUS * metre + extra
                plot.line((0.0, tip[0]), (0.0, tip[1]), shade, 2.0 * radius)
                plot.dots((0.0, tip[0]), (0.0, tip[1]), shade, radius)
            for _, y, z in motion.flights[row]:
                if -0.21 < y < 0.77 and -0.69 < z < 0.56:
                    fall = tuple(round(c + (p - c) * (0.8 - 0.8 * share)) for c, p in
                                 zip((110, 110, 116), PAPER, strict=True))
                    plot.dots(y, z, PAPER, 0.08 * metre + 1.2)
                    plot.dots(y, z, fall, 0.08 * metre)
        for ball in range(4):
            if which in (ball, None):
                ink = (40, 150, 70) if blocked[ball] else (206, 40, 40)
                plot.dots(*way[ball], ink, blocking.BALL * metre)
        if which is None:
            plot.label(-0.27, 0.7, f"{blocked.sum()} of 4 blocked", size=16)
        else:
            plot.label(-0.27, 0.7, f"ball {which + 1}: {'blocked' if blocked[which] else 'missed'}",
                       size=16)
        panels.append(plot.finish())
    row = tiles(panels, len(panels), gap=4)
    sheet = Image.new("RGB", (row.width, row.height + 34), PAPER)
    sheet.paste(row, (0, 34))
    text(sheet, (4, 6), name, 20)
    return sheet


def pose_blocking() -> Image.Image:
    """Fig. 4 and 5: an arm blocks four balls, by a fixed gain and by the analytic one."""
    from lab import blocking
    from poise.solvers.posing import PoseSettings

    return stack([
        _strobe(blocking.block(blocking.tuned_on_first()), "a fixed gain, tuned on the first ball"),
        _strobe(blocking.block(PoseSettings()), "the analytic gain"),
    ])


def pose_weights() -> Image.Image:
    """Fig. 6: the same while weights of 10 kg drop onto the arm."""
    from lab import blocking
    from poise.solvers.posing import PoseSettings

    seed = 12
    return stack([
        _strobe(blocking.block(blocking.tuned_on_first(), seed),
                "a fixed gain, tuned on the first ball, under weights of 10 kg"),
        _strobe(blocking.block(PoseSettings(), seed),
                "the analytic gain, under the same weights"),
    ])




def pendulum() -> Image.Image:
    """A pendulum under the paper's script, at the changes of its controllers."""
    import control_scenes

    (rig,) = control_scenes.pendulum()
    scene = rig.users_scene[0]
    scene.camera.data.lens = 84.0  # square pictures
    shots, labels, time = [], [], 0.0
    for line in rig.poise.script:
        frames = [1.0 + scenes.FPS * (time + line.seconds * k / 5) for k in range(6)]
        copies = exposures(rig, frames[:-1])
        for copy in copies[:-1]:
            copy.hide_render = False
        hide(rig)
        shots.append(render(scene, 300, 300))
        for copy in copies:
            copy.hide_render = True
        hide(rig, False)
        time += line.seconds
        labels.append(f"{line.controller}, {line.seconds:g} s")
    return tiles(shots, 3, labels=labels)


def luxo() -> Image.Image:
    """A lamp that hops, flips back over and flips down, several exposures each."""
    import lamp_scenes

    (rig,) = lamp_scenes.luxo()
    scene = rig.users_scene[0]
    shots, labels = [], []
    for done in scenes.solve(rig).motion.ran.more.motions[:3]:
        if done.turns:  # from the throw to the landing, and at rest
            times = [*np.linspace(done.took_off - 0.06, done.touched_down, 6), done.over]
        else:
            times = [done.began, *np.linspace(done.took_off, done.touched_down, 4)]
        copies = exposures(rig, [1.0 + scenes.FPS * time for time in times])
        hide(rig)
        shots.append(render(scene, 540, 400))
        for copy in copies:
            copy.hide_render = True
        hide(rig, False)
        labels.append(done.name)
    return tiles(shots, 3, labels=labels)


def control_states() -> Image.Image:
    """State space: ways under four controllers from several starts, and the paper's script."""
    import control_scenes
    from poise.addon.drawing import diagrams
    from poise.addon.drawing.diagrams import CONTROLLERS, StateWay
    from poise.addon.families.controlling.view import states_of
    from poise.solvers.control import chain, plans
    from poise.solvers.control.run import Command, run

    (rig,) = control_scenes.pendulum()
    solved = scenes.solve(rig)
    body = solved.job.body
    spans, rates = body.chain.coordinates(), chain.rates_of(body.chain)
    times = np.arange(0.0, 4.0, 1.0 / 48.0)
    starts = [(-170, -350), (-60, 420), (100, -420), (160, 60), (20, 250), (-90, 0)]
    drawn = []
    for plan in body.chain.library():
        if plan.name in "CD":
            continue
        table = plans.table_of(plan, rates)
        made = plans.controller_of(plan, table, rates)
        ways = [
            StateWay(run(rates, np.radians(s), [Command(made, 9.0)], times).states,
                     CONTROLLERS[1], 1.5)
            for s in starts
        ]
        target = [(plan.targets[0], plan.name)]
        drawn.append(diagrams.state_diagram(spans, ways, target, table, 420, 320))
    drawn.append(states_of(solved.motion, 846, 420))
    shots = [
        Image.fromarray(np.rint(255 * diagrams.rasterise(d, 1.0)[..., :3]).astype(np.uint8))
        for d in drawn
    ]
    sheet = Image.new("RGB", (846, 2 * 326 + 420), PAPER)
    sheet.paste(tiles(shots[:4], 2), (0, 0))
    sheet.paste(shots[4], (0, 2 * 326))
    return sheet


def control_torques() -> Image.Image:
    """Cost and torque of every state: round a block to 80 degrees, and past -120 at a speed."""
    import control_scenes
    from poise.addon.drawing import diagrams
    from poise.addon.families.controlling.view import map_of
    from poise.solvers.control import chain, plans
    from poise.solvers.control.run import Command, run
    from poise.solvers.control.surroundings import Silhouette, Surroundings

    (rig,) = control_scenes.pendulum()
    body = scenes.solve(rig).job.body.chain
    rates, times = chain.rates_of(body), np.arange(0.0, 2.5, 1.0 / 48.0)
    corners = np.array([(0.6, 0.3), (0.8, 0.3), (0.8, 0.5), (0.6, 0.5)])
    block = Silhouette("Block", corners[[[0, 1, 2], [0, 2, 3]]])
    about = Surroundings(body.links, (block,), 0.02)
    up = body.plan("Round a block", np.radians((80.0, 0.0)))
    e = next(plan for plan in body.library() if plan.name == "E")
    maps = []
    for plan, things in ((up, about), (e, None)):
        table = plans.table_of(plan, rates, None, things)
        made = plans.controller_of(plan, table, rates, things)
        states = run(rates, np.radians([-30.0, 0.0]), [Command(made, 9.0)], times).states
        maps.append(map_of(plan, table, [diagrams.StateWay(states, diagrams.INK, 2.0)]))
    drawn = diagrams.rasterise(diagrams.torque_diagram(maps, 423, 300), 1.0)[..., :3]
    return Image.fromarray(np.rint(255 * drawn).astype(np.uint8))


def parking_car() -> Image.Image:
    """A car that parks between two others, moment by moment."""
    import control_scenes

    (rig,) = control_scenes.parking()
    scene, shots = rig.users_scene[0], []
    parked = max(time for time, _line in scenes.solve(rig).motion.ran.reached)
    times = np.linspace(0.0, parked, 9)[[4, 8]]
    for time in times:
        scene.frame_set(int(1.0 + scenes.FPS * time))
        shots.append(render(scene, 420, 270))
    return tiles(shots, 2, labels=[f"{time:.1f} s" for time in times])


STARTS = ((-7.5, 3.3, 0.0), (-3.0, 5.2, 20.0), (1.0, 4.4, -25.0), (5.0, 3.2, 0.0),
          (-1.0, 3.2, 30.0), (7.0, 5.4, -10.0))
"""m, m, degrees: where cars stand that are to park."""

STROBE = 0.3  # s


def parking_starts() -> Image.Image:
    """A car that parks from six places, every 0.3 s, after Figs. 17 to 19 of the paper."""
    from poise.solvers.control.driving import drive
    from poise.solvers.control.parking import SIZES
    from poise.solvers.control.parking_build import build
    from poise.solvers.control.street import Car, parallel

    car, scale, wide, high = Car(), 84, 12.4, 7.0
    street = parallel(car)
    parking = build(car, street, SIZES["fine"])
    first = np.array([[*car.reference(np.array([x, y, np.radians(turn)])), 0.0, 0.0]
                      for x, y, turn in STARTS])
    shots, labels = [], []

    def outline(pose, length, width):
        c, s = np.cos(pose[2]), np.sin(pose[2])
        corners = np.array([(1, 1), (1, -1), (-1, -1), (-1, 1)]) * (0.5 * length, 0.5 * width)
        at = corners @ [[c, s], [-s, c]] + pose[:2]
        return [(scale * (x + wide), scale * (high - y)) for x, y in at]

    for one in drive(parking, first):
        shot = Image.new("RGB", (round(2 * wide * scale), round(high * scale)), (233, 234, 236))
        draw = ImageDraw.Draw(shot, "RGBA")
        for x, y, heading, length, width in street.boxes:
            draw.polygon(outline((x, y, heading), length, width), (120, 126, 134, 255))
        end = one.trip.times[-1] if one.parked is None else one.parked
        times = np.append(np.arange(0.0, end, STROBE), end)
        poses = car.centre(one.trip.states(times)[:, :3])
        for k, pose in enumerate(poses):
            last = k == len(poses) - 1
            body = outline(pose, car.length, car.width)
            if last or k == 0:
                draw.polygon(body, (200, 40, 30, 255) if last else (40, 90, 170, 255))
            draw.line([*body, body[0]], (30, 34, 40, 255 if last or k == 0 else 120), 3)
            nose = outline(car.reference(pose), 0.5, 0.5 * car.width)
            draw.line(nose[:2], (200, 40, 30, 200), 3)
        shots.append(shot.resize((shot.width // 4, shot.height // 4), Image.Resampling.LANCZOS))
        labels.append(one.said or f"parked after {one.parked:.1f} s")
    return tiles(shots, 2, labels=labels)


def freeform() -> Image.Image:
    """A leap of a dance phrase: moments of it."""
    import freeform_scenes

    (rig,) = freeform_scenes.dance()
    times = [(frame - 1) / scenes.FPS for frame in (1, 13, 20, 24, 29, 33, 41, 58)]
    taken = moments(rig, times, (-3.9, -0.5, 0.35), (0.0, 0.0, 0.0), 50.0, (276, 230))
    return tiles(taken, 4)


def limb_sequence() -> Image.Image:
    """An arm reaches while its owner walks: moments of it."""
    import freeform_scenes

    rig = freeform_scenes.reach()[0]
    times = [(frame - 1) / scenes.FPS for frame in (6, 18, 26, 32, 40, 54)]
    taken = moments(rig, times, (-2.8, -3.2, 0.5), (0.55, 0.0, 0.1), 50.0, (276, 300))
    return tiles(taken, 6)


def ollie() -> Image.Image:
    """A snowboarder's leap: moments of it, from beside."""
    import freeform_scenes

    (rig,) = freeform_scenes.ollie()
    times = [(frame - 1) / scenes.FPS for frame in (49, 58, 63, 67, 71, 78)]
    taken = moments(rig, times, (-5.2, -1.6, 0.5), (0.0, 0.0, -0.25), 62.0, (276, 300))
    return tiles(taken, 6)


def contacts() -> Image.Image:
    """A chain falls past a step, against a wall: moments of it."""
    import control_scenes

    (rig,) = control_scenes.contacts()
    scene, shots = rig.users_scene[0], []
    for frame in (1, 9, 15, 40):
        scene.frame_set(frame)
        shots.append(render(scene, 400, 250))
    return tiles(shots, 4)


PICTURES: dict[str, Callable[[], Image.Image]] = {
    picture.__name__: picture for picture in (
        characters, creatures, turn_sequence, figure_6, figure_10, presets,
        snowboarder_sheet, slope, trail, edges, body, phase, rig_controls, keys,
        several_motions, irregular, fall, slalom, descent, skier_sheet, telemark_sheet,
        skateboarder_sheet, cyclist_sheet, tree_skiing, slalom_poles, bicycle_corner,
        potholes, crowd, spiral_ramp, telemark_slalom, own_rig_sheet, own_equipment_sheet,
        gait, ground, rigify_cat, herd, footprints, gait_diagram, pose_timing,
        limb_pose, pose_gains, pose_blocking, pose_weights, freeform, limb_sequence, ollie,
        pendulum, luxo, control_states, control_torques, contacts, parking_car, parking_starts,
    )
}
if "POISE_COURSE" in os.environ:
    PICTURES["circuit"] = circuit


def main() -> None:
    """Make the pictures named on the command line, or all."""
    global DRAFT, IMAGES
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PICTURES))
    parser.add_argument("--window", action="store_true", help="only those of the window")
    parser.add_argument("--draft", action="store_true", help="half the size, to out/draft")
    arguments = parser.parse_args()
    names = arguments.names or list(PICTURES)
    unknown = [name for name in names if name not in PICTURES]
    if unknown:
        sys.exit(f"no picture is called {unknown[0]}: {', '.join(PICTURES)}")
    if arguments.draft:
        DRAFT, IMAGES = True, OUT / "draft"
    if arguments.window:
        window_pictures()
        return
    installed.start()
    for name in names:
        save(PICTURES[name](), name.replace("_sheet", "-sheet"))
    if not arguments.names:
        window_pictures()


if __name__ == "__main__":
    main()
