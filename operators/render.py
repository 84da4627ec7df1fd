# SPDX-License-Identifier: GPL-3.0-or-later
"""What surrounds a motion: trail, markers, slope, camera, movie, diagrams."""

from math import pi, radians
from pathlib import Path

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, FloatProperty, StringProperty

from ..addon import baking, families, motions, pipeline
from ..addon.base_operator import SettingsOperator, SolvingOperator
from ..addon.context import object_mode
from ..addon.drawing import diagrams
from ..addon.errors import UserError
from ..addon.mapping.tracks import JointTracks
from ..addon.shots import camera, playblast, slope, trail
from ..addon.steps import part
from ..addon.texts import tr

# Below this a slope that does not fit its track is not worth a word, metres.
FIT = 0.02


class _OfMotion:
    """Mixin: only where a character has a motion."""

    @classmethod
    def poll(cls, context):
        character = motions.active_character(context)
        if character is None:
            cls.poll_message_set("No character is active: select an armature or its mesh")
            return False
        if motions.active_motion(character) is None:
            cls.poll_message_set("The character has no motion: click Add Motion")
            return False
        return True


class _MotionOperator(_OfMotion, SettingsOperator):
    """Mixin: what is made of the active motion at once."""


def _solved(context, motion):
    solved = pipeline.solve(pipeline.gather(context, motion))
    tracks = solved.tracks
    found = tracks.turn if isinstance(tracks, JointTracks) else tracks.position
    for values in found.values():
        if not np.isfinite(values).all():
            raise UserError(
                f"{motion.name} goes nowhere: its settings are beyond what can be computed"
            )
    return solved


def _require_trail(solved):
    """Refuse what is only for motions that leave a trail."""
    reason = families.view_of(solved.job).trail(solved)
    if reason:
        raise UserError(reason)


class POISE_OT_trail_add(_MotionOperator, bpy.types.Operator):
    """Lay the track on the snow as a mesh, with lean, curvature, force and phase as attributes"""

    bl_idname = "poise.trail_add"
    bl_label = "Add Trail"

    grow: BoolProperty(
        name="Grow with Frame",
        description="Show only what has been travelled up to the current frame",
        default=True,
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        solved = _solved(context, motion)
        _require_trail(solved)
        with object_mode(context):
            made = trail.build(context.scene, motion, solved, self.grow)
        events = len(trail.placed_events(solved))
        return f"{made.name}: {solved.motion.distance[-1]:.1f} m, {events} events"


class POISE_OT_markers_add(_MotionOperator, bpy.types.Operator):
    """Put a timeline marker at every edge change and pole plant of the motion"""

    bl_idname = "poise.markers_add"
    bl_label = "Add Event Markers"

    def run(self, context):
        _character, motion = motions.require_motion(context)
        count = trail.add_markers(context.scene, motion, _solved(context, motion))
        return f"{count} markers"


class POISE_OT_markers_clear(_MotionOperator, bpy.types.Operator):
    """Remove the motion's timeline markers; other markers stay"""

    bl_idname = "poise.markers_clear"
    bl_label = "Clear Event Markers"

    def run(self, context):
        _character, motion = motions.require_motion(context)
        count = trail.remove_markers(motion)
        if not count:
            raise UserError(f"{motion.name} has no markers to clear")
        return f"{count} markers removed"


class POISE_OT_slope_add(_MotionOperator, bpy.types.Operator):
    """Lay groomed snow under the motion, or fit the snow that is there to it"""

    bl_idname = "poise.slope_add"
    bl_label = "Add Slope"

    def run(self, context):
        _character, motion = motions.require_motion(context)
        solved = _solved(context, motion)
        _require_trail(solved)
        if solved.motion.surfaces:
            raise UserError(f"{motion.name} is on a terrain: it needs no slope under it")
        with object_mode(context):
            made, gap = slope.build(context.scene, motion, solved)
        if gap > FIT:
            self.report(
                {"WARNING"},
                tr(f"The track leaves {made.name} by up to {gap:.2f} m: a slope that changes on "
                   "the way fits only motions that always go downhill"),
            )
        return f"{made.name} fits {motion.name}"


class POISE_OT_chase_camera_add(_MotionOperator, bpy.types.Operator):
    """Add a camera that follows the character, or let the one that is there follow it anew"""

    bl_idname = "poise.chase_camera_add"
    bl_label = "Add Chase Camera"

    fit: BoolProperty(
        name="Fit Figure",
        description="Choose the distance so that the figure fills a share of the picture's height",
        default=True,
    )
    figure_share: FloatProperty(
        name="Figure",
        description="Share of the picture's height that the upright figure fills",
        default=0.34,
        min=0.02,
        max=1.0,
        subtype="FACTOR",
    )
    distance: FloatProperty(
        name="Distance",
        description="Distance from the character in metres",
        default=9.0,
        min=0.1,
        max=1000.0,
        soft_min=2.0,
        soft_max=40.0,
    )
    height: FloatProperty(
        name="Height",
        description="Height over the ground in metres",
        default=1.8,
        min=0.0,
        max=1000.0,
        soft_max=20.0,
    )
    side: FloatProperty(
        name="Side",
        description="Angle from straight behind: positive on the character's left, 90 beside "
        "it, 180 in front",
        default=radians(28.0),
        min=-2 * pi,
        max=2 * pi,
        subtype="ANGLE",
    )
    lens: FloatProperty(
        name="Focal Length",
        description="Focal length of the camera in millimetres",
        default=40.0,
        min=8.0,
        max=1000.0,
        soft_max=200.0,
        unit="CAMERA",
    )

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "fit")
        layout.prop(self, "figure_share" if self.fit else "distance")
        layout.prop(self, "height")
        layout.prop(self, "side")
        layout.prop(self, "lens")

    def run(self, context):
        _character, motion = motions.require_motion(context)
        solved = _solved(context, motion)
        options = camera.ChaseOptions(
            figure_share=self.figure_share if self.fit else None,
            distance=self.distance,
            height=self.height,
            side=self.side,
            lens=self.lens,
        )
        with object_mode(context):
            made = camera.build(context.scene, motion, solved, options)
        cuts = camera.cuts(context.scene, solved.job.start_frame, solved.job.end_frame)
        others = [marker for marker in cuts if marker.camera != made]
        if others:
            names = ", ".join(marker.name for marker in others)
            self.report(
                {"WARNING"},
                tr(f"Markers of the timeline bind other cameras: {names}; to see the motion "
                   f"through {made.name}, bind it to them (Marker > Bind Camera to Markers)"),
            )
            return f"{made.name} follows {motion.name}"
        return f"{made.name} follows {motion.name}, and is the scene's camera"


class POISE_OT_playblast(_OfMotion, SolvingOperator, bpy.types.Operator):
    """Render the motion to a movie in Workbench; render settings stay as they are"""

    bl_idname = "poise.playblast"
    bl_label = "Playblast"
    solving = 0.02

    filepath: StringProperty(
        name="File",
        description="Movie to write; empty for one beside the file, named after the motion",
        subtype="FILE_PATH",
        options={"SKIP_SAVE"},
    )
    percentage: FloatProperty(
        name="Size",
        description="Size of the movie, of the scene's resolution",
        default=50.0,
        min=5.0,
        max=200.0,
        subtype="PERCENTAGE",
    )
    contact_sheet: BoolProperty(
        name="Contact Sheet",
        description="Write moments of the motion side by side on one PNG, too",
        default=False,
    )
    movie: BoolProperty(
        name="Movie", description="Write the movie", default=True, options={"SKIP_SAVE"}
    )

    def gather(self, context):
        _character, motion = motions.require_motion(context)
        if baking.baked_of(motion) is None:
            raise UserError(f"{motion.name} is not baked yet: click Bake to Rig")
        if not (self.movie or self.contact_sheet):
            raise UserError("Neither movie nor contact sheet is asked for: choose one")
        job = pipeline.gather(context, motion)
        scene = context.scene
        blind = scene.camera is None and not camera.cuts(scene, job.start_frame, job.end_frame)
        return job, blind

    def solve(self, work, progress):
        job, blind = work
        return pipeline.solve(job, progress) if blind or job.ends_by_itself else None

    def prepare(self, context, work, solved):
        job, blind = work
        _character, motion = motions.require_motion(context)
        scene, former = context.scene, motion.poise_motion.camera
        start, end = job.start_frame, (solved.job if solved else job).end_frame
        path = _file(self.filepath, ".mp4") if self.filepath else playblast.movie_path(motion)
        sheet = path.with_suffix(".png")
        if blind:
            camera.build(scene, motion, solved, camera.ChaseOptions())
        try:
            count = self.movie + self.contact_sheet
            if self.movie:
                steps = playblast.movie_steps(scene, path, start, end, self.percentage)
                yield from part(steps, 0, count)
            if self.contact_sheet:
                steps = playblast.sheet_steps(scene, sheet, start, end)
                yield from part(steps, count - 1, count)
        finally:
            if blind:
                scene.camera = None
                if motion.poise_motion.camera != former:
                    camera.remove(motion)
        written = [str(path)] * self.movie + [str(sheet)] * self.contact_sheet
        told = f"{end - start + 1} frames: {', '.join(written)}"
        if not self.filepath and not bpy.data.is_saved:
            told += " (save the file to have it beside that)"
        return told

    def apply(self, context, work, told):
        return told


DIAGRAMS = (
    ("PHASE", "Phase", "Lean against lean rate, with the ellipse that the motion keeps to"),
    ("TIME", "Time", "Lean, curvature, force, speed and heading over time"),
    ("GAIT", "Gait", "When which foot is on the ground, flights and changes of gait"),
    ("STATE", "States", "A script's way through state space, where its controllers lead, and what "
     "the way costs"),
    ("TORQUE", "Torques", "For each controller of a script what the way costs from every state, "
     "and what each muscle does there: red counterclockwise, blue clockwise"),
)


class POISE_OT_diagram_save(_MotionOperator, bpy.types.Operator):
    """Draw the motion's phase diagram or its course over time to an SVG or PNG file"""

    bl_idname = "poise.diagram_save"
    bl_label = "Save Diagram"
    bl_options = {"REGISTER"}

    kind: EnumProperty(name="Diagram", description="What to draw", items=DIAGRAMS)
    filepath: StringProperty(
        name="File", description="File to write, .svg or .png", subtype="FILE_PATH"
    )
    filter_glob: StringProperty(default="*.svg;*.png", options={"HIDDEN"})

    def invoke(self, context, event):
        if not self.filepath:
            _character, motion = motions.require_motion(context)
            self.filepath = str(playblast.movie_path(motion).with_suffix(".svg"))
        context.window_manager.fileselect_add(self)
        return {"RUNNING_MODAL"}

    def run(self, context):
        _character, motion = motions.require_motion(context)
        if not self.filepath:
            raise UserError("No file is given: choose an .svg or .png file")
        path = _file(self.filepath, ".svg")
        if path.suffix.lower() not in {".svg", ".png"}:
            raise UserError(f"{path.name} is neither .svg nor .png: choose one of them")
        made = _diagram(self, context, motion)
        try:
            diagrams.save(made, path)
        except OSError as error:
            raise UserError(f"{path} cannot be written: {error.strerror}") from error
        return f"Wrote {path}"


class POISE_OT_diagram_image(_MotionOperator, bpy.types.Operator):
    """Draw the motion's diagram as an image of this file, to be shown in an Image Editor"""

    bl_idname = "poise.diagram_image"
    bl_label = "Diagram as Image"

    kind: EnumProperty(name="Diagram", description="What to draw", items=DIAGRAMS)

    def run(self, context):
        _character, motion = motions.require_motion(context)
        made = _diagram(self, context, motion)
        pixels = diagrams.rasterise(made)[::-1]
        height, width = pixels.shape[:2]
        name = f"{motion.name} Diagram"
        image = bpy.data.images.get(name)
        if image is None or image.source != "GENERATED":
            image = bpy.data.images.new(name, width, height)
        elif tuple(image.size) != (width, height):
            image.scale(width, height)
        image.pixels.foreach_set(pixels.astype(np.float32).ravel())
        image.update()
        image.pack()
        screens = [] if context.screen is None else context.screen.areas
        for area in screens:
            if area.type == "IMAGE_EDITOR":
                area.spaces.active.image = image
                break
        return f"Drew {image.name}: choose it in an Image Editor"


def _diagram(operator, context, motion):
    """The diagram that an operator is to draw."""
    solved = _solved(context, motion)
    able = families.view_of(solved.job).diagrams()
    draw = able.get(operator.kind)
    if draw is None and able and not operator.properties.is_property_set("kind"):
        draw = next(iter(able.values()))
    if draw is None:
        kinds = operator.properties.rna_type.properties["kind"].enum_items
        label = kinds[operator.kind].name.lower()
        raise UserError(f"There is no {label} diagram of {motion.name}: choose another one")
    return draw(solved.motion)


def _file(text: str, suffix: str) -> Path:
    """A path as typed, with Blender's // and with a suffix if it has none."""
    path = Path(bpy.path.abspath(text))
    return path if path.suffix else path.with_suffix(suffix)


CLASSES = (
    POISE_OT_trail_add,
    POISE_OT_markers_add,
    POISE_OT_markers_clear,
    POISE_OT_slope_add,
    POISE_OT_chase_camera_add,
    POISE_OT_playblast,
    POISE_OT_diagram_save,
    POISE_OT_diagram_image,
)
