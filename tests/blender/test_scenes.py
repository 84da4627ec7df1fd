# SPDX-License-Identifier: GPL-3.0-or-later
"""The demo scenes: each builds and bakes, and its rigs do what the scene is there to show.

Distances, directions and speeds are read from the evaluated rigs in world space.
"""

from pathlib import Path

import bpy
import numpy as np
import posing_scenes
import pytest
import scenes
from bake_rigs import skins_off
from lab import blocking
from PIL import Image
from poise.addon import motions

FPS = scenes.FPS


@skins_off()
def paths(rigs, frames, name="root"):
    """World places (n, 3) of a bone's head on each evaluated rig, in one pass over the frames."""
    places = np.empty((len(rigs), len(frames), 3))
    for row, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame), subframe=float(frame % 1.0))
        depsgraph = bpy.context.evaluated_depsgraph_get()
        for number, rig in enumerate(rigs):
            evaluated = rig.evaluated_get(depsgraph)
            places[number, row] = evaluated.matrix_world @ evaluated.pose.bones[name].head
    return places


def crossings(rig):
    """(k,) frames at which the character changes edges."""
    solved = scenes.solve(rig)
    times = [event.time for event in solved.motion.events if event.kind == "EDGE_CHANGE"]
    return 1.0 + np.array(times) * FPS


def sweep(places):
    """(k,) metres to the left of the way straight ahead at the end of each swing, and rows."""
    left = places[:, 0] - places[0, 0]
    turning = np.flatnonzero(np.diff(np.sign(np.diff(left)))) + 1
    return left[turning], turning


def whole_range():
    """All frames of the scene."""
    return np.arange(1.0, bpy.context.scene.frame_end + 1.0)


def assert_complete(rigs):
    """Every motion is baked without an error, has tracks, and the scene can be rendered."""
    scene = bpy.context.scene
    assert scene.camera is not None
    assert scene.render.engine == "BLENDER_WORKBENCH"
    on_terrain = any(rig.poise.path.terrain for rig in rigs)
    assert on_terrain or any(obj.name.endswith((" Slope", "Road")) for obj in scene.objects)
    for rig in rigs:
        for motion in motions.motions_of(rig):
            settings = motion.poise_motion
            assert settings.bake_action is not None, motion.name
            assert settings.trail is not None, motion.name
            errors = [p.message for p in settings.problems if p.severity == "ERROR"]
            assert not errors, motion.name


def test_figure_6_goes_as_far_as_the_equations_say():
    rigs = scenes.figure_6()
    assert_complete(rigs)
    # Forward distance in two periods at 8 m/s, m = 70 kg, I = 5 kg m^2, l = 1 m, from an
    # independent integration of the equations of motion at 1e-10 (DOP853).
    for rig, (period, _lean), expected in zip(
        rigs, scenes.ELLIPSES, (31.9007, 47.3025, 31.9969), strict=True
    ):
        (places,) = paths([rig], (1.0, 1.0 + 2.0 * period * FPS))
        assert places[0, 1] - places[1, 1] == pytest.approx(expected, abs=1e-3), rig.name
        # Two whole turns end on the line they began on, and stay on the level snow.
        assert places[1, 0] == pytest.approx(places[0, 0], abs=1e-3)
        assert np.abs(places[:, 2]).max() < 1e-4


def test_figure_10_turns_as_its_keys_say():
    rigs = scenes.figure_10()
    first, second, slower, sharper, heading = rigs
    assert_complete(rigs)

    # Figure-8s: where the tracks overlap, the second one is the first one's mirror image.
    a, b, slower_path, sharper_path = paths([first, second, slower, sharper], whole_range())
    middle = a[0, 0]
    along = np.linspace(a[-1, 1], a[0, 1], 400)[1:-1]
    reached = along[along > b[-1, 1]]
    left = [np.interp(reached, p[::-1, 1], p[::-1, 0]) - middle for p in (a, b)]
    assert np.abs(left[0]).max() > 0.8
    np.testing.assert_allclose(left[1], -left[0], atol=5e-3)
    # It skis the last eight of its ten seconds there: a crossing each second.
    assert np.count_nonzero(np.diff(np.sign(left[0] - left[1]))) == pytest.approx(8, abs=1)

    # Falling frequency: each swing takes longer than the one before.
    _sides, turning = sweep(slower_path)
    assert len(turning) >= 6
    assert (np.diff(turning) > 0).all() and (np.diff(turning, 2) >= -1).all()
    assert np.diff(turning)[-1] > 1.5 * np.diff(turning)[0]

    # Rising sharpness: each swing is wider than the one before, at the same frequency.
    sides, turning = sweep(sharper_path)
    widths = np.abs(np.diff(sides))
    assert (np.diff(widths) > 0.0).all() and widths[-1] > 3.0 * widths[0]

    # Heading: over a half turn between keys of equal value the way leads where they say.
    checked = 0
    ends = crossings(heading)
    turns = heading.poise.turns
    wanted = [np.interp((f - 1.0) / FPS, *np.transpose(scenes.HEADING_KEYS)) for f in ends]
    for start, end, before, after in zip(ends, ends[1:], wanted, wanted[1:], strict=False):
        if abs(before - after) > 1e-6:
            continue
        (places,) = paths([heading], (start, end))
        way = places[-1] - places[0]
        came = np.degrees(np.arctan2(way[0], -way[1]))
        assert came == pytest.approx(before, abs=0.1)
        checked += 1
    assert checked >= 3, "the keys hold still for too few half turns"
    assert {round(value) for value in wanted} >= {0, 35, -20}
    # The keys are the Motion object's, none is the rig's.
    assert turns.id_data == heading.poise.motion_object
    keyed = heading.animation_data.action
    assert not any("turns" in c.data_path for c in _curves(keyed, heading.animation_data))


def _curves(action, data):
    return [
        curve
        for layer in action.layers
        for strip in layer.strips
        for curve in strip.channelbag(data.action_slot).fcurves
    ]


def test_presets_stand_side_by_side_on_one_hill():
    rigs = scenes.skier_presets()
    assert_complete(rigs)
    spans = []
    for places in paths(rigs, whole_range()[::6]):
        spans.append((places[:, 0].min(), places[:, 0].max()))
        # All on the same plane: 14 degrees down along -Y.
        np.testing.assert_allclose(
            places[:, 2], np.tan(np.radians(14.0)) * places[:, 1], atol=2e-3
        )
    spans.sort()
    assert all(before[1] < after[0] for before, after in zip(spans, spans[1:], strict=False))


def test_slope_speed_comes_from_the_hill():
    rigs = scenes.slope_speed()
    assert_complete(rigs)
    (rig,) = rigs
    (places,) = paths([rig], whole_range())
    speed = np.linalg.norm(np.diff(places, axis=0), axis=1) * FPS
    drop = places[0, 2] - places[:, 2]
    # Gravity alone would give v^2 = v_0^2 + 2 g h; snow and air take from it, nothing adds.
    assert (speed**2 < 4.5**2 + 2.0 * 9.81 * drop[1:]).all()
    assert speed.max() > 2.5 * speed[0]
    # Where the hill has flattened out the skier slows down.
    assert speed[-1] < 0.9 * speed.max()
    assert places[-1, 2] < places[0, 2] - 10.0


def test_sparse_keys_are_fewer_and_move_the_same():
    rigs = scenes.sparse_keys()
    assert_complete(rigs)
    dense, sparse = rigs
    counts = [
        sum(len(c.keyframe_points) for c in _curves(r.animation_data.action, r.animation_data))
        for r in rigs
    ]
    assert counts[1] < 0.75 * counts[0]
    shift = None
    for name in ("root", "pelvis", "head", "hand_ik.L", "ski.R"):
        a, b = paths([dense, sparse], np.arange(10.0, 61.0), name)
        shift = b[0] - a[0] if shift is None else shift
        np.testing.assert_allclose(b - shift, a, atol=1.5e-3, err_msg=name)


def test_several_motions_go_on_without_a_jump():
    rigs = scenes.several_motions()
    assert_complete(rigs)
    (rig,) = rigs
    found = motions.motions_of(rig)
    assert [m.poise_motion.after for m in found] == [None, *found[:2]]
    assert sum(1 for track in rig.animation_data.nla_tracks for _ in track.strips) == 3
    for motion in found[1:]:
        seam = motion.poise_motion.frame_start
        # The travel goes on as it was; the body goes over to the next preset's style.
        for name, most in (("root", 0.5), ("pelvis", 1.5)):
            (places,) = paths([rig], np.arange(seam - 3.0, seam + 4.0), name)
            speed = np.diff(places, axis=0) * FPS
            change = np.linalg.norm(np.diff(speed, axis=0), axis=1)
            assert change.max() < most, (motion.name, name, change.round(2))
    bound = [m for m in bpy.context.scene.timeline_markers if m.camera is not None]
    assert len(bound) == 3


def test_irregular_turns_differ_from_even_ones():
    rigs = scenes.irregular()
    assert_complete(rigs)
    even, irregular = (
        np.abs(np.diff(sweep(places)[0])) for places in paths(rigs, whole_range())
    )
    assert np.ptp(even[1:-1]) < 0.02 * even.mean()
    assert np.ptp(irregular[1:-1]) > 0.08 * irregular.mean()


def test_the_snowboarder_can_be_seen(tmp_path):
    rigs = scenes.snowboarder()
    assert_complete(rigs)
    scene = bpy.context.scene
    scene.frame_set(90)
    scene.render.resolution_x, scene.render.resolution_y = 96, 54
    scene.display.render_aa = "OFF"
    scene.render.filepath = str(tmp_path / "seen.png")
    bpy.ops.render.render(write_still=True)
    pixels = np.asarray(Image.open(tmp_path / "seen.png").convert("RGB")).astype(int)
    # Snow below: bright. The jacket: cyan, somewhere around the middle.
    assert pixels[-6:].mean() > 190
    middle = pixels[12:44, 24:72].reshape(-1, 3)
    assert ((middle[:, 1] - middle[:, 0] > 60) & (middle[:, 2] - middle[:, 0] > 60)).any()
    assert scene.camera.animation_data.action is not None


def test_skateboarders_lead_with_either_foot():
    rigs = scenes.skateboarder()
    # No assert_complete: a skateboard leaves no track on asphalt.
    for rig in rigs:
        settings = rig.poise.settings
        assert settings.bake_action is not None
        assert not [p.message for p in settings.problems if p.severity == "ERROR"]
    assert bpy.context.scene.camera is not None
    # Along -Y: the foot in front has the smaller y.
    left, right = (paths(rigs, [1.0], name=f"foot_ik.{side}")[:, 0, 1] for side in "LR")
    assert left[0] < right[0] and right[1] < left[1]


def test_the_cyclist_turns_with_the_inside_pedal_up_and_then_sprints():
    rigs = scenes.cyclist()
    assert_complete(rigs)
    (rig,) = rigs
    solved = scenes.solve(rig)
    time, lean = solved.motion.time, np.degrees(solved.motion.lean)
    held = solved.tracks.attributes["effort"] < 0.01
    assert held[np.abs(lean) > 28.5].all() and (np.abs(lean) > 28.5).sum() > 20
    # Out of the saddle the hips are ahead of where they were, and the frame sways.
    frames = np.array((24.0, 11.5 * FPS))
    pelvis, bike = (paths(rigs, frames, name)[0] for name in ("pelvis", "bike"))
    ahead = np.linalg.norm(pelvis - bike, axis=1)
    assert ahead[1] > ahead[0] + 0.05
    late = time > 9.0
    sway = np.degrees(solved.tracks.attributes["frame_lean"][late]) - lean[late]
    assert 4.0 < np.abs(sway).max() < 15.0


def test_a_cyclist_stays_on_the_road_around_the_corner():
    """Fig. 18 of the paper: between both edges, from one leg of the road to the other."""
    import path_scenes

    rigs = path_scenes.bicycle_corner()
    assert_complete(rigs)
    (rig,) = rigs
    found = scenes.solve(rig).path
    assert found.finished and found.min_clearance > rig.poise.path.clearance - 1e-3
    for wheel in ("front_wheel", "rear_wheel"):
        (places,) = paths(rigs, whole_range()[::4], wheel)
        turning = (places[:, 0] < 8.0) & (places[:, 1] < -30.0)
        radius = np.hypot(places[turning, 0] - 8.0, places[turning, 1] + 30.0)
        assert radius.min() > 5.5 and radius.max() < 10.5
    assert places[-1, 0] > 30.0 and abs(places[-1, 1] + 38.0) < 1.5


def test_a_crowd_keeps_apart():
    """Whoever is planned later keeps its clearance from the shoulders of those before."""
    import path_scenes
    from poise.addon.scene.course import FIGURE_RADIUS

    rigs = path_scenes.crowd(4)
    assert_complete(rigs)
    feet = np.array(paths(rigs, whole_range()[::6], "root"))
    apart = np.linalg.norm(feet[:, None] - feet[None], axis=-1)
    apart[np.diag_indices(len(rigs))] = np.inf
    assert apart.min() > FIGURE_RADIUS + rigs[0].poise.path.clearance - 0.05
    # All of them are on their way to the end: nobody stands where others come by.
    assert (np.linalg.norm(np.diff(feet, axis=1), axis=-1) > 1.0).all()


def test_mannequins_on_their_own_skeletons(scene):
    """One follows its controls, the other has keys on its bones."""
    controls = scenes.own_rig()
    scene = bpy.context.scene
    rigs = [next(o for o in bpy.data.objects if o.name == c.name.removesuffix(" Controls"))
            for c in controls]
    assert any(bone.constraints for bone in rigs[0].pose.bones)
    assert not any(bone.constraints for bone in rigs[1].pose.bones)
    assert rigs[1].animation_data.action is not None
    for frame in (1, 60, 120, scene.frame_end):
        scene.frame_set(frame)
        for rig, control in zip(rigs, controls, strict=True):
            foot = rig.matrix_world @ rig.pose.bones["LeftFoot"].matrix
            there = control.matrix_world @ control.pose.bones["foot.L"].matrix
            assert (foot.translation - there.translation).length < 1e-3


def test_equipment_of_others_goes_along(scene):
    """Own skis stay under the boots and own wheels under the frame that they came with."""
    from poise.addon.rigs.equipment import own_equipment

    controls = scenes.own_equipment()
    things = [own_equipment.attached(one) for one in controls]
    assert set(things[0]) == {f"{name}.{side}" for name in ("ski", "pole") for side in "LR"}
    assert {"bike", "front_wheel", "rear_wheel"} <= set(things[1])

    def apart(one, role, bone):
        graph = bpy.context.evaluated_depsgraph_get()
        (thing,) = one["things"][role]
        rig = one["rig"].evaluated_get(graph)
        place = rig.matrix_world @ rig.pose.bones[bone].matrix
        return np.array(place.inverted() @ thing.evaluated_get(graph).matrix_world)

    pairs = [dict(rig=rig, things=found) for rig, found in zip(controls, things, strict=True)]
    for one, role in ((pairs[0], "ski.L"), (pairs[0], "pole.R"), (pairs[1], "bike")):
        bone = own_equipment.roles_of(one["rig"])[role]
        seen = []
        for frame in (1, 70, 140):
            bpy.context.scene.frame_set(frame)
            seen.append(apart(one, role, bone))
        assert np.abs(np.array(seen) - seen[0]).max() < 1e-4


@pytest.mark.parametrize("name", ["horse_gaits", "insect_rocks", "biped_stairs"])
def test_animals_walk_their_scenes(name):
    """Gaits in the order of their speed; planted feet stay where they are, on whatever ground."""
    import gait_scenes

    (rig,) = gait_scenes.SCENES[name]()
    solved = scenes.solve(rig)
    motion = solved.motion
    assert motion.success and rig.poise.settings.bake_action is not None
    assert not [p.message for p in rig.poise.settings.problems if p.severity == "ERROR"]
    if name == "horse_gaits":
        used = [gait.split("_")[0] for gait, _start, _end in motion.gaits]
        order = ["WALK", "TROT", "CANTER", "GALLOP"]
        assert sorted(used, key=order.index) == used and set(used) == set(order)
        assert np.degrees(motion.yaw[-1] - motion.yaw[0]) > 120.0  # to the left, around the bend
    else:
        assert np.ptp(motion.foot_position[..., 2][motion.contact]) > 0.02
    for leg in range(motion.contact.shape[1]):
        down = motion.contact[1:, leg] & motion.contact[:-1, leg]
        flat = down & (np.abs(np.diff(motion.foot_pitch[:, leg])) < 1e-9)
        slide = np.linalg.norm(np.diff(motion.foot_position[:, leg], axis=0), axis=1)
        assert flat.any() and slide[flat].max() < 1e-3


@pytest.mark.parametrize("name", ["dog_terrain", "biped_stairs"])
def test_uneven_ground_is_built_and_walked_on(name):
    """Every footprint lies on the ground that its scene has there."""
    import gait_scenes

    (rig,) = gait_scenes.SCENES[name]()
    assert rig.poise.settings.bake_action is not None and bpy.context.scene.camera is not None
    places = np.array([p.position for p in scenes.solve(rig).motion.footprints])
    if name == "dog_terrain":
        ground = gait_scenes.rolling(places[:, 0], places[:, 1])
        assert np.ptp(places[:, 2]) > 0.2
    else:
        ground = gait_scenes.RISE * np.round(places[:, 2] / gait_scenes.RISE)
        assert places[:, 2].max() == pytest.approx(gait_scenes.STEPS * gait_scenes.RISE, abs=0.01)
        assert abs(places[-1, 2]) < 0.01  # down again
    assert np.abs(places[:, 2] - ground).max() < 0.02


def test_a_rigify_cat_walks_on_its_own_paws():
    """What a generated rig's skin follows goes along the way; planted toes stay."""
    import gait_scenes

    (controls,) = gait_scenes.rigify_cat()
    assert not [p.message for p in controls.poise.settings.problems if p.severity == "ERROR"]
    motion = scenes.solve(controls).motion
    assert motion.success and [name for name, _s, _e in motion.gaits] == ["Walk"]
    cat = bpy.data.objects["Cat"]
    names = [leg.name for leg in motion.creature.legs]
    toes = {"hind.L": "r_toe.L", "hind.R": "r_toe.R", "fore.L": "f_toe.L", "fore.R": "f_toe.R"}
    for print_ in [p for p in motion.footprints if 2.0 < p.on < 2.8]:
        flat = np.abs(motion.foot_pitch[:, names.index(print_.leg)]) < 1e-9
        down = flat & (motion.time > print_.on) & (motion.time < print_.off)
        # Between two frames, next to where the paw begins to roll, keys have it roll a little.
        frames = 1.0 + motion.time[down][[2, -4]] * FPS
        places = paths([cat], frames, f"DEF-{toes[print_.leg]}")[0]
        assert np.linalg.norm(places[1] - places[0]) < 1e-3, print_.leg
        assert 0.0 < places[:, 2].max() < 0.03
    (hips,) = paths([cat], (1.0, 1.0 + FPS * 4.0), "DEF-spine")
    assert hips[0, 1] - hips[1, 1] == pytest.approx(4.0 * 0.62, rel=0.06)


def test_no_two_of_a_herd_are_in_step_or_too_near():
    import gait_scenes

    rigs = gait_scenes.herd(3, 2.0)
    found = [scenes.solve(rig).motion for rig in rigs]
    for rig, motion in zip(rigs, found, strict=True):
        assert rig.poise.settings.bake_action is not None and motion.success
        assert not [p.message for p in rig.poise.settings.problems if p.severity == "ERROR"]
        assert np.abs([p.position[2] for p in motion.footprints]).max() < 1e-6
    # Bodies are 2.4 m long and less than 0.7 m wide.
    places = np.array([motion.position[:, :2] for motion in found])
    apart = np.abs(places[:, None] - places[None])
    near = (apart[..., 0] < 0.8) & (apart[..., 1] < 3.0)
    near[np.diag_indices(len(rigs))] = False
    assert not near.any()
    # Touchdowns of the left hind foot, as shares of a stride.
    beats = []
    for motion in found:
        on = [p.on for p in motion.footprints if p.leg == "hind.L" and p.on > 0.5][:2]
        beats.append((on[0] - 0.5) / (on[1] - on[0]))
    gaps = np.abs((np.subtract.outer(beats, beats) + 0.5) % 1.0 - 0.5)
    assert gaps[~np.eye(len(beats), dtype=bool)].min() > 0.05


def test_a_ball_is_caught_and_thrown_back_by_poses_on_their_frames():
    """Where the hand was put for each pose, the wrist is on its frame, as Blender shows it."""
    (rig,) = posing_scenes.pose_timing()
    assert_baked(rig)
    caught = rig.poise.pose_timing.targets[0].frame
    frames = [caught, posing_scenes.WIND_UP, posing_scenes.RELEASE]
    wrist = paths([rig], np.array(frames), "hand.R")[0]
    put = [(-0.28, -0.52, 1.28), (-0.42, 0.30, 1.52), (-0.22, -0.62, 1.50)]
    assert np.abs(wrist - put).max() < 1e-3
    # The hand has the ball before it could have gone farther by half its width.
    ball = bpy.data.objects["Ball"]
    bpy.context.scene.frame_set(int(caught), subframe=caught % 1.0)
    palm = wrist[0] - np.array(ball.matrix_world.translation)
    assert np.linalg.norm(palm) < 0.2


def test_a_galloping_dogs_tail_trails_behind_its_hips():
    (rig,) = posing_scenes.overlap()
    assert_baked(rig)
    tail = [b.name for b in rig.data.bones if b.name.startswith("tail.")]
    carrier = rig.data.bones[tail[0]].parent
    upright, frames = np.array(carrier.matrix_local.to_3x3()), np.arange(30, 78)
    pitch = np.empty((len(frames), len(tail)))  # against the hips
    for row, frame in enumerate(frames):
        bpy.context.scene.frame_set(int(frame))
        hips = np.array(rig.pose.bones[carrier.name].matrix.to_3x3())
        for k, name in enumerate(tail):
            way = upright @ hips.T @ np.array(rig.pose.bones[name].matrix.col[1])[:3]
            pitch[row, k] = np.degrees(np.arctan2(way[2], way[1]))
    assert np.ptp(pitch, axis=0).min() > 15.0
    waves = np.fft.rfft(pitch - pitch.mean(axis=0), axis=0)
    lags = -np.unwrap(np.angle(waves[np.argmax(np.abs(waves[:, 0]))]))
    assert (np.diff(lags) > 0.1).all()


def test_an_arm_blocks_four_balls_under_weights():
    """On each ball's frame the arm is no farther from its pose than where it still touches the
    ball (Allen, Neff and Faloutsos, section 4), though weights of 10 kg have hit it."""
    (rig,) = posing_scenes.blocking()
    assert_baked(rig)
    weights = [i.ball for i in rig.poise.pose_timing.disturbances]
    assert len(weights) == 4 and all(weights)
    for target, angle in zip(rig.poise.pose_timing.targets, blocking.ANGLES, strict=True):
        bpy.context.scene.frame_set(int(target.frame), subframe=target.frame % 1.0)
        tip = np.array((rig.matrix_world @ rig.pose.bones["arm"].matrix).to_3x3().col[1])
        off = np.arccos(np.clip(tip @ [0.0, np.sin(angle), -np.cos(angle)], -1.0, 1.0))
        # Two of the frames lie between keys.
        assert off < np.radians(2.0) < blocking.BLOCKS


def assert_baked(rig):
    """Every motion of a rig is baked, without an error."""
    for motion in motions.motions_of(rig):
        assert motion.poise_motion.bake_action is not None, motion.name
        problems = [p.message for p in motion.poise_motion.problems if p.severity == "ERROR"]
        assert not problems, motion.name


def test_every_scene_has_a_test():
    text = Path(__file__).read_text(encoding="utf-8")
    known = [*scenes.SCENES, *posing_scenes.SCENES]
    assert not [name for name in known if f"scenes.{name}()" not in text]


@pytest.mark.parametrize(
    ("kind", "made"),
    [("SKIER", lambda: scenes.slalom()), ("TELEMARK", lambda: scenes.telemark())],
)
def test_slalom_goes_through_its_gates(kind, made):
    from poise.addon.scene import course

    rigs = made()
    assert_complete(rigs)
    assert rigs[0].poise.kind == kind
    (rig,) = rigs
    path = scenes.solve(rig).path
    gates = course.gates_of(rig.poise.path.gates)
    assert path.finished and len(gates) >= 7
    # In order, and the baked figure between the poles when it comes by.
    times = np.array(path.gate_times)
    assert (np.diff(times) > 0.0).all()
    (places,) = paths(rigs, 1.0 + times * FPS)
    for place, gate in zip(places, gates, strict=True):
        local = np.array(gate.matrix_world.inverted())[:3] @ np.append(place, 1.0)
        assert abs(local[0]) < 0.5 * gate.poise_gate.width and abs(local[1]) < 0.1
    # The trees are further off than the clearance, by their trunks.
    assert path.min_clearance > rig.poise.path.clearance - 1e-3


def test_descent_is_as_fast_as_the_mountain_and_its_brakes_make_it():
    rigs = scenes.descent()
    assert_complete(rigs)
    (rig,) = rigs
    solved = scenes.solve(rig)
    path, motion = solved.path, solved.motion
    assert path.finished and path.mean_distance < 0.5
    assert motion.speed[0] == 4.0 and 10.4 < motion.speed.max() <= 10.5 + 1e-6
    assert 0.3 < path.load.min() < 0.7 and path.load.max() > 1.4  # over crests, in hollows
    (places,) = paths(rigs, 1.0 + motion.time[::48] * FPS)
    heights = scenes.mountain_height(*places[:, :2].T)
    # The mesh lies below the formula in hollows and above it nowhere: chords of 1 m.
    assert np.abs(places[:, 2] - heights).max() < 0.01
    # The slope of 14 degrees is the mean: what it goes down is a quarter of what it goes along.
    assert motion.position[-1, 2] < -40.0
