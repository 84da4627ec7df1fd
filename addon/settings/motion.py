# SPDX-License-Identifier: GPL-3.0-or-later
"""A motion: a local Empty that holds the settings of one stretch of movement.

Settings live here and not on the rig, because keyed settings on the rig would
sit in the very action that a bake replaces, and because groups that an add-on
adds to a library override may be lost when the file is loaded again.
"""

from math import isnan, nan
from typing import NamedTuple

import bpy
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    IntProperty,
    PointerProperty,
    StringProperty,
)

from ..mapping.registry import STYLE_GROUPS
from ..mapping.rows import Row
from ..motions import MAX_ORDER
from . import styles
from .control import PoiseControl
from .freeform import PoiseFreeform
from .gait import PoiseGait
from .path import PoisePath
from .posing import PoisePoseTiming
from .roles import PoiseRole
from .rows import OVERRIDE, Rows
from .turns import PoiseTurns

DATA_VERSION = 1


class Kind(NamedTuple):
    """A kind of motion.

    Attributes:
        name: what scripts call it.
        label: what the animator calls it.
        text: its tooltip.
        number: what files keep, never another kind's.
        group: name of its settings on a motion.
        settings: their property group.
        along: name of the setting of them that holds the curve that is followed, "" of none.
    """

    name: str
    label: str
    text: str
    number: int
    group: str
    settings: type
    along: str = ""


# A new kind of motion is a row here, and one in `families.FAMILIES`.
KINDS = [
    Kind("TURNS", "Turns", "Turns set by frequency, sharpness and heading", 0,
         "turns", PoiseTurns),
    Kind("PATH", "Path", "Along a curve, among obstacles and through gates", 1,
         "path", PoisePath, "curve"),
    Kind("GAIT", "Gait", "On legs: gaits one after the other, along a way and over terrain", 2,
         "gait", PoiseGait, "path"),
    Kind("POSE_TIMING", "Pose Timing", "Poses of any bones reached on their frames, under physics",
         3, "pose_timing", PoisePoseTiming),
    Kind("CONTROLLER", "Controller", "Mechanical figures that find their way to where they are to "
         "end, one controller after the other", 4, "control", PoiseControl),
    Kind("FREEFORM", "Free-form", "Postures of the whole body, on the ground and in the air: "
         "dance, leaps, pounces", 5, "freeform", PoiseFreeform),
]


def kind_items() -> tuple[tuple[str, str, str, int], ...]:
    """Kinds of motions as Blender's choices."""
    return tuple((kind.name, kind.label, kind.text, kind.number) for kind in KINDS)


def groups() -> dict[str, type]:
    """Name of a group of settings that a motion has because of its kinds or bodies -> its type."""
    return {kind.group: kind.settings for kind in KINDS} | styles.GROUPS


def group_properties() -> dict:
    """What a motion has because of its kinds: which one it is, settings of each, and styles."""
    made = {name: PointerProperty(type=group, options=set()) for name, group in groups().items()}
    text = "What kind of motion this is"
    items = {"items": kind_items(), "options": set()}
    return {"kind": EnumProperty(name="Motion", description=text, **items), **made}


BODY_PARTS = (
    ("TRAVEL", "Travel", "Where the character goes: the root"),
    ("LEGS", "Legs", "Pelvis, legs and what is under them: skis, board or bicycle"),
    ("TORSO", "Torso", "Spine, chest and shoulders"),
    ("ARMS", "Arms", "Hands, elbows and what they hold"),
    ("HEAD", "Head", "Neck, head and eyes"),
)


MOST_FRAME = 2**31 - 1  # that an integer of Blender holds
NO_FRAME = -(2**31)  # the end of a motion whose duration is no number


def _is_motion(self, other):
    return other.poise_motion.character is not None and other != self.id_data


def _is_armature(self, other):
    return other.type == "ARMATURE"


def _real_fps():
    render = bpy.context.scene.render
    return render.fps / render.fps_base


def _begin_own(self, context):
    """A range of its own begins with the one that it had so far."""
    for name in ("frame_start", "frame_end"):
        if self.range_mode == "OWN" and not self.is_property_set(name):
            setattr(self, name, getattr(bpy.context.scene, name))


def _set_own(self, context):
    """Whoever sets Start or End wants a range of its own."""
    if self.range_mode != "OWN":
        self.range_mode = "OWN"


def _get_duration(self):
    frames = self.frame_end - self.frame_start if self.frame_end != NO_FRAME else nan
    return frames / _real_fps()


def _set_duration(self, seconds):
    # Whatever a script sets: how long a motion may be is said where it is read.
    end = NO_FRAME
    if not isnan(seconds):
        end = round(min(self.frame_start + max(1.0, seconds * _real_fps()), MOST_FRAME))
    self.frame_end = end


class PoiseProblem(bpy.types.PropertyGroup):
    """One line of the problem list."""

    code: StringProperty()
    message: StringProperty(name="Problem")
    severity: StringProperty()
    remedy: StringProperty()
    has_frame: BoolProperty()
    frame: FloatProperty()
    bone: StringProperty()
    fix: StringProperty(description="Settings that would help, as JSON")


class PoiseBonesBake(bpy.types.PropertyGroup):
    """A bake on the bones of a rig that follows Poise's controls."""

    record: StringProperty(description="What the bake wrote and what stood there before, as JSON")
    bake_action: PointerProperty(type=bpy.types.Action)
    former_action: PointerProperty(type=bpy.types.Action)
    edits_action: PointerProperty(type=bpy.types.Action)


class PoiseMotion(Rows, bpy.types.PropertyGroup):
    """Everything about one motion of one character."""

    ROWS = (
        Row("range_mode", "OWN", "Which frames the motion covers; new ones follow the scene until "
            "Start or End is set", label="Range", more={"update": _begin_own},
            choices=(
                ("OWN", "Own", "Start and end frame of its own", 0),
                ("SCENE", "Scene", "The scene's frame range", 1),
                ("PREVIEW", "Preview", "The timeline's preview range", 2),
            )),
        Row("frame_start", 1, "First frame of the motion", unit="frame", label="Start",
            more={"update": _set_own}),
        Row("frame_end", 241, "Last frame of the motion", unit="frame", label="End",
            more={"update": _set_own}),
        Row("mirror", False, "Swap left and right turns", label="Mirror"),
        Row("key_mode", "DENSE", "How the motion is keyed", label="Keys",
            choices=(
                ("DENSE", "Every Frame", "A key on every frame, with straight lines between", 0),
                ("SPARSE", "Sparse", "Few keys with exact slopes, easier to edit and more "
                 "accurate between frames", 1),
            )),
        Row("key_step", 4, "Most frames between two keys; keys stand closer where the motion needs "
            "it", unit="frames", label="Key Spacing", ends=(1, 16)),
        Row("keys_between", "CONTACTS", "Which bones of a rig that is keyed by its bones get keys "
            "between frames", label="Subframes",
            choices=(
                ("NONE", "None", "Keys on whole frames alone, as games want them; feet slide a "
                 "little between", 0),
                ("CONTACTS", "Contacts", "Legs and arms in contact: so that feet on the ground "
                 "and hands with planted poles stay in place between frames too", 1),
                ("ANYWHERE", "Wherever Needed", "All bones that would be off by more than a "
                 "millimetre between frames", 2),
            )),
        Row("target", "NEW", "Where the keys go", label="Into",
            choices=(
                ("NEW", "New Action", "An action of its own, named after character and motion", 0),
                ("CURRENT", "Current Action", "The character's current action; only keys that "
                 "Poise baked are replaced", 1),
            )),
        Row("push_to_nla", False, "Put the baked action on an NLA track of its own",
            label="Push to NLA"),
        Row("edited_keys", "ASK", "What to do when keys were edited by hand since the last bake",
            label="Edited Keys",
            choices=(
                ("ASK", "Ask", "Stop and say so", 0),
                ("OVERWRITE", "Overwrite", "Replace the edited keys", 1),
                ("KEEP_EDITS", "Keep Edits", "Keep the edits in an additive NLA layer on top", 2),
                ("NEW_ACTION", "New Action", "Leave the edited action and bake into another", 3),
            )),
        Row("root_motion", "ROOT", "What carries the figure along when the bones of its rig are "
            "keyed", label="Root Motion",
            choices=(
                ("ROOT", "Root Bone", "The root bone goes where the figure goes, the hips do the "
                 "rest", 0),
                ("OBJECT", "Object", "The armature object goes where the figure goes", 1),
                ("SPLIT", "Split", "The root bone goes on an evened-out way, the hips sway about "
                 "it", 2),
                ("HIPS", "Hips", "The root bone keeps still", 3),
                ("IN_PLACE", "In Place", "The figure moves without going anywhere, for game "
                 "engines", 4),
            )),
    )

    character: PointerProperty(
        name="Character",
        description="The armature that this motion moves",
        type=bpy.types.Object,
        poll=_is_armature,
    )
    rig: PointerProperty(
        name="Rig",
        description="The rig that the character drives, if it is a set of controls",
        type=bpy.types.Object,
    )
    is_active: BoolProperty(
        name="Active", description="The motion that the panels show and Bake bakes"
    )
    order: IntProperty(
        name="Order",
        description="Place in the character's list of motions",
        default=0,
        min=0,
        max=MAX_ORDER,
    )
    data_version: IntProperty(default=DATA_VERSION)

    roles: CollectionProperty(type=PoiseRole)
    roles_index: IntProperty(name="Role", description="Chosen role in the list")
    rig_kind: StringProperty(
        name="Kind", description="Whose rig this is, as it was recognised", default="STRUCTURE"
    )
    rig_body: StringProperty(
        name="Body", description="How many legs the rig stands on", default="BIPED"
    )
    rig_turn: FloatVectorProperty(
        name="Turn",
        description="Rotation from the armature's axes to Z up, facing -Y, as w, x, y, z",
        size=4,
        default=(1.0, 0.0, 0.0, 0.0),
    )
    rig_notes: StringProperty(name="Notes", description="What recognising the rig noticed")
    rig_fallen: StringProperty(
        name="Fallen", description="Why the rig is no standing figure in its rest pose"
    )
    rig_places: StringProperty(
        name="Pose", description="The pose that Stand Up took for the rest pose"
    )

    duration: FloatProperty(
        name="Duration",
        description="How long the motion lasts, in seconds of the scene's frame rate",
        get=_get_duration,
        set=_set_duration,
        unit="TIME_ABSOLUTE",
        min=0.0,
    )
    after: PointerProperty(
        name="After",
        description="Continue from the end of this motion: position, direction, speed, lean and "
        "phase of the turn",
        type=bpy.types.Object,
        poll=_is_motion,
    )
    base: PointerProperty(
        name="On Top Of",
        description="Take travel, lean and turns from this motion and only pose the body parts "
        "anew, with this motion's own body style",
        type=bpy.types.Object,
        poll=_is_motion,
    )
    body_parts: EnumProperty(
        name="Body Parts",
        description="Parts of the body that the bake keys; the others keep what they have",
        items=BODY_PARTS,
        options={"ENUM_FLAG"},
        default={part[0] for part in BODY_PARTS},
        override=OVERRIDE,
    )
    show_preview: BoolProperty(
        name="Preview",
        description="Draw the track, and a ghost of lean and force at the current frame, "
        "in the viewport",
        default=True,
    )
    live_bake: BoolProperty(
        name="Live Bake",
        description="Bake again whenever a setting, or what leads the motion, has changed; "
        "footprints that were moved are adapted to first",
        default=False,
    )

    bones: PointerProperty(type=PoiseBonesBake)

    owner: StringProperty(description="Name of the Motion object, as long as it is no copy")
    record: StringProperty(description="What the bake wrote and what stood there before, as JSON")
    inputs: StringProperty(description="Digests of what went into the bake, as JSON")
    bake_action: PointerProperty(type=bpy.types.Action)
    former_action: PointerProperty(type=bpy.types.Action)
    edits_action: PointerProperty(type=bpy.types.Action)
    trail: PointerProperty(type=bpy.types.Object)
    camera: PointerProperty(type=bpy.types.Object)
    problems: CollectionProperty(type=PoiseProblem)
    problem_index: IntProperty(
        name="Problem", description="Choose a problem to go to its frame and bone", min=0
    )

    def begin(self, kind: str, unit_scale: float) -> None:
        """Take the settings that a kind of character begins with.

        Args:
            kind: kind of character ("SKIER").
            unit_scale: metres per Blender unit.
        """
        for name in (*STYLE_GROUPS, *(known.group for known in KINDS)):
            getattr(self, name).begin(kind, unit_scale)

    def go_on_from(self, other: "PoiseMotion") -> None:
        """Begin with the settings that another motion has.

        Args:
            other: settings of the motion before.
        """
        for name in (*(kind.group for kind in KINDS), *STYLE_GROUPS):
            getattr(self, name).go_on_from(getattr(other, name))


PoiseMotion.__annotations__ |= group_properties()

CLASSES = (PoiseBonesBake, PoiseProblem, PoiseMotion)
