# SPDX-License-Identifier: GPL-3.0-or-later
"""What bones of other people's rigs do between their keys.

A foot that stands does not move: the point of it that is on the ground, known from the rest
pose, stays at its footprint as long as the motion has it there, at eighths of frames too. How
far a bone is off elsewhere is told by a bake of the same motion with so many keys that none is
off.
"""

import bpy
import numpy as np
import pytest
import rolling
from own_rigs_help import bring_in, human, places, set_up
from poise.addon import pipeline
from poise.addon.bake import stepping
from poise.addon.rigs import characters
from poise.addon.rigs.controls import control_rig, retarget
from poise.addon.rigs.pose.animated import moved_bones
from scenes_help import key_speed, path

EIGHTH, LAST = 0.125, 37
SLIDES = 1e-3  # m


def bake(motion, mode="DENSE", between="CONTACTS"):
    """Bake to bones; the line of the problem list on what is off between keys, or None."""
    settings = motion.poise_motion
    settings.key_mode, settings.keys_between = mode, between
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    return next((p for p in settings.problems if p.code == "BETWEEN_KEYS"), None)


def go_to(frame):
    whole = int(np.floor(frame))
    bpy.context.scene.frame_set(whole, subframe=float(frame - whole))


def solve(motion):
    return pipeline.solve(pipeline.gather(bpy.context, motion))


def soles(rig, controls):
    """Role of the tip of each leg -> bone of the rig, and where in its axes the tip is: before a
    bake, as long as the object stands where it did when it was set up."""
    known, found = control_rig.followers(controls), {}
    figure = characters.figure_of(controls)
    frame = np.array(controls.matrix_world) @ np.linalg.inv(characters.rest_frame(controls))
    for leg in figure.legs:
        role = next(role for role in reversed(leg.segments) if role in known)
        bone = known[role][0]
        rest = np.array(rig.matrix_world @ rig.data.bones[bone].matrix_local)
        found[leg.tip] = bone, np.linalg.solve(rest, frame @ np.append(figure.joints[leg.tip], 1.0))
    return found


def slip(rig, known, motion):
    """Farthest that points of feet on the ground, as `soles` has them, are from their
    footprints, m."""
    far = 0.0
    size = bpy.context.scene.unit_settings.scale_length
    end = motion.poise_motion.frame_end
    done = solve(motion)
    contacts = [c for c in done.tracks.contacts if c.role in known]
    assert {c.role for c in contacts} == set(known)
    looks = {}
    for contact in contacts:
        first, last = 1.0 + 24.0 * contact.start, min(1.0 + 24.0 * contact.end, end)
        eighths = np.arange(np.ceil(first / EIGHTH), np.floor(last / EIGHTH) + 1) * EIGHTH
        for frame in np.union1d(eighths, [first, last]).tolist():
            looks.setdefault(frame, []).append(contact)
    for frame, standing in sorted(looks.items()):
        go_to(frame)
        there = places(rig, [known[contact.role][0] for contact in standing])
        for contact in standing:
            bone, point = known[contact.role]
            place = (np.array(there[bone]) @ point)[:3] * size
            stands = rolling.under(done, contact.position, (frame - 1.0) / 24.0)
            far = max(far, float(np.linalg.norm(place - stands)))
    return far


def bend(radius, length, unit=1.0):
    """A path that turns to the left."""
    turns = np.linspace(0.0, length / radius, 40)
    return path(*((radius * (1.0 - np.cos(a)) / unit, -radius * np.sin(a) / unit, 0.0)
                  for a in turns))


def person(gait, speed, radius=0.0, then=None):
    """A plain skeleton in a gait, on a bend, that goes over to another gait and speed."""
    human()
    rig, controls, motion = set_up("BIPED", LAST)
    settings = motion.poise_motion.gait
    settings.sequence[0].gait, settings.speed = gait, speed
    if then is not None:
        bpy.context.view_layer.objects.active = controls
        bpy.ops.poise.gait_add(preset=then[0], start=0.5)
        key_speed(controls, (1, speed), (13, speed), (25, then[1]))
    if radius:
        settings.path = bend(radius, 20.0)
    return rig, controls, motion


def play(rig, clip):
    """Let a rig play the longest of the actions that came with it, or mute them all."""
    data = rig.animation_data_create()
    for track in list(data.nla_tracks):
        data.nla_tracks.remove(track)
    data.action = None
    action = max(bpy.data.actions, key=lambda action: action.frame_range[1])
    if clip == "its action":
        data.action, data.action_slot = action, action.slots[0]
    else:
        track = data.nla_tracks.new()
        track.strips.new("Clip", 1, action).action_slot = action.slots[0]
        track.mute = clip == "muted strips"
    bpy.context.scene.frame_set(1)


def animal(file, kind, unit, gait, speed, radius=0.0, clip=""):
    """The same of an animal, whose rig has so many metres a unit."""
    rig = bring_in(file)
    if clip:
        play(rig, clip)
    bpy.context.scene.unit_settings.scale_length = unit
    assert bpy.ops.poise.rig_setup(kind=kind) == {"FINISHED"}
    motion = rig.poise.motion_object
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = 1, LAST
    settings = motion.poise_motion.gait
    settings.sequence[0].gait, settings.speed = gait, speed / unit
    if radius:
        settings.path = bend(radius, 20.0, unit)
    return rig, control_rig.controls_of(rig), motion


FOX, HORSE, WOLF = "fox/Fox.glb", "quaternius_animals/Horse.glb", "quaternius_animals/Wolf.glb"
MOVES = {
    "run": lambda: person("RUN", 4.0),
    "sprint": lambda: person("RUN", 6.0),
    "jog in a bend": lambda: person("JOG", 2.5, radius=6.0),
    "from a run to a walk in a bend": lambda: person(
        "RUN", 3.5, radius=8.0, then=("WALK_BIPED", 1.4)
    ),
    "hop": lambda: person("HOP", 1.5),
    "skip": lambda: person("SKIP", 2.5),
    "fox in a gallop in a bend": lambda: animal(FOX, "DOG", 0.01, "GALLOP_LEFT", 4.0, radius=10.0),
    "horse in a trot": lambda: animal(HORSE, "HORSE", 0.5, "TROT", 3.0),
    "horse in a gallop": lambda: animal(HORSE, "HORSE", 0.5, "GALLOP_LEFT", 8.0),
    "wolf in a trot": lambda: animal(WOLF, "DOG", 0.4, "TROT", 2.4),
    "wolf in a gallop in a bend": lambda: animal(
        WOLF, "DOG", 0.4, "ROTARY_LEFT", 5.0, radius=12.0
    ),
}


@pytest.fixture
def walker(poise, scene):
    human()
    return set_up("BIPED", LAST)


@pytest.mark.parametrize("mode", ["DENSE", "SPARSE"])
@pytest.mark.parametrize("root", ["HIPS", "OBJECT"])
def test_feet_that_stand_do_not_slide_between_frames(poise, walker, mode, root):
    rig, controls, motion = walker
    known = soles(rig, controls)
    motion.poise_motion.root_motion = root
    line = bake(motion, mode)
    assert slip(rig, known, motion) < SLIDES
    assert line is None or line.severity == "INFO", "nothing in contact is off"


@pytest.mark.parametrize("mode", ["DENSE", "SPARSE"])
@pytest.mark.parametrize("move", MOVES)
def test_nor_do_they_in_quick_gaits(poise, scene, move, mode):
    """Legs are all but straight where they leave the ground, and bend quickest."""
    rig, controls, motion = MOVES[move]()
    known = soles(rig, controls)
    line = bake(motion, mode)
    assert slip(rig, known, motion) < SLIDES
    assert line is None or line.severity == "INFO", line.message


@pytest.mark.parametrize("clip", ["muted strips", "its action", "a strip"])
def test_nor_with_clips_that_came_with_the_rig(poise, scene, clip):
    """Those of bones that legs hang on play on below the bake, or they are muted."""
    rig, controls, motion = animal(WOLF, "DOG", 0.4, "TROT", 2.4, clip=clip)
    assert rig.animation_data is not None
    known = soles(rig, controls)
    line = bake(motion)
    assert slip(rig, known, motion) < SLIDES
    assert line is None or line.severity == "INFO", line.message


def drive(rig, bone, expression, looks_at=()):
    """Let a driver move the place of a bone, by (data path or bone) looked at as `v`, if any."""
    curve = rig.pose.bones[bone].driver_add("location", 0)
    curve.driver.expression = expression
    for name in looks_at:
        variable = curve.driver.variables.new()
        variable.name = "v"
        is_path = "[" in name
        variable.type = "SINGLE_PROP" if is_path else "TRANSFORMS"
        variable.targets[0].id = rig
        if is_path:
            variable.targets[0].data_path = name
        else:
            variable.targets[0].bone_target = name
            variable.targets[0].transform_type = "ROT_X"
    return curve


def test_nor_where_a_driver_moves_what_legs_hang_on(poise, scene):
    rig, controls, motion = animal(WOLF, "DOG", 0.4, "TROT", 2.4)
    for side in "LR":
        drive(rig, f"BackShoulder.{side}", "0.03 * sin(0.7 * frame)")
    scene.frame_set(1)
    known = soles(rig, controls)
    line = bake(motion)
    assert slip(rig, known, motion) < SLIDES
    assert line is None or line.severity == "INFO", line.message


def test_it_is_said_where_what_moves_them_looks_at_baked_bones(poise, scene):
    rig, _, motion = animal(WOLF, "DOG", 0.4, "TROT", 2.4)
    drive(rig, "BackShoulder.L", "0.1 * v", ["Head"])
    scene.frame_set(1)
    assert bake(motion) is None
    [said] = [p for p in motion.poise_motion.problems if p.code == "NO_KEYS_BETWEEN"]
    assert "BackShoulder.L" in said.message and said.severity == "WARNING"


def test_drivers_are_read_before_the_bake_unless_baked_bones_have_a_say(poise, scene):
    rig = human()
    bpy.ops.object.mode_set(mode="EDIT")
    bones = rig.data.edit_bones
    for name, place, parent in (("Slider", (1, 0, 0), None), ("Nose", (0, -0.1, 1.7), "Head"),
                                ("Socket", (0, 0, 0.9), "Hips")):
        bone = bones.new(name)
        bone.head, bone.tail = place, (place[0], place[1], place[2] + 0.1)
        bone.parent = bones[parent] if parent else None
    bones["LeftUpLeg"].parent = bones["Socket"]
    bpy.ops.object.mode_set(mode="OBJECT")
    keyed = {"Hips", "Head", "LeftUpLeg"}
    rig["swing"] = 0.0
    own = 'pose.bones["Head"]["mood"]'
    rig.pose.bones["Head"]["mood"] = 0.0
    for looks_at, read in (((), True), (("Slider",), True), (('["swing"]',), True), ((own,), True),
                           (('pose.bones["Slider"].location[0]',), True), (("Head",), False),
                           (("Nose",), False), (('pose.bones["Nose"].location[0]',), False)):
        drive(rig, "Socket", "v" if looks_at else "sin(frame)", looks_at)
        assert moved_bones(rig, keyed, set()) == ({"Socket"} if read else set()), looks_at
        rig.pose.bones["Socket"].driver_remove("location", 0)
    drive(rig, "Socket", "v", ['["swing"]'])
    swing = rig.driver_add('["swing"]').driver
    assert moved_bones(rig, keyed, set()) == {"Socket"}
    variable = swing.variables.new()
    variable.type = "TRANSFORMS"
    variable.targets[0].id, variable.targets[0].bone_target = rig, "Head"
    assert moved_bones(rig, keyed, set()) == set()


@pytest.mark.parametrize("mode", ["DENSE", "SPARSE"])
@pytest.mark.parametrize("move", [
    lambda: animal(HORSE, "HORSE", 0.5, "GALLOP_LEFT", 6.0), MOVES["jog in a bend"],
], ids=["horse in a gallop", "jog in a bend"])
def test_nor_do_they_on_the_ground_that_goes_back_under_who_stays_in_place(
    poise, scene, move, mode
):
    """In a cycle as well."""
    rig, controls, motion = move()
    known = soles(rig, controls)
    motion.poise_motion.gait.in_place = True
    if motion.poise_motion.gait.path is None:
        bpy.context.view_layer.objects.active = controls
        assert bpy.ops.poise.gait_cycle(in_place=True) == {"FINISHED"}
    line = bake(motion, mode)
    assert "CYCLE_OPEN" not in {p.code for p in motion.poise_motion.problems}
    assert slip(rig, known, motion) < SLIDES
    assert line is None or line.severity == "INFO", line.message


@pytest.mark.parametrize("mode", ["DENSE", "SPARSE"])
@pytest.mark.parametrize("move", ["run", "sprint", "jog in a bend", "hop", "skip"])
def test_heels_and_toes_stay_where_soles_stand_and_roll(poise, scene, move, mode):
    rig, controls, motion = MOVES[move]()
    done = solve(motion)
    known = control_rig.followers(controls)
    bones = {
        leg.name: [known[leg.control][0], known[leg.segments[-1]][0]]
        for leg in done.job.figure.legs
    }
    ends = rolling.their_bones(rig, controls, done, bones)
    bake(motion, mode)
    found = rolling.slide(rig, done, ends)
    assert found.looks > 150
    assert found.metres < SLIDES, found


@pytest.mark.parametrize("mode", ["DENSE", "SPARSE"])
@pytest.mark.parametrize("gait", [("WALK_BIPED", 1.4), ("RUN", 4.0)])
def test_wherever_needed_nothing_is_off(poise, scene, gait, mode):
    rig, controls, motion = person(*gait, radius=8.0)
    known = soles(rig, controls)
    assert bake(motion, mode, "ANYWHERE") is None
    assert slip(rig, known, motion) < SLIDES


@pytest.mark.parametrize("mode", ["DENSE", "SPARSE"])
def test_late_keys_stand_as_close_as_their_times_can_be_told_apart(poise, scene, mode):
    """Blender keeps them in single precision: a sixteenth of a frame at frame 1 040 000."""
    rig, _, motion = person("RUN", 4.0)
    settings = motion.poise_motion
    settings.frame_end = 1_040_024
    settings.frame_start = 1_040_000
    line = bake(motion, mode, "ANYWHERE")
    assert 1_040_000 <= float(line.message.split("at frame ")[1].split(";")[0]) <= 1_040_024
    [bag] = rig.animation_data.action.layers[0].strips[0].channelbags
    for curve in bag.fcurves:
        times = [key.co.x for key in curve.keyframe_points]
        assert min(np.diff(times), default=1.0) >= 0.25


def test_what_stands_in_two_samples_stands_between_them(poise, scene):
    """Whatever is read between samples: tips rest to the last digit, from the first moment to
    the last, and samples are as they were."""
    _, controls, motion = person("RUN", 4.0, radius=8.0)
    solved = solve(motion)
    tracks, figure = solved.tracks, solved.job.figure
    finer = stepping.finer(tracks, figure, retarget.steps_of(controls, tracks), 24.0)
    for role, where in tracks.position.items():
        same = np.isin(np.round(finer.clock.frames, 6), np.round(tracks.clock.frames, 6))
        assert np.count_nonzero(same) == len(where)
        assert finer.position[role][same] == pytest.approx(where, abs=1e-9), role
    tips = [leg.tip for leg in figure.legs]
    ends = [time for c in tracks.contacts if c.role in tips for time in (c.start, c.end)]
    for contact in tracks.contacts:
        if contact.role in tips:
            inside = (finer.time > contact.start - 1e-9) & (finer.time < contact.end + 1e-9)
            off = finer.position[contact.role][inside] - contact.position
            length = finer.time[inside][-1] - finer.time[inside][0]
            assert np.count_nonzero(inside) >= stepping.SAMPLES * length
            assert np.abs(off).max() < 1e-9
    # Contacts begin and end between samples.
    assert np.abs(finer.time[:, None] - ends).min(axis=0).max() < 1e-9


@pytest.mark.parametrize("count", [0, 1, 3, 40])
def test_every_frame_has_as_many_samples(count):
    """So that they can be counted off, wherever contacts begin and end."""
    ends = np.random.default_rng(count).uniform(-1.0, 11.0, count)
    ends[: count // 2] = np.round(8.0 * ends[: count // 2]) / 8.0
    at, per_frame = stepping.moments(10, ends, 8)
    assert len(at) == 10 * per_frame + 1 and at[-1] == 10.0
    assert (at[::per_frame] == np.arange(11)).all()
    assert np.diff(at).min() >= stepping.APART and np.diff(at).max() <= 1.0 / 8.0
    gaps = np.abs(at[:, None] - ends[(ends > 0.0) & (ends < 10.0)]).min(axis=0, initial=1.0)
    assert (gaps <= stepping.APART).all()


def test_keys_on_whole_frames_alone_say_what_slides(poise, walker):
    rig, controls, motion = walker
    known = soles(rig, controls)
    line = bake(motion, between="NONE")
    assert line is not None and line.severity == "WARNING"
    assert "in contact" in line.message
    told = float(line.message.split("in contact, by ")[1].split(" mm")[0]) / 1000.0
    assert 2.0 * SLIDES < slip(rig, known, motion) < told + 1e-4
    action = rig.animation_data.action
    curves = [c for bag in action.layers[0].strips[0].channelbags for c in bag.fcurves]
    assert all(key.co.x == round(key.co.x) for curve in curves for key in curve.keyframe_points)


def test_the_line_names_bone_frame_and_distance(poise, scene):
    human()
    rig, _, motion = set_up("CYCLIST", LAST)
    assert bake(motion, between="ANYWHERE") is None
    exact = {}
    bones = [bone.name for bone in rig.pose.bones]
    for frame in np.arange(1.0, LAST, 0.5):
        go_to(frame)
        exact[frame] = {name: np.array(m) for name, m in places(rig, bones).items()}
    line = bake(motion, between="CONTACTS")
    assert line.severity == "INFO", "a cyclist's feet stand on no ground"
    far = (0.0, "", 0.0)
    for frame, there in exact.items():
        go_to(frame)
        for name, matrix in places(rig, bones).items():
            for end in (0.0, rig.data.bones[name].length):
                point = np.array([0.0, end, 0.0, 1.0])
                off = float(np.linalg.norm((np.array(matrix) - there[name]) @ point))
                far = max(far, (off, name, frame))
    told = float(line.message.split("up to ")[1].split(" mm")[0]) / 1000.0
    assert told == pytest.approx(far[0], abs=1e-4)
    assert line.frame % 1.0 == 0.5
