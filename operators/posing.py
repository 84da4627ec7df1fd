# SPDX-License-Identifier: GPL-3.0-or-later
"""Pose timing: targets from poses, keys, markers and objects; disturbances; overlap; check."""

from dataclasses import replace

import bpy
import numpy as np
from bpy.props import EnumProperty, FloatProperty, IntProperty, StringProperty
from mathutils import Vector

from ..addon import baking, compat, motions, pipeline
from ..addon.base_operator import FIXABLE, SettingsOperator, SolvingOperator, one_line
from ..addon.context import keep_frame
from ..addon.errors import UserError
from ..addon.families.posing.body import settle_time
from ..addon.rigs.actor import Actor
from ..addon.rigs.pose import evaluate
from ..addon.rigs.pose.channels import bone_of
from ..addon.rigs.pose.plays import Playing, undecided
from ..addon.rigs.pose.posture import Posture, Source
from ..addon.scene.timing import frame_range, scene_numbers
from ..addon.settings.posing import POSTURE
from ..addon.shots import balls
from .motion import OfKind
from .pose_assets import FromAsset, Wanted, refuse_bake, told

FALLING = 5.0  # s that a ball is followed for


class _OfPosing(OfKind):
    """Mixin: only where the active motion is pose timing."""

    motion_kind = "POSE_TIMING"
    lacks = "poses: set Motion to Pose Timing"


class _PosingOperator(_OfPosing, SettingsOperator):
    """Mixin: what sets something of pose timing."""


def _selected(rig: bpy.types.Object) -> list[str]:
    """Names of the bones that are selected."""
    return [bone.name for bone in rig.pose.bones if compat.bone_selected(bone)]


def _require_selected(rig: bpy.types.Object) -> list[str]:
    names = _selected(rig)
    if not names:
        raise UserError(
            f"No bone of {rig.name} is selected: select those that are meant, in Pose Mode"
        )
    return names


def stands(context: bpy.types.Context, rig: bpy.types.Object, names: list[str]) -> Posture:
    """How bones stand: those that constraints move, as these have put them."""
    posture = Posture.of_pose(rig, names)
    constrained, _unsure = undecided(rig, Playing.on(rig))
    if constrained.isdisjoint(names):
        return posture
    evaluated = rig.evaluated_get(context.evaluated_depsgraph_get())
    turns = posture.turns.copy()
    for row, name in enumerate(posture.bones):
        if name in constrained:
            local = evaluate.local_matrix(evaluated, evaluated.pose.bones[name])
            turns[row] = local.to_quaternion()
    return replace(posture, turns=turns)


def _keep(motion: bpy.types.Object, item, posture: Posture) -> None:
    """Store a posture under an item."""
    posture.keep(motion, POSTURE.format(item.number))
    item.source = told(posture.source)


class POISE_OT_target_add(FromAsset, _PosingOperator, bpy.types.Operator):
    """Add poses of the selected bones to reach on their frames"""

    bl_idname = "poise.target_add"
    bl_label = "Add Target"

    source: EnumProperty(
        name="From",
        description="Which poses, and when",
        items=(
            ("POSE", "Current Pose", "The selected bones as they stand, at the current frame", 0),
            ("KEYS", "Keyframes", "Each frame of the motion on which a selected bone has keys", 1),
            ("MARKERS", "Markers", "The selected bones as they are keyed at each marker", 2),
            ("OBJECT", "Object", "The current pose when the selected object, falling as it moves "
             "now, is nearest to the last selected bone", 3),
            ("ASSET", "Pose Asset", "A pose of Blender's pose library at the current frame: the "
             "selected bones, or all that it turns; one of several keys becomes as many targets",
             4),
        ),
        options={"SKIP_SAVE"},
    )
    hold: FloatProperty(
        name="Hold", description="How long each is held", default=0.0, min=0.0, soft_max=5.0,
        unit="TIME_ABSOLUTE",
    )
    name: StringProperty(name="Name", description="Name of the target; empty for a default")

    def draw_more(self, layout):
        layout.prop(self, "hold")
        layout.prop(self, "name")

    def run(self, context):
        character, motion = motions.require_motion(context)
        rig = Actor.of(character).joints
        names = _selected(rig) if self.source == "ASSET" else _require_selected(rig)
        scene, settings = context.scene, motion.poise_motion.pose_timing
        wanted: list[Wanted] = []
        linked = None
        if self.source == "ASSET":
            action, wanted = self.wanted_of(context, motion, rig, names)
            linked = action if action.library is not None else None
        elif self.source == "POSE":
            wanted.append((scene.frame_current_final, "", stands(context, rig, names)))
        elif self.source == "OBJECT":
            posture = stands(context, rig, names)
            wanted.append((*_crossing(context, motion, rig, names[-1]), posture))
        else:
            wanted = _keyed(context, motion, rig, names, self.source == "MARKERS")
        for frame, called, posture in wanted:
            item = settings.targets.add()
            item.number = settings.next_number
            settings.next_number += 1
            default = f"Target {len(settings.targets)}"
            item.name = one_line(self.name) or called or default
            item.frame, item.hold, item.linked = frame, self.hold, linked
            _keep(motion, item, posture)
        settings.target_index = len(settings.targets) - 1
        many = f"{len(wanted)} targets" if len(wanted) > 1 else settings.targets[-1].name
        return f"Added {many} of {len(wanted[0][2].bones)} bones"


def _keyed(context, motion, rig, names, markers: bool) -> list[Wanted]:
    """Postures of an action at its keys, or at the scene's markers."""
    data = rig.animation_data
    action = None if data is None else data.action
    if action is None or data.action_slot is None:
        raise UserError(f"{rig.name} has no action to take poses from: key some, or pose it")
    refuse_bake(motion, action)
    start, end = frame_range(context.scene, motion)
    slot = data.action_slot
    if markers:
        frames = [(float(m.frame), m.name) for m in context.scene.timeline_markers]
        none = "The scene has no markers in the motion's range: set some with M in the Timeline"
    else:
        curves = [c for c in compat.action_fcurves(action, slot) if bone_of(c.data_path) in names]
        found = sorted({round(k.co.x, 3) for c in curves for k in c.keyframe_points})
        frames = [(frame, "") for frame in found]
        none = f"Action {action.name} has no keys of the selected bones in the motion's range"
    frames = [pair for pair in sorted(frames) if start < pair[0] <= end]
    if not frames:
        raise UserError(none)
    return [
        (frame, name, Posture.of_action(rig, Source(action.name_full, slot.handle, frame), names))
        for frame, name in frames
    ]


def _crossing(context, motion, rig, bone: str) -> tuple[float, str]:
    """Frame at which a selected object, thrown as it moves now, is nearest to a bone's tail."""
    ball = next((o for o in context.selected_objects if o != rig and o.type == "MESH"), None)
    if ball is None:
        raise UserError(
            "No object is selected besides the rig: select the ball, too, that it is to meet"
        )
    scene, numbers = context.scene, scene_numbers(context.scene)
    now = scene.frame_current
    tail = np.array(rig.matrix_world @ rig.pose.bones[bone].tail) * numbers.unit_scale
    # Going to another frame puts bones back to their keys.
    posed = {bone.name: bone.matrix_basis.copy() for bone in rig.pose.bones}
    places = []
    with keep_frame(scene):
        for frame in (now - 1, now):
            scene.frame_set(frame)
            places.append(np.array(ball.matrix_world.translation) * numbers.unit_scale)
    for name, basis in posed.items():
        rig.pose.bones[name].matrix_basis = basis
    time = np.arange(0.0, FALLING, 0.25 / numbers.fps)[:, None]
    gravity = np.array((0.0, 0.0, -numbers.gravity))
    velocity = (places[1] - places[0]) * numbers.fps
    velocity = velocity + 0.5 * gravity / numbers.fps if velocity.any() else velocity
    way = places[1] + velocity * time + 0.5 * gravity * time**2
    off = np.linalg.norm(way - tail, axis=1)
    frame = now + float(time[int(np.argmin(off)), 0]) * numbers.fps
    start, end = frame_range(scene, motion)
    if not start < frame <= end:
        raise UserError(
            f"{ball.name} is nearest to {bone} at frame {frame:g}, outside of the motion's range "
            f"{start} to {end}: go to a frame before, or change Range"
        )
    return frame, ball.name


class POISE_OT_target_update(_PosingOperator, bpy.types.Operator):
    """Read the poses of targets anew from their keys, or that of one from the pose as it is now"""

    bl_idname = "poise.target_update"
    bl_label = "Update from Source"

    index: IntProperty(
        name="Target", description="Place in the list; -1 for all that are taken from keys",
        default=-1, min=-1,
        options={"SKIP_SAVE"},
    )

    def run(self, context):
        character, motion = motions.require_motion(context)
        rig = Actor.of(character).joints
        targets = list(motion.poise_motion.pose_timing.targets)
        chosen = targets if self.index < 0 else targets[self.index : self.index + 1]
        if not chosen:
            raise UserError(f"{motion.name} has no such target: add one")
        changed = []
        for item in chosen:
            posture = Posture.kept(motion, POSTURE.format(item.number), item.name)
            if posture is None:
                raise UserError(f"{item.name} has lost its pose: remove it, and add it anew")
            if posture.source.action:
                now = posture.updated_from_source(rig)
            elif self.index >= 0:
                known = [name for name in posture.bones if name in rig.pose.bones]
                now = stands(context, rig, known)
            else:
                continue  # poses of many frames: the current one is none of them
            if now.digest != posture.digest:
                changed.append((item, now))
        for item, now in changed:
            _keep(motion, item, now)
        names = ", ".join(item.name for item, _now in changed)
        return f"Updated {names}" if changed else "All targets are as their sources are"


class _RemoveFrom(_PosingOperator):
    """Mixin: takes the chosen item off a list."""

    items = ""
    chosen = ""

    def run(self, context):
        _character, motion = motions.require_motion(context)
        settings = motion.poise_motion.pose_timing
        items, index = getattr(settings, self.items), getattr(settings, self.chosen)
        if not 0 <= index < len(items):
            raise UserError(f"{motion.name} has nothing to remove there")
        name = items[index].name
        self.forget(motion, items[index])
        items.remove(index)
        setattr(settings, self.chosen, max(min(index, len(items) - 1), 0))
        return f"Removed {name}"

    def forget(self, motion, item):
        """What goes with an item."""


class POISE_OT_target_remove(_RemoveFrom, bpy.types.Operator):
    """Remove the chosen target"""

    bl_idname = "poise.target_remove"
    bl_label = "Remove Target"
    items, chosen = "targets", "target_index"

    def forget(self, motion, item):
        name = POSTURE.format(item.number)
        if name in motion:
            del motion[name]


def _limbs(solved) -> dict[str, np.ndarray]:
    """Bone -> (n, 2, 3) where its head and tail are at whole frames, m."""
    tracks, links = solved.tracks, solved.job.links
    if links is None:
        return solved.motion.physical
    places = links.places(tracks, slice(None))
    return {name: ends[tracks.clock.whole] for name, ends in places.items()}


class _Disturbing(OfKind):
    """Mixin: only where the active motion can be disturbed."""

    motion_kind = ("POSE_TIMING", "CONTROLLER")
    lacks = "disturbances: set Motion to Pose Timing or Controller"


def _throw(context, motion, rig, bone: str, speed: float) -> Vector:
    """Velocity with which a ball from the 3D cursor comes by a bone, wherever that is by then."""
    scene, numbers = context.scene, scene_numbers(context.scene)
    posed = rig.pose.bones[bone]
    aims = np.array([rig.matrix_world @ (0.5 * (posed.head + posed.tail))])
    try:
        solved = pipeline.solve(pipeline.gather(context, motion))
    except FIXABLE:
        solved = None  # where it stands now
    if solved is not None:
        places = _limbs(solved)
        if bone in places:
            aims = places[bone].mean(axis=1) / numbers.unit_scale
    start = frame_range(scene, motion)[0]
    place, time = np.array(scene.cursor.location), 0.0
    for _ in range(8):  # it comes later to what is farther away
        row = round(scene.frame_current_final - start + time * numbers.fps)
        way = aims[min(max(row, 0), len(aims) - 1)] - place
        time = float(np.linalg.norm(way)) / speed
    if time * speed < 1e-6:
        raise UserError("The 3D cursor is in the bone: put it where the ball comes from")
    velocity = Vector(way / time)
    velocity.z += 0.5 * numbers.gravity / numbers.unit_scale * time
    return velocity


class POISE_OT_disturbance_add(_Disturbing, SettingsOperator, bpy.types.Operator):
    """Throw a ball, push a bone, or shake what carries the limbs, at the current frame"""

    bl_idname = "poise.disturbance_add"
    bl_label = "Add Disturbance"

    kind: EnumProperty(
        name="Kind",
        description="What happens",
        items=(
            ("BALL", "Ball", "A ball, thrown from the 3D cursor at the active bone", 0),
            ("WEIGHT", "Weight", "A ball, dropped from the 3D cursor", 1),
            ("PUSH", "Push", "A force on the active bone", 2),
            ("SHAKE", "Shake", "What carries the limbs is shaken to and fro for a second", 3),
        ),
    )
    mass: FloatProperty(
        name="Mass", description="Mass of the ball", default=1.0, min=1e-3, soft_max=20.0,
        unit="MASS",
    )
    speed: FloatProperty(
        name="Speed", description="Speed of a ball that is thrown", default=6.0, min=0.0,
        soft_max=20.0, unit="VELOCITY",
    )

    def run(self, context):
        character, motion = motions.require_motion(context)
        rig, settings = Actor.of(character).joints, motion.poise_motion.pose_timing
        bone = rig.data.bones.active
        if self.kind in ("BALL", "PUSH") and bone is None:
            raise UserError(f"{rig.name} has no active bone: select the one that is meant")
        velocity = (0.0, 0.0, 0.0)
        if self.kind == "BALL":
            velocity = _throw(context, motion, rig, bone.name, max(self.speed, 1e-3))
        item = settings.disturbances.add()
        item.kind = "BALL" if self.kind == "WEIGHT" else self.kind
        item.frame, item.mass = context.scene.frame_current_final, self.mass
        item.name = f"{self.kind.capitalize()} {len(settings.disturbances)}"
        item.place = context.scene.cursor.location
        if self.kind == "PUSH":
            item.bone = bone.name
        elif self.kind == "SHAKE":
            item.frames = scene_numbers(context.scene).fps
        elif self.kind == "BALL":
            item.velocity = velocity
        settings.disturbance_index = len(settings.disturbances) - 1
        return f"Added {item.name}"


class POISE_OT_disturbance_remove(_Disturbing, _RemoveFrom, bpy.types.Operator):
    """Remove the chosen disturbance"""

    bl_idname = "poise.disturbance_remove"
    bl_label = "Remove Disturbance"
    items, chosen = "disturbances", "disturbance_index"

    def forget(self, motion, item):
        balls.remove(motion, [item])


class POISE_OT_overlap_add(_PosingOperator, bpy.types.Operator):
    """Let the selected bones, and all that hang on them, swing after what carries them"""

    bl_idname = "poise.overlap_add"
    bl_label = "Add Overlap"

    settle: FloatProperty(
        name="Settle Time", description="Seconds in which they come back to their keyed pose; 0 "
        "takes what suits the length of their bones",
        default=0.0, min=0.0, soft_max=3.0, max=60.0, unit="TIME_ABSOLUTE",
        options={"SKIP_SAVE"},
    )
    ratio: FloatProperty(
        name="Damping Ratio", description="1 comes back without swinging past, less swings",
        default=1.0, min=0.05, max=1.0,
    )

    def run(self, context):
        character, motion = motions.require_motion(context)
        rig, settings = Actor.of(character).joints, motion.poise_motion.pose_timing
        names = set(_require_selected(rig))
        roots = [
            name for name in names
            if not names & {above.name for above in rig.data.bones[name].parent_recursive}
        ]
        known = {item.name: item for item in settings.overlaps}
        for name in sorted(roots):
            item = known.get(name) or settings.overlaps.add()
            item.name, item.ratio = name, self.ratio
            item.settle = self.settle or settle_time(rig, name)
        settings.overlap_index = len(settings.overlaps) - 1
        return f"{', '.join(sorted(roots))} of {rig.name} swing"


class POISE_OT_overlap_remove(_RemoveFrom, bpy.types.Operator):
    """Remove the chosen chain: it no longer swings"""

    bl_idname = "poise.overlap_remove"
    bl_label = "Remove Overlap"
    items, chosen = "overlaps", "overlap_index"


class POISE_OT_bone_setting_add(_PosingOperator, bpy.types.Operator):
    """Give each selected bone a blend, a mass and a thickness of its own"""

    bl_idname = "poise.bone_setting_add"
    bl_label = "Add Bone"

    def run(self, context):
        character, motion = motions.require_motion(context)
        rig, settings = Actor.of(character).joints, motion.poise_motion.pose_timing
        known = {item.name for item in settings.bones}
        names = [name for name in _require_selected(rig) if name not in known]
        for name in names:
            settings.bones.add().name = name
        settings.bone_index = len(settings.bones) - 1
        return f"Added {len(names)} bones"


class POISE_OT_bone_setting_remove(_RemoveFrom, bpy.types.Operator):
    """Remove the chosen bone's own settings"""

    bl_idname = "poise.bone_setting_remove"
    bl_label = "Remove Bone"
    items, chosen = "bones", "bone_index"


class POISE_OT_pose_check(_OfPosing, SolvingOperator, bpy.types.Operator):
    """Say which poses can be reached, joint by joint, and what would help"""

    bl_idname = "poise.pose_check"
    bl_label = "Check Poses"

    def gather(self, context):
        _character, motion = motions.require_motion(context)
        return motion.session_uid, pipeline.gather(context, motion)

    def solve(self, job, progress):
        return pipeline.solve(job[1], progress)

    def apply(self, context, job, result):
        _character, motion = motions.require_motion(context)
        baking.list_problems(
            motion, result.problems, result.job.start_frame, result.job.numbers.fps
        )
        off = [p for p in result.problems if p.code in ("POSE_MISSED", "TENSION_YIELDED")]
        return f"{len(off)} joints are listed" if off else "All poses are reached on their frames"


CLASSES = (
    POISE_OT_target_add,
    POISE_OT_target_update,
    POISE_OT_target_remove,
    POISE_OT_disturbance_add,
    POISE_OT_disturbance_remove,
    POISE_OT_overlap_add,
    POISE_OT_overlap_remove,
    POISE_OT_bone_setting_add,
    POISE_OT_bone_setting_remove,
    POISE_OT_pose_check,
)
