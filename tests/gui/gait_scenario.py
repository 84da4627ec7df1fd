# SPDX-License-Identifier: GPL-3.0-or-later
"""A horse and its footprints by clicks in a real window: blender -P gait_scenario.py -- ..."""

import sys
from pathlib import Path

import bpy
from mathutils import Vector

sys.path.insert(0, str(Path(__file__).resolve().parent))

from window import Report, Window, open_only, play, until

FOLDER, ZIP = (Path(argument) for argument in sys.argv[sys.argv.index("--") + 1 :])


def rig():
    return next((obj for obj in bpy.data.objects if obj.type == "ARMATURE"), None)


def keyed() -> bool:
    return rig().animation_data is not None and rig().animation_data.action is not None


def choose(wanted) -> None:
    """Select one object and nothing else."""
    for obj in bpy.data.objects:
        obj.select_set(obj == wanted)
    bpy.context.view_layer.objects.active = wanted


def curve(name: str, *points) -> bpy.types.Object:
    """A curve of straight lines through points."""
    data = bpy.data.curves.new(name, "CURVE")
    data.dimensions = "3D"
    spline = data.splines.new("POLY")
    spline.points.add(len(points) - 1)
    for point, place in zip(spline.points, points, strict=True):
        point.co = (*place, 1.0)
    made = bpy.data.objects.new(name, data)
    bpy.context.scene.collection.objects.link(made)
    return made


def look_at(window, wanted) -> None:
    """See objects from the side, far away; nothing is selected then."""
    for obj in bpy.data.objects:
        obj.select_set(obj in wanted)
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.view3d.view_selected()
        window.area.spaces.active.region_3d.view_distance *= 2.5
    choose(rig())
    rig().select_set(False)


def scenario(report):
    window = Window(FOLDER)
    bpy.ops.extensions.package_install_files(
        filepath=str(ZIP), repo="user_default", enable_on_install=True
    )
    yield 1.0
    open_only("POISE_PT_character")
    # Panels keep whether they are open with the window's layout, which a new file brings along.
    bpy.ops.wm.read_homefile()
    yield 1.0
    bpy.data.batch_remove(list(bpy.data.objects))
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    yield 1.0
    drawn = curve("Drawn", *((0.02 * y * y, -float(y), 0.0) for y in range(13)))
    choose(drawn)
    window.begin_way()
    found = yield from window.click_button("poise.character_add")
    yield from window.choose("horse")
    added = yield from until(lambda: rig() is not None, 30.0)
    way = window.end_way()
    report.check("Add Horse adds one that has gaits, along the selected curve", found and added
                 and rig().poise.motion == "GAIT" and rig().poise.gait.path == drawn)
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.view3d.view_selected()
    yield from window.picture("horse", window.centre())

    open_only("POISE_PT_gait", "POISE_PT_footprints", "POISE_PT_bake")
    name = str(FOLDER / "horse.blend")
    bpy.ops.wm.save_as_mainfile(filepath=name)
    bpy.ops.wm.read_homefile()
    yield 1.0
    bpy.ops.wm.open_mainfile(filepath=name, load_ui=False)
    yield 1.0
    yield from window.open_sidebar()
    yield from window.choose_tab("Poise")
    from bl_ext.user_default.poise.addon import motions
    from bl_ext.user_default.poise.addon.show import preview

    motion = motions.active_motion(rig())
    ready = yield from until(lambda: preview.status(motion).solved is not None, 60.0)
    report.check("the preview shows the gait", ready, preview.status(motion).error)
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.object.select_all(action="DESELECT")
        rig().select_set(True)
        bpy.context.view_layer.objects.active = rig()
        bpy.ops.view3d.view_selected()
    bpy.context.scene.frame_set(20)
    yield 1.0
    yield from window.picture("gait-panel", window.centre())

    # A bar of the diagram is dragged where it stands, and one step back.
    from bl_ext.user_default.poise.addon import families
    from bl_ext.user_default.poise.addon.drawing import diagrams
    from bl_ext.user_default.poise.addon.families.gait import view as gait_view
    from bl_ext.user_default.poise.addon.show import overlay

    def liftoff(leg: str) -> tuple[float, float]:
        """Where the bar of a leg that is in the middle of the diagram ends, on the screen."""
        region = window.region("WINDOW")
        shown = preview.status(motions.active_motion(rig())).solved
        with bpy.context.temp_override(window=window.window, area=window.area, region=region):
            frame = overlay.inset_frame(bpy.context, families.view_of(shown.job))
            row = overlay.row_at(shown, bpy.context.scene.frame_current_final)
        upper, _lower = gait_view.inset_axes(shown, row, round(frame[2]), round(frame[3]))
        bars = [bar for bar in diagrams.gait_bars(shown.motion, upper) if bar.leg == leg]
        area = bars[len(bars) // 2].area
        return (region.x + frame[0] + area.right,
                region.y + frame[1] + 0.5 * (area.bottom + area.top))

    def duty(leg: str) -> float:
        return {each.name: each.duty for each in rig().poise.gait.sequence[0].legs}.get(leg, 0.0)

    def own() -> bool:
        return rig().poise.gait.sequence[0].own_timing

    at = liftoff("fore.L")
    yield from window.move(*at)
    yield from window.picture("bar-under-the-pointer")
    yield from window.drag(*at, 25)
    report.check("a bar is dragged where it stands", own() and not window.runs("gait_drag"),
                 duty("fore.L"))
    yield from window.move(*window.centre())
    yield from window.press("Z", ctrl=True)
    yield 0.5
    report.check("one undo takes the drag of a bar back", not own())
    # Drag Supports goes on, each drag a step for undo.
    with bpy.context.temp_override(window=window.window, area=window.area,
                                   region=window.region("WINDOW")):
        bpy.ops.poise.gait_drag("INVOKE_DEFAULT", True)
    dragged = []
    for leg in ("fore.L", "hind.R"):
        yield 1.0
        yield from window.drag(*liftoff(leg), 20)
        dragged.append((window.runs("gait_drag"), duty(leg)))
    yield from window.press("RET")
    yield 0.5
    both = not window.runs("gait_drag")
    yield from window.move(*window.centre())
    yield from window.press("Z", ctrl=True)
    yield 0.5
    one = duty("fore.L") == dragged[0][1] and duty("hind.R") != dragged[1][1]
    yield from window.press("Z", ctrl=True)
    yield 0.5
    report.check("Drag Supports goes on until Enter, and undo goes back drag by drag",
                 dragged[0][0] and dragged[1][0] and both and one and not own(), dragged)
    motion = motions.active_motion(rig())

    window.begin_way()
    found = yield from window.click_button("bpy.ops.poise.bake(")
    baked = yield from until(keyed, 60.0)
    report.check("Bake to Rig bakes the gait", found and baked, way + window.end_way())
    yield from window.picture("baked", window.centre())

    found = yield from window.click_button("poise.footprints_edit")

    def prints():
        return [obj for obj in bpy.data.objects
                if obj.type == "MESH" and obj.poise_footprint.motion is not None]

    shown = yield from until(lambda: len(prints()) > 4, 30.0)
    report.check("Edit Footprints shows them", found and shown, len(prints()))
    moved = next(o for o in prints() if (o.poise_footprint.leg, o.poise_footprint.index)
                 == ("fore.L", 1))
    bpy.context.view_layer.objects.active = moved
    moved.select_set(True)
    rig().select_set(False)
    yield 1.0
    before = moved.location.x
    x, y = window.centre()
    yield from window.move(x, y)
    for key in ("G", "X"):
        yield from window.press(key)
    for step in range(1, 7):
        yield from window.move(x + 15 * step, y - 12 * step)  # as the axis is seen
    yield from window.press("LEFTMOUSE")
    yield 0.5
    report.check("a footprint is moved by G", abs(moved.location.x - before) > 0.01,
                 moved.location.x - before)
    yield from window.picture("moved", window.centre())
    found = yield from window.click_button("poise.footprints_adapt")
    edited = yield from until(lambda: len(motion.poise_motion.gait.footprints) == 1, 30.0)
    report.check("Adapt takes the edit over", found and edited,
                 len(motion.poise_motion.gait.footprints))
    yield 1.0
    yield from window.picture("adapted", window.centre())

    # A click takes the footprint, not the path that runs beside and through it; with Live Bake on
    # it is adapted to as soon as it is let go, at the height that it had.
    rig().poise.settings.live_bake = True
    far = [o for o in prints() if o.poise_footprint.leg == "fore.R"][2:]
    other = far[0]
    through = curve("Through", *(mark.location - Vector((0.02, 0.0, 0.0)) for mark in far))
    look_at(window, far[-3:])
    yield 1.0
    taken = []
    for mark in far[-3:]:
        choose(None)
        yield from window.click(*window.at(mark.location))
        taken.append(bpy.context.view_layer.objects.active)
    report.check("a click takes the footprint before the curve, far ones too",
                 taken == far[-3:], taken)
    yield from window.picture("picked", window.centre())
    look_at(window, [other])
    bpy.data.objects.remove(through)
    choose(other)
    yield 0.5
    before = other.location.copy()
    x, y = window.at(other.location)
    yield from window.move(x, y)
    yield from window.press("G")
    for step in range(1, 7):
        yield from window.move(x + 10 * step, y + 8 * step)
    yield from window.press("LEFTMOUSE")
    yield 0.3
    after = other.location.copy()
    report.check("G leaves a footprint on the ground",
                 after.z == before.z and (after - before).length > 0.01, (before, after))

    def live() -> bool:
        status = preview.status(motion)
        return len(motion.poise_motion.gait.footprints) == 2 and not status.out_of_date

    yield from until(live, 60.0)
    yield 1.0
    report.check("Live Bake adapts to it and bakes", live(), preview.status(motion).live_error)

    # Panels at twice the size.
    bpy.context.preferences.view.ui_scale = 2.0
    yield 2.0
    yield from window.picture("twice", window.centre())


if __name__ == "__main__":
    bpy.context.preferences.view.show_splash = False
    bpy.context.preferences.inputs.use_mouse_continuous = False
    lines = Report(FOLDER / "results.json")
    play(scenario(lines), lines)
