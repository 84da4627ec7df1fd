# SPDX-License-Identifier: GPL-3.0-or-later
"""Free-form motion: postures of the whole body, who bears it, and the speed along them."""

from dataclasses import replace

import bpy
import numpy as np
from bpy.props import BoolProperty, EnumProperty, IntProperty, StringProperty
from bpy_extras.io_utils import ExportHelper, ImportHelper

from ..addon import compat, families, motions, pipeline
from ..addon.base_operator import FIXABLE, SettingsOperator, one_line
from ..addon.errors import UserError
from ..addon.families.freeform import clip as clips
from ..addon.families.freeform import exchange
from ..addon.families.freeform.gather import (
    bones_of,
    figure_on_legs,
    kept,
    poses_of,
    postures_at,
)
from ..addon.families.freeform.limb import limb_of, limbs_in
from ..addon.mapping.freeform import body_of, standing_limbs, supports_of
from ..addon.mapping.tracks import BOARD
from ..addon.rigs import characters
from ..addon.rigs.actor import Actor
from ..addon.rigs.controls import control_rig
from ..addon.rigs.limbs import limbs_of
from ..addon.rigs.pose.limb import LimbPose
from ..addon.rigs.pose.posture import Posture, Source
from ..addon.scene.timing import frame_range, scene_numbers
from ..addon.settings.freeform import BODY_POSTURE, DISTANCE
from ..solvers.freeform import PRESETS, Pace
from ..solvers.freeform.choose import choose_frames
from .control import read_text, write_text
from .motion import OfKind
from .pose_assets import FromAsset, Wanted, told
from .posing import stands

AT_ONCE = 0.05  # frames: postures nearer than this are at the same one
LONGEST, NEAR = 0.3, 0.02  # shares of the range between keys of Distance, at most and at least


class _FreeformOperator(OfKind, SettingsOperator):
    """Mixin: only where the active motion is free-form, and what all of these need."""

    motion_kind = "FREEFORM"
    lacks = "postures of the whole body: choose the kind of motion that has some"

    @staticmethod
    def chosen(motion):
        """The chosen posture's place in the list, and it.

        Args:
            motion: the Motion object.
        """
        settings = motion.poise_motion.freeform
        index = settings.posture_index
        if not 0 <= index < len(settings.postures):
            raise UserError(f"{motion.name} has no posture: pose the figure and click Add Posture")
        return index, settings.postures[index]


def _require_body(character: bpy.types.Object) -> Actor:
    actor = Actor.of(character)
    why = families.FAMILIES["FREEFORM"].able(actor)
    if why:
        raise UserError(f"{why}: set the rig up as a biped or an animal, or add one")
    return actor


def _posed(motion: bpy.types.Object, actor: Actor) -> tuple[bpy.types.Object, list[str]]:
    """The armature whose bones a motion's postures hold, and these bones."""
    if motion.poise_motion.freeform.limb:
        return actor.joints, list(limb_of(motion, actor.joints).all)
    return actor.armature, bones_of(actor.armature)


def _require_whole(motion: bpy.types.Object) -> None:
    """Refuse what only postures of the whole body can do."""
    limb = motion.poise_motion.freeform.limb
    if limb:
        raise UserError(
            f"The postures of {motion.name} are those of {limb} alone: set Limb to Whole Body"
        )


def _keep(motion: bpy.types.Object, item, posture: Posture) -> None:
    """Store a posture under an item."""
    posture.keep(motion, BODY_POSTURE.format(item.number))
    item.source = told(posture.source)
    if not posture.source.action:
        item.asset = None


def _guess(context, actor: Actor, item, posture: Posture) -> None:
    """Legs and arms of a posture: those bear the body that are on the ground."""
    unit = scene_numbers(context.scene).unit_scale
    figure = figure_on_legs(actor.armature, unit)
    poses = poses_of(actor.armature, figure, [posture], unit)
    [bears] = standing_limbs(body_of(figure), poses, 0.0)
    item.supports.clear()
    for name in supports_of(figure):
        support = item.supports.add()
        support.name, support.bears = name, name in bears


def _stored(settings, at: int):
    """A new item in a place of the list."""
    item = settings.postures.add()
    item.number = settings.next_number
    settings.next_number += 1
    settings.postures.move(len(settings.postures) - 1, at)
    settings.posture_index = at
    return settings.postures[at]


def _unused_name(settings) -> str:
    names = {item.name for item in settings.postures}
    return next(
        name for n in range(1, len(names) + 2) if (name := f"Posture {n}") not in names
    )


class POISE_OT_posture_add(FromAsset, _FreeformOperator, bpy.types.Operator):
    """Add the figure's pose as a posture at the current frame, or replace the one that is there"""

    bl_idname = "poise.posture_add"
    bl_label = "Add Posture"

    source: EnumProperty(
        name="From",
        description="Which pose",
        items=(
            ("POSE", "Current Pose", "The figure as it stands", 0),
            ("ASSET", "Pose Asset", "A pose of Blender's pose library: what it does not pose is "
             "as it stands; one of several keys becomes as many postures", 1),
        ),
        options={"SKIP_SAVE"},
    )
    name: StringProperty(name="Name", description="Name of the posture; empty for a default")
    air: BoolProperty(
        name="In the Air",
        description="No limb bears the body; else those do that are on the ground",
        default=False, options={"SKIP_SAVE"},
    )

    def draw_more(self, layout):
        layout.prop(self, "name")
        layout.prop(self, "air")

    def run(self, context):
        character, motion = motions.require_motion(context)
        actor = _require_body(character)
        (rig, known), settings = _posed(motion, actor), motion.poise_motion.freeform
        asset = None
        stand = stands(context, rig, known)
        wanted: list[Wanted] = [(context.scene.frame_current_final, "", stand)]
        if self.source == "ASSET":
            asset, found = self.wanted_of(context, motion, rig, places=True)
            wanted = [(f, called, one.only(known).over(stand)) for f, called, one in found]
        for frame, called, posture in wanted:
            item, word = self._item_at(settings, frame, called)
            item.asset = asset
            _keep(motion, item, posture)
            if not settings.limb:
                self._guess_supports(context, actor, item, posture)
        if len(wanted) > 1:
            return f"Added {len(wanted)} postures"
        if settings.limb:
            return f"{word} {item.name} of {settings.limb}"
        return f"{word} {item.name}, {_borne(item)}"

    def _guess_supports(self, context, actor: Actor, item, posture: Posture) -> None:
        """Set what bears the body in a posture."""
        _guess(context, actor, item, posture)
        if self.air:
            for support in item.supports:
                support.bears = False

    def _item_at(self, settings, frame: float, called: str):
        """The posture at a frame, a new one unless there is one already, and which of both."""
        items = settings.postures
        here = [k for k, item in enumerate(items) if abs(item.frame - frame) < AT_ONCE]
        if here and settings.timing == "FRAMES":
            settings.posture_index = here[0]
            return items[here[0]], "Replaced"
        name = one_line(self.name) or called or _unused_name(settings)
        item = _stored(settings, sum(item.frame < frame for item in items))
        item.name, item.frame = name, frame
        return item, "Added"


def _borne(item) -> str:
    """Who bears the body in a posture, in words."""
    return f"on {', '.join(item.standing)}" if item.standing else "in the air"


class POISE_OT_posture_limb(_FreeformOperator, bpy.types.Operator):
    """Let the postures be those of one limb, on top of whatever plays, or of the whole body"""

    bl_idname = "poise.posture_limb"
    bl_label = "Choose Limb"

    limb: StringProperty(
        name="Limb", description="arm.L, leg.R, hind.L, neck, tail ...; empty for the whole body",
    )

    def run(self, context):
        character, motion = motions.require_motion(context)
        rig, whole = _require_body(character).joints, motion.poise_motion
        if self.limb:
            limb_of(motion, rig, self.limb)
        whole.freeform.limb = self.limb
        before = whole.after
        if self.limb and before is not None:
            # It lies on that, rather than going on from it.
            whole.after = None
            for name in ("range_mode", "frame_start", "frame_end"):
                setattr(whole, name, getattr(before.poise_motion, name))
        return f"{motion.name} poses {self.limb or 'the whole body'}"


class POISE_OT_posture_replace(_FreeformOperator, bpy.types.Operator):
    """Take the figure's pose as it stands for the chosen posture; frame and supports stay"""

    bl_idname = "poise.posture_replace"
    bl_label = "Replace Posture"

    def run(self, context):
        character, motion = motions.require_motion(context)
        actor = _require_body(character)
        _index, item = self.chosen(motion)
        _keep(motion, item, stands(context, *_posed(motion, actor)))
        return f"Replaced {item.name}"


class POISE_OT_posture_update(_FreeformOperator, bpy.types.Operator):
    """Read postures that were taken from an action or a pose asset anew from it"""

    bl_idname = "poise.posture_update"
    bl_label = "Update from Source"

    def run(self, context):
        character, motion = motions.require_motion(context)
        settings, numbers = motion.poise_motion.freeform, scene_numbers(context.scene)
        rig, _bones = _posed(motion, _require_body(character))
        clips_read: dict[tuple[str, int], clips.Read] = {}
        changed = []
        for item in settings.postures:
            posture = kept(motion, item)
            source = posture.source
            key = (source.action, source.slot)
            if not source.action:
                continue
            if item.asset is not None or settings.limb:
                now = posture.updated_from_source(rig)
                if now.digest != posture.digest:
                    changed.append((item, now))
                continue
            if key not in clips_read:
                action = next((a for a in bpy.data.actions if a.name_full == source.action), None)
                if action is None:
                    raise UserError(
                        f"There is no action {source.action} any more: bring it back, or replace "
                        f"{item.name} by a pose"
                    )
                clips_read[key] = clips.read_clip(
                    rig, action, source.slot, numbers.fps, numbers.unit_scale
                )
            read = clips_read[key]
            row = int(np.argmin(np.abs(read.frames - source.frame)))
            [now] = postures_at(rig, read.body.figure, read.poses([row]))
            if not _same(posture, now):
                changed.append((item, replace(now, source=source)))
        for item, now in changed:
            _keep(motion, item, now)
        names = ", ".join(item.name for item, _now in changed)
        return f"Updated {names}" if changed else "All postures are as their sources are"


def _same(one: Posture, other: Posture) -> bool:
    """Whether two postures are the same, but for what rounding leaves."""
    if one.bones != other.bones:
        return False
    turned = 1.0 - np.abs((one.turns * other.turns).sum(axis=1))
    return bool(turned.max() < 1e-8 and np.abs(one.places - other.places).max() < 1e-5)


class POISE_OT_posture_remove(_FreeformOperator, bpy.types.Operator):
    """Remove the chosen posture"""

    bl_idname = "poise.posture_remove"
    bl_label = "Remove Posture"

    def run(self, context):
        _character, motion = motions.require_motion(context)
        settings = motion.poise_motion.freeform
        index, item = self.chosen(motion)
        name, held = item.name, BODY_POSTURE.format(item.number)
        if held in motion:
            del motion[held]
        settings.postures.remove(index)
        settings.posture_index = max(min(index, len(settings.postures) - 1), 0)
        return f"Removed {name}"


class POISE_OT_posture_duplicate(_FreeformOperator, bpy.types.Operator):
    """Take the chosen posture again, at the current frame"""

    bl_idname = "poise.posture_duplicate"
    bl_label = "Duplicate Posture"

    def run(self, context):
        _character, motion = motions.require_motion(context)
        settings, frame = motion.poise_motion.freeform, context.scene.frame_current_final
        _index, item = self.chosen(motion)
        there = next((p for p in settings.postures if abs(p.frame - frame) < AT_ONCE), None)
        if there is not None and settings.timing == "FRAMES":
            raise UserError(
                f"{there.name} is at frame {frame:g} already: go to the frame at which {item.name} "
                "is to be taken again"
            )
        posture, name = kept(motion, item), item.name
        bears, turns, asset = list(item.standing), tuple(item.turns), item.asset
        limbs = [support.name for support in item.supports]
        new = _stored(settings, sum(p.frame < frame for p in settings.postures))
        new.name, new.frame, new.turns, new.asset = f"{name} again", frame, turns, asset
        for limb in limbs:
            support = new.supports.add()
            support.name, support.bears = limb, limb in bears
        _keep(motion, new, posture)
        return f"Added {new.name} at frame {frame:g}"


class POISE_OT_posture_move(_FreeformOperator, bpy.types.Operator):
    """Exchange the chosen posture with the one before or after it; frames stay in their order"""

    bl_idname = "poise.posture_move"
    bl_label = "Move Posture"

    direction: IntProperty(
        name="Direction", description="-1 moves up, 1 down", default=-1, min=-1, max=1
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        settings = motion.poise_motion.freeform
        index, item = self.chosen(motion)
        other = index + self.direction
        if not 0 <= other < len(settings.postures) or other == index:
            return ""
        neighbour = settings.postures[other]
        item.frame, neighbour.frame = neighbour.frame, item.frame
        settings.postures.move(index, other)
        settings.posture_index = other
        return ""


class POISE_OT_posture_pose(_FreeformOperator, bpy.types.Operator):
    """Go to the chosen posture's frame and pose the figure so, to change it; nothing is keyed"""

    bl_idname = "poise.posture_pose"
    bl_label = "Pose"

    def run(self, context):
        character, motion = motions.require_motion(context)
        actor = _require_body(character)
        rig, _bones = _posed(motion, actor)
        _index, item = self.chosen(motion)
        posture = kept(motion, item)
        frame = item.frame
        if motion.poise_motion.freeform.timing == "FRAMES":
            context.scene.frame_set(int(np.floor(frame)), subframe=float(frame % 1.0))
        if motion.poise_motion.freeform.limb:
            missing = _pose_limb(context, motion, actor, posture)
        else:
            missing = posture.apply(rig)
            context.view_layer.update()
        if missing:
            raise UserError(
                f"{rig.name} has no bone {missing[0]}: {item.name} was made on another rig, so "
                "replace it by a pose of this one"
            )
        return f"Posed {rig.name} as in {item.name}"


def _pose_limb(
    context, motion: bpy.types.Object, actor: Actor, posture: Posture
) -> list[str]:
    """Pose a limb by what decides its bones; names of the bones that it does not have."""
    rig = posed = actor.joints
    if rig != actor.armature and control_rig.is_connected(actor.armature, rig):
        posed = actor.armature  # has the last word
    limb = limb_of(motion, rig)
    missing = [name for name in posture.bones if name not in limb.all]
    if missing:
        return missing
    shapes = limbs_in(motion, rig) if posed == rig else limbs_of(posed)
    others = [b for name, one in shapes.items() if name != limb.name for b in one.all]
    pose = LimbPose(context, posed, shapes[limb.name], others)
    held = dict(zip(posture.bones, posture.turns, strict=True))
    pose.put(pose.shaped(rig, limb.all, np.array([held[name] for name in limb.all])))
    return []


class POISE_OT_posture_mirror(_FreeformOperator, bpy.types.Operator):
    """Exchange left and right in the chosen posture, and in who bears the body"""

    bl_idname = "poise.posture_mirror"
    bl_label = "Mirror Posture"

    def run(self, context):
        character, motion = motions.require_motion(context)
        _require_whole(motion)
        rig = _require_body(character).armature
        if BOARD in characters.role_bones_of(rig):
            raise UserError(
                f"{rig.name} stands sideways on its board, and faces the other way in a mirror: "
                "pose it by its controls"
            )
        _index, item = self.chosen(motion)
        _keep(motion, item, kept(motion, item).mirrored(rig))
        bears = {_other(name) for name in item.standing}
        for support in item.supports:
            support.bears = support.name in bears
        item.turns = (item.turns[0], -item.turns[1], -item.turns[2])
        return f"Mirrored {item.name}"


def _other(name: str) -> str:
    """A limb of the other side."""
    return name[:-1] + {"L": "R", "R": "L"}.get(name[-1], name[-1])


class POISE_OT_postures_from_action(_FreeformOperator, bpy.types.Operator):
    """Take a few frames of a clip as postures, those that rebuild it best, and tell what is lost"""

    bl_idname = "poise.postures_from_action"
    bl_label = "Postures from Action"

    action: StringProperty(
        name="Action", description="Clip on the rig, or on the character; empty for the rig's own"
    )
    count: IntProperty(
        name="Postures", description="How many; more where feet leave or take over more often",
        default=8, min=2, soft_max=24, max=200,
    )

    def invoke(self, context, event):
        return context.window_manager.invoke_props_dialog(self)

    def draw(self, context):
        self.layout.use_property_split = True
        self.layout.prop_search(self, "action", bpy.data, "actions")
        self.layout.prop(self, "count")

    def run(self, context):
        character, motion = motions.require_motion(context)
        _require_whole(motion)
        controls = _require_body(character).armature
        rig, numbers = control_rig.rig_of(controls) or controls, scene_numbers(context.scene)
        action, slot = _clip_action(self.action, rig, motion)
        read = clips.read_clip(controls, action, slot.handle, numbers.fps, numbers.unit_scale)
        borne = np.flatnonzero(np.any(list(read.stands.values()), axis=0))
        if not len(borne):
            raise UserError(f"No foot stands in Action {action.name}: choose another clip")
        first, last = int(borne[0]), int(borne[-1])
        read = read.part(first, last)
        count = min(max(self.count, 2), len(read.frames))
        rows = clips.handed_over(read, choose_frames(read.clip, count, clips.changes(read)))
        settings = motion.poise_motion.freeform
        _forget_all(motion)
        figure = read.body.figure
        postures = postures_at(controls, figure, read.poses(rows))
        for k, (row, posture) in enumerate(zip(rows, postures, strict=True)):
            item = _stored(settings, k)
            item.name, item.frame = f"{action.name} {read.frames[row]:g}", read.frames[row]
            source = Source(action.name_full, slot.handle, float(read.frames[row]))
            _keep(motion, item, replace(posture, source=source))
            bears = read.supports(row)
            for name in supports_of(figure):
                support = item.supports.add()
                support.name, support.bears = name, name in bears
        settings.timing = "FRAMES"
        settings.posture_index = 0
        motion.poise_motion.range_mode = "OWN"
        motion.poise_motion.frame_start = round(read.frames[0])
        motion.poise_motion.frame_end = round(read.frames[-1])
        solved = pipeline.solve(pipeline.gather(context, motion))
        told = clips.lost_of(read, solved)
        settings.lost = "\n".join(f"{part}: {off}" for part, off in told.lines())
        worst = max(most for _mean, most in told.joints.values())
        mean = float(np.mean([mean for mean, _most in told.joints.values()]))
        return (
            f"Took {len(rows)} of {len(read.frames)} frames of {action.name}: joints are off by "
            f"{np.degrees(mean):.1f}° in the mean, at most {np.degrees(worst):.0f}°, the mass "
            f"by {100 * told.mass[0]:.1f} cm"
        )


def _clip_action(name: str, rig: bpy.types.Object, motion: bpy.types.Object):
    """The action that is meant, and its slot for a rig."""
    baked = {motion.poise_motion.bake_action, motion.poise_motion.bones.bake_action}
    data = rig.animation_data
    if name:
        action = bpy.data.actions.get(name)
        if action is None:
            raise UserError(f"There is no action {name}: choose another one")
    else:
        action = None if data is None else data.action
        if action is None:
            raise UserError(f"{rig.name} has no action: choose one")
    if action in baked:
        raise UserError(
            f"Action {action.name} is the bake of {motion.name}: choose the clip that it is to be "
            "made from"
        )
    slot = data.action_slot if data is not None and data.action == action else None
    kinds = ("OBJECT", "UNSPECIFIED")
    slot = slot or next((s for s in action.slots if s.target_id_type in kinds), None)
    if slot is None:
        raise UserError(f"Action {action.name} has no slot for an object: choose another one")
    return action, slot


def _forget_all(motion: bpy.types.Object) -> None:
    settings = motion.poise_motion.freeform
    for item in settings.postures:
        held = BODY_POSTURE.format(item.number)
        if held in motion:
            del motion[held]
    settings.postures.clear()


class POISE_OT_postures_export(_FreeformOperator, ExportHelper, bpy.types.Operator):
    """Write the list of postures to a JSON file, to load it into another motion or file"""

    bl_idname = "poise.postures_export"
    bl_label = "Save Postures"
    bl_options = {"REGISTER"}

    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})

    def run(self, context):
        _character, motion = motions.require_motion(context)
        entries = [
            exchange.Entry(
                item.name, round(item.frame, 4), item.standing, tuple(item.turns),
                kept(motion, item),
            )
            for item in motion.poise_motion.freeform.postures
        ]
        if not entries:
            raise UserError(f"{motion.name} has no posture: pose the figure and click Add Posture")
        write_text(self.filepath, exchange.to_json(entries))
        return f"Wrote {len(entries)} postures to {self.filepath}"


class POISE_OT_postures_import(_FreeformOperator, ImportHelper, bpy.types.Operator):
    """Read postures from a JSON file that Save Postures wrote, in place of those in the list"""

    bl_idname = "poise.postures_import"
    bl_label = "Load Postures"

    filename_ext = ".json"
    filter_glob: StringProperty(default="*.json", options={"HIDDEN"})
    at_frame: BoolProperty(
        name="At Current Frame",
        description="The first one is taken at the current frame, the others as much later as "
        "they are; else all are at the frames that they had",
        default=False,
    )
    append: BoolProperty(
        name="Append", description="Add them to those in the list", default=False
    )

    def run(self, context):
        character, motion = motions.require_motion(context)
        actor = _require_body(character)
        rig, needed = _posed(motion, actor)
        try:
            entries = exchange.from_json(read_text(self.filepath))
        except ValueError as error:
            raise UserError(f"{self.filepath} gives no postures, since {error}") from error
        lost = next((b for e in entries for b in needed if b not in e.posture.bones), "")
        if lost:
            raise UserError(
                f"{self.filepath} was written by another rig, without the bone {lost} of "
                f"{rig.name}: load postures of characters of the same kind, and of the same limb"
            )
        settings = motion.poise_motion.freeform
        if not self.append:
            _forget_all(motion)
        shift = context.scene.frame_current_final - entries[0].frame if self.at_frame else 0.0
        unit = scene_numbers(context.scene).unit_scale
        limbs = () if settings.limb else supports_of(figure_on_legs(rig, unit))
        for entry in entries:
            frame = entry.frame + shift
            item = _stored(settings, sum(p.frame <= frame for p in settings.postures)
                           if settings.timing == "FRAMES" else len(settings.postures))
            item.name, item.frame, item.turns = entry.name, frame, entry.turns
            for limb in limbs:
                support = item.supports.add()
                support.name, support.bears = limb, limb in entry.bears
            _keep(motion, item, entry.posture)
        settings.posture_index = 0
        return f"Loaded {len(entries)} postures"


class POISE_OT_pace_edit(_FreeformOperator, bpy.types.Operator):
    """Key Distance as the chosen speed has it, and show its curve in the Graph Editor"""

    bl_idname = "poise.pace_edit"
    bl_label = "Edit Curve"

    preset: EnumProperty(
        name="Speed",
        description="What the curve begins as; unset, the speed that is chosen, or as it is",
        items=tuple((name, name.replace("_", " ").title(), "") for name in PRESETS),
        options={"SKIP_SAVE"},
    )
    at_postures: BoolProperty(
        name="Keys at Postures",
        description="A key where each posture is taken, to drag along its line; else only as "
        "many as the speed needs",
        default=True,
    )

    def run(self, context):
        _character, motion = motions.require_motion(context)
        settings = motion.poise_motion.freeform
        name, given = settings.pace, self.properties.is_property_set("preset")
        curve = _distance_curve(motion)
        # The Graph Editor shows curves of what is selected.
        motion.select_set(True)
        if name == "CURVE" and not given and curve is not None:
            settings.timing = "DISTANCE"
            return f"Distance of {motion.name} is shown in the Graph Editor"
        name = self.preset if given else "MINIMUM_JERK" if name == "CURVE" else name
        start, end = frame_range(context.scene, motion)
        if end <= start:
            raise UserError(f"{motion.name} is one frame long: set its End after its Start")
        pace = PRESETS[name]
        if curve is not None:
            data = motion.animation_data
            compat.channelbag(data.action, data.action_slot).fcurves.remove(curve)
        shares = pace.curve.x if len(pace.curve.x) > 2 else np.linspace(0.0, 1.0, 5)
        if self.at_postures:
            shares = _with_postures(context, motion, pace, shares)
        shares = shares[np.append(True, np.diff(shares) * (end - start) > AT_ONCE)]
        shares[-1] = 1.0
        frames = start + shares * (end - start)
        for frame, share in zip(frames, pace(shares), strict=True):
            settings.distance = float(share)
            motion.keyframe_insert(DISTANCE, frame=float(frame))
        curve = _distance_curve(motion)
        rates = pace.rate(shares) / (end - start)
        for key in curve.keyframe_points:
            key.interpolation = "BEZIER"
            key.handle_left_type = key.handle_right_type = "FREE"
        keys = list(curve.keyframe_points)
        for k, (key, rate) in enumerate(zip(keys, rates, strict=True)):
            before = (key.co.x - keys[k - 1].co.x) / 3.0 if k else 1.0
            after = (keys[k + 1].co.x - key.co.x) / 3.0 if k + 1 < len(keys) else 1.0
            key.handle_left = (key.co.x - before, key.co.y - rate * before)
            key.handle_right = (key.co.x + after, key.co.y + rate * after)
        curve.update()
        settings.pace, settings.timing = "CURVE", "DISTANCE"
        return f"Keyed Distance from frame {start} to {end}"


def _distance_curve(motion: bpy.types.Object) -> bpy.types.FCurve | None:
    """How Distance is keyed."""
    data = motion.animation_data
    curves = compat.action_fcurves(data.action, data.action_slot) if data else []
    return next((curve for curve in curves if curve.data_path == DISTANCE), None)


def _with_postures(context, motion, pace: Pace, shares: np.ndarray) -> np.ndarray:
    """Shares of the range at which keys stand: where postures are taken, and the speed's own
    where it would be another one without them."""
    settings = motion.poise_motion.freeform
    timing, chosen = settings.timing, settings.pace
    settings.timing, settings.pace = "DISTANCE", "EVEN"
    try:
        solved = pipeline.solve(pipeline.gather(context, motion))
    except FIXABLE:
        return shares  # the preview says what is wrong with the postures
    finally:
        settings.timing, settings.pace = timing, chosen
    met = pace.passes(solved.shares)
    if len(pace.curve.x) > 2:
        own = shares
    else:
        gaps = np.diff(met)
        own = [met[k] + gap * i / n for k, gap in enumerate(gaps)
               for n in (int(np.ceil(gap / LONGEST)),) for i in range(1, n)]
    near = [share for share in own if np.abs(met - share).min() > NEAR]
    return np.sort(np.concatenate([met, near]))


CLASSES = (
    POISE_OT_posture_add,
    POISE_OT_posture_limb,
    POISE_OT_posture_replace,
    POISE_OT_posture_update,
    POISE_OT_posture_remove,
    POISE_OT_posture_duplicate,
    POISE_OT_posture_move,
    POISE_OT_posture_pose,
    POISE_OT_posture_mirror,
    POISE_OT_postures_from_action,
    POISE_OT_postures_export,
    POISE_OT_postures_import,
    POISE_OT_pace_edit,
)

