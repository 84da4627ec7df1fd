# SPDX-License-Identifier: GPL-3.0-or-later
"""Legged motion through the add-on: list, path, terrain, bake, cycles, chains, bad input.

The physics of gaits is tested on the solver itself; here stands that what it
finds arrives on the rig, and that settings arrive at the solver.
"""

import re
from math import inf, nan

import bpy
import numpy as np
import pytest
import rolling
from operators_help import assert_same_keys, curves_of, keys_of, refused
from poise.addon import baking, pipeline
from poise.addon.bake import verify
from poise.addon.bake.data import BakeRecord
from poise.addon.rigs import characters
from poise.addon.show import overlay, preview
from poise.solvers.legged.gait import other_side
from poise.solvers.legged.speed import speeds_along
from scenes_help import key_speed, path


def animal(kind="HORSE", frames=73, height=0.0, **settings):
    """A character on legs with a motion of so many frames from frame 1."""
    bpy.ops.poise.character_add(kind=kind, **({"height": height} if height else {}))
    rig = bpy.context.object
    rig.poise.settings.frame_end = frames
    for name, value in settings.items():
        setattr(rig.poise.gait, name, value)
    return rig


def solved(rig):
    return pipeline.solve(pipeline.gather(bpy.context, rig.poise.motion_object))


def mesh(points, faces, name="Ground"):
    data = bpy.data.meshes.new(name)
    data.from_pydata(points, [], faces)
    obj = bpy.data.objects.new(name, data)
    bpy.context.collection.objects.link(obj)
    return obj


def hill(slope):
    """A plane that rises by `slope` metres a metre towards -Y, through the origin."""
    corners = ((-20.0, -40.0), (20.0, -40.0), (20.0, 20.0), (-20.0, 20.0))
    return mesh([(x, y, -slope * y) for x, y in corners], [(0, 1, 2, 3)])


def tips(rig, done, frame, subframe=0.0):
    """(legs, 3) world places of the soles' marked points on the evaluated rig."""
    bpy.context.scene.frame_set(frame, subframe=subframe)
    posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    places = []
    for leg in done.job.figure.legs:
        bone = posed.pose.bones[f"DEF-{leg.segments[-1]}"]
        places.append(posed.matrix_world @ bone.tail)
    return np.array(places)


# -- the list ------------------------------------------------------------------------


def test_gaits_are_added_moved_and_removed(scene):
    rig = animal()
    gait = rig.poise.gait
    assert rig.poise.motion == "GAIT"
    assert [item.name for item in gait.sequence] == ["Walk"]
    scene.frame_set(25)
    bpy.ops.poise.gait_add(preset="TROT")
    bpy.ops.poise.gait_add(preset="CANTER_LEFT", start=2.5)
    assert [item.start for item in gait.sequence] == pytest.approx([0.0, 1.0, 2.5])
    assert gait.sequence_index == 2
    bpy.ops.poise.gait_move(direction=-1)
    # Gaits change places, the moments at which one begins stay.
    assert [item.gait for item in gait.sequence] == ["WALK", "CANTER_LEFT", "TROT"]
    assert [item.start for item in gait.sequence] == pytest.approx([0.0, 1.0, 2.5])
    bpy.ops.poise.gait_remove()
    assert [item.gait for item in gait.sequence] == ["WALK", "TROT"]
    refused("gait_add", "Run is for 2 legs", preset="RUN")
    refused("gait_remove", "no gait number 7", index=7)
    for _ in range(2):
        bpy.ops.poise.gait_remove(index=0)
    refused("gait_remove", "has no gaits yet")
    refused("bake", "Gaits is an empty list: it must be one gait at least")


def test_gaits_keep_the_numbers_by_which_files_know_them(scene):
    rig = animal("BIPED")
    numbers = {
        item.identifier: item.value
        for item in rig.poise.gait.sequence[0].bl_rna.properties["gait"].enum_items
    }
    assert [numbers[name] for name in ("WALK", "SKIP", "HOP", "WAVE")] == [0, 15, 16, 19]
    assert sorted(numbers.values()) == list(range(len(numbers)))


def test_only_legs_have_gaits_and_only_riders_turns(scene):
    rig = animal()
    rig.poise.motion = "TURNS"
    refused("bake", "Horse cannot do turns.*: set Motion to Gait")
    bpy.ops.poise.character_add(kind="SKIER")
    assert bpy.context.object.poise.motion == "TURNS"
    refused("motion_add", "can only do Turns or Path", kind="GAIT")
    bpy.context.object.poise.motion = "GAIT"
    refused("bake", "Skier cannot do gaits: set Motion to Turns or Path")


def test_own_timing_is_what_feet_do(scene):
    rig = animal(frames=97)
    item = rig.poise.gait.sequence[0]
    item.own_timing = True
    assert [leg.name for leg in item.legs] == ["hind.L", "hind.R", "fore.L", "fore.R"]
    assert item.legs["hind.L"].duty == pytest.approx(0.64)  # the walk's
    for name, phase in (("hind.L", 0.0), ("hind.R", 0.5), ("fore.L", 0.5), ("fore.R", 0.0)):
        item.legs[name].duty, item.legs[name].phase = 0.5, phase
    steps = solved(rig).motion.footprints
    on = {leg: [p.on for p in steps if p.leg == leg and np.isfinite(p.on)] for leg in
          ("hind.L", "hind.R", "fore.L", "fore.R")}
    for pair in (("hind.L", "fore.R"), ("hind.R", "fore.L")):
        for first, second in zip(*(on[leg] for leg in pair), strict=False):
            assert first == pytest.approx(second, abs=1e-9)
    period = np.diff(on["hind.L"]).mean()
    for print_ in [p for p in steps if p.leg == "hind.L"][1:-1]:
        assert print_.off - print_.on == pytest.approx(0.5 * period, rel=1e-6)
    # Another gait is another timing.
    item.gait = "TROT"
    assert not item.own_timing and not len(item.legs)


def test_a_horse_that_speeds_up_goes_through_its_gaits(scene):
    rig = animal(frames=241, mode="AUTOMATIC")
    key_speed(rig, (1, 1.5), (241, 12.0))
    done = solved(rig)
    names = [name for name, _start, _end in done.motion.gaits]
    assert names == ["WALK", "TROT", "CANTER_LEFT", "GALLOP_LEFT"]
    lines = dict(preview.refresh(bpy.context, rig.poise.motion_object).summary)
    assert lines["Gaits"] == "Walk, Trot, Canter, Left Lead, Gallop, Left Lead"
    assert lines["Speed"] == "1.50 to 12.00 m/s"


def test_who_stands_starts_off_in_another_gait_and_who_creeps_is_told_of(scene):
    """In words of animators, not of the tables: who crept since a trot has not changed into it."""
    rig = animal(frames=193, mode="AUTOMATIC")
    key_speed(rig, (1, 3.5), (50, 3.5), (62, 0.0), (100, 0.0), (112, 1.6))
    done = solved(rig)
    assert not {p.code for p in done.problems} & {"GAIT_DELAYED", "GAIT_LOST"}
    stops = scene.render.fps / scene.render.fps_base
    for leg in ("hind.L", "hind.R", "fore.L", "fore.R"):
        steps = [step for step in done.motion.footprints if step.leg == leg]
        first = next(k for k, step in enumerate(steps) if step.off > 80 / stops)
        assert {step.gait for step in steps[: first + 1]} == {"TROT"}
        assert {step.gait for step in steps[first + 1 :]} == {"WALK"}
    key_speed(rig, (62, 0.02), (100, 0.02))
    told = {p.code: p.message for p in solved(rig).problems}
    assert re.match(r"Gait 2 \(Walk\) begins at .* legs have not come around in Trot$",
                    told["GAIT_DELAYED"])
    rig.poise.gait.mode = "SEQUENCE"
    rig.poise.gait.sequence[0].gait = "RUN"
    refused("bake", "Gait Run is made for 2 legs")


def test_driven_and_keyed_speeds_are_the_same(scene):
    rig = animal(frames=49)
    key_speed(rig, (1, 1.2), (49, 1.8))
    for point in rig.poise.motion_object.animation_data.action.layers[0].strips[0].channelbags[
        0
    ].fcurves[0].keyframe_points:
        point.interpolation = "LINEAR"
    keyed = solved(rig).motion.position
    rig.poise.motion_object.animation_data_clear()
    driver = rig.poise.motion_object.driver_add("poise_motion.gait.speed").driver
    driver.expression = "1.2 + 0.6 * (frame - 1) / 48"
    assert solved(rig).motion.position == pytest.approx(keyed, abs=1e-5)


# -- onto the rig ------------------------------------------------------------------------


def test_the_bake_is_the_preview_and_planted_feet_stay(scene):
    rig = animal()
    bpy.ops.poise.gait_add(preset="TROT", start=1.0)
    key_speed(rig, (1, 1.6), (73, 3.2))
    rig.poise.gait.path = path(*((8.0 * np.sin(a), -8.0 + 8.0 * np.cos(a), 0.0)
                                 for a in np.linspace(0.0, 1.6, 9)))
    rig.location = rig.poise.motion_object.location = (0.0, 0.0, 0.0)
    bpy.ops.poise.bake()
    done = preview.refresh(bpy.context, rig.poise.motion_object).solved
    motion = done.motion
    names = [leg.name for leg in motion.creature.legs]
    slide = 0.0
    # In every support at whole and at broken frames.
    for frame in range(10, 60, 7):
        for subframe in (0.0, 0.37):
            now = (frame + subframe - 1.0) / 24.0
            places = tips(rig, done, frame, subframe)
            for print_ in motion.footprints:
                if print_.on <= now <= print_.off and leg_is_flat(motion, print_, now):
                    gap = np.linalg.norm(places[names.index(print_.leg)] - print_.position)
                    slide = max(slide, gap)
    assert slide < 1e-3
    bpy.ops.poise.bake_check()
    codes = {p.code for p in rig.poise.settings.problems}
    assert not codes & {"REACH", "POSITION_OFF", "DIRECTION_OFF"}
    first = keys_of(curves_of(rig))
    bpy.ops.poise.bake()
    assert_same_keys(first, keys_of(curves_of(rig)))
    keyed = BakeRecord.from_json(rig.poise.settings.record).channels()
    assert keyed
    bpy.ops.poise.bake_clear()
    assert rig.animation_data is None or rig.animation_data.action is None


@pytest.mark.parametrize(("kind", "settings"), [
    ("INSECT", {}), ("DOG", {}),
    # A cat's size, in a hurry: its forelegs are all but straight when they leave the ground.
    ("DOG", {"height": 0.3, "speed": 1.0}),
    # Against the ground that goes back under it.
    ("DOG", {"in_place": True}),
])
def test_planted_tips_stay_between_frames_too(scene, kind, settings):
    """Also where the part that is keyed moves while the tip is down, from touchdown to liftoff.

    And legs reach there: the rest of the limb is where it has to be at that moment."""
    rig = animal(kind, frames=37, **settings)
    bpy.ops.poise.bake()
    limbs = verify.limbs(rig, characters.role_bones_of(rig).values())
    assert len(limbs) == len(solved(rig).motion.creature.legs)
    done = preview.refresh(bpy.context, rig.poise.motion_object).solved
    names = [leg.name for leg in done.motion.creature.legs]
    inside = [p for p in done.motion.footprints if p.on > 0.1 and p.off < 1.4]
    assert len(inside) > 4
    for print_ in inside:
        for moment in (print_.on + 5e-4, print_.on + 0.01, print_.off - 0.01, print_.off - 5e-4):
            frame = 1.0 + 24.0 * moment
            place = tips(rig, done, int(frame), frame % 1.0)[names.index(print_.leg)]
            there = rolling.under(done, print_.position, moment)
            assert np.linalg.norm(place - there) < 5e-4
            posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
            for limb in limbs:
                gap = posed[limb.end].tail - posed[limb.target].head
                assert gap.length < 1e-3, (limb.end, print_.leg, moment - print_.off)


def leg_is_flat(motion, print_, now):
    """Whether a foot lies flat, so that its tip is at the footprint."""
    number = [leg.name for leg in motion.creature.legs].index(print_.leg)
    row = int(np.argmin(np.abs(motion.time - now)))
    return abs(motion.foot_pitch[row, number]) < 1e-9


@pytest.mark.parametrize(("height", "speed"), [(0.4, 0.8), (1.6, 1.6), (3.6, 2.4)])
def test_animals_of_any_size_begin_at_the_same_froude_number(scene, height, speed):
    bpy.ops.poise.character_add(kind="HORSE", height=height)
    assert bpy.context.object.poise.gait.speed == pytest.approx(speed, rel=0.02)


@pytest.mark.parametrize(("fps", "scale"), [(60, 1.0), (24, 0.01)])
def test_rate_and_unit_scale_do_not_change_the_motion(scene, fps, scale):
    rig = animal(frames=49)
    plain = solved(rig)
    bpy.ops.wm.read_homefile(use_factory_startup=True, use_empty=True)
    scene = bpy.context.scene
    scene.render.fps = fps
    scene.unit_settings.scale_length = scale
    rig = animal(frames=2 * fps + 1)
    assert rig.poise.gait.speed == pytest.approx(1.6 / scale)
    other = solved(rig)
    rows = [np.searchsorted(done.motion.time, 1.5 - 1e-9) for done in (plain, other)]
    for name in ("position", "foot_position"):
        one, two = (getattr(d.motion, name)[r] for d, r in zip((plain, other), rows, strict=True))
        assert two == pytest.approx(one, abs=5e-3)


# -- path and terrain ---------------------------------------------------------------------


def test_feet_stand_on_the_terrain(scene):
    rig = animal(frames=97)
    rig.poise.gait.terrain = hill(0.15)
    done = solved(rig)
    for print_ in done.motion.footprints:
        assert print_.position[2] == pytest.approx(-0.15 * print_.position[1], abs=1e-6)
    # The trunk goes along with the slope, nose up.
    assert np.degrees(done.motion.pitch[40:]).mean() > 0.7 * np.degrees(np.arctan(0.15))
    inputs = pipeline.digests(done.job)
    rig.poise.gait.terrain.location.z = -0.2
    bpy.context.view_layer.update()
    again = pipeline.digests(pipeline.gather(bpy.context, rig.poise.motion_object))
    assert {name for name in inputs if inputs[name] != again[name]} >= {"terrain"}


def test_ground_that_does_not_count_is_told_of(scene):
    """As to riders: terrain that moves, and a path that goes up and down on no terrain."""
    rig = animal(frames=25)
    rig.poise.gait.terrain = ground = hill(0.1)

    def told():
        return {p.code for p in solved(rig).problems}

    assert not told()
    ground.keyframe_insert("location", frame=1)
    assert told() == {"TERRAIN_MOVES"}
    # First and once, whatever else there is to tell.
    rig.poise.gait.speed = 12.0
    found = solved(rig)
    baking.list_problems(rig.poise.motion_object, found.problems, 1, 24.0)
    first, *others = [p.code for p in rig.poise.settings.problems]
    assert first == "TERRAIN_MOVES" and others and first not in others
    rig.poise.gait.speed = 1.6
    rig.poise.gait.terrain = None
    rig.poise.gait.path = path((0.0, 0.0, 0.0), (0.0, -9.0, 1.0))
    assert told() == {"PATH_NOT_LEVEL"}
    rig.poise.gait.terrain = hill(0.1)
    assert not told()


def test_a_closed_path_is_gone_around(scene):
    rig = animal(frames=241, speed=2.5)
    around = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
    rig.poise.gait.path = path(
        *((4.0 * np.cos(a), 4.0 * np.sin(a), 0.0) for a in around), cyclic=True
    )
    done = solved(rig)
    radius = np.linalg.norm(done.motion.position[:, :2], axis=1)
    assert radius == pytest.approx(4.0, abs=0.35)
    # v^2 / (r g), to the inside: to the left.
    assert np.median(done.motion.bank) == pytest.approx(np.arctan(2.5**2 / (4.0 * 9.81)), rel=0.1)
    used = preview._used(rig.poise.motion_object)
    assert rig.poise.gait.path.session_uid in used


# -- cycles and chains --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keep", "gait"), [("SPEED", "WALK"), ("STRIDE", "TROT"), ("SPEED", "SKIP")]
)
def test_a_cycle_closes_exactly(scene, keep, gait):
    rig = animal("BIPED" if gait == "SKIP" else "HORSE")
    rig.poise.gait.sequence[0].gait = gait
    rig.poise.gait.speed = 3.0 if gait == "TROT" else 1.6
    bpy.ops.poise.gait_cycle(keep=keep)
    settings = rig.poise.settings
    frames = settings.frame_end - settings.frame_start
    assert 10 < frames < (50 if gait == "SKIP" else 40)
    if keep == "SPEED":
        assert rig.poise.gait.speed == pytest.approx(1.6)
    else:
        assert rig.poise.gait.speed == pytest.approx(3.0, rel=0.15)
    done = solved(rig)
    for values in (*done.tracks.position.values(), *done.tracks.rotation.values()):
        assert values[-1] == pytest.approx(values[0], abs=1e-9)
    # The velocity closes, too: of two cycles on end, the second is the first again.
    settings.frame_end += frames
    twice = solved(rig)
    half = len(twice.tracks.time) // 2
    for role, places in twice.tracks.position.items():
        assert places[half:] == pytest.approx(places[: half + 1], abs=1e-4), role
    bpy.ops.poise.bake()
    assert "CYCLE_OPEN" not in {p.code for p in rig.poise.settings.problems}
    if gait == "SKIP":  # of two strides, one for each side: it is not the same after one
        done = solved(rig)
        assert len(done.motion.footprints) >= 2 * 4
        settings.frame_end -= 3 * frames // 2
        assert "CYCLE_OPEN" in {p.code for p in solved(rig).problems}
        settings.frame_end += 3 * frames // 2
    settings.frame_end -= 1
    assert "CYCLE_OPEN" in {p.code for p in solved(rig).problems}
    rig.poise.gait.path = path((0.0, 0.0, 0.0), (0.0, -9.0, 0.0))
    refused("bake", "is a cycle, which goes straight ahead.*: clear Path and Terrain")
    refused("gait_cycle", "A cycle goes straight ahead on level ground")


@pytest.mark.parametrize(("gait", "speed"), [("WALK", 3.0), ("TROT", 8.0), ("GALLOP_LEFT", 22.0)])
def test_a_cycle_of_strides_as_long_as_legs_reach_closes(scene, gait, speed):
    """The legs take shorter and quicker strides than the gait has; keeping the stride's time is
    refused where the speed does not make it, or closes too."""
    for keep in ("SPEED", "STRIDE"):
        rig = animal("HORSE", frames=49)
        rig.poise.gait.sequence[0].gait = gait
        rig.poise.gait.speed = speed
        if keep == "SPEED":
            assert "STROKE_LIMITED" in {p.code for p in solved(rig).problems}
            assert bpy.ops.poise.gait_cycle(keep=keep) == {"FINISHED"}
            assert rig.poise.gait.speed == speed
            assert "CYCLE_OPEN" not in {p.code for p in solved(rig).problems}
        else:
            refused("gait_cycle", "no longer than the legs reach.*keep the Speed", keep=keep)
    rig.poise.gait.speed = 300.0
    refused("gait_cycle", "less than two frames: lower Speed")


def test_a_motion_goes_on_from_another(scene):
    rig = animal(frames=49, speed=3.0)
    rig.poise.gait.sequence[0].gait = "TROT"
    first = rig.poise.motion_object
    bpy.ops.poise.motion_add(name="Next")
    second = rig.poise.motion_object
    assert second.poise_motion.kind == "GAIT" and second.poise_motion.after == first
    assert [item.gait for item in rig.poise.gait.sequence] == ["TROT"]
    bpy.ops.poise.gait_add(preset="WALK", start=0.5)
    key_speed(rig, (49, 3.0), (73, 1.5))
    a, b = (pipeline.solve(pipeline.gather(bpy.context, m)) for m in (first, second))
    for name in ("position", "velocity", "foot_position", "hip", "yaw"):
        assert getattr(b.motion, name)[0] == pytest.approx(getattr(a.motion, name)[-1], abs=1e-9)
    for role, places in a.tracks.position.items():
        assert b.tracks.position[role][0] == pytest.approx(places[-1], abs=1e-9), role
    assert [name for name, _s, _e in b.motion.gaits] == ["Trot", "Walk"]
    bpy.ops.poise.bake_all()
    # Another path from there on cannot be had.
    second.poise_motion.gait.path = path((9.0, 0.0, 0.0), (9.0, -9.0, 0.0))
    refused("bake", "along a path of its own, Way: clear its Path")


def test_in_place_takes_the_way_out(scene):
    rig = animal(frames=49, in_place=True)
    done = solved(rig)
    root = done.tracks.position["root"]
    assert np.ptp(root[:, :2], axis=0) == pytest.approx((0.0, 0.0), abs=1e-6)
    assert np.ptp(done.motion.position[:, 1]) > 2.0  # as it was solved, it goes


# -- presets, drawing -----------------------------------------------------------------------


def test_a_list_of_gaits_is_kept_as_a_preset(scene, profile):
    rig = animal()
    bpy.ops.poise.gait_add(preset="TROT", start=2.0)
    item = rig.poise.gait.sequence[1]
    item.bounce, item.own_timing = 1.5, True
    item.legs["fore.L"].duty = 0.33
    bpy.ops.poise.gait_preset_add(name="Mine")
    bpy.ops.poise.gait_remove()
    from poise.addon.ui import presets

    found = bpy.utils.preset_find("mine", presets.gait_subdir(4)) or bpy.utils.preset_find(
        "Mine", presets.gait_subdir(4)
    )
    bpy.ops.poise.preset_apply(filepath=found)
    items = rig.poise.gait.sequence
    assert [i.gait for i in items] == ["WALK", "TROT"]
    assert items[1].start == pytest.approx(2.0) and items[1].bounce == pytest.approx(1.5)
    assert items[1].legs["fore.L"].duty == pytest.approx(0.33)


# Kind -> presets of lists that come with Poise.
SHIPPED = {
    "HORSE": ("Dressage", "Sprint", "Stroll", "Walk and Halt", "Walk to Gallop"),
    "BIPED": ("Skipping", "Stroll", "Walk and Halt", "Walk to Run"),
    "INSECT": ("Creep and Dash", "Rocks", "Scurry"),
}


@pytest.mark.parametrize("kind", SHIPPED)
def test_shipped_lists_use_gaits_at_the_speeds_of_animals(scene, kind):
    """Each gait begins and ends at a Froude number at which animals use it, or nearly."""
    rig = animal(kind)
    gait = rig.poise.gait
    for name in SHIPPED[kind]:
        bpy.ops.poise.preset_apply(name=name)
        settings = pipeline.gather(bpy.context, rig.poise.motion_object).settings
        hip = settings.creature.hip_height()
        ends = [item.distance for item in gait.sequence][1:]
        if gait.speed_by == "WAY":
            place, speed = np.array(gait.speed_pairs(1.0)).T
        else:
            place, speed = np.zeros(1), np.array([gait.speed])
        for item, end in zip(settings.sequence, [*ends, None], strict=True):
            spots = [item.distance or 0.0, place[-1] if end is None else end]
            froude = np.interp(spots, place, speed**2) / (9.81 * hip)
            low, high = item.gait.froude
            if name != "Walk and Halt":
                assert (froude > 0.6 * low).all(), (name, item.gait.name)
            assert (froude < 1.25 * high).all(), (name, item.gait.name)


def test_a_body_has_its_speed_at_each_place(scene):
    """A shipped list, solved: gaits in order, and ds/dt = v(s) but for what legs even out."""
    rig = animal("BIPED", frames=265)
    bpy.ops.poise.preset_apply(name="Walk to Run")
    gait = rig.poise.gait
    done = preview.refresh(bpy.context, rig.poise.motion_object).solved
    motion = done.motion
    assert [name for name, _s, _e in motion.gaits] == ["Walk", "Jog", "Run"]
    assert not {p.code for p in motion.problems} & {"JUMP_HIGH", "SPEED_MISSED", "GAIT_DELAYED"}
    gone = np.linalg.norm(np.diff(motion.position[:, :2], axis=0), axis=1)
    way = np.concatenate(([0.0], gone.cumsum()))
    _speed, wanted = speeds_along(gait.speed_pairs(1.0), motion.time)
    assert np.abs(way - wanted).max() < 0.25 * motion.creature.hip_height()
    marks = [m.text for m in overlay.families.view_of(done.job).marks(done)]
    assert {f"{point.speed:.1f} m/s" for point in gait.speed_points} - set(marks) == {"5.8 m/s"}
    # Own timing, when it is dragged, begins with what the gait has at the speed it begins at.
    gait.sequence_index = 1
    bpy.ops.poise.gait_drag(leg="leg.L", edge="BAR", share=0.1)
    jog = done.job.settings.sequence[1].gait
    start = gait.sequence[1].distance
    speed = np.interp(start, way, np.linalg.norm(motion.velocity[:, :2], axis=1))
    froude = speed**2 / (9.81 * motion.creature.hip_height())
    assert gait.sequence[1].legs["leg.R"].duty == pytest.approx(jog.duties(froude)[1], abs=0.02)
    # A point where the body is, of the speed that it has there; then others.
    bpy.context.scene.frame_set(25)
    bpy.ops.poise.gait_speed_add()
    chosen = gait.speed_points[gait.speed_points_index]
    assert chosen.distance == pytest.approx(wanted[np.searchsorted(motion.time, 1.0)], abs=1e-3)
    bpy.ops.poise.gait_speed_add(distance=chosen.distance, speed=0.5)
    assert chosen.speed == 0.5
    places = [point.distance for point in gait.speed_points]
    assert places == sorted(places) and len(places) == 7
    refused("gait_cycle", "A cycle has one speed: set Speed to Over Time")
    for _ in places:
        bpy.ops.poise.gait_speed_remove()
    refused("gait_speed_remove", "has no speed points")
    refused("bake", "Speed Points is an empty list")


@pytest.mark.parametrize("by", ["TIME", "DISTANCE"])
def test_supports_are_dragged_from_what_they_are_at_the_keyed_speed(scene, by):
    """From 2 m/s at frame 1 to 6 m/s at frame 73, straight: after 1.5 s and 4.5 m it is 4 m/s,
    whatever the frame and the value of the setting."""
    rig = animal()
    bpy.ops.poise.gait_add(preset="TROT", start=1.5)
    key_speed(rig, (1, 2.0), (73, 6.0))
    for curve in rig.poise.motion_object.animation_data.action.layers[0].strips[0].channelbags[0] \
            .fcurves:
        for key in curve.keyframe_points:
            key.interpolation = "LINEAR"
    item = rig.poise.gait.sequence[1]
    item.start_by, item.start, item.distance = by, 1.5, 4.5
    rig.poise.gait.sequence_index = 1
    rig.poise.gait.speed = 1.0
    legs = [leg.name for leg in solved(rig).motion.creature.legs]
    hip = solved(rig).motion.creature.hip_height()
    wanted = item.to_gait(legs, 1.0).duties(4.0**2 / (9.81 * hip))
    bpy.ops.poise.gait_drag(leg="fore.R", edge="BAR", share=0.01)
    assert [leg.duty for leg in item.legs] == pytest.approx(wanted.tolist(), abs=1e-4)


def test_left_and_right_are_exchanged_in_lists(scene):
    rig = animal(frames=49)
    gait = rig.poise.gait
    bpy.ops.poise.gait_add(preset="CANTER_LEFT", start=1.0)
    before = solved(rig).motion.footprints
    bpy.ops.poise.gait_mirror()
    assert [item.gait for item in gait.sequence] == ["WALK", "CANTER_RIGHT"]
    assert gait.sequence[1].name == "Canter, Right Lead" and gait.start_phase == 0.5
    # Every touchdown is now one of the other side.
    def when(prints, swap):
        return sorted((other_side(p.leg) if swap else p.leg, p.on) for p in prints if p.on > 0.0)

    for one, other in zip(when(before, True), when(solved(rig).motion.footprints, False),
                          strict=True):
        assert one[0] == other[0] and one[1] == pytest.approx(other[1], abs=1e-6)
    item = gait.sequence[1]
    item.own_timing = True
    left, right = item.legs["fore.L"].phase, item.legs["fore.R"].phase
    bpy.ops.poise.gait_mirror(which="CHOSEN")
    assert (item.legs["fore.R"].phase, item.legs["fore.L"].phase) == (left, right)
    assert gait.start_phase == 0.5


def test_a_skip_begins_on_the_other_side_and_one_lead_becomes_the_other(scene):
    rig = animal("BIPED", frames=49, speed=2.0)
    gait = rig.poise.gait
    gait.sequence[0].gait = "SKIP"
    before = solved(rig).motion
    assert not before.problems
    bpy.ops.poise.gait_mirror()
    assert gait.sequence[0].gait == "SKIP" and gait.start_phase == 0.5
    after = solved(rig).motion
    when = sorted((other_side(p.leg), p.on) for p in before.footprints if p.on > 1e-6)
    mirrored = sorted((p.leg, p.on) for p in after.footprints if p.on > 1e-6)
    for one, other in zip(when, mirrored, strict=True):
        assert one[0] == other[0] and one[1] == pytest.approx(other[1], abs=1e-6)
    # What is dragged keeps alternating.
    bpy.ops.poise.gait_drag(leg="leg.R", edge="BAR", share=0.05)
    item = gait.sequence[0]
    assert item.own_timing and item.legs["leg.R"].phase == pytest.approx(0.37)
    rig.poise.settings.frame_end = 97
    on = [p.on for p in solved(rig).motion.footprints if p.leg == "leg.R" and p.on > 0.0]
    gaps = sorted(np.diff(on)[:2])
    assert gaps[1] / gaps[0] == pytest.approx(1.37 / 0.63, rel=1e-3)
    item.gait = "SKIP_LEFT"
    bpy.ops.poise.gait_mirror(which="CHOSEN")
    assert item.gait == "SKIP_RIGHT" and item.name == "Skip, Right Lead"


def test_a_rig_that_is_no_character_any_more_has_no_legs_to_exchange(scene):
    rig = animal("BIPED", frames=49)
    rig.poise.gait.sequence[0].gait = "SKIP"
    del rig["poise_kind"]
    for operator, more in (("gait_mirror", {}), ("gait_drag", {"leg": "leg.R", "edge": "BAR"})):
        refused(operator, "has no legs that Poise knows: set the rig up", **more)


def test_what_is_drawn_stands_where_feet_do(scene):
    rig = animal(frames=49)
    done = preview.refresh(bpy.context, rig.poise.motion_object).solved
    palette = overlay.Palette()
    strokes = overlay.track_strokes(done, palette)
    outlines = np.concatenate([s.points for s in strokes[-4:]])
    for print_ in done.motion.footprints:
        assert np.linalg.norm(outlines - print_.position, axis=1).min() < 0.3
    ghost = overlay.ghost_strokes(done, 48, palette)[0].points
    for leg in range(4):
        place = done.motion.foot_position[48, leg]
        assert np.linalg.norm(ghost - place, axis=1).min() < 0.02
    assert overlay.hud_lines(done, 48)[0] == "Gait  Walk"


# -- bad input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("speed", nan, "Speed"),
        ("speed", inf, "Speed"),
        ("speed", 1e5, "Speed"),
        ("impulse", nan, "Impulse"),
        ("response", nan, "Response"),
        ("bank", nan, "Bank"),
    ],
)
def test_a_setting_without_sense_is_named(scene, name, value, match):
    rig = animal(frames=25)
    setattr(rig.poise.gait, name, value)
    assert ":" in refused("bake", match)


@pytest.mark.parametrize(
    ("name", "value", "match"),
    [
        ("stroke", 0.0, "Stroke of gait Walk is 0.0: it must be above 0"),
        ("period", 0.0, "Stride of gait Walk is so short"),
        ("period", nan, "Stride Time of gait Walk is nan: it must be above 0"),
    ],
)
def test_a_stride_without_sense_is_named(scene, name, value, match):
    rig = animal(frames=25)
    item = rig.poise.gait.sequence[0]
    item.stride_by = name.upper()
    setattr(item, name, value)
    refused("bake", match)


def _two_splines():
    obj = path((0.0, 0.0, 0.0), (0.0, -5.0, 0.0))
    spline = obj.data.splines.new("POLY")
    spline.points.add(1)
    spline.points[1].co = (3.0, 0.0, 0.0, 1.0)
    return obj


def _hidden():
    obj = hill(0.0)
    obj.hide_viewport = True
    return obj


@pytest.mark.parametrize(
    ("name", "made", "match"),
    [
        ("path", lambda: path((0.0, 0.0, 0.0)), "Way has nothing to follow"),
        ("path", lambda: path((1.0, 0.0, 0.0), (1.0, 0.0, 3.0)), "in one place"),
        ("path", _two_splines, "has 2 splines"),
        ("terrain", _hidden, "is not in the scene|is hidden"),
        ("terrain", lambda: mesh([(0.0, 0.0, 0.0)], []), "has no faces"),
    ],
)
def test_what_leads_nowhere_is_named(scene, name, made, match):
    rig = animal(frames=25)
    setattr(rig.poise.gait, name, made())
    bpy.context.view_layer.update()
    refused("bake", match)


def _hairpin(rig):
    rig.poise.gait.speed = 5.0
    rig.poise.gait.path = path((0.0, 0.0, 0.0), (0.0, -5.0, 0.0), (0.3, 0.0, 0.0))


def test_numbers_beyond_their_range_are_taken_to_its_end_and_told_of(scene):
    rig = animal(frames=37)
    gait, item = rig.poise.gait, rig.poise.gait.sequence[0]

    def told():
        done = solved(rig)
        for values in (*done.tracks.position.values(), *done.tracks.rotation.values()):
            assert np.isfinite(values).all()
        return {p.code: p.message for p in done.problems}

    item.own_timing = True
    for leg, duty, phase in zip(item.legs, (0.0, 1.0, 1.2, -1.0), (-1.0, 2.0, 1.0, 0.3),
                                strict=True):
        leg.duty, leg.phase = duty, phase
    assert [leg.duty for leg in item.legs] == pytest.approx([0.01, 0.99, 0.99, 0.01])
    assert [leg.phase for leg in item.legs] == pytest.approx([0.0, 1.0, 1.0, 0.3])
    # A leg that hardly swings has less time for it than it takes: leg, step and time are named.
    assert re.match(r"Step \d+ of the right hind at [\d.]+ s swings for", told()["TRANSFER_SHORT"])
    item.own_timing = False
    gait.speed = -3.0
    assert gait.speed == 0.0 and not told()
    gait.speed = 1.6
    item.stride_by, item.period = "PERIOD", 0.2
    assert "less than the" in told()["TRANSFER_SHORT"]
    item.stride_by, item.stroke = "STROKE", 9.0
    message = told()["STROKE_LIMITED"]
    assert "for the left hind from 0.00 s on: its stroke of 9.00 m is shortened to" in message


@pytest.mark.parametrize(
    ("make", "codes"),
    [
        (lambda rig: setattr(rig.poise.gait, "speed", 0.0), set()),
        (lambda rig: setattr(rig.poise.gait, "speed", 40.0), {"STROKE_LIMITED", "TRANSFER_SHORT"}),
        (_hairpin, {"BEND_SHARP", "PATH_LEFT"}),
        (lambda rig: setattr(rig.poise.gait, "terrain", mesh(
            [(50.0, 50.0, 0.0), (60.0, 50.0, 0.0), (60.0, 60.0, 0.0)], [(0, 1, 2)])),
         {"NO_GROUND"}),
    ],
    ids=["standing", "far too fast", "a hairpin", "no ground"],
)
def test_what_cannot_be_done_well_is_done_and_told(scene, make, codes):
    rig = animal(frames=49)
    make(rig)
    done = solved(rig)
    found = {problem.code for problem in done.problems}
    assert not codes or found & codes, found
    for values in (*done.tracks.position.values(), *done.tracks.rotation.values()):
        assert np.isfinite(values).all()
    for problem in done.problems:
        assert re.match(r"^[^\n]+$", problem.message)


@pytest.mark.parametrize("mode", ["DENSE", "SPARSE"])
@pytest.mark.parametrize(("kind", "gait", "speed", "radius"), [
    ("BIPED", "WALK_BIPED", 1.35, 0.0), ("BIPED", "RUN", 4.0, 0.0), ("BIPED", "JOG", 2.7, 8.0),
    ("BIPED", "SKIP", 2.4, 0.0), ("HORSE", "CANTER_LEFT", 5.5, 10.0), ("HORSE", "WALK", 1.6, 0.0),
])
def test_feet_stand_and_roll_over_heels_and_toes_that_stay(scene, kind, gait, speed, radius, mode):
    rig = animal(kind, frames=49, speed=speed)
    rig.poise.gait.sequence[0].gait = gait
    rig.poise.settings.key_mode = mode
    if radius:
        turns = np.linspace(0.0, 2.0, 40)
        rig.poise.gait.path = path(
            *((radius * (1.0 - np.cos(a)), -radius * np.sin(a), 0.0) for a in turns)
        )
    bpy.ops.poise.bake()
    done = preview.refresh(bpy.context, rig.poise.motion_object).solved
    found = rolling.slide(rig, done, rolling.own_bones(rig, done))
    assert found.looks > 100
    assert found.metres < 1e-3, found
