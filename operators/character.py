# SPDX-License-Identifier: GPL-3.0-or-later
"""Adding a character, and dressing it."""

from math import isfinite, radians

import bpy
import numpy as np
from bpy.props import (
    BoolProperty,
    EnumProperty,
    FloatProperty,
    FloatVectorProperty,
    StringProperty,
)

from ..addon import families, motions
from ..addon.baking import copies
from ..addon.base_operator import ByMenu, SettingsOperator
from ..addon.context import object_mode, select_only
from ..addon.errors import UserError
from ..addon.placement import put_at, world_matrix
from ..addon.rigs import characters, collections, machines
from ..addon.rigs.controls import control_rig
from ..addon.rigs.equipment import own_equipment
from ..addon.scene.timing import scene_numbers
from ..addon.shots import objects
from . import motion as motion_list

ALL = characters.KINDS | machines.MACHINES
KINDS = tuple(
    (name, kind.label, kind.description, "ARMATURE_DATA", number)
    for number, (name, kind) in enumerate(ALL.items())
)


def _colour(name, default, description):
    return FloatVectorProperty(
        name=name,
        description=description,
        subtype="COLOR",
        size=3,
        min=0.0,
        max=1.0,
        default=default,
    )


class POISE_OT_character_add(ByMenu, SettingsOperator, bpy.types.Operator):
    """Add a rigged and skinned character with its equipment at the 3D cursor, with a motion"""

    bl_idname = "poise.character_add"
    bl_label = "Add Character"
    menu = "POISE_MT_add"

    kind: EnumProperty(
        name="Kind", description="What kind of character to add", items=KINDS,
        options={"SKIP_SAVE"},
    )
    height: FloatProperty(
        name="Height",
        description="Height of the figure in metres: stature, of an animal at the withers, of "
        "an insect or a car its length",
        default=1.78,
        min=0.01,
        max=5.0,
        soft_min=0.1,
        soft_max=2.2,
    )
    mass: FloatProperty(
        name="Mass",
        description="Mass of the figure with its equipment",
        default=80.0,
        min=1e-6,
        max=1e6,
        soft_min=1.0,
        soft_max=600.0,
        unit="MASS",
    )
    sized_for: StringProperty(
        description="Kind that height and mass are the usual ones of", options={"HIDDEN"}
    )
    goofy: BoolProperty(name="Goofy", description="Right foot in front (on a board)", default=False)
    slope: FloatProperty(
        name="Slope",
        description="Steepness of the hill the character starts on",
        default=radians(12.0),
        min=0.0,
        max=radians(60.0),
        subtype="ANGLE",
    )
    suit: _colour("Jacket", characters.COLOURS["suit"], "Colour of the jacket")
    trousers: _colour("Trousers", characters.COLOURS["trousers"], "Colour of the trousers")
    helmet: _colour("Helmet", characters.COLOURS["helmet"], "Colour of the helmet")
    equipment: _colour(
        "Equipment", characters.COLOURS["equipment"], "Colour of skis, board or frame"
    )
    coat: _colour("Coat", characters.COLOURS["coat"], "Colour of an animal's coat")
    hair: _colour("Hair", characters.COLOURS["hair"], "Colour of hair, mane and tail")
    shell: _colour("Shell", characters.COLOURS["shell"], "Colour of an insect's shell")
    paint: _colour("Paint", characters.COLOURS["paint"], "Colour of a machine's paint")
    limbs: _colour("Legs", characters.COLOURS["limbs"], "Colour of an insect's legs and feelers")

    paint: _colour("Paint", characters.COLOURS["paint"], "Colour of a car's paint")

    @classmethod
    def poll(cls, context):
        if context.scene is None:
            cls.poll_message_set("There is no scene to add a character to")
            return False
        return True

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "kind")
        layout.prop(self, "height")
        layout.prop(self, "mass")
        if self.kind in characters.KINDS and characters.has_stances(self.kind):
            layout.prop(self, "goofy")
        if ALL[self.kind].slope:
            layout.prop(self, "slope")
        for name in ALL[self.kind].paints:
            layout.prop(self, name)

    def _take_usual(self):
        """Size, mass and colours of the kind, where the animator has chosen no others."""
        kind, before = ALL[self.kind], ALL.get(self.sized_for)
        chosen = self.properties.is_property_set
        for name, usual in (("height", "size"), ("mass", "mass")):
            value = getattr(self, name)
            if not chosen(name) or (before and abs(value / getattr(before, usual) - 1.0) < 1e-6):
                setattr(self, name, getattr(kind, usual))
        colours = characters.COLOURS | dict(kind.colours)
        former = characters.COLOURS | dict(before.colours) if before else {}
        for name in kind.paints:
            same = name in former and np.allclose(getattr(self, name), former[name], atol=1e-6)
            if not chosen(name) or same:
                setattr(self, name, colours[name])
        self.sized_for = self.kind

    def run(self, context):
        self._take_usual()
        numbers, curve = scene_numbers(context.scene), motion_list.selected_curve(context)
        place = context.scene.cursor.location
        if not all(isfinite(value) for value in place):
            raise UserError("The 3D cursor stands nowhere: put it back with Shift C")
        home = context.collection
        if home is None or home.library is not None or home.override_library is not None:
            home = context.scene.collection
        active = context.view_layer.objects.active
        if active is not None and active.mode != "OBJECT":
            bpy.ops.object.mode_set(mode="OBJECT")
        own = {
            "location": place, "collection": collections.make(home, "Character"), "mass": self.mass,
            "colours": {name: tuple(getattr(self, name)) for name in ALL[self.kind].paints},
        }
        if self.kind in machines.MACHINES:
            rig = machines.build_machine(context, self.kind, size=self.height, **own)
        else:
            rig = characters.build_character(
                context, self.kind, height=self.height, regular=not self.goofy, **own
            )
        own["collection"].name = rig.name
        motion = motions.add_motion(context, rig)
        turns = motion.poise_motion.turns
        families.begin(motion, numbers.unit_scale)
        given = self.properties.is_property_set("slope")
        turns.slope = self.slope if given else ALL[self.kind].slope
        select_only(context, rig)
        if curve is not None and families.go_along(motion, curve):
            return f"Added {rig.name}, along {curve.name}: set its motion, then Bake to Rig"
        what = {"GAIT": "its gaits", "CONTROLLER": "controllers and a script"}
        told = what.get(motion.poise_motion.kind, "its turns")
        return f"Added {rig.name}: set {told}, then Bake to Rig"


class POISE_OT_mesh_swap(SettingsOperator, bpy.types.Operator):
    """Give the character the selected mesh instead of its own figure"""

    bl_idname = "poise.mesh_swap"
    bl_label = "Swap Mesh"

    @classmethod
    def poll(cls, context):
        if motions.active_character(context) is None:
            cls.poll_message_set("Select a mesh, then the character, so that it is active")
            return False
        return True

    def run(self, context):
        rig = motions.active_character(context)
        motions.require_editable(rig)
        meshes = [
            obj
            for obj in context.selected_objects
            if obj.type == "MESH" and motions.character_of(obj) != rig
        ]
        if len(meshes) != 1:
            raise UserError(
                f"{len(meshes)} meshes are selected beside {rig.name}: select the one to wear"
            )
        with object_mode(context):
            characters.swap_mesh(rig, meshes[0])
        return f"{rig.name} wears {meshes[0].name}"


class _OfCharacter:
    """Mixin: only where a character is active."""

    @classmethod
    def poll(cls, context):
        if motions.active_character(context) is None:
            cls.poll_message_set("No character is active")
            return False
        return True


class POISE_OT_mesh_restore(_OfCharacter, SettingsOperator, bpy.types.Operator):
    """Give the character its own figure back"""

    bl_idname = "poise.mesh_restore"
    bl_label = "Restore Mesh"

    def run(self, context):
        rig = motions.active_character(context)
        motions.require_editable(rig)
        with object_mode(context):
            characters.restore_mesh(rig)
        return f"{rig.name} wears its own figure again"


class POISE_OT_character_remove(_OfCharacter, SettingsOperator, bpy.types.Operator):
    """Remove the character, its motions and what these baked; what is yours stays"""

    bl_idname = "poise.character_remove"
    bl_label = "Remove Character"

    @classmethod
    def poll(cls, context):
        if not super().poll(context):
            return False
        rig = motions.active_character(context)
        if control_rig.rig_of(rig) or not characters.figure_meshes(rig):
            cls.poll_message_set("Poise did not build this figure: delete it, or Remove from Rig")
            return False
        return True

    def run(self, context):
        rig = motions.active_character(context)
        motions.require_editable(rig)
        name = rig.name
        with object_mode(context):
            for motion in motions.motions_of(rig):
                motion_list.remove(context, motion)
            own_equipment.detach(rig, own_equipment.roles_of(rig))
            if characters.kind_of(rig):
                characters.restore_mesh(rig)
            built = characters.figure_meshes(rig)
            places = {c: world_matrix(c).copy() for c in rig.children if c not in built}
            for child, place in places.items():
                child.parent = None
                put_at(child, place)
            homes = rig.users_collection
            objects.remove(rig)
            collections.tidy(homes)
        return f"Removed {name}"


class POISE_OT_character_duplicate(_OfCharacter, SettingsOperator, bpy.types.Operator):
    """Copy the character with its figure, equipment, motions and bakes, as one of its own"""

    bl_idname = "poise.character_duplicate"
    bl_label = "Duplicate Character"

    share_path: BoolProperty(
        name="Share Path",
        description="Go along the same curve and through the same gates, instead of copies",
        default=False,
    )

    def run(self, context):
        rig = motions.active_character(context)
        characters.require_kind(rig)
        motions.require_editable(rig)
        with object_mode(context):
            copy = copies.duplicate(context, rig, shared=self.share_path)
        return f"Added {copy.name}, a copy of {rig.name}: press G to move it with its motions"


CLASSES = (
    POISE_OT_character_add, POISE_OT_character_duplicate, POISE_OT_character_remove,
    POISE_OT_mesh_swap, POISE_OT_mesh_restore,
)
