# SPDX-License-Identifier: GPL-3.0-or-later
"""Animals of other people, set up on their own legs: controls, followers, and off again."""


import bpy
import freeform_scenes
import numpy as np
import phrases
import pytest
from mathutils import Vector
from own_rigs_help import RIGS, bring_in, put_at_rest
from poise.addon.mapping.legged import STYLES, map_legged, pose_joints
from poise.addon.mapping.legs import creature_of
from poise.addon.rigs import characters
from poise.addon.rigs.controls import control_rig
from poise.addon.rigs.pose.frames import armature_frames
from poise.addon.rigs.pose.solver import RigSolver
from poise.solvers.legged import GaitItem, GaitSettings, solve_gait
from snapshot import diff, snapshot

NOISE = (r"\.users$", r"node_tree", r"use_extra_user")

# File, what it is set up as, bones of a hind leg and of a foreleg, where the bent pair begins.
ANIMALS = {
    "fox/Fox.glb": ("DOG", 4, 3, {0}),
    "quaternius_animals/Horse.glb": ("HORSE", 5, 4, {0}),
    "quaternius_animals/Wolf.glb": ("DOG", 5, 4, {0, 1}),
}

# Feet of two of them, and metres per unit that make them as large as the animals are.
LEGS = ("hind.L", "hind.R", "fore.L", "fore.R")
FEET = {
    "fox/Fox.glb": (
        ("b_LeftFoot02_018", "b_RightFoot02_022", "b_LeftHand_011", "b_RightHand_08"), 0.01
    ),
    "quaternius_animals/Horse.glb": (("FFB.L", "FFB.R", "FF.L", "FF.R"), 0.5),
}
# Their own clips, the preset that each is nearest to, and its touchdowns after the left hind foot
# as the table of the rigs' README has them: right hind, left fore, right fore.
CLIPS = {
    "fox walk": ("fox/Fox.glb", "Walk", "WALK", (0.41, 0.25, 0.71)),
    "fox run": ("fox/Fox.glb", "Run", "GALLOP_LEFT", (0.15, 0.43, 0.41)),
    "horse walk": (
        "quaternius_animals/Horse.glb", "AnimalArmature|Walk", "WALK", (0.50, 0.22, 0.79)
    ),
    "horse gallop": (
        "quaternius_animals/Horse.glb", "AnimalArmature|Gallop", "GALLOP_LEFT", (0.79, 0.29, 0.07)
    ),
}
STEP = 0.25  # frames from one look at the feet to the next


def spider(pairs=4):
    """A plain rig with pairs of legs of four bones to its sides, along Y."""
    data = bpy.data.armatures.new("Spider")
    rig = bpy.data.objects.new("Spider", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")

    def bone(name, parent, head, tail):
        made = data.edit_bones.new(name)
        made.head, made.tail = head, tail
        if parent:
            made.parent = data.edit_bones[parent]

    bone("Hips", "", (0, 0.2, 0.3), (0, 0.0, 0.3))
    bone("Chest", "Hips", (0, 0.0, 0.3), (0, -0.25, 0.3))
    bone("Head", "Chest", (0, -0.25, 0.3), (0, -0.4, 0.3))
    for n in range(pairs):
        y = -0.2 + 0.4 * n / (pairs - 1)
        for side, sign in (("L", 1), ("R", -1)):
            points = [(0.08, y, 0.3), (0.15, y, 0.28), (0.38, 1.5 * y, 0.46),
                      (0.58, 1.95 * y, 0.02), (0.62, 2.0 * y, 0.0)]
            points = [(sign * x, back, up) for x, back, up in points]
            names = [f"Leg{n + 1}_{k}.{side}" for k in range(4)]
            for k, name in enumerate(names):
                bone(name, names[k - 1] if k else "Hips", points[k], points[k + 1])
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig


def places(rig, bones):
    bpy.context.view_layer.update()
    seen = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
    return {name: np.array(seen.matrix_world @ seen.pose.bones[name].matrix) for name in bones}


def off(rig, controls):
    """Largest distance of the rig's bones from where their targets are."""
    known = control_rig.followers(controls)
    here = places(rig, [bone for bone, _ in known.values()])
    there = places(controls, [f"TGT-{role}" for role in known])
    return max(
        float(np.abs(here[bone][:3, 3] - there[f"TGT-{role}"][:3, 3]).max())
        for role, (bone, _) in known.items()
    )


def walk(controls, gait, froude):
    """Pose the controls in the middle of a gait; returns tracks, sample and figure."""
    figure = characters.figure_of(controls)
    creature = creature_of(figure)
    speed = float(np.sqrt(froude * 9.81 * creature.hip_height()))
    motion = solve_gait(GaitSettings(
        creature=creature, sequence=(GaitItem(gait),), speed=speed, n_frames=49,
    ))
    kind = characters.kind_of(controls).lower()
    tracks = map_legged(motion, figure, STYLES[kind])
    at = len(tracks.time) // 2
    frames = armature_frames("", np.array(controls.matrix_world)[None])
    solver = RigSolver(
        controls, characters.role_bones_of(controls), frames, 1.0, characters.rest_axes(controls)
    )
    for track in solver.solve(
        {role: where[at : at + 1] for role, where in tracks.position.items()},
        {role: turn[at : at + 1] for role, turn in tracks.rotation.items()},
    ):
        bone = controls.pose.bones[track.bone]
        if track.location is not None:
            bone.location = track.location[0]
        if track.rotation is not None:
            setattr(bone, track.property, track.rotation[0])
    bpy.context.view_layer.update()
    return tracks, at, figure


@pytest.mark.parametrize("file", ANIMALS)
def test_animals_follow_controls_with_their_own_legs(scene, file):
    kind, hind, fore, bends = ANIMALS[file]
    rig = bring_in(file)
    before = snapshot()
    rest = places(rig, rig.pose.bones.keys())
    assert bpy.ops.poise.rig_setup(kind=kind) == {"FINISHED"}
    controls = control_rig.controls_of(rig)
    figure = characters.figure_of(controls)
    assert [len(leg.segments) for leg in figure.legs] == [hind, hind, fore, fore]
    assert {leg.bend for leg in figure.legs} <= bends
    height = figure.height
    # In rest nothing has moved, and the feet stand on the ground.
    now = places(rig, rest)
    size = rig.matrix_world.to_scale().x
    for name, matrix in rest.items():
        assert np.abs(now[name] - matrix)[:3, 3].max() < 1e-4 * height, name
        assert np.abs(now[name] - matrix)[:3, :3].max() < 1e-2 * size, name
    for leg in figure.legs:
        assert figure.joints[leg.tip][2] == pytest.approx(0.0, abs=1e-4 * height)
    # In a walk the rig is where its controls are, and they are where the tracks say.
    tracks, at, figure = walk(controls, "WALK", 0.15)
    assert off(rig, controls) < 1e-3 * height
    for leg in figure.legs:
        tip = controls.matrix_world @ controls.pose.bones[leg.segments[-1]].tail
        short = np.linalg.norm(np.array(tip) - tracks.position[leg.tip][at])
        assert short < 2e-3 * height, leg.name
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    assert diff(before, snapshot(), NOISE) == []


@pytest.mark.parametrize("file", ANIMALS)
def test_legs_of_animals_reach_their_footholds_in_every_gait(scene, file):
    """Hips that are bones which only lead aside are no part of the legs that swing below them."""
    rig = bring_in(file)
    rig.scale *= FEET[file][1] if file in FEET else 0.4  # as large as the animals are
    bpy.context.view_layer.update()
    bpy.ops.poise.rig_setup(kind=ANIMALS[file][0])
    figure = characters.figure_of(control_rig.controls_of(rig))
    creature = creature_of(figure)
    for leg in figure.legs:
        aside, *_ = np.abs(np.diff(figure.limb(leg), axis=0))
        assert aside[0] < aside[2], leg.name
    for gait, froude in (("WALK", 0.15), ("TROT", 0.9), ("CANTER_LEFT", 2.2), ("GALLOP_LEFT", 5.5)):
        speed = float(np.sqrt(froude * 9.81 * creature.hip_height()))
        motion = solve_gait(GaitSettings(
            creature=creature, sequence=(GaitItem(gait),), speed=speed, n_frames=73,
        ))
        tracks = map_legged(motion, figure, STYLES[ANIMALS[file][0].lower()])
        told = {p.code for p in tracks.problems}
        assert not told & {"LEG_STRETCHED", "LEG_CRUSHED", "LEG_FOLDED"}, gait
        for i, leg in enumerate(figure.legs):
            at = motion.contact[:, i]
            far = np.linalg.norm(tracks.position[leg.tip] - motion.foot_position[:, i], axis=1)
            assert far[at].max() < 1e-3 * figure.height


def pastern_ahead(joint, leg):
    """Degrees by which the last segment before a foot points ahead of the line of the one above."""
    upper, middle, lower = (np.asarray(joint[role])[..., 1:] for role in leg.segments[-3:])
    (y, z), (out, down) = np.moveaxis(middle - upper, -1, 0), np.moveaxis(lower - middle, -1, 0)
    return np.degrees(np.arctan2(z * out - y * down, y * out + z * down))


@pytest.mark.parametrize("file", ["quaternius_animals/Horse.glb", "quaternius_animals/Wolf.glb"])
def test_fetlocks_give_under_load_and_fold_back_in_the_swing(scene, file):
    """Fetlocks of walking horses go through 45 degrees (fore) and 60 (hind), from 36 to 42 pressed
    through under load to straight or folded back in the swing; so do toes of dogs."""
    rig = bring_in(file)
    rig.scale *= FEET[file][1] if file in FEET else 0.4
    bpy.context.view_layer.update()
    kind = ANIMALS[file][0]
    bpy.ops.poise.rig_setup(kind=kind)
    figure = characters.figure_of(control_rig.controls_of(rig))
    creature = creature_of(figure)
    for gait, froude in (("WALK", 0.15), ("TROT", 0.9)):
        speed = float(np.sqrt(froude * 9.81 * creature.hip_height()))
        motion = solve_gait(GaitSettings(
            creature=creature, sequence=(GaitItem(gait),), speed=speed, n_frames=97, fps=48.0,
        ))
        joint, _ = pose_joints(map_legged(motion, figure, STYLES[kind.lower()]), figure)
        for number, leg in enumerate(figure.legs):
            ahead = pastern_ahead(joint, leg)
            rest = float(pastern_ahead(figure.joints, leg))
            down = motion.contact[:, number]
            assert rest < ahead[down].max() < 80.0, (gait, leg.name)
            assert -40.0 < ahead[~down].min() < 5.0, (gait, leg.name)
            assert 45.0 < np.ptp(ahead), (gait, leg.name)


@pytest.mark.parametrize(("file", "gait", "froude"), [
    ("fox/Fox.glb", "TROT", 1.0),
    ("quaternius_animals/Cow.glb", "WALK", 0.2),
    ("quaternius_animals/Horse.glb", "TROT", 1.0),
    ("quaternius_animals/Wolf.glb", "WALK", 0.2),
    ("quaternius_animals/Wolf.glb", "GALLOP_LEFT", 4.0),
])
def test_hooves_and_paws_roll_over_their_soles(scene, file, gait, froude):
    """No vertex is more than 5 mm deeper than in the rest pose."""
    rig = bring_in(file)
    [mesh] = [obj for obj in bpy.data.objects if obj.find_armature() == rig]

    def lowest():
        posed = mesh.evaluated_get(bpy.context.evaluated_depsgraph_get())
        world = np.array(posed.matrix_world)
        places = np.array([vertex.co for vertex in posed.to_mesh().vertices])
        return float((places @ world[2, :3]).min() + world[2, 3])

    rest = lowest()
    bpy.ops.poise.rig_setup(kind=ANIMALS.get(file, ("HORSE",))[0])
    height = creature_of(characters.figure_of(control_rig.controls_of(rig))).hip_height()
    scene.render.fps, scene.frame_start, scene.frame_end = 24, 1, 73
    rig.poise.settings.range_mode = "SCENE"
    rig.poise.gait.sequence[0].gait = gait
    rig.poise.gait.speed = float(np.sqrt(froude * 9.81 * height))
    assert bpy.ops.poise.bake() == {"FINISHED"}
    low = []
    for frame in range(25, 73, 2):
        scene.frame_set(frame)
        low.append(lowest())
    assert min(low) > rest - 0.005


PLANTED = 0.3  # of the speed at which the ground goes back under it: so fast a foot goes with it


def feet_behind(rig, feet, frames, speed=0.0):
    """(frames, feet) how far behind the body's steady way feet are, which go along -Y."""
    behind = np.empty((len(frames), len(feet)))
    for row, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame), subframe=float(frame % 1.0))
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        places = [(posed.matrix_world @ posed.pose.bones[name].head).y for name in feet]
        behind[row] = np.array(places) + speed * (frame - frames[0])
    return behind


def contacts(behind):
    """Touchdowns and liftoffs over one stride, as shares of it.

    The contact rule, of the clip as of the bake: a foot is on the ground once it has been
    farthest ahead of the body and goes back with the ground, until it is farthest behind.
    """
    count, numbers = len(behind), np.arange(behind.shape[1])
    ahead = behind.argmin(axis=0)
    back = np.roll(behind, -1, axis=0) - np.roll(behind, 1, axis=0)
    ground = [np.median(own[own > 0.0]) for own in back.T]
    after = (ahead + np.arange(count)[:, None]) % count
    landed = (back[after, numbers] > PLANTED * np.array(ground)).argmax(axis=0)
    return (ahead + landed) / count, behind.argmax(axis=0) / count


@pytest.mark.parametrize("clip", CLIPS)
def test_animals_keep_the_footfalls_of_their_own_clips(scene, clip):
    """Phases and duty factors measured on a clip are those of the bake with them."""
    file, action, preset, expected = CLIPS[clip]
    feet, unit = FEET[file]
    path = RIGS / file
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    bpy.ops.import_scene.gltf(filepath=str(path))
    scene = bpy.context.scene
    scene.unit_settings.scale_length = unit
    fps = scene.render.fps / scene.render.fps_base
    rig = next(obj for obj in bpy.data.objects if obj.type == "ARMATURE")
    rig.animation_data.action = bpy.data.actions[action]
    for track in rig.animation_data.nla_tracks:
        track.mute = True
    start, end = bpy.data.actions[action].frame_range
    frames = np.arange(start, end, STEP)
    behind = feet_behind(rig, feet, frames)
    on, off = contacts(behind)
    phase, duty = (on - on[0]) % 1.0, (off - on) % 1.0
    assert phase[1:] == pytest.approx(expected, abs=0.055)
    # The feet of such loops go over the ground at different speeds, some farther than the legs
    # reach under a level trunk; timing is what counts here.
    period = (end - start) / fps
    speed = 0.7 * float(np.min(np.ptp(behind, axis=0) / (duty * period)))
    put_at_rest(rig)
    bpy.ops.poise.rig_setup(kind=ANIMALS[file][0])
    controls = control_rig.controls_of(rig)
    gait, settings = controls.poise.gait, controls.poise.settings
    settings.frame_start = 1
    settings.frame_end = 1 + int(np.ceil(3.0 * (end - start)))
    gait.speed = speed
    item = gait.sequence[0]
    item.gait, item.own_timing = preset, True
    for leg, share, touchdown in zip(LEGS, duty, phase, strict=True):
        item.legs[leg].duty, item.legs[leg].phase = share, touchdown
    item.stride_by, item.period = "PERIOD", period
    bpy.ops.poise.bake()
    told = {p.code: p.message for p in settings.problems}
    assert not set(told) & {"STROKE_LIMITED", "STEP_LEFT_OUT"}, told
    # The second stride of the bake, by the same rule.
    frames = 1.0 + end - start + np.arange(0.0, end - start, STEP)
    seen, _off = contacts(feet_behind(rig, feet, frames, speed / fps))
    late = ((seen - seen[0] - phase + 0.5) % 1.0 - 0.5) * (end - start)
    assert np.abs(late).max() < 1.0, late
    # The order of all that were not set down in the same frame.
    apart, came = (np.subtract.outer(p, p) for p in (phase, phase + late / (end - start)))
    assert (apart * came > 0.0)[np.abs(apart) * (end - start) > 1.0].all()


# Of clips that come with them: gait, speed, and in the middle third of the time from where the left
# fore foot is farthest ahead to where it is farthest behind, bend of carpus and fetlock, degrees;
# how much lower than at rest the shoulder is in the mean, percent.
STRAIGHT = {
    "horse walk": ("Horse", "WALK", 1.96, 6.7, 20.2, 1.1),
    "horse gallop": ("Horse", "GALLOP_LEFT", 8.98, 3.7, 9.8, -2.7),
    "cow walk": ("Cow", "WALK", 1.96, 5.4, 16.4, -1.0),
}
FORE = ("FrontUpperLeg.L", "FrontLowerLeg.L", "FF.L", "FrontShoulder.L", "Torso3")


def heads(rig, frames):
    """Bone -> (frames, 3) where a foreleg's bones begin, and where the last of it ends."""
    found = {bone: np.empty((len(frames), 3)) for bone in (*FORE, "hoof")}
    for row, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame), subframe=float(frame % 1.0))
        posed = rig.evaluated_get(bpy.context.evaluated_depsgraph_get())
        for bone in FORE:
            found[bone][row] = posed.matrix_world @ posed.pose.bones[bone].head
        found["hoof"][row] = posed.matrix_world @ posed.pose.bones["FF.L"].tail
    return found


def connect_forelegs(rig):
    """Begin the upper bones of its forelegs at the ends of the shoulders that they hang on."""
    bpy.ops.object.mode_set(mode="EDIT")
    for side in "LR":
        upper = rig.data.edit_bones[f"FrontUpperLeg.{side}"]
        upper.parent.tail = upper.head
        upper.use_connect = True
    bpy.ops.object.mode_set(mode="OBJECT")


@pytest.mark.parametrize(
    ("clip", "connected"), [*((clip, False) for clip in STRAIGHT), ("cow walk", True)]
)
def test_straight_forelegs_carry_weight_as_in_their_own_clips(scene, clip, connected, capfd):
    """Carpi, fetlocks and shoulders are where artists have them (6 and 12 degrees, 3 %), live and
    with their own bones keyed, those that are connected to what hangs on the trunk, too."""
    model, gait, speed, *expected = STRAIGHT[clip]
    rig = bring_in(f"quaternius_animals/{model}.glb")
    if connected:
        connect_forelegs(rig)
    bpy.context.scene.render.fps = 60
    rest = places(rig, ["FrontShoulder.L"])["FrontShoulder.L"][2, 3]
    capfd.readouterr()
    bpy.ops.poise.rig_setup(kind="HORSE")
    assert "buckle" not in capfd.readouterr().out
    controls = control_rig.controls_of(rig)
    controls.poise.settings.frame_start, controls.poise.settings.frame_end = 1, 241
    controls.poise.gait.sequence[0].gait, controls.poise.gait.speed = gait, speed
    assert bpy.ops.poise.bake() == {"FINISHED"}
    frames = np.arange(60.0, 241.0)
    live = heads(rig, frames)
    elbow, carpus, fetlock, shoulder, chest = (live[bone] for bone in FORE)
    upper, lower, hoof = carpus - elbow, fetlock - carpus, live["hoof"] - fetlock
    ahead = chest[:, 1] - fetlock[:, 1]
    last = len(ahead) // 2 + int(ahead[len(ahead) // 2 :].argmin())
    first = last
    while ahead[first - 1] > ahead[first]:
        first -= 1
    third = (last - first) / 3.0
    held = slice(round(first + third), round(last - third) + 1)
    for a, b, angle, off in ((upper, lower, expected[0], 6.0), (lower, hoof, expected[1], 12.0)):
        cosine = np.sum(a * b, axis=1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
        assert np.degrees(np.arccos(cosine[held])).mean() == pytest.approx(angle, abs=off)
    if not connected:  # else it goes along with the leg, and tells nothing about the trunk
        assert 100.0 * (1.0 - shoulder[:, 2].mean() / rest) == pytest.approx(expected[2], abs=3.0)
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    for bone, seen in heads(rig, frames).items():
        assert np.abs(seen - live[bone]).max() < 1e-3, bone


def test_straight_legs_that_nothing_can_move_are_named(scene, capfd):
    """Where both are connected to one bone in the end: the way out leads to legs that give."""
    rig = bring_in("quaternius_animals/Cow.glb")
    connect_forelegs(rig)

    def set_up(upper_connected):
        bpy.ops.object.mode_set(mode="EDIT")
        bones = rig.data.edit_bones
        yoke = bones.get("Yoke") or bones.new("Yoke")
        yoke.parent = bones["Torso2"]
        if upper_connected:
            yoke.tail = bones["FrontShoulder.L"].head * Vector((0.0, 1.0, 1.0))
            yoke.head = yoke.tail + Vector((0.0, 0.0, 0.005))
        for side in "LR":
            bones[f"FrontShoulder.{side}"].parent = yoke
            bones[f"FrontShoulder.{side}"].use_connect = True
            bones[f"FrontUpperLeg.{side}"].use_connect = upper_connected
        bpy.ops.object.mode_set(mode="OBJECT")
        capfd.readouterr()
        assert bpy.ops.poise.rig_setup(kind="HORSE") == {"FINISHED"}
        figure = characters.figure_of(control_rig.controls_of(rig))
        slung = {bool(leg.sling) for leg in figure.legs if leg.name.startswith("fore")}
        return slung, "FrontUpperLeg.L and FrontUpperLeg.R cannot" in capfd.readouterr().out

    assert set_up(True) == ({False}, True)
    assert set_up(False) == ({True}, False)


def test_many_legs(scene):
    rig = spider()
    assert bpy.ops.poise.rig_setup(kind="INSECT") == {"FINISHED"}
    controls = control_rig.controls_of(rig)
    figure = characters.figure_of(controls)
    assert len(figure.legs) == 8
    for leg in figure.legs:
        assert leg.girdle == 0 and leg.bend == 1 and len(leg.segments) == 4
        # Knees are above the line from hip to foot.
        assert figure.joints[leg.pole][2] > figure.joints[leg.segments[2]][2]
    assert off(rig, controls) < 1e-5


def test_straight_legs_of_insects_bend_to_the_sides(scene):
    """Upright ones cannot bend up: where the joint went was no number, and so was the motion."""
    rig = spider()
    bpy.ops.object.mode_set(mode="EDIT")
    for n in range(4):
        for side, sign in (("L", 1.0), ("R", -1.0)):
            for k, (high, low) in enumerate(((0.3, 0.2), (0.2, 0.1), (0.1, 0.02), (0.02, 0.0))):
                bone = rig.data.edit_bones[f"Leg{n + 1}_{k}.{side}"]
                x, y = sign * 0.15, -0.2 + 0.4 * n / 3
                bone.head, bone.tail = (x, y, high), (x, y, low)
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.poise.rig_setup(kind="INSECT")
    controls = control_rig.controls_of(rig)
    figure = characters.figure_of(controls)
    for leg in figure.legs:
        knee, pole = figure.joints[leg.segments[leg.bend + 1]], figure.joints[leg.pole]
        assert abs(pole[0]) > abs(knee[0]) + 0.1 and pole[1:] == pytest.approx(knee[1:], abs=1e-3)
    bpy.ops.poise.bake()
    bpy.ops.poise.footprints_edit()
    assert off(rig, controls) < 1e-4
    # Taken off, nothing of all that is left.
    bpy.ops.poise.rig_remove()
    assert [obj for obj in bpy.data.objects if not obj.name.startswith("WGT")] == [rig]


def stretched(pairs, bones, height, off=0.0, ahead=False, shorter=0.0):
    """A plain rig on pairs of straight legs, the first one on the left shorter by some metres.

    The first joint of each is some metres ahead of the line from hip to ground; where `ahead`,
    the last bone is a paw. Returns the bones of the legs.
    """
    data = bpy.data.armatures.new("Table")
    rig = bpy.data.objects.new("Table", data)
    bpy.context.collection.objects.link(rig)
    bpy.context.view_layer.objects.active = rig
    rig.select_set(True)
    bpy.ops.object.mode_set(mode="EDIT")

    def bone(name, parent, head, tail):
        made = data.edit_bones.new(name)
        made.head, made.tail = head, tail
        if parent:
            made.parent = data.edit_bones[parent]

    top, long = 1.08 * height, 0.6 * height
    bone("Body", "", (0, long, top), (0, -long, top))
    bone("Head", "Body", (0, -long, top), (0, -1.7 * long, 1.2 * top))
    legs = []
    for n in range(pairs):
        y = long * (0.8 - 1.6 * n / (pairs - 1))
        for side, sign in (("L", 1), ("R", -1)):
            size = height - shorter * (n == 0 and side == "L")
            points = [(0.2 * height * sign, y - off * (k == 1), height - size * k / bones)
                      for k in range(bones + 1)]
            if ahead:
                points[-1] = (points[-1][0], y - 0.17 * height, points[-1][2])
            legs.append([f"Leg{n + 1}_{k}.{side}" for k in range(bones)])
            for k, name in enumerate(legs[-1]):
                bone(name, legs[-1][k - 1] if k else "Body", points[k], points[k + 1])
    bpy.ops.object.mode_set(mode="OBJECT")
    return rig, legs


def seen(rig, legs, frames):
    """Ends of legs (legs, frames, 3), and angles between their bones (joints, frames), degrees."""
    ends, bends = [], []
    for frame in frames:
        bpy.context.scene.frame_set(frame)
        bones = rig.evaluated_get(bpy.context.evaluated_depsgraph_get()).pose.bones
        ends.append([np.array(rig.matrix_world @ bones[leg[-1]].tail) for leg in legs])
        bends.append([
            np.degrees(bones[a].vector.angle(bones[b].vector))
            for leg in legs for a, b in zip(leg[:-1], leg[1:], strict=True)
        ])
    return np.swapaxes(ends, 0, 1), np.transpose(bends)


@pytest.mark.parametrize(
    ("kind", "legs"),
    [
        ("HORSE", dict(pairs=2, bones=4, height=1.2)),
        ("DOG", dict(pairs=2, bones=4, height=0.46, ahead=True)),
        ("DOG", dict(pairs=2, bones=2, height=0.46, off=1e-4)),
        ("DOG", dict(pairs=2, bones=3, height=0.46, off=0.03, shorter=0.015)),
        ("INSECT", dict(pairs=3, bones=4, height=0.3, shorter=0.01)),
    ],
)
def test_straight_legs_and_shorter_ones_bend_and_stand(scene, kind, legs):
    """Set up and then not to be baked; or stiff and under the ground, the keyed bones elsewhere;
    or with the foot of the shorter leg over the ground that it stands on."""
    rig, legs = stretched(**legs)
    bpy.ops.poise.rig_setup(kind=kind)
    motion = rig.poise.motion_object
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = 1, 25
    assert bpy.ops.poise.bake() == {"FINISHED"}
    assert not {p.code for p in motion.poise_motion.problems} & {"RIG_SIZE", "POSITION_OFF"}
    frames = range(1, 26)
    ends, bends = seen(rig, legs, frames)
    for end in ends:
        assert end[:, 2].min() == pytest.approx(0.0, abs=1e-3)
        stands = end[:, 2] < 1e-4
        still = stands[1:] & stands[:-1]
        assert still.any()
        assert np.abs(np.diff(end, axis=0)[still]).max() < 1e-3
    joints = np.ptp(bends, axis=1).reshape(len(legs), -1)
    assert joints.max(axis=1).min() > 5.0
    bpy.ops.poise.bake_to_bones()
    keyed, angles = seen(rig, legs, frames)
    assert np.abs(keyed - ends).max() < 1e-3
    assert np.abs(angles - bends).max() < 1.0


def test_odd_legs_are_refused_in_one_sentence(scene):
    rig = spider()
    bpy.ops.object.mode_set(mode="EDIT")
    for k in range(4):
        rig.data.edit_bones.remove(rig.data.edit_bones[f"Leg1_{k}.R"])
    bpy.ops.object.mode_set(mode="OBJECT")
    with pytest.raises(RuntimeError, match=r"has no leg of two bones for leg1\.R: choose them"):
        bpy.ops.poise.rig_setup(kind="INSECT")
    assert control_rig.controls_of(rig) is None


@pytest.mark.parametrize("across", [0.0, 0.15])
def test_a_seventh_leg_stays_as_it_is_and_is_named(scene, across, capfd):
    """In the middle of the body, or to one side once its roles are taken off the list."""
    rig = spider(3)
    bpy.ops.object.mode_set(mode="EDIT")
    points = [(across, 0.3, 0.3), (2.5 * across, 0.4, 0.45), (4.0 * across, 0.5, 0.02)]
    for k, (head, tail) in enumerate(zip(points[:-1], points[1:], strict=True)):
        bone = rig.data.edit_bones.new(f"Leg7_{k}")
        bone.head, bone.tail = head, tail
        bone.parent = rig.data.edit_bones[f"Leg7_{k - 1}" if k else "Hips"]
    bpy.ops.object.mode_set(mode="OBJECT")
    bpy.ops.poise.rig_roles_find()
    for role in [item.role for item in rig.poise.roles]:
        if across and role.startswith("leg4."):
            bpy.ops.poise.rig_role_remove(role=role)
    capfd.readouterr()
    bpy.ops.poise.rig_setup(kind="INSECT")
    assert len(characters.figure_of(control_rig.controls_of(rig)).legs) == 6
    assert "Leg7_0 stays as it is: legs move in pairs" in capfd.readouterr().out


@pytest.mark.parametrize(("kind", "words"), [
    ("SKIER", "stands on four legs: it can be set up as Horse, Dog, not as Skier"),
    ("INSECT", "stands on four legs"),
    ("BIPED", "stands on four legs"),
])
def test_a_kind_with_other_legs_is_refused(scene, kind, words):
    rig = bring_in("fox/Fox.glb")
    before = snapshot()
    with pytest.raises(RuntimeError, match=words):
        bpy.ops.poise.rig_setup(kind=kind)
    assert control_rig.controls_of(rig) is None
    assert diff(before, snapshot(), NOISE) == []


def test_a_fox_leaps_through_postures(scene, capfd):
    """Postures of four legs, a leap among them: paws stay, the mass falls, and all goes again."""
    rig = bring_in("fox/Fox.glb")
    bpy.context.scene.unit_settings.scale_length = FEET["fox/Fox.glb"][1]
    bpy.context.scene.render.fps = 24
    rest = places(rig, rig.pose.bones.keys())
    assert bpy.ops.poise.rig_setup(kind="DOG") == {"FINISHED"}
    controls, motion = control_rig.controls_of(rig), rig.poise.motion_object
    rig.poise.motion = "FREEFORM"
    motion.poise_motion.frame_start, motion.poise_motion.frame_end = 1, 60
    freeform_scenes.spring(controls)
    postures = phrases.posed(rig, motion)
    assert bpy.ops.poise.bake() == {"FINISHED"}
    phrases.require(rig, motion, postures)
    assert bpy.ops.poise.bake_to_bones() == {"FINISHED"}
    phrases.require(rig, motion, postures)
    assert bpy.ops.poise.bake_clear() == {"FINISHED"}
    assert bpy.ops.poise.rig_remove() == {"FINISHED"}
    for name, matrix in places(rig, rest).items():
        np.testing.assert_allclose(matrix, rest[name], atol=1e-4, err_msg=name)
    assert "Dependency cycle" not in "".join(capfd.readouterr())
