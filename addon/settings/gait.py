# SPDX-License-Identifier: GPL-3.0-or-later
"""What an animator sets for legged motion. Values are Blender units, as the UI shows them."""

from collections.abc import Sequence
from dataclasses import replace
from math import radians

import bpy
import numpy as np
from bpy.props import (
    BoolProperty,
    CollectionProperty,
    IntProperty,
    PointerProperty,
)

from ...solvers.errors import SettingError
from ...solvers.legged import (
    PRESETS,
    Creature,
    FootprintEdit,
    Gait,
    GaitItem,
    GaitSettings,
    metachronal,
)
from ...solvers.legged.footholds import Ground
from ...solvers.legged.gait import NUMBERS as GAIT_NUMBERS
from ...solvers.legged.gait import spoken_leg
from ...solvers.legged.settings import ITEM_NUMBERS, NUMBERS
from ...solvers.motion import Placement
from ..mapping.rows import Row
from ..scene.figures import hip_height_of, legs_of, usual_hip_height
from ..scene.timing import scene_numbers
from .footprints import PoiseFootprint, PoiseFootprintPin
from .rows import FROM_0, Rows, known

# Preset that a kind begins with.
STARTING_GAIT = {"HORSE": "WALK", "DOG": "WALK", "BIPED": "WALK_BIPED", "INSECT": "RIPPLE"}

MANY = 5
"""Legs from which on a gait suits that goes through them in waves."""

# Preset -> (label, what it is, number of legs; 0 for MANY and more). The order is that of menus.
GAITS: dict[str, tuple[str, str, int]] = {
    "WALK": ("Walk", "Four beats, hind before fore on each side, always a foot down", 4),
    "AMBLE": ("Amble", "A quick walk: the same four beats, without flights", 4),
    "PACE": ("Pace", "Two beats, both legs of a side together", 4),
    "TROT": ("Trot", "Two beats, legs diagonally opposite together", 4),
    "CANTER_LEFT": ("Canter, Left Lead", "Three beats and a flight, the left fore leg last", 4),
    "CANTER_RIGHT": ("Canter, Right Lead", "Three beats and a flight, the right fore leg last", 4),
    "GALLOP_LEFT": ("Gallop, Left Lead", "Four beats and a flight, transverse as horses do", 4),
    "GALLOP_RIGHT": ("Gallop, Right Lead", "Four beats and a flight, transverse as horses do", 4),
    "ROTARY_LEFT": ("Rotary Gallop, Left", "Footfalls go around: dogs and cheetahs at speed", 4),
    "ROTARY_RIGHT": ("Rotary Gallop, Right", "Footfalls go around: dogs and cheetahs at speed", 4),
    "BOUND": ("Bound", "Both hind legs together, then both fore legs", 4),
    "PRONK": ("Pronk", "All four legs at once", 4),
    "WALK_BIPED": ("Walk", "One foot after the other, always a foot down", 2),
    "JOG": ("Jog", "A slow run with short flights", 2),
    "RUN": ("Run", "One foot after the other, with flights between", 2),
    "SKIP": ("Skip", "A step and a hop on one foot, then a step and a hop on the other", 2),
    "SKIP_LEFT": ("Skip, Left Lead", "The right foot, the left ahead of it, then a flight", 2),
    "SKIP_RIGHT": ("Skip, Right Lead", "The left foot, the right ahead of it, then a flight", 2),
    "HOP": ("Hop", "Both feet at once", 2),
    "TRIPOD": ("Tripod", "Every other leg together: insects in a hurry", 0),
    "RIPPLE": ("Ripple", "Waves of steps that overlap: insects at a stroll", 0),
    "WAVE": ("Wave", "One leg of a side after the other, from the rear: slow", 0),
}
# Preset -> the one on the other lead.
MIRRORED = {
    f"{name}_{side}": f"{name}_{other}"
    for name in ("CANTER", "GALLOP", "ROTARY", "SKIP")
    for side, other in (("LEFT", "RIGHT"), ("RIGHT", "LEFT"))
}
LABELS = {label for label, _text, _legs in GAITS.values()}
# Share of the stride between neighbouring legs of a side, where a preset is for any number.
_DELAYS = {"TRIPOD": 0.5, "RIPPLE": 1.0 / 3.0, "WAVE": None}

# Files keep a gait by its number: those that came later have the last ones, wherever they stand.
_LATER = ("SKIP_LEFT", "SKIP_RIGHT")
_NUMBERED = (*(name for name in GAITS if name not in _LATER), *_LATER)
GAIT_ITEMS = tuple(
    (name, label, text, _NUMBERED.index(name)) for name, (label, text, _legs) in GAITS.items()
)


def gaits_for(n_legs: int) -> list[str]:
    """Names of the presets that an animal with so many legs can use.

    Args:
        n_legs: number of its legs.
    """
    return [
        name for name, (_l, _t, legs) in GAITS.items()
        if legs == n_legs or (not legs and n_legs >= MANY)
    ]


def preset_for(name: str, legs: Sequence[str]) -> Gait:
    """A preset for the legs of an animal.

    Args:
        name: of the preset.
        legs: names of its legs.

    Raises:
        SettingError: it is for another number of legs.
    """
    gait = PRESETS[name]
    if name not in _DELAYS or len(gait.legs) == len(legs):
        return gait.for_legs(legs)
    duty = gait.duty[0] if _DELAYS[name] is not None else None
    wave = metachronal(legs, duty, _DELAYS[name], name)
    return replace(gait, legs=wave.legs, duty=wave.duty, phase=wave.phase)


def _is_curve(self, obj):
    return obj.type == "CURVE"


def _is_mesh(self, obj):
    return obj.type == "MESH"


def _has_postures(self, obj):
    theirs = obj.poise_motion if obj.type == "EMPTY" else None
    own = self.id_data.poise_motion.character
    return theirs is not None and theirs.kind == "FREEFORM" and theirs.character == own


class PoiseGaitLeg(Rows, bpy.types.PropertyGroup):
    """Timing of one leg in a gait; its name is the leg's."""

    ROWS = (
        Row("duty", 0.6, "Share of the stride that the foot is on the ground", slider=(0.1, 0.9),
            unit="FACTOR", label="Duty Factor", ends=(0.01, 0.99)),
        Row("phase", 0.0, "Share of the stride that passes until the foot is set down",
            unit="FACTOR", label="Phase", ends=(0.0, 1.0)),
    )


def _take_over_timing(self, context):
    """What is edited begins with what the preset has."""
    if self.own_timing and not len(self.legs):
        legs = legs_of(self.id_data) or PRESETS[self.gait].legs
        try:
            self.fill_legs(preset_for(self.gait, legs))
        except SettingError:
            pass  # a gait for other legs: the panel says so


def _forget_timing(self, context):
    """Another gait: what was edited was for the one before; a name of one's own stays."""
    self.own_timing = False
    self.legs.clear()
    if self.name in LABELS:
        self.name = GAITS[self.gait][0]


class PoiseSpeedPoint(Rows, bpy.types.PropertyGroup):
    """Speed at a place along the way. It cannot be animated: places in a list change."""

    ROWS = (
        Row("distance", 0.0, "How far along the way", slider=(None, 100.0), unit="LENGTH",
            label="Distance", ends=FROM_0),
        Row("speed", 1.5, "Speed there; 0 at the last point comes to a halt", slider=(None, 20.0),
            unit="VELOCITY", label="Speed", ends=FROM_0),
    )


def _begin_points(self, context):
    """A list of speeds begins with the one that there is."""
    if self.speed_by == "WAY" and not len(self.speed_points):
        self.add_speed(0.0, self.speed)


class PoiseGaitItem(Rows, bpy.types.PropertyGroup):
    """One gait of the list. None of it can be animated: places in a list change."""

    ROWS = known(
        ITEM_NUMBERS | {name: GAIT_NUMBERS[name] for name in ("stroke", "period")},
        Row("gait", GAIT_ITEMS[0][0], "Which leg steps when", label="Gait",
            more={"update": _forget_timing}, choices=GAIT_ITEMS),
        Row("start_by", "TIME", "What says when the gait begins; the first one always begins at "
            "the start", label="Begins",
            choices=(
                ("TIME", "After a Time", "So many seconds after the motion's start", 0),
                ("DISTANCE", "After a Distance", "So far along the way", 1),
            )),
        Row("start", 0.0, "Seconds from the motion's start until the gait begins; legs change over "
            "one by one, so the change takes up to a stride", slider=(None, 60.0),
            unit="TIME_ABSOLUTE"),
        Row("distance", 0.0, "How far along the way the gait begins", slider=(None, 100.0),
            unit="LENGTH"),
        Row("stride_by", "GAIT", "What says how long the strides are", label="Stride",
            choices=(
                ("GAIT", "As Animals Do", "Strides grow with the speed, as measured on animals", 0),
                ("STROKE", "Stroke", "The body goes so far while a foot is on the ground", 1),
                ("PERIOD", "Stride Time", "Every stride takes so long, whatever the speed", 2),
            )),
        Row("stroke", 1.0, "How far the body goes while the first leg's foot is on the ground",
            slider=(0.01, 3.0), unit="LENGTH"),
        Row("period", 1.0, "Seconds from one touchdown of a foot to its next", slider=(0.1, 3.0),
            unit="TIME_ABSOLUTE", more={"precision": 3}),
        Row("own_timing", False, "Set duty factor and phase of each leg here, the same at every "
            "speed, instead of those that animals have", label="Own Timing",
            more={"update": _take_over_timing}),
        Row("bounce", 1.0, "How much the body goes up and down while it is carried: 1 as animals "
            "do; flights follow from their length alone", slider=(None, 2.0), label="Bounce",
            ends=FROM_0),
        Row("lift", 1.0, "How high swinging feet are lifted: 1 as animals do", slider=(None, 3.0),
            label="Foot Lift", ends=FROM_0),
        Row("kick", 1.0, "How far feet are thrown up behind after they leave the ground, in runs "
            "and gallops: 1 as animals do", slider=(None, 3.0), label="Kick", ends=FROM_0),
        Row("snap", 0.0, "Added to how quickly swinging feet get up to speed: above 0 crisp, below "
            "soft", label="Snap", ends=(-1.0, 1.0)),
        Row("width", 1.0, "How far apart left and right feet are set down: 1 as animals do, 0 on "
            "one line", slider=(0.0, 2.0), label="Track Width", ends=(-1.0, None)),
        Row("strike", 1.0, "How far the toes are up when a foot is set down: 1 as animals do, "
            "below 0 toes first", slider=(-1.0, 2.0), label="Heel Strike", ends=(-3.0, 3.0)),
        Row("push", 1.0, "How far the heel is up when a foot leaves the ground: 1 as animals do",
            slider=(0.0, 2.0), label="Push Off", ends=(-3.0, 3.0)),
    )

    legs: CollectionProperty(type=PoiseGaitLeg)
    swing: PointerProperty(
        name="Swing From",
        description="A free-form motion of the same character: feet swing through its postures, "
        "from the one before they are in the air to the one after it, and arms follow. None: as "
        "animals do",
        type=bpy.types.Object,
        poll=_has_postures,
    )

    def fill_legs(self, gait: Gait) -> None:
        """Take duty factors and phases from a gait.

        Args:
            gait: the gait.
        """
        self.legs.clear()
        for name, duty, phase in zip(gait.legs, gait.duty, gait.phase, strict=True):
            leg = self.legs.add()
            leg.name, leg.duty, leg.phase = name, duty, phase

    def to_gait(self, legs: Sequence[str], unit_scale: float) -> Gait:
        """The gait in SI units, frozen, for the solver.

        Args:
            legs: names of the animal's legs.
            unit_scale: metres per Blender unit.

        Raises:
            SettingError: it is for other legs.
        """
        gait = preset_for(self.gait, legs)
        if self.own_timing:
            timing = {leg.name: leg for leg in self.legs}
            missing = next((name for name in legs if name not in timing), "")
            if missing:
                raise SettingError(
                    f"Own Timing of {self.name or gait.name}",
                    f"without the {spoken_leg(missing)}",
                    "switched off and on again, which fills in the legs",
                )
            gait = replace(
                gait,
                duty=tuple(timing[name].duty for name in legs),
                phase=tuple(timing[name].phase for name in legs),
                duty_exponent=0.0,
            )
        stroke = self.stroke * unit_scale if self.stride_by == "STROKE" else None
        return replace(
            gait,
            name=self.name or gait.name,
            stroke=stroke,
            period=self.period if self.stride_by == "PERIOD" else None,
            compression=min(max(gait.compression * self.bounce, 1e-4), 0.9),
            spring=min(gait.spring * self.bounce, 1.0),
            arc=min(gait.arc * self.bounce, 1.0),
            clearance=min(gait.clearance * self.lift, 2.0),
            kick=min(gait.kick * self.kick, 2.0),
            snap=min(max(gait.snap + self.snap, 0.0), 1.0),
            width=min(max(gait.width * self.width, -2.0), 5.0),
            strike=min(max(gait.strike * self.strike, -3.0), 3.0),
            push=min(max(gait.push * self.push, -3.0), 3.0),
        )


class PoiseGait(Rows, bpy.types.PropertyGroup):
    """Legged motion: gaits one after the other, at a speed, along a path, over terrain."""

    PARAMS = GaitSettings
    ROWS = known(
        NUMBERS,
        Row("mode", "SEQUENCE", "What says which gait is used when", label="Gaits",
            choices=(
                ("SEQUENCE", "List", "The list below", 0),
                ("AUTOMATIC", "By Speed", "What an animal of this size does at the speed: it "
                 "changes gait as it speeds up or slows down", 1),
            )),
        Row("hysteresis", 0.25, "How much slower it has to get to go back to the gait before, as a "
            "share of the Froude number: 0 changes to and fro at the same speed", unit="FACTOR"),
        Row("speed_by", "TIME", "What says how fast the body goes", label="Speed",
            more={"update": _begin_points},
            choices=(
                ("TIME", "Over Time", "One speed, or what its keys or driver make of it", 0),
                ("WAY", "Along the Way", "The speeds at places along the way that the list has; "
                 "between them the body speeds up and slows down evenly", 1),
            )),
        Row("speed", 1.5, "Speed along the way; key it to speed up, slow down, stop and go on",
            slider=(None, 20.0), unit="VELOCITY", keyed=True, label="Speed", ends=FROM_0,
            start={"HORSE": 1.6, "DOG": 1.0, "BIPED": 1.35, "INSECT": 0.45}),
        Row("cycle", False, "The motion is a cycle of whole strides: its last frame is its first "
            "again. Make Cycle sets this up", label="Cycle"),
        Row("in_place", False, "Move the legs without going anywhere, for cycles and game engines",
            label="In Place"),
        Row("start_phase", 0.0, "Share of the first gait's stride that has gone at the start; of a "
            "skip, of two strides, one on each side", unit="FACTOR"),
        Row("round_to_frames", False, "Set feet down and lift them on whole frames; otherwise the "
            "times are exact and have keys of their own", label="Round to Frames"),
        Row("bank", 1.0, "How much the body leans into bends: 1 is what keeps the balance",
            slider=(0.0, 1.5)),
        Row("bank_limit", radians(45.0), "Largest lean in bends", unit="ANGLE", of="most_bank"),
        Row("impulse", 6.0, "Largest acceleration along the ground that one leg gives the body: "
            "how hard it can speed up, brake and turn", slider=(None, 20.0), unit="ACCELERATION"),
        Row("response", 0.1, "Seconds in which the body makes up for being too slow, too fast or "
            "off its path", slider=(None, 1.0), unit="TIME_ABSOLUTE"),
        Row("reach", 1.0, "How far legs stretch while their feet are down: 1 as animals of their "
            "kind do", unit="FACTOR", more={"precision": 3}),
        Row("crouch", 0.2, "How far hips may sink so that feet reach, as a share of their height",
            unit="FACTOR"),
        Row("step_height", 0.5, "Highest step up or down from one foothold of a leg to its next, "
            "in hip heights", slider=(None, 1.0), of="most_step"),
        Row("search", 0.3, "How far around a bad foothold a better one is looked for, in hip "
            "heights", slider=(None, 1.0)),
        Row("steepest", radians(50.0), "Ground that is steeper carries no foot", unit="ANGLE"),
        Row("stairs", True, "Take strides on stairs that are as long as treads are deep, or "
            "several of them, as often as people and animals climb, and slower if need be",
            label="Match Stairs"),
        Row("clearance", 0.015, "Least height of a swinging foot over the ground halfway, in hip "
            "heights", slider=(None, 0.3), more={"precision": 3}),
        Row("keep_body", False, "Leave the body's motion as it is without edited footprints: only "
            "feet and legs follow them", label="Keep Body"),
        Row("keep_timing", False, "Leave all touchdowns and liftoffs as they are without edited "
            "footprints", label="Keep Timing"),
        Row("keep_legs", False, "Leave the feet of legs of which no footprint is edited as they "
            "are", label="Keep Other Legs"),
    )

    sequence: CollectionProperty(
        type=PoiseGaitItem, override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"}
    )
    sequence_index: IntProperty(
        name="Chosen Gait", description="Chosen gait in the list", default=0, min=0, options=set()
    )
    speed_points: CollectionProperty(
        name="Speed Points",
        description="Speeds at places along the way",
        type=PoiseSpeedPoint,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    speed_points_index: IntProperty(
        name="Chosen Speed Point",
        description="Chosen point in the list of speeds",
        default=0,
        min=0,
        options=set(),
    )
    path: PointerProperty(
        name="Path",
        description="The curve to follow, from its first point on; without one the way is straight "
        "ahead",
        type=bpy.types.Object,
        poll=_is_curve,
    )
    terrain: PointerProperty(
        name="Terrain",
        description="The mesh to walk on, with its modifiers. Without one the ground is level",
        type=bpy.types.Object,
        poll=_is_mesh,
    )
    footprints: CollectionProperty(
        name="Footprints",
        description="Edited footprints: leg, step, pose and times",
        type=PoiseFootprint,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    footprints_index: IntProperty(
        name="Chosen Footprint",
        description="Chosen edited footprint in the list",
        default=0,
        min=0,
        options=set(),
    )
    footprint_pins: CollectionProperty(
        name="Pins",
        description="States of the body between which the motion was solved again",
        type=PoiseFootprintPin,
        override={"LIBRARY_OVERRIDABLE", "USE_INSERTION"},
    )
    footprint_collection: PointerProperty(
        name="Footprint Objects",
        description="Collection of the objects that show the footprints",
        type=bpy.types.Collection,
    )
    show_diagram: BoolProperty(
        name="Gait Diagram",
        description="Draw when which foot is on the ground in the corner of the viewport, around "
        "the current frame",
        default=True,
        options=set(),
    )

    def begin(self, kind: str, unit_scale: float) -> None:
        """Start from settings that suit a character, whatever the scene's unit.

        Larger ones go faster, at the same Froude number.

        Args:
            kind: kind of character.
            unit_scale: metres per Blender unit.
        """
        super().begin(kind, unit_scale)
        if kind not in STARTING_GAIT:
            return
        size = hip_height_of(self.id_data) / usual_hip_height(kind)
        # Of what is hardly larger or smaller the usual number reads better.
        if abs(size - 1.0) >= 0.05:
            self.speed *= round(size**0.5, 2)
        if not len(self.sequence):
            self.add(STARTING_GAIT[kind])

    def add(self, preset: str) -> PoiseGaitItem:
        """Add a gait at the end of the list.

        Args:
            preset: name of its preset.

        Returns:
            The new item.
        """
        item = self.sequence.add()
        item.gait = preset
        item.name = GAITS[preset][0]
        self.sequence_index = len(self.sequence) - 1
        return item

    def add_speed(self, distance: float, speed: float) -> PoiseSpeedPoint:
        """Add a speed at a place along the way, in the order of the places.

        Args:
            distance: how far along, in Blender units.
            speed: in Blender units a second.

        Returns:
            The new point.
        """
        place = sum(point.distance <= distance for point in self.speed_points)
        point = self.speed_points.add()
        point.name = f"{len(self.speed_points)}"
        point.distance, point.speed = distance, speed
        self.speed_points.move(len(self.speed_points) - 1, place)
        self.speed_points_index = place
        return self.speed_points[place]

    def set_list(
        self,
        gaits: Sequence[tuple[str, float] | tuple[str, float, dict[str, float]]],
        speeds: Sequence[tuple[float, float]] | float,
    ) -> None:
        """Gaits and speeds for an animal of any size: what Poise's own presets set.

        Lengths are in hip heights h, speeds in sqrt(g h), whose square is the
        Froude number.

        Args:
            gaits: (preset, distance along the way from which on) of each, and what
                else is set of it.
            speeds: one speed, or (distance along the way, speed) of places.
        """
        numbers = scene_numbers(bpy.context.scene)
        hip = hip_height_of(self.id_data) / numbers.unit_scale
        pace = (numbers.gravity * hip / numbers.unit_scale) ** 0.5
        self.mode = "SEQUENCE"
        self.sequence.clear()
        for name, distance, *more in gaits:
            item = self.add(name)
            if distance:
                item.start_by, item.distance = "DISTANCE", distance * hip
            for setting, value in (more[0] if more else {}).items():
                setattr(item, setting, value)
        self.sequence_index = 0
        self.speed_points.clear()
        if isinstance(speeds, float):
            self.speed_by, self.speed = "TIME", speeds * pace
            return
        for distance, speed in speeds:
            self.add_speed(distance * hip, speed * pace)
        self.speed_by, self.speed_points_index = "WAY", 0

    def speed_pairs(self, unit_scale: float) -> list[tuple[float, float]]:
        """(distance, speed) of the list of speeds, m and m/s.

        Args:
            unit_scale: metres per Blender unit.
        """
        return [
            (point.distance * unit_scale, point.speed * unit_scale)
            for point in self.speed_points
        ]

    def go_on_from(self, other: "PoiseGait") -> None:
        """Begin with what another motion has, and the gait that it ends with.

        Args:
            other: settings of the motion before.
        """
        super().go_on_from(other)
        self.sequence.clear()
        if not len(other.sequence):
            return
        self.bring_back([other.stored()[-1] | {"start": 0.0, "start_by": "TIME"}])

    def take_from(self, other: "PoiseGait") -> None:
        """Take over what another motion is set to, with its speeds, and its gaits if it has as
        many legs.

        Args:
            other: settings of the other motion.
        """
        if len(legs_of(self.id_data)) == len(legs_of(other.id_data)):
            # Postures are of one character.
            self.bring_back([values | {"swing": None} for values in other.stored()])
        self.speed_points.clear()
        for distance, speed in other.speed_pairs(1.0):
            self.add_speed(distance, speed)
        super().take_from(other)

    def stored(self) -> list[dict]:
        """The list of gaits as plain values, to `bring_back`."""
        found = []
        for item in self.sequence:
            names = [p.identifier for p in item.bl_rna.properties if not p.is_readonly]
            values = {name: getattr(item, name) for name in names}
            found.append(values | {"legs": [(leg.name, leg.duty, leg.phase) for leg in item.legs]})
        return found

    def bring_back(self, items: list[dict]) -> None:
        """Make the list of gaits what it was.

        Args:
            items: what `stored` gave.
        """
        self.sequence.clear()
        for values in items:
            item = self.add(values["gait"])
            for name, value in values.items():
                if name not in ("gait", "legs"):
                    setattr(item, name, value)
            # Own timing has filled in the preset's.
            item.legs.clear()
            for name, duty, phase in values["legs"]:
                leg = item.legs.add()
                leg.name, leg.duty, leg.phase = name, duty, phase

    def to_params(
        self,
        *,
        creature: Creature,
        n_frames: int,
        fps: float,
        unit_scale: float,
        gravity: float,
        placement: Placement,
        speed: float | np.ndarray,
        path: np.ndarray | None,
        closed: bool,
        ground: Ground | None,
        edits: tuple[FootprintEdit, ...] = (),
    ) -> GaitSettings:
        """The settings in SI units, frozen, for the solver.

        Args:
            creature: what walks.
            n_frames: frames of the motion, both ends included.
            fps: real frame rate, fps / fps_base.
            unit_scale: metres per Blender unit.
            gravity: m/s^2.
            placement: where the motion starts, in metres.
            speed: m/s, or samples of it at each half solver step.
            path: (k, 3) points of the path, m, or None.
            closed: whether its end meets its start.
            ground: the terrain, or None for level ground.
            edits: footprints that were changed by hand.

        Returns:
            The solver's settings; most are checked when they are solved.

        Raises:
            SettingError: the list is empty, or a gait is for other legs.
        """
        legs = [leg.name for leg in creature.legs]
        sequence: tuple[GaitItem, ...] = ()
        if self.mode == "SEQUENCE":
            if not len(self.sequence):
                raise SettingError("Gaits", "an empty list", "one gait at least, or By Speed")
            sequence = tuple(
                GaitItem(
                    item.to_gait(legs, unit_scale),
                    start=item.start,
                    distance=item.distance * unit_scale if item.start_by == "DISTANCE" else None,
                )
                for item in self.sequence
            )
        values = self.in_si(unit_scale) | {"speed": speed}
        return GaitSettings(
            creature=creature,
            sequence=sequence,
            n_frames=n_frames,
            fps=fps,
            path=path,
            closed=closed,
            ground=ground,
            placement=placement,
            gravity=gravity,
            edits=edits,
            **values,
        )


CLASSES = (PoiseGaitLeg, PoiseSpeedPoint, PoiseGaitItem, PoiseGait)
