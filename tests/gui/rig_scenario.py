# SPDX-License-Identifier: GPL-3.0-or-later
"""A Rigify human by clicks in a real window: set up, given a ski, baked, and left as it was.

blender -P rig_scenario.py -- FOLDER ZIP
"""

import sys
from pathlib import Path

import bpy

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, open_only, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])


def human():
    """A human as Rigify generates it, active."""
    bpy.ops.preferences.addon_enable(module="rigify")
    bpy.ops.object.armature_human_metarig_add()
    meta = bpy.context.active_object
    bpy.ops.pose.rigify_generate()
    rig = next(o for o in bpy.data.objects if o.type == "ARMATURE" and o != meta)
    bpy.data.objects.remove(meta)
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    rig.select_set(True)
    bpy.context.view_layer.objects.active = rig
    return rig.name


def own_ski():
    """A plain ski of the animator's own, somewhere beside the rig."""
    mesh = bpy.data.meshes.new("My Ski")
    ends = [(x, y, z) for x in (-0.05, 0.05) for y in (-0.9, 0.9) for z in (0.0, 0.02)]
    faces = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    mesh.from_pydata(ends, [], faces)
    ski = bpy.data.objects.new("My Ski", mesh)
    ski.location = (2.0, 1.0, 0.5)
    bpy.context.scene.collection.objects.link(ski)


def select(*names):
    """Select objects, the last of them active."""
    for obj in bpy.context.selected_objects:
        obj.select_set(False)
    for name in names:
        bpy.data.objects[name].select_set(True)
    bpy.context.view_layer.objects.active = bpy.data.objects[names[-1]]


def keyed(obj) -> bool:
    return obj is not None and obj.animation_data is not None and (
        obj.animation_data.action is not None
    )


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    yield 1.0
    bpy.data.batch_remove(list(bpy.data.objects))
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        name = human()
        own_ski()
        # Drawing hundreds of custom shapes takes a software renderer too long.
        window.area.spaces.active.overlay.show_overlays = False
        bpy.ops.ed.undo_push(message="a rig")
    # The equipment's list stands open from the start: where its header is nobody tells.
    part = next(cls for cls in bpy.types.Panel.__subclasses__()
                if cls.__name__ == "POISE_PT_character_equipment")
    part.bl_options = set()
    open_only("POISE_PT_character", "POISE_PT_bake")
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    yield 1.0

    def rig():
        return bpy.data.objects[name]

    def controls():
        motion = rig().poise.motion_object
        return None if motion is None else motion.poise_motion.character

    yield from window.picture("not-set-up", window.centre())
    window.begin_way()
    found = yield from window.click_button("poise.rig_setup")
    yield from window.choose("skier")
    ready = yield from until(lambda: rig().poise.kind != "", 30.0)
    way = window.end_way()
    report.check("Set Up Rig builds controls that fit", found and ready, rig().poise.kind)
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.view3d.view_selected()
    yield 1.0
    yield from window.picture("set-up", window.centre())

    def ski():
        return bpy.data.objects["My Ski"]

    before = ski().matrix_world.copy()
    select("My Ski", name)
    found = yield from window.click_button("poise.equipment_attach", "ski.L", part=0.62)
    worn = yield from until(lambda: len(ski().constraints) > 0, 20.0)
    report.check("a ski of one's own is put under a foot", found and worn)
    yield 0.5
    foot = rig().matrix_world @ rig().pose.bones["ORG-foot.L"].head
    far = (ski().evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world.translation
           - foot).to_2d().length
    report.check("it stands where the foot is", far < 0.5, f"{far:.2f} m")
    select(name)
    yield from window.picture("own-ski", window.centre())

    window.begin_way()
    found = yield from window.click_button("bpy.ops.poise.bake(")
    baked = yield from until(lambda: keyed(controls()), 60.0)
    report.check("Bake to Rig keys the controls", found and baked, way + window.end_way())
    found = yield from window.click_button("poise.bake_to_bones")
    baked = yield from until(lambda: keyed(rig()), 60.0)
    report.check("Bake to Bones keys the rig", found and baked)
    yield from window.picture("baked", window.centre())
    yield from window.move(*window.centre())
    yield from window.press("Z", ctrl=True)
    undone = yield from until(lambda: not keyed(rig()), 20.0)
    report.check("undo takes the keys of the rig back", undone)

    found = yield from window.click_button("poise.rig_remove", part=0.82)
    gone = yield from until(lambda: rig().poise.kind == "", 20.0)
    left = [obj.name for obj in bpy.data.objects if obj.get("poise_kind")]
    report.check("Remove from Rig leaves the rig alone", found and gone and not left, left)
    there = ski().evaluated_get(bpy.context.evaluated_depsgraph_get()).matrix_world
    given = not len(ski().constraints) and (there.translation - before.translation).length < 1e-5
    report.check("the ski is given back where it was", given, there.translation)
    yield from window.picture("removed", window.centre())


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.inputs.use_mouse_continuous = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
