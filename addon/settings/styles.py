# SPDX-License-Identifier: GPL-3.0-or-later
"""How a character's body moves: the style of motion amplification.

Lengths are metres for a figure 1.78 m tall and grow with the figure, so they
have no Blender unit. A setting whose automatic value is wanted is 0.
"""

from math import radians

import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty

from ..mapping import cyclist, legged, skateboarder, skier, snowboarder, telemark
from ..mapping.cyclist import CyclistStyle
from ..mapping.gaze import EyesStyle
from ..mapping.legged import LeggedStyle
from ..mapping.skateboarder import SkateboarderStyle
from ..mapping.skier import SkierStyle
from ..mapping.snowboarder import SnowboarderStyle
from ..mapping.telemark import TelemarkStyle

OVERRIDE = {"LIBRARY_OVERRIDABLE"}


# Defaults stand once, with the mappings.
SKIER, FREE_HEELS, BOARDER = SkierStyle(), TelemarkStyle(), SnowboarderStyle()
ROLLER, RIDER, WALKER = SkateboarderStyle(), CyclistStyle(), LeggedStyle()
LOOKING = EyesStyle()


def angle(name, description, default, soft_min, soft_max):
    """A keyable angle; the default is radians, the bounds are degrees."""
    return FloatProperty(
        name=name,
        description=description,
        default=default,
        soft_min=radians(soft_min),
        soft_max=radians(soft_max),
        min=radians(-180.0),
        max=radians(180.0),
        subtype="ANGLE",
        override=OVERRIDE,
    )


def length(name, description, default, soft_max, soft_min=0.0):
    """A keyable length in metres for a figure 1.78 m tall."""
    return FloatProperty(
        name=name,
        description=f"{description}, in metres for a figure 1.78 m tall",
        default=default,
        soft_min=soft_min,
        soft_max=soft_max,
        min=-2.0,
        max=2.0,
        step=1,
        precision=3,
        override=OVERRIDE,
    )


def amount(name, description, default, soft_max=1.0, **more):
    """A keyable amount from 0, where nothing of it is left."""
    return FloatProperty(
        name=name,
        description=description,
        default=default,
        min=0.0,
        soft_max=soft_max,
        step=1,
        precision=3,
        override=OVERRIDE,
        **more,
    )


EDGE_LAWS = (
    ("LINEAR", "Linear", "Edge angle in proportion to the curvature of the path"),
    ("SIDECUT", "Sidecut", "Carving: radius = sidecut x cos(edge angle)"),
)


def stiffness():
    """Spring constant of the legs."""
    return amount(
        "Leg Stiffness",
        "Spring constant of the legs in N/m, instead of Up and Down; 0 to use Up and Down",
        0.0,
        20000.0,
    )


def unweighting():
    """What the legs do at the change of edges."""
    return EnumProperty(
        name="Unweighting",
        description="What the legs do while the edges change",
        items=(
            ("UP", "Up", "The legs stretch at the change of edges"),
            ("DOWN", "Down", "The knees are pulled up at the change of edges"),
        ),
        override=OVERRIDE,
    )


def edge_law():
    """How the edge angle follows the path."""
    return EnumProperty(
        name="Edge Law",
        description="How the edge angle follows from the curvature of the path",
        items=EDGE_LAWS,
        override=OVERRIDE,
    )


def edge_per_curvature():
    """Constant of the linear edge law."""
    return amount(
        "Edge Gain",
        "Edge angle in radians for a curvature of 1 per metre; 0 to fit it to the lean",
        0.0,
        20.0,
    )


def sidecut(of):
    """Radius of the sidecut; `of` is what it is cut into."""
    return amount(
        "Sidecut", f"Radius of the sidecut in metres; 0 takes the {of}'s own", 0.0, 35.0
    )


class Style:
    """Mixin: a style's settings as the frozen dataclass that its mapping takes."""

    PARAMS: type
    NAMED: dict
    AUTOMATIC: tuple[str, ...] = ()
    SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def animated_names(self) -> tuple[str, ...]:
        """Settings that may be keyed or driven: every number."""
        return tuple(
            prop.identifier
            for prop in self.bl_rna.properties
            if prop.type == "FLOAT" and prop.identifier in self.PARAMS.__dataclass_fields__
        )

    def set_named(self, name: str) -> None:
        """Take all amounts of one of the mapping's named styles.

        Args:
            name: "carving", "short" ...

        Raises:
            ValueError: there is no such style.
        """
        if name not in self.NAMED:
            raise ValueError(f"there is no style {name!r}: there are {', '.join(self.NAMED)}")
        style = self.NAMED[name]
        for field in self.PARAMS.__dataclass_fields__:
            value = getattr(style, field)
            setattr(self, field, 0.0 if value is None else value)

    def to_params(self, samples: dict):
        """The style as numbers, frozen.

        Args:
            samples: animated settings, name -> array at every solver step.
        """
        values = {}
        for name in self.PARAMS.__dataclass_fields__:
            value = samples.get(name, getattr(self, name))
            if name in self.AUTOMATIC and not isinstance(value, str) and not _any(value):
                value = None
            values[name] = value
        return self.PARAMS(**values)


def _any(value) -> bool:
    return bool(value.any()) if hasattr(value, "any") else bool(value)


def gaze(style, who, against="against the chest"):
    """Annotations of the settings of the head, which all share.

    Args:
        style: amounts to begin with.
        who: what the animator calls who looks.
        against: what the head turns against.
    """
    return {
        "look_ahead": amount(
            "Look Ahead", f"How many seconds ahead the {who} looks", style.look_ahead, 2.0
        ),
        "gaze_limit": angle(
            "Gaze Limit", f"Largest turn of the head {against}", style.gaze_limit, 0, 80
        ),
        "gaze_down": angle("Gaze Down", "Gaze below the horizon", style.gaze_down, -10, 40),
        "head_level": amount(
            "Level Head", "How far the head levels out", style.head_level, subtype="FACTOR"
        ),
    }


def on_skis(style):
    """Annotations of the settings that all on skis share.

    Args:
        style: amounts to begin with.
    """
    return {
        "knee_flexion": angle(
            "Knee Bend", "Bend of the knees under one body weight", style.knee_flexion, 5, 100
        ),
        "up_down": length(
            "Up and Down", "How much the legs shorten for each body weight more", style.up_down, 0.4
        ),
        "stiffness": stiffness(),
        "unweighting": unweighting(),
        "unweighting_amount": length(
            "Unweighting Amount", "How far the legs stretch or the knees are pulled up",
            style.unweighting_amount, 0.25,
        ),
        "stance_width": length(
            "Stance Width", "Distance between the skis when flat", style.stance_width, 0.6
        ),
        "stance_growth": amount(
            "Stance Growth",
            "How much wider the stance gets on edge, along the snow",
            style.stance_growth,
        ),
        "outside_share": amount(
            "Outside Ski",
            "Share of the load on the outside ski in a turn",
            style.outside_share,
            subtype="FACTOR",
        ),
        "edge_law": edge_law(),
        "edge_per_curvature": edge_per_curvature(),
        "angulation": angle(
            "Angulation", "Edge angle beyond the lean in a full turn", style.angulation, 0, 30
        ),
        "angulation_limit": angle(
            "Angulation Limit",
            "Largest difference between edge angle and lean",
            style.angulation_limit,
            0,
            45,
        ),
        "edge_difference": angle(
            "Inside Edge", "How much less the inside ski is edged",
            style.edge_difference, 0, 15
        ),
        "edge_limit": angle("Edge Limit", "Largest edge angle", style.edge_limit, 20, 85),
        "sidecut": sidecut("ski"),
        "float_angle": angle(
            "Flat Below",
            "Edge angle below which the skis rest flat in passing",
            style.float_angle,
            0,
            25,
        ),
        "skid": angle(
            "Skid",
            "How far the skis turn across the path where they cannot carve it",
            style.skid,
            0,
            60,
        ),
        "trunk_pitch": angle(
            "Trunk Pitch", "Forward bend of the trunk under one body weight",
            style.trunk_pitch, 0, 60
        ),
        "waist_follow": amount(
            "Waist Follows", "Further bend of the waist with the knees", style.waist_follow
        ),
        "shoulder_level": amount(
            "Shoulder Level",
            "How far the shoulders level out against the lean",
            style.shoulder_level,
            subtype="FACTOR",
        ),
        "twist": angle(
            "Twist", "Turn of the chest to the outside at full curvature", style.twist, -30, 45
        ),
        "face_heading": amount(
            "Face Downhill",
            "Share of the turning that the chest leaves out, so that it keeps facing where "
            "the turns go",
            style.face_heading,
        ),
        "twist_limit": angle(
            "Twist Limit", "Largest turn of the chest against the skis", style.twist_limit, 0, 80
        ),
        **gaze(style, "skier"),
        "hand_forward": length(
            "Hands Ahead", "Hands in front of the shoulders", style.hand_forward, 0.6
        ),
        "hand_out": length(
            "Hands Out", "Hands to the side of the body's middle", style.hand_out, 0.7
        ),
        "hand_drop": length("Hands Down", "Hands below the shoulders", style.hand_drop, 0.6),
        "inside_hand": length(
            "Inside Hand",
            "How much the inside hand is higher and further forward",
            style.inside_hand,
            0.3,
        ),
        "pole_trail": angle(
            "Pole Trail", "How far the poles trail behind, from straight down",
            style.pole_trail, 0, 90
        ),
        "pole_spread": angle(
            "Pole Spread", "How far the poles point outwards", style.pole_spread, -10, 45
        ),
        "pole_plants": BoolProperty(
            name="Pole Plants",
            description="Plant the pole on the inside of the coming turn",
            default=style.pole_plants,
            override=OVERRIDE,
        ),
        "plant_phase": angle(
            "Plant Phase",
            "When the pole is planted, against the start of the turn that it leads into; "
            "negative is before the change of edges",
            style.plant_phase,
            -90,
            90,
        ),
        "plant_contact": amount(
            "Contact",
            "Longest time that the tip stays in the snow, in seconds",
            style.plant_contact,
            0.3,
        ),
        "plant_swing": amount(
            "Swing", "Time the pole takes to swing forward, in seconds", style.plant_swing, 1.0
        ),
        "plant_forward": length(
            "Reach", "How far the hand reaches forward for the plant", style.plant_forward, 0.3
        ),
        "plant_out": length(
            "Reach Out", "How far it reaches out to the side", style.plant_out, 0.3
        ),
    }


def also(settings):
    """Class decorator: a group has these settings too, before its own.

    Args:
        settings: annotations.
    """

    def decorate(cls):
        cls.__annotations__ = settings | cls.__annotations__
        return cls

    return decorate


# Sections of the panel that all on skis share.
_SKIS = (
    "edge_law",
    "edge_per_curvature",
    "sidecut",
    "angulation",
    "angulation_limit",
    "edge_difference",
    "edge_limit",
    "float_angle",
    "skid",
)
_UPPER_BODY = (
    (
        "Trunk",
        (
            "trunk_pitch",
            "waist_follow",
            "shoulder_level",
            "twist",
            "face_heading",
            "twist_limit",
        ),
    ),
    ("Head", ("look_ahead", "gaze_limit", "gaze_down", "head_level")),
    (
        "Arms",
        ("hand_forward", "hand_out", "hand_drop", "inside_hand", "pole_trail", "pole_spread"),
    ),
    (
        "Pole Plants",
        (
            "pole_plants",
            "plant_phase",
            "plant_contact",
            "plant_swing",
            "plant_forward",
            "plant_out",
        ),
    ),
)


@also(on_skis(SKIER))
class PoiseSkierStyle(Style, bpy.types.PropertyGroup):
    """Style of a skier."""

    PARAMS = SkierStyle
    NAMED = skier.STYLES
    AUTOMATIC = ("stiffness", "edge_per_curvature", "sidecut")
    SECTIONS = (
        (
            "Legs",
            (
                "knee_flexion",
                "up_down",
                "stiffness",
                "unweighting",
                "unweighting_amount",
                "boot_angle",
                "stance_width",
                "stance_growth",
                "outside_share",
                "lead",
                "lead_limit",
            ),
        ),
        ("Skis", _SKIS),
        *_UPPER_BODY,
    )

    boot_angle: angle(
        "Boot Angle", "Forward lean of the shins that the boots hold", SKIER.boot_angle, 5, 25
    )
    lead: amount(
        "Inside Lead", "Lead of the inside ski; 1 keeps both shins parallel", SKIER.lead, 2.0
    )
    lead_limit: length("Lead Limit", "Largest lead of the inside ski", SKIER.lead_limit, 0.6)


@also(on_skis(FREE_HEELS))
class PoiseTelemarkStyle(Style, bpy.types.PropertyGroup):
    """Style of a telemark skier."""

    PARAMS = TelemarkStyle
    NAMED = telemark.STYLES
    AUTOMATIC = ("stiffness", "edge_per_curvature", "sidecut")
    SECTIONS = (
        (
            "Stride",
            (
                "lead",
                "lead_change",
                "lead_phase",
                "heel_lift",
                "rear_bend",
                "front_weight",
                "ski_angle",
            ),
        ),
        (
            "Legs",
            (
                "knee_flexion",
                "up_down",
                "stiffness",
                "unweighting",
                "unweighting_amount",
                "stance_width",
                "stance_growth",
                "outside_share",
            ),
        ),
        ("Skis", _SKIS),
        *_UPPER_BODY,
    )

    lead: length(
        "Lead", "How far the outside ski is ahead in a full turn", FREE_HEELS.lead, 0.65, -0.2
    )
    lead_change: amount(
        "Lead Change",
        "How long the feet take to pass each other, as a share of a turn",
        FREE_HEELS.lead_change,
        subtype="FACTOR",
    )
    lead_phase: angle(
        "Lead Phase",
        "When the feet pass each other, against the change of edges; negative is before it",
        FREE_HEELS.lead_phase,
        -45,
        45,
    )
    heel_lift: angle(
        "Heel Lift", "How far the heel of the rear foot rises about its ball",
        FREE_HEELS.heel_lift, 0, 60,
    )
    rear_bend: angle(
        "Rear Knee", "How much more the rear knee is bent than the front one",
        FREE_HEELS.rear_bend, 0, 45,
    )
    front_weight: amount(
        "Front Foot", "Share of the weight on the front foot", FREE_HEELS.front_weight,
        subtype="FACTOR",
    )
    ski_angle: angle(
        "Ski Angle", "Angle between the skis in a full turn, tips together",
        FREE_HEELS.ski_angle, 0, 20,
    )


def sideways(style):
    """Annotations of the settings that all who stand sideways on a board share.

    Args:
        style: amounts to begin with.
    """
    return {
        "knee_flexion": angle(
            "Knee Bend", "Bend of the knees under one body weight", style.knee_flexion, 5, 100
        ),
        "up_down": length(
            "Up and Down", "How much the legs shorten for each body weight more", style.up_down, 0.4
        ),
        "stiffness": stiffness(),
        "unweighting": unweighting(),
        "unweighting_amount": length(
            "Unweighting Amount", "How far the legs stretch or the knees are pulled up",
            style.unweighting_amount, 0.25,
        ),
        "heel_sit": angle(
            "Heelside Sit", "How much more the knees bend on the heel side", style.heel_sit, 0, 50
        ),
        "toe_press": angle(
            "Toeside Press", "How much less they bend on the toe side", style.toe_press, 0, 40
        ),
        "front_weight": length(
            "Front Weight", "How far the body stands to the nose", style.front_weight, 0.2, -0.2
        ),
        "trunk_pitch": angle(
            "Trunk Pitch",
            "Bend of the trunk towards the toes under one body weight",
            style.trunk_pitch,
            0,
            60,
        ),
        "waist_follow": amount(
            "Waist Follows", "Further bend of the waist with the knees", style.waist_follow
        ),
        "heel_bend": angle(
            "Heelside Bend",
            "Further bend of the trunk on the heel side, less on the toe side",
            style.heel_bend,
            0,
            40,
        ),
        "shoulder_level": amount(
            "Shoulder Level",
            "How far the shoulders level against the lean",
            style.shoulder_level,
            subtype="FACTOR",
        ),
        "twist": angle(
            "Twist", "Turn of the chest into the turn at full curvature", style.twist, -30, 45
        ),
        "twist_lead": angle(
            "Twist Lead", "How far the twist is ahead of the curvature", style.twist_lead, 0, 90
        ),
        "face_heading": amount(
            "Face Downhill",
            "Share of the turning that the chest leaves out, so that it keeps facing where "
            "the turns go",
            style.face_heading,
        ),
        "twist_limit": angle(
            "Twist Limit", "Largest turn of the chest against the board", style.twist_limit, 0, 60
        ),
        **gaze(style, "rider", "from its rest view"),
        "arms_lead": amount(
            "Arms Lead", "How much further the arms turn than the chest", style.arms_lead
        ),
        "hand_raise": length(
            "Hands Raised", "Hands above where they rest", style.hand_raise, 0.4, -0.3
        ),
        "hand_spread": length(
            "Hands Spread", "Hands further out to nose and tail", style.hand_spread, 0.3, -0.3
        ),
        "inside_hand": length(
            "Inside Hand", "How much the hand on the inner side is higher", style.inside_hand, 0.3
        ),
    }


_STANDING = (
    "knee_flexion",
    "up_down",
    "stiffness",
    "unweighting",
    "unweighting_amount",
    "heel_sit",
    "toe_press",
    "front_weight",
)
_SIDEWAYS_TRUNK = (
    "Trunk",
    (
        "trunk_pitch",
        "waist_follow",
        "heel_bend",
        "shoulder_level",
        "twist",
        "twist_lead",
        "face_heading",
        "twist_limit",
    ),
)


@also(sideways(BOARDER))
class PoiseSnowboarderStyle(Style, bpy.types.PropertyGroup):
    """Style of a snowboarder."""

    PARAMS = SnowboarderStyle
    NAMED = snowboarder.STYLES
    AUTOMATIC = ("stiffness", "edge_per_curvature", "sidecut")
    SECTIONS = (
        ("Legs", _STANDING),
        (
            "Board",
            (
                "edge_law",
                "edge_per_curvature",
                "sidecut",
                "angulation",
                "angulation_limit",
                "edge_limit",
                "float_angle",
                "skid",
            ),
        ),
        _SIDEWAYS_TRUNK,
        ("Head", ("look_ahead", "gaze_limit", "gaze_down", "head_level")),
        ("Arms", ("arms_lead", "hand_raise", "hand_spread", "inside_hand")),
    )

    edge_law: edge_law()
    edge_per_curvature: edge_per_curvature()
    sidecut: sidecut("board")
    angulation: angle(
        "Angulation", "Edge angle beyond the lean in a full turn", BOARDER.angulation, 0, 30
    )
    angulation_limit: angle(
        "Angulation Limit",
        "Largest difference between edge angle and lean",
        BOARDER.angulation_limit,
        0,
        45,
    )
    edge_limit: angle("Edge Limit", "Largest edge angle", BOARDER.edge_limit, 20, 85)
    float_angle: angle(
        "Flat Below",
        "Edge angle below which the board rests flat in passing",
        BOARDER.float_angle,
        0,
        20,
    )
    skid: angle(
        "Skid", "How far the board turns across a path that it cannot carve", BOARDER.skid, 0, 60
    )


@also(sideways(ROLLER))
class PoiseSkateboarderStyle(Style, bpy.types.PropertyGroup):
    """Style of a skateboarder."""

    PARAMS = SkateboarderStyle
    NAMED = skateboarder.STYLES
    AUTOMATIC = ("stiffness",)
    SECTIONS = (
        ("Trucks", ("pivot_angle", "tilt_limit")),
        ("Legs", _STANDING),
        _SIDEWAYS_TRUNK,
        ("Head", ("look_ahead", "gaze_limit", "gaze_down", "head_level")),
        ("Arms", ("arm_balance", "arms_lead", "hand_raise", "hand_spread", "inside_hand")),
    )

    pivot_angle: angle(
        "Pivot Angle",
        "Angle over the ground of the axes that the trucks turn about: the steeper, the more "
        "they steer for the same tilt",
        ROLLER.pivot_angle,
        20,
        60,
    )
    tilt_limit: angle(
        "Tilt Limit", "Tilt at which the bushings stop the deck", ROLLER.tilt_limit, 5, 30
    )
    arm_balance: length(
        "Balance", "How far the hands swing against a quick change of lean",
        ROLLER.arm_balance, 0.4,
    )


@also(gaze(RIDER, "cyclist"))
class PoiseCyclistStyle(Style, bpy.types.PropertyGroup):
    """Style of a cyclist."""

    PARAMS = CyclistStyle
    NAMED = cyclist.STYLES
    AUTOMATIC = ("gear",)
    SECTIONS = (
        ("Pedals", ("pedalling", "gear", "cadence", "coast_lean", "foot_pitch", "ankle_range",
                    "knee_out")),
        ("Saddle", ("stand", "stand_bend", "stand_forward", "sway", "seat_sway", "bob")),
        ("Trunk", ("trunk_pitch", "stand_pitch", "body_lean", "bar_follow")),
        ("Head", ("look_ahead", "gaze_limit", "gaze_down", "head_level")),
        ("Arms", ("elbows_out", "wrist_follow")),
    )

    pedalling: amount(
        "Pedalling",
        "Above a half the cyclist pedals; below, the pedals are held level",
        RIDER.pedalling,
        max=1.0,
        subtype="FACTOR",
    )
    gear: amount(
        "Gear",
        "Turns of the rear wheel for one of the cranks; 0 for the gear that keeps the cadence",
        0.0,
        5.0,
    )
    cadence: amount(
        "Cadence",
        "Turns of the cranks a minute in the automatic gear",
        RIDER.cadence,
        130.0,
    )
    coast_lean: angle(
        "Coast Above",
        "Lean from which the cyclist stops pedalling and holds the inside pedal up",
        RIDER.coast_lean,
        5,
        45,
    )
    foot_pitch: angle(
        "Foot Pitch", "Mean downward pitch of the feet", RIDER.foot_pitch, -10, 35
    )
    ankle_range: angle(
        "Ankle Range", "How far a foot's pitch changes in a turn of the cranks",
        RIDER.ankle_range, 0, 40,
    )
    knee_out: angle(
        "Inside Knee", "How far the inside knee points out of a sharp turn",
        RIDER.knee_out, 0, 35,
    )
    stand: amount(
        "Out of Saddle", "0 sits in the saddle, 1 stands on the pedals", RIDER.stand,
        max=1.0, subtype="FACTOR",
    )
    stand_bend: angle(
        "Standing Knee", "Bend of the lower leg's knee out of the saddle",
        RIDER.stand_bend, 15, 70,
    )
    stand_forward: length(
        "Hips Forward", "How far ahead of the saddle the hips are when out of it",
        RIDER.stand_forward, 0.3, -0.15,
    )
    sway: angle(
        "Sway", "How far the bicycle tilts from side to side under a standing cyclist",
        RIDER.sway, 0, 15,
    )
    seat_sway: angle(
        "Seated Sway", "How far the bicycle tilts from side to side while pedalling seated",
        RIDER.seat_sway, 0, 4,
    )
    bob: length(
        "Bob", "How far the hips rise and fall with the pedals out of the saddle", RIDER.bob, 0.06
    )
    trunk_pitch: angle(
        "Trunk Pitch", "Forward bend of the trunk in the saddle, from upright",
        RIDER.trunk_pitch, 20, 65,
    )
    stand_pitch: angle(
        "Standing Pitch", "Forward bend of the trunk out of the saddle",
        RIDER.stand_pitch, 25, 70,
    )
    body_lean: angle(
        "Body Lean",
        "How much further than the bicycle the body leans into a turn; negative pushes the "
        "bicycle down under the body instead",
        RIDER.body_lean, -15, 15,
    )
    bar_follow: amount(
        "Chest Follows", "Share of the handlebars' turn that the chest follows",
        RIDER.bar_follow, max=1.0, subtype="FACTOR",
    )
    elbows_out: angle(
        "Elbows Out", "How far the elbows point outwards, from straight down",
        RIDER.elbows_out, 0, 80,
    )
    wrist_follow: amount(
        "Wrists Follow", "How far the hands turn on the grips with the forearms",
        RIDER.wrist_follow, max=1.0, subtype="FACTOR",
    )


class PoiseLeggedStyle(Style, bpy.types.PropertyGroup):
    """Style of a body on legs."""

    PARAMS = LeggedStyle
    NAMED = legged.STYLES
    SECTIONS = (
        ("Trunk", ("pelvis_turn", "pelvis_drop", "shoulder_turn", "spine_flexion", "trunk_pitch",
                   "effort")),
        ("Legs", ("fold", "blade_turn")),
        ("Arms", ("arm_swing", "arm_forward", "elbow_bend", "elbow_run", "arm_out")),
        ("Head", ("look_ahead", "gaze_limit", "head_level", "head_steady", "nod", "neck_drop")),
        ("Tail", ("tail_swing", "tail_lift", "tail_lag")),
    )

    def begin(self, kind: str) -> None:
        """Take the amounts of a kind of character, if it is one on legs.

        Args:
            kind: kind of character ("HORSE").
        """
        if kind.lower() in self.NAMED:
            self.set_named(kind.lower())

    pelvis_turn: angle(
        "Pelvis Turn", "How far the pelvis turns with the hind legs, with a usual step",
        WALKER.pelvis_turn, 0, 12,
    )
    pelvis_drop: angle(
        "Pelvis Drop", "How far the pelvis drops to the side of the swinging hind leg",
        WALKER.pelvis_drop, 0, 8,
    )
    shoulder_turn: angle(
        "Shoulder Turn",
        "How far the chest turns with the fore legs; of one who has none, against the pelvis",
        WALKER.shoulder_turn, 0, 12,
    )
    spine_flexion: angle(
        "Spine Flexion",
        "How far the back bends in all, from hollow with the legs stretched apart to round with "
        "the legs together, as in a gallop",
        WALKER.spine_flexion, 0, 60,
    )
    trunk_pitch: angle(
        "Trunk Pitch", "Forward bend of an upright trunk in gaits with flights",
        WALKER.trunk_pitch, 0, 30,
    )
    effort: amount(
        "Effort",
        "How far an upright trunk tips forward while speeding up and up hills, and back while "
        "slowing down and down hills; 1 balances it",
        WALKER.effort,
    )
    fold: amount(
        "Fold", "How much carpus and fetlock fold while a leg swings", WALKER.fold, 2.0
    )
    blade_turn: amount(
        "Blade Turn", "Share of a leg's swing that its shoulder blade turns with it",
        WALKER.blade_turn, 0.8, subtype="FACTOR",
    )
    arm_swing: angle(
        "Arm Swing", "How far the arms swing either way, against the legs, with a usual step",
        WALKER.arm_swing, 0, 45,
    )
    arm_forward: angle(
        "Arms Forward", "How much further forward than back the arms swing",
        WALKER.arm_forward, -10, 30,
    )
    elbow_bend: angle(
        "Elbow Bend", "Bend of the elbows in gaits without flights", WALKER.elbow_bend, 5, 60
    )
    elbow_run: angle(
        "Running Bend", "Bend of the elbows in gaits with flights", WALKER.elbow_run, 20, 110
    )
    arm_out: angle("Arms Out", "How far the arms are held from the body", WALKER.arm_out, 0, 30)
    look_ahead: amount(
        "Look Ahead", "How many seconds ahead the head looks along the way",
        WALKER.look_ahead, 2.0,
    )
    gaze_limit: angle(
        "Gaze Limit", "Largest turn of the head against the body", WALKER.gaze_limit, 0, 80
    )
    head_level: amount(
        "Level Head", "How far the head keeps level while the trunk pitches and rolls",
        WALKER.head_level, subtype="FACTOR",
    )
    head_steady: amount(
        "Steady Head", "How far the neck makes up for the trunk's rise and fall",
        WALKER.head_steady, subtype="FACTOR",
    )
    nod: angle(
        "Nod", "How far the neck nods, twice a stride, in gaits without flights",
        WALKER.nod, 0, 15,
    )
    neck_drop: angle(
        "Neck Drop", "How much lower the neck is carried in gaits with flights",
        WALKER.neck_drop, -10, 40,
    )
    tail_swing: angle(
        "Tail Swing", "How far the tail swings to the sides with a usual step",
        WALKER.tail_swing, 0, 30,
    )
    tail_lift: angle(
        "Tail Lift", "How much higher the tail is carried in gaits with flights",
        WALKER.tail_lift, -10, 60,
    )
    tail_lag: amount(
        "Tail Lag", "How many seconds each part of the tail is behind the one before",
        WALKER.tail_lag, 0.3,
    )


class PoiseEyesStyle(Style, bpy.types.PropertyGroup):
    """How the eyes of a rig look ahead, whatever it does."""

    PARAMS = EyesStyle
    NAMED = {}
    SECTIONS = (("Eyes", ("amount", "look_ahead", "limit")),)

    amount: amount(
        "Eyes Ahead", "How far the eyes turn to where the way goes; 0 leaves them with the head",
        LOOKING.amount, subtype="FACTOR",
    )
    look_ahead: amount(
        "Eyes Look Ahead", "How many seconds ahead the eyes look along the way",
        LOOKING.look_ahead, 3.0,
    )
    limit: angle(
        "Eyes Limit", "Largest turn of the eyes against the head, up to 35 degrees",
        LOOKING.limit, 0, 35,
    )


CLASSES = (
    PoiseSkierStyle, PoiseTelemarkStyle, PoiseSnowboarderStyle, PoiseSkateboarderStyle,
    PoiseCyclistStyle, PoiseLeggedStyle, PoiseEyesStyle,
)
