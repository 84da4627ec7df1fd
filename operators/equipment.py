# SPDX-License-Identifier: GPL-3.0-or-later
"""Objects of the animator's own as equipment of a character."""

import bpy
from bpy.props import BoolProperty, EnumProperty, StringProperty

from ..addon import motions
from ..addon.base_operator import SettingsOperator
from ..addon.context import keep_selection, object_mode
from ..addon.errors import UserError
from ..addon.rigs.equipment import own_equipment

PLACES = (
    (
        "FIT",
        "Fit",
        "Into the place of Poise's own part: turned, moved and resized by its bounding box",
    ),
    (
        "REST",
        "Where It Stands",
        "As it stands to the character's rest pose; wheels and cranks are moved onto their axles",
    ),
    ("POSE", "Where It Is Now", "As it stands to the pose of the current frame"),
)


def _roles(self, context, edit_text):
    return list(own_equipment.roles_of(motions.active_character(context)))


class _OnCharacter(SettingsOperator):
    """Mixin: for the active character that has equipment."""

    @classmethod
    def poll(cls, context):
        character = motions.active_character(context)
        if character is None:
            cls.poll_message_set("No character is active: select one")
            return False
        if not own_equipment.roles_of(character):
            cls.poll_message_set(
                f"{character.name} has no equipment: add a character, or set a rig up"
            )
            return False
        return True


class POISE_OT_equipment_attach(_OnCharacter, bpy.types.Operator):
    """Let an object of your own be the character's ski, board, pole, wheel or other equipment"""

    bl_idname = "poise.equipment_attach"
    bl_label = "Attach Equipment"

    role: StringProperty(
        name="Role", description="What it is to be, such as ski.L or front_wheel", search=_roles
    )
    object: StringProperty(
        name="Object",
        description="The object, with all that hangs on it; empty to take the collection, or the "
        "selected objects",
        options={"SKIP_SAVE"},
    )
    collection: StringProperty(
        name="Collection",
        description="A collection whose objects play the role together",
        options={"SKIP_SAVE"},
    )
    place: EnumProperty(name="Place", description="How it comes to its place", items=PLACES)
    resize: BoolProperty(
        name="Resize", description="Make it as large as Poise's own part", default=True
    )
    flip: BoolProperty(name="Turn Around", description="Turn it front to back")
    add: BoolProperty(
        name="Add",
        description="Keep what plays the role already; otherwise it is given back",
        options={"SKIP_SAVE"},
    )

    def draw(self, context):
        layout = self.layout
        layout.use_property_split = True
        layout.prop(self, "role")
        layout.prop_search(self, "object", bpy.data, "objects")
        layout.prop_search(self, "collection", bpy.data, "collections")
        layout.prop(self, "place")
        if self.place == "FIT":
            layout.prop(self, "resize")
            layout.prop(self, "flip")
        layout.prop(self, "add")

    def invoke(self, context, event):
        others = _selected(context)
        if not self.object and not self.collection and len(others) == 1:
            self.object = others[0].name
        if self.object or self.collection or others:
            return self.execute(context)
        return context.window_manager.invoke_props_dialog(self)

    def run(self, context):
        character = motions.active_character(context)
        motions.require_editable(character)
        role = self.role.strip()
        own_equipment.require_role(character, role)
        place = own_equipment.Place(self.place, self.resize, self.flip)
        with keep_selection(context), object_mode(context):
            objects = self._objects(context)
            own_equipment.attach(character, role, objects, place, self.add)
        what = objects[0].name if len(objects) == 1 else f"{len(objects)} objects"
        return f"{what} is the {own_equipment.label(role)} of {character.name}"

    def _objects(self, context):
        if self.object:
            obj = bpy.data.objects.get(self.object)
            if obj is None:
                raise UserError(f"There is no object called {self.object!r}: choose another one")
            return [obj]
        if self.collection:
            collection = bpy.data.collections.get(self.collection)
            if collection is None:
                raise UserError(
                    f"There is no collection called {self.collection!r}: choose another one"
                )
            return _tops(collection.all_objects)
        return _tops(_selected(context))


def _selected(context):
    """Selected objects that are none of the active character's."""
    active = motions.active_rig(context)
    ours = (motions.active_character(context), active)
    return [
        obj
        for obj in context.view_layer.objects.selected
        if obj not in ours and "poise_figure" not in obj and not motions.is_motion(obj)
    ]


def _tops(objects):
    """Those of objects that hang on none of the others."""
    found = set(objects)
    return [obj for obj in objects if obj.parent not in found]


class POISE_OT_equipment_detach(_OnCharacter, bpy.types.Operator):
    """Give an object of your own back as it was, and show Poise's own part again"""

    bl_idname = "poise.equipment_detach"
    bl_label = "Detach Equipment"

    role: StringProperty(
        name="Role",
        description="What it is, such as ski.L; empty for all of the character's, or for the "
        "active object where that is equipment",
        search=_roles,
    )

    @classmethod
    def poll(cls, context):
        return _active_equipment(context) is not None or super().poll(context)

    def run(self, context):
        character, own = motions.active_character(context), _active_equipment(context)
        if character is None:  # it has been deleted
            own_equipment.release(own)
            return f"{own.name} is as it was"
        motions.require_editable(character)
        role = self.role.strip()
        if role:
            own_equipment.require_role(character, role)
        elif own is not None:
            role = own_equipment.role_of(own)
        roles = [role] if role else list(own_equipment.roles_of(character))
        if not any(own_equipment.is_replaced(character, role) for role in roles):
            raise UserError(f"{character.name} has Poise's own equipment: nothing is to detach")
        with keep_selection(context), object_mode(context):
            released = own_equipment.detach(character, roles)
        if not released:
            return f"Poise's own equipment of {character.name} is shown again"
        names = ", ".join(obj.name for obj in released[:3])
        more = f" and {len(released) - 3} more" if len(released) > 3 else ""
        return f"Detached {names}{more}"


def _active_equipment(context):
    active = context.view_layer.objects.active if context.view_layer else None
    return active if own_equipment.link_of(active) is not None else None


class POISE_OT_equipment_hide(_OnCharacter, bpy.types.Operator):
    """Hide Poise's own part, or show it again"""

    bl_idname = "poise.equipment_hide"
    bl_label = "Hide Equipment"

    role: StringProperty(
        name="Role", description="Which part, such as ski.L or front_wheel", search=_roles
    )
    hidden: BoolProperty(name="Hidden", description="Hide it; otherwise show it", default=True)

    def run(self, context):
        character = motions.active_character(context)
        motions.require_editable(character)
        role = self.role.strip()
        with keep_selection(context), object_mode(context):
            own_equipment.hide(character, role, self.hidden)
        state = "hidden" if self.hidden else "shown"
        return f"{own_equipment.label(role)} of {character.name} is {state}"


CLASSES = (POISE_OT_equipment_attach, POISE_OT_equipment_detach, POISE_OT_equipment_hide)
