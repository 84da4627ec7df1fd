# SPDX-License-Identifier: GPL-3.0-or-later
"""Streets for cars to park in, and other people's vehicles as cars."""

from math import atan2

import bpy
import numpy as np
from bpy.props import BoolProperty, FloatProperty

from ..addon import baking, families, motions
from ..addon.base_operator import SettingsOperator
from ..addon.context import object_mode, select_only
from ..addon.errors import UserError
from ..addon.families.controlling import gather
from ..addon.rigs import cars, machines, vehicles
from ..addon.rigs.actor import Actor
from ..addon.scene.streets import read_lane
from ..addon.scene.timing import frame_range, scene_numbers
from ..addon.shots import streets, trail
from ..solvers.control.driving import LONGEST
from .control import add_controller
from .motion import OfKind

LASTS = 20.0  # s, that parking takes, with some to spare


class _OfCar(OfKind):
    """Mixin: only where the active motion is of controllers, and of a car."""

    motion_kind = "CONTROLLER"
    lacks = "controllers: set Motion to Controller"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        if machines.machine_of(motions.active_character(context)) != "CAR":
            cls.poll_message_set("No car is active: add one, or Set Up as Car")
            return False
        return True


class POISE_OT_street_add(_OfCar, SettingsOperator, bpy.types.Operator):
    bl_description = (
        "Add a street around the car, with a gap between two parked cars, and a "
        "controller that parks there"
    )
    bl_idname = "poise.street_add"
    bl_label = "Add Street"

    gap: FloatProperty(
        name="Gap", description="Between the parked cars, in metres", default=6.5, min=1.0,
        soft_min=5.5, soft_max=9.0, max=20.0,
    )
    width: FloatProperty(
        name="Width", description="From kerb to kerb, in metres", default=7.0, min=3.0,
        soft_min=5.0, soft_max=10.0, max=40.0,
    )
    controller: BoolProperty(
        name="With Controller", description="Add a controller that parks in the gap, and a line of "
        "the script, where the motion has none", default=True,
    )

    def run(self, context):
        character, motion = motions.require_motion(context)
        numbers = scene_numbers(context.scene)
        world, metres = cars.root_frame(character, numbers.unit_scale)
        figure = cars.read_car(character).scaled(metres)
        least = figure.length + 0.6
        if self.gap < least:
            raise UserError(
                f"A gap of {self.gap:.1f} m is too short for {character.name}: make it at least "
                f"{least:.1f} m"
            )
        if self.width < 2.0 * figure.width + streets.KERB + 1.0:
            raise UserError(
                f"A street {self.width:.1f} m wide has no room to pass a parked car: make it at "
                f"least {2.0 * figure.width + streets.KERB + 1.0:.1f} m"
            )
        ahead = -world[:3, 1]
        place = np.array([world[0, 3], world[1, 3], atan2(ahead[1], ahead[0])])
        settings = motion.poise_motion.control
        with object_mode(context):
            settings.street, settings.obstacles = streets.add(
                context, motion, cars.parked(figure.length, numbers.unit_scale),
                (figure.length, figure.width), place, self.gap, self.width, numbers.unit_scale,
            )
        if self.controller and not settings.controllers:
            _add_controller(context, motion)
            start, end = frame_range(context.scene, motion)
            last = start + round(LASTS * numbers.fps)
            if last > end:
                own = motion.poise_motion
                own.frame_start, own.frame_end = start, last
        return f"Added a street with a gap of {self.gap:.1f} m: Build, then Bake to Rig"


def _add_controller(context, motion):
    """The usual controller of a car, and a line that takes it."""
    figure, body, numbers = gather.known(context, motion)
    settings = motion.poise_motion.control
    plan = figure.library(body)[0]
    item = add_controller(settings, plan, plan.name, numbers.unit_scale)
    if not settings.script:
        line = settings.script.add()
        line.controller, line.until, line.seconds = item.name, "REACHED", LONGEST


class POISE_OT_parking_place_set(_OfCar, SettingsOperator, bpy.types.Operator):
    bl_description = (
        "Let the chosen controller park the car where the other selected object stands, "
        "facing along its -Y axis"
    )
    bl_idname = "poise.parking_place_set"
    bl_label = "Park at Object"

    def run(self, context):
        character, motion = motions.require_motion(context)
        settings, numbers = motion.poise_motion.control, scene_numbers(context.scene)
        others = [
            obj for obj in context.selected_objects
            if obj not in (character, motion) and motions.character_of(obj) != character
        ]
        if len(others) != 1:
            raise UserError(
                f"{len(others)} objects are selected beside {character.name}: select the one to "
                "park at"
            )
        if not 0 <= settings.controller_index < len(settings.controllers):
            raise UserError(f"{motion.name} has no controller yet: add one")
        figure, body, _numbers = gather.known(context, motion)
        lane = read_lane(settings.street, numbers.unit_scale)
        world = np.array(others[0].matrix_world, dtype=float)
        world[:3, 3] *= numbers.unit_scale
        seen = np.linalg.inv(lane.matrix) @ world
        spans = figure.coordinates(body)
        values = (seen[0, 3], seen[1, 3], atan2(-seen[1, 1], -seen[0, 1]), 0.0, 0.0)
        item = settings.controllers[settings.controller_index]
        item.destinations.clear()
        gather.fill_state(
            item.destinations.add().values, spans,
            {x.name: float(v) for x, v in zip(spans, values, strict=True)}, numbers.unit_scale,
        )
        return f"{item.name} parks {Actor.of(character).name} at {others[0].name}: Build it anew"


class POISE_OT_car_setup(SettingsOperator, bpy.types.Operator):
    bl_description = (
        "Make an armature that carries the selected vehicle, whose four wheels are "
        "objects, and give it a motion"
    )
    bl_idname = "poise.car_setup"
    bl_label = "Set Up as Car"

    turned: BoolProperty(
        name="Turned Around", description="It goes the other way than was found", default=False,
    )
    mass: FloatProperty(
        name="Mass", description="Mass of the vehicle; 0 for that of a car of its length",
        default=0.0, min=0.0, max=1e6, unit="MASS",
    )

    @classmethod
    def poll(cls, context):
        active = context.view_layer.objects.active
        if active is None or active.type not in {"MESH", "EMPTY"}:
            cls.poll_message_set("No vehicle is active: select its objects")
            return False
        return True

    def run(self, context):
        active = context.view_layer.objects.active
        some = dict.fromkeys((active, *context.selected_objects))
        parts = vehicles.members(obj for obj in some if obj.type in {"MESH", "EMPTY"})
        unit = scene_numbers(context.scene).unit_scale
        with object_mode(context):
            name = parts[0].name if len(parts[0].children) else active.name
            rig = vehicles.set_up(context, parts, name, unit, self.turned, self.mass)
            motion = motions.add_motion(context, rig)
            families.begin(motion, unit)
        select_only(context, rig)
        return f"{rig.name} carries {len(parts)} objects: Add Street, or choose one"


class POISE_OT_car_remove(SettingsOperator, bpy.types.Operator):
    """Take Poise off a vehicle that was set up as a car: its motions, bakes and armature"""

    bl_idname = "poise.car_remove"
    bl_label = "Remove from Vehicle"

    @classmethod
    def poll(cls, context):
        if not vehicles.is_set_up(motions.active_character(context)):
            cls.poll_message_set("No vehicle that was set up is active: select its armature")
            return False
        return True

    def run(self, context):
        rig = motions.active_character(context)
        with object_mode(context):
            for motion in motions.motions_of(rig):
                if baking.is_baked(motion):
                    baking.clear(context, motion)
                trail.remove_helpers(motion)
                bpy.data.objects.remove(motion)
            found = vehicles.give_back(rig)
            context.view_layer.update()
        for obj in found:
            if obj.name in context.view_layer.objects:
                obj.select_set(True)
                context.view_layer.objects.active = obj
        return f"{len(found)} objects hang where they hung before"


CLASSES = (
    POISE_OT_car_setup, POISE_OT_car_remove,
    POISE_OT_street_add, POISE_OT_parking_place_set,
)
