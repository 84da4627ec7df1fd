# SPDX-License-Identifier: GPL-3.0-or-later
"""A skier's tracks against geometry, mechanics and published figures."""

import importlib.util
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from poise.addon.mapping.skier import DOWN, SIDECUT, STYLES, SkierStyle, map_skier
from poise.addon.mapping.tracks import SIDES
from poise.solvers import rotations as rot

_spec = importlib.util.spec_from_file_location(
    "mapping_cases", Path(__file__).with_name("mapping_cases.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

FIGURE = cases.figure()
MOTIONS = {name: cases.solve(FIGURE, row) for name, row in cases.TURNS.items()}
TRACKS = {name: map_skier(MOTIONS[name], FIGURE, STYLES[name]) for name in MOTIONS}
ALL = sorted(MOTIONS)
deg = np.degrees


def outside_inside(motion, tracks, name):
    """An attribute of the outside and of the inside leg."""
    left, right = tracks.attributes[f"{name}.L"], tracks.attributes[f"{name}.R"]
    leaning_left = motion.lean > 0.0
    return np.where(leaning_left, right, left), np.where(leaning_left, left, right)


def mid_turn(motion):
    return np.abs(motion.lean) > 0.93 * np.abs(motion.lean).max()


def edge_change(tracks):
    return tracks.attributes["edge_change"] > 0.97


def lower_and_upper_edge(motion, tracks, side, along=0.0):
    """Heights of both edges of a ski over the snow, at a place along it."""
    half = 0.5 * FIGURE.equipment["ski_width"]
    q = tracks.rotation[f"ski.{side}"]
    heights = []
    for x in (-half, half):
        point = tracks.position[f"ski.{side}"] + rot.rotate(q, np.array((x, along, 0.0)))
        heights.append(cases.to_ground(motion, point)[:, 2])
    return np.minimum(*heights), np.maximum(*heights)


# Skis and snow


@pytest.mark.parametrize("name", ALL)
def test_one_edge_of_each_ski_lies_in_the_snow_and_the_other_above(name):
    for side in SIDES:
        for along in (0.0, -0.8, 0.7):
            low, high = lower_and_upper_edge(MOTIONS[name], TRACKS[name], side, along)
            assert np.abs(low).max() < 1e-9
            assert high.min() > -1e-9


def test_the_edge_stays_in_a_tilted_slope_too():
    motion = cases.solve(FIGURE, cases.TURNS["carving"], slope=0.3, slope_direction=0.4)
    assert np.ptp(motion.position[:, 2]) > 5.0
    tracks = map_skier(motion, FIGURE, STYLES["carving"])
    for side in SIDES:
        low, _ = lower_and_upper_edge(motion, tracks, side)
        assert np.abs(low).max() < 1e-9


@pytest.mark.parametrize("name", ALL)
def test_boots_are_rigid_on_the_skis_and_hold_the_shins(name):
    """Biomechanics of boots: shin 12 to 20 degrees forward, +-5; no bend sideways."""
    tracks = TRACKS[name]
    leg = cases.legs(FIGURE, tracks)
    for side in SIDES:
        q = tracks.rotation[f"ski.{side}"]
        ankle = tracks.position[f"ski.{side}"] + rot.rotate(
            q, np.array((0.0, 0.0, FIGURE.equipment["sole"])))
        assert np.abs(tracks.position[f"foot.{side}"] - ankle).max() < 1e-12
        assert np.abs(tracks.rotation[f"foot.{side}"] - q).max() < 1e-12
        shin = rot.rotate(rot.conjugate(q), rot.normalise(leg[side].middle - ankle))
        assert np.abs(deg(np.arcsin(shin[:, 0]))).max() < 0.01
        forward = deg(np.arctan2(-shin[:, 1], shin[:, 2]))
        assert forward.min() > 11.0 and forward.max() < 22.0


@pytest.mark.parametrize("name", ALL)
def test_legs_are_never_longer_than_their_bones(name):
    leg = cases.legs(FIGURE, TRACKS[name])
    for side in SIDES:
        assert leg[side].shortfall.max() == 0.0
        assert TRACKS[name].attributes[f"leg_length.{side}"].max() <= 0.995 * FIGURE.leg_length
        reported = TRACKS[name].attributes[f"knee_flexion.{side}"]
        assert np.abs(reported - leg[side].flexion).max() < 1e-9


@pytest.mark.parametrize("name", ALL)
def test_the_centre_of_mass_is_over_the_lean_line(name):
    """tan(lean) = across / up for the figure's own mass, recomputed from its joints."""
    motion = MOTIONS[name]
    centre = cases.to_ground(motion, cases.centre_of_mass(FIGURE, TRACKS[name]))
    lean = np.arctan2(centre[:, 0], centre[:, 2])
    assert np.abs(lean - motion.lean).max() < 1e-9
    # Over the boots, fore and aft as the skis point.
    skid = TRACKS[name].attributes["skid_angle"]
    feet = cases.to_ground(motion, TRACKS[name].position["root"])
    along = centre - feet
    assert np.abs(along[:, 1] * np.cos(skid) - along[:, 0] * np.sin(skid)).max() < 0.15


# The spring


def straight_spring(**changes):
    style = replace(SkierStyle(), unweighting_amount=0.0, **changes)
    motion = MOTIONS["short"]
    tracks = map_skier(motion, FIGURE, style)
    return motion, tracks


@pytest.mark.parametrize("up_down", [0.03, 0.10])
def test_leg_length_is_linear_in_leg_force(up_down):
    motion, tracks = straight_spring(up_down=up_down, knee_flexion=np.radians(60.0))
    force, length = tracks.attributes["force"], tracks.attributes["leg_spring"]
    slope, start = np.polyfit(force, length, 1)
    assert np.abs(length - slope * force - start).max() < 1e-9
    assert slope == pytest.approx(-up_down, rel=1e-6)
    # The force is the motion's own, in body weights, but for rounded corners.
    own = motion.leg_force / (motion.mass * motion.gravity)
    assert np.abs(force - own).max() < 1e-3


def test_stiffness_in_newtons_per_metre_is_the_same_spring():
    motion, by_stiffness = straight_spring(stiffness=6000.0, knee_flexion=np.radians(60.0))
    k = motion.mass * motion.gravity / 6000.0
    _, by_amount = straight_spring(up_down=k, knee_flexion=np.radians(60.0))
    for role in by_amount.position:
        assert np.abs(by_amount.position[role] - by_stiffness.position[role]).max() < 1e-9


def test_unweighting_up_is_tall_and_down_is_low_at_the_change_of_edges():
    motion = MOTIONS["short"]
    height = {}
    for label, style in (
        ("none", SkierStyle(knee_flexion=1.0, unweighting_amount=0.0)),
        ("up", SkierStyle(knee_flexion=1.0, unweighting_amount=0.06)),
        ("down", SkierStyle(knee_flexion=1.0, unweighting=DOWN, unweighting_amount=0.06)),
    ):
        tracks = map_skier(motion, FIGURE, style)
        height[label] = cases.to_ground(motion, tracks.position["pelvis"])[:, 2]
    change, middle = edge_change(tracks), mid_turn(motion)
    assert np.all(height["up"][change] > height["none"][change] + 0.03)
    assert np.all(height["down"][change] < height["none"][change] - 0.03)
    assert np.abs(height["up"] - height["none"])[middle].max() < 0.005


@pytest.mark.parametrize("name", ["short", "carving", "slalom", "giant_slalom"])
def test_the_mass_is_low_in_mid_turn_and_moves_by_published_amounts(name):
    """Range of the centre of mass in a turn 0.15 to 0.40 m (general figures, +-20 %)."""
    height = TRACKS[name].attributes["centre_of_mass.z"]
    assert height[mid_turn(MOTIONS[name])].max() < height[edge_change(TRACKS[name])].min()
    assert 0.15 < np.ptp(height) < 0.40


# Edges


def test_sidecut_law_radius_is_sidecut_times_cosine_of_the_edge_angle():
    """R = sidecut cos(edge) (Howe 2001; agreement measured by Reid et al. 2020)."""
    style = replace(STYLES["carving"], sidecut=22.0)
    motion = MOTIONS["carving"]
    edge, _ = outside_inside(motion, map_skier(motion, FIGURE, style), "edge_angle")
    carving = np.abs(edge) > np.radians(46.0)
    assert carving.sum() > 40
    radius = 1.0 / np.abs(motion.curvature[carving])
    assert radius == pytest.approx(22.0 * np.cos(edge[carving]), rel=2e-3)


def test_sidecut_law_agrees_with_slalom_as_measured():
    """12.5 m skis on a radius of 4.0 and 4.9 m: 71.0 and 65.7 degrees (Reid et al. 2020)."""
    from poise.addon.mapping.edges import carving_edge

    assert deg(carving_edge(1.0 / 4.94, 12.5)) == pytest.approx(65.7, abs=2.5)
    assert deg(carving_edge(-1.0 / 3.96, 12.5)) == pytest.approx(-71.0, abs=2.5)


def test_carving_edge_is_smooth_odd_and_grows_with_curvature():
    from poise.addon.mapping.edges import carving_edge

    c = np.linspace(-0.4, 0.4, 8001)
    edge = carving_edge(c, 15.0)
    assert np.abs(edge + edge[::-1]).max() < 1e-14
    assert np.all(np.diff(edge) > 0.0)
    bend = np.diff(edge, 2) / (c[1] - c[0]) ** 2
    assert np.abs(np.diff(bend)).max() < 0.1 * np.abs(bend).max()  # no jump in the bend


def test_linear_law_is_the_given_constant_times_curvature():
    motion = MOTIONS["cruising"]
    style = SkierStyle(edge_per_curvature=8.0, float_angle=0.0)
    edge, _ = outside_inside(motion, map_skier(motion, FIGURE, style), "edge_angle")
    assert np.abs(edge - 8.0 * motion.curvature).max() < 1e-4


def test_linear_law_by_itself_edges_the_largest_lean_by_the_angulation_more():
    motion = MOTIONS["cruising"]
    style = SkierStyle(angulation=np.radians(8.0))
    edge, _ = outside_inside(motion, map_skier(motion, FIGURE, style), "edge_angle")
    beyond = deg(np.abs(edge).max() - np.abs(motion.lean).max())
    assert 5.0 < beyond < 8.5  # the whole angulation only at large leans


@pytest.mark.parametrize("name", ALL)
def test_the_outside_ski_is_edged_slightly_more_than_the_inside_one(name):
    """Equal within 3 to 8 degrees in good skiing; less would be an A-frame."""
    outside, inside = outside_inside(MOTIONS[name], TRACKS[name], "edge_angle")
    difference = deg(np.abs(outside) - np.abs(inside))
    assert difference.min() >= -1e-9
    assert 1.0 < difference[mid_turn(MOTIONS[name])].min()
    assert difference.max() < 8.0


@pytest.mark.parametrize("name", ["short", "carving", "slalom", "giant_slalom", "cruising"])
def test_edges_change_within_a_part_of_the_turn(name):
    """The change takes 15 to 25 % of a turn: here, edges under 40 % of their largest."""
    edge = np.abs(TRACKS[name].attributes["edge_angle"])
    share = np.mean(edge < 0.4 * edge.max())
    assert 0.15 < share < 0.32
    assert np.abs(np.diff(TRACKS[name].attributes["edge_angle"])).max() < np.radians(14.0)


@pytest.mark.parametrize("name", ALL)
def test_angulation_is_of_a_size_that_hips_and_knees_have(name):
    """Edge angle minus lean: 0 to 25 degrees in a turn."""
    middle = mid_turn(MOTIONS[name])
    angulation = deg(TRACKS[name].attributes["angulation"][middle])
    assert angulation.min() > 0.0 and angulation.max() < 25.0


def test_skis_skid_where_the_path_is_tighter_than_they_carve_and_only_there():
    motion, tracks = MOTIONS["short"], TRACKS["short"]
    skid = tracks.attributes["skid_angle"]
    carved = 1.0 / (FIGURE.equipment["sidecut"] * np.cos(tracks.attributes["edge_angle"]))
    tighter = np.abs(motion.curvature) - carved
    assert deg(np.abs(skid[tighter > 0.02])).min() > 1.0
    assert np.abs(skid[np.abs(motion.curvature) < 0.6 * carved]).max() == 0.0
    # The tips point into the turn, by that angle against the path.
    nose = cases.to_ground(motion, motion.position + rot.rotate(
        tracks.rotation["ski.L"], np.array((0.0, -1.0, 0.0))))
    assert np.abs(np.arctan2(nose[:, 0], -nose[:, 1]) - skid).max() < 1e-9
    assert np.all(skid * motion.curvature >= 0.0)
    assert 10.0 < deg(np.abs(skid)).max() < 30.0


# Stance


@pytest.mark.parametrize("name", ALL)
def test_knees_bend_as_published(name):
    """Outside and inside knee in mid-turn, both at the change of edges (degrees, general
    figures for these turns, +-20 % and a little more for the least certain)."""
    published = {
        "slalom": ((45, 75), (65, 100), (55, 110)),
        "giant_slalom": ((35, 60), (80, 115), (60, 110)),
        "short": ((40, 60), (50, 80), (25, 40)),
        "carving": ((30, 50), (65, 95), (25, 45)),
        "cruising": ((28, 50), (40, 65), (25, 42)),
        "beginner": ((28, 60), (40, 75), (25, 42)),
    }[name]
    motion, tracks = MOTIONS[name], TRACKS[name]
    outside, inside = outside_inside(motion, tracks, "knee_flexion")
    middle, change = mid_turn(motion), edge_change(tracks)
    both = 0.5 * (outside + inside)
    for values, (low, high) in zip(
        (outside[middle], inside[middle], both[change]), published, strict=True
    ):
        assert low < deg(values.mean()) < high
    assert np.all(inside[middle] > outside[middle] + np.radians(5.0))


@pytest.mark.parametrize("name", ALL)
def test_the_inside_ski_leads_and_both_are_level_at_the_change(name):
    motion, tracks = MOTIONS[name], TRACKS[name]
    local = {s: cases.to_ground(motion, tracks.position[f"ski.{s}"]) for s in SIDES}
    skid = tracks.attributes["skid_angle"]
    across, along = (local["R"] - local["L"])[:, 0], (local["R"] - local["L"])[:, 1]
    left_leads = across * -np.sin(skid) + along * np.cos(skid)  # along the skis, back is +
    lead = np.where(motion.lean > 0.0, left_leads, -left_leads)
    assert lead[mid_turn(motion)].min() > 0.02
    assert lead.max() < 0.33  # a boot's length is too much
    crossing = np.abs(motion.lean) < np.radians(0.8)
    # A hip that the twist takes ahead takes its ski along.
    assert np.abs(lead[crossing]).max() < 0.05 + 0.1 * np.abs(np.sin(tracks.attributes["twist"])
                                                              [crossing]).max()


@pytest.mark.parametrize("name", ALL)
def test_the_skis_go_apart_in_a_steep_turn_and_never_cross(name):
    motion, tracks = MOTIONS[name], TRACKS[name]
    gap = np.linalg.norm(tracks.position["ski.L"] - tracks.position["ski.R"], axis=1)
    assert gap.min() > 0.2
    left = cases.to_ground(motion, tracks.position["ski.L"])[:, 0]
    assert np.all(left > cases.to_ground(motion, tracks.position["ski.R"])[:, 0] + 0.2)
    if np.abs(motion.lean).max() > 0.6:
        assert gap[mid_turn(motion)].min() > gap[edge_change(tracks)].max()


@pytest.mark.parametrize("name", ALL)
def test_the_outside_ski_carries_more(name):
    outside, inside = outside_inside(MOTIONS[name], TRACKS[name], "force_share")
    assert np.abs(outside + inside - 1.0).max() < 1e-12
    middle = mid_turn(MOTIONS[name])
    assert 0.55 < outside[middle].min() and outside.max() < 0.9
    assert np.abs(outside[np.abs(MOTIONS[name].lean) < 0.01] - 0.5).max() < 0.02


# Upper body


@pytest.mark.parametrize("name", ALL)
def test_shoulders_are_more_level_than_the_lean(name):
    motion, tracks = MOTIONS[name], TRACKS[name]
    line = tracks.position["shoulder.L"] - tracks.position["shoulder.R"]
    line = cases.to_ground(motion, motion.position + line)
    tilt = np.abs(np.arctan2(line[:, 2], np.hypot(line[:, 0], line[:, 1])))
    middle = mid_turn(motion)
    assert np.all(tilt[middle] < 0.75 * np.abs(motion.lean[middle]))


def chest_yaw(motion, tracks, role="chest"):
    ahead = cases.to_ground(motion, motion.position + rot.rotate(
        tracks.rotation[role], np.array((0.0, -1.0, 0.0))))
    return np.arctan2(ahead[:, 0], -ahead[:, 1])


def test_the_chest_twists_to_the_outside_in_phase_with_curvature():
    motion = MOTIONS["cruising"]
    style = SkierStyle(twist=np.radians(20.0), face_heading=0.0)
    plain = SkierStyle(twist=0.0, face_heading=0.0)
    twist = chest_yaw(motion, map_skier(motion, FIGURE, style)) - chest_yaw(
        motion, map_skier(motion, FIGURE, plain))
    assert np.corrcoef(twist, -motion.curvature)[0, 1] > 0.995


def test_facing_downhill_takes_the_turning_out_of_the_chest():
    motion = MOTIONS["short"]
    swing = {}
    for face in (0.0, 0.9):
        tracks = map_skier(motion, FIGURE, SkierStyle(twist=0.0, face_heading=face))
        swing[face] = np.ptp(motion.yaw + tracks.attributes["twist"])
    assert swing[0.9] < 0.2 * swing[0.0]


def test_short_turns_separate_the_body_and_carved_ones_hardly():
    """Ski to torso 40 to 60 degrees in short turns, near zero in carved ones."""
    angles = {}
    for name in ("short", "carving"):
        tracks = TRACKS[name]
        between = tracks.attributes["skid_angle"] - tracks.attributes["twist"]
        angles[name] = deg(np.abs(between)).max()
    assert 30.0 < angles["short"] < 65.0
    assert angles["carving"] < 12.0


@pytest.mark.parametrize("name", ["short", "carving", "cruising", "giant_slalom"])
def test_the_head_looks_where_the_track_goes(name):
    motion, tracks = MOTIONS[name], TRACKS[name]
    ahead = round(STYLES[name].look_ahead / (motion.time[1] - motion.time[0]))
    view = motion.position[ahead:] - motion.position[:-ahead]
    view = np.einsum("nij,ni->nj", np.stack(
        (motion.left, -motion.forward, motion.normal), axis=-1)[:-ahead], view)
    wanted = np.arctan2(view[:, 0], -view[:, 1])
    gaze = chest_yaw(motion, tracks, "head")[:-ahead]
    assert np.abs(gaze - wanted).max() < np.radians(9.0)
    # It is ahead of the skis: turned into a turn before they are.
    start = (np.abs(motion.lean[:-ahead]) < 0.03) & (np.abs(motion.lean_rate[:-ahead]) > 0.1)
    assert np.all((gaze * motion.lean_rate[:-ahead])[start] > 0.0)


def test_the_head_turns_no_further_than_a_neck_can():
    loop = cases.solve(FIGURE, (4.0, 0.15, 45.0, 1.0, 5.0), seconds=6.0)
    tracks = map_skier(loop, FIGURE, SkierStyle(gaze_limit=np.radians(40.0)))
    gaze = chest_yaw(loop, tracks, "head") - tracks.attributes["twist"]
    assert deg(np.abs(gaze)).max() < 40.5
    assert deg(np.abs(gaze)).max() > 30.0


@pytest.mark.parametrize("name", ALL)
def test_waist_follows_the_knees(name):
    tracks = TRACKS[name]
    up = rot.rotate(tracks.rotation["chest"], np.array((0.0, 0.0, 1.0)))
    local = cases.to_ground(MOTIONS[name], MOTIONS[name].position + up)
    pitch = np.arcsin(-local[:, 1])
    if np.ptp(tracks.attributes["leg_spring"]) > 0.03:
        assert np.corrcoef(pitch, tracks.attributes["leg_spring"])[0, 1] < -0.6


@pytest.mark.parametrize("name", ALL)
def test_arms_reach_their_hands_and_elbows_point_down_and_out(name):
    motion, tracks = MOTIONS[name], TRACKS[name]
    for side, arm in cases.arms(FIGURE, tracks).items():
        assert arm.shortfall.max() < 1e-9
        assert 12.0 < deg(arm.flexion).min() and deg(arm.flexion).max() < 125.0
        elbow = cases.to_ground(motion, arm.middle)
        shoulder = cases.to_ground(motion, tracks.position[f"shoulder.{side}"])
        assert np.all(elbow[:, 2] < shoulder[:, 2])
        out = tracks.position[f"hand.{side}"] - tracks.position[f"shoulder.{side}"]
        out = cases.to_ground(motion, motion.position + out)
        yaw = tracks.attributes["twist"]
        ahead = out[:, 0] * np.sin(yaw) - out[:, 1] * np.cos(yaw)
        assert ahead.min() > 0.2  # in front of the chest, where they are seen


# Poles


@pytest.mark.parametrize("name", ALL)
def test_poles_keep_their_length_and_stay_out_of_the_snow(name):
    tracks = TRACKS[name]
    palm = {s: np.subtract(FIGURE.joints[f"pole.{s}"], FIGURE.joints[f"hand.{s}"]) for s in SIDES}
    for side in SIDES:
        grip, tip = tracks.position[f"pole.{side}"], tracks.position[f"pole_tip.{side}"]
        length = np.linalg.norm(grip - tip, axis=1)
        assert np.abs(length - FIGURE.equipment["pole_length"]).max() < 1e-9
        held = tracks.position[f"hand.{side}"] + rot.rotate(
            tracks.rotation[f"hand.{side}"], palm[side])
        assert np.abs(grip - held).max() < 1e-12
        shaft = rot.rotate(tracks.rotation[f"pole.{side}"], np.array((0.0, 0.0, -1.0)))
        assert np.abs(shaft - rot.normalise(tip - grip)).max() < 1e-9
        assert cases.to_ground(MOTIONS[name], tip)[:, 2].min() > -1e-9


@pytest.mark.parametrize("name", [n for n in ALL if STYLES[n].pole_plants])
def test_a_planted_tip_is_fixed_on_the_snow_for_its_exact_time(name):
    motion, tracks = MOTIONS[name], TRACKS[name]
    assert tracks.contacts
    seen = 0
    for contact in tracks.contacts:
        assert 0.015 < contact.end - contact.start <= 0.15
        inside = (motion.time >= contact.start) & (motion.time <= contact.end)
        seen += inside.sum()
        off = tracks.position[contact.role][inside] - contact.position
        assert np.abs(off).max(initial=0.0) < 1e-9
        assert contact.position[2] == pytest.approx(0.0, abs=1e-9)
        for event in ("POLE_PLANT", "POLE_LIFT"):
            time = contact.start if event == "POLE_PLANT" else contact.end
            assert any(e.kind == event and e.time == time and e.side == contact.role[-1]
                       for e in tracks.events)
        assert contact.start in tracks.clock.corners and contact.end in tracks.clock.corners
    assert seen > 0


@pytest.mark.parametrize("degrees", [-20.0, 0.0, 30.0])
def test_poles_are_planted_at_their_phase_on_the_inside_of_the_coming_turn(degrees):
    """30 and 210 degrees (1993, section 7): left hand into the left turn, right into the right."""
    motion = MOTIONS["cruising"]
    tracks = map_skier(motion, FIGURE, SkierStyle(plant_phase=np.radians(degrees)))
    plants = [e for e in tracks.events if e.kind == "POLE_PLANT"]
    assert len(plants) >= 2
    for plant in plants:
        phase = np.interp(plant.time, motion.time, motion.phase)
        wanted = np.radians(degrees if plant.side == "L" else 180.0 + degrees)
        assert abs(np.sin(0.5 * (phase - wanted))) < 0.5 * np.radians(0.2)
        # The coming turn: the way it leans 0.8 s, a quarter of a turn, later.
        if plant.time + 0.8 < motion.time[-1]:
            later = np.interp(plant.time + 0.8, motion.time, motion.lean)
            assert (later > 0.0) == (plant.side == "L")
        # And the tip is out on that side.
        local = cases.to_ground(motion, np.broadcast_to(plant.position, motion.position.shape))
        row = np.argmin(np.abs(motion.time - plant.time))
        assert (local[row, 0] > 0.25) if plant.side == "L" else (local[row, 0] < -0.25)
    sides = [p.side for p in plants]
    assert all(a != b for a, b in zip(sides, sides[1:], strict=False))


def test_no_plants_when_switched_off_or_hardly_moving():
    off = map_skier(MOTIONS["short"], FIGURE, SkierStyle(pole_plants=False))
    assert not off.contacts and not any("POLE" in e.kind for e in off.events)
    slow = cases.solve(FIGURE, (0.8, 0.3, 3.0, 1.0, 5.0), seconds=4.0)
    assert not map_skier(slow, FIGURE, SkierStyle()).contacts


def test_a_wavering_phase_does_not_plant_twice():
    motion = MOTIONS["short"]
    wavering = replace(motion, phase=motion.phase + 0.9 * np.sin(25.0 * motion.time))
    tracks = map_skier(wavering, FIGURE, STYLES["short"])
    for side in SIDES:
        own = [c for c in tracks.contacts if c.role == f"pole_tip.{side}"]
        assert len(own) >= 3
        assert all(b.start - a.end >= 0.25 for a, b in zip(own, own[1:], strict=False))
        for contact in own:
            rows = (motion.time >= contact.start) & (motion.time <= contact.end)
            off = tracks.position[contact.role][rows] - contact.position
            assert np.abs(off).max(initial=0.0) < 1e-9


def test_a_plant_out_of_reach_is_left_out_and_named():
    stiff_pole = replace(FIGURE, equipment={**FIGURE.equipment, "pole_length": 3.2})
    tracks = map_skier(MOTIONS["short"], stiff_pole, STYLES["short"])
    assert not tracks.contacts
    problem = next(p for p in tracks.problems if p.code == "POLE_PLANT_SKIPPED")
    assert problem.time is not None and problem.amount >= 5


def distance_between(a, b, c, d):
    """Least distance (n,) of the segments a-b and c-d, the first one sampled."""
    axis = d - c
    best = np.full(len(a), np.inf)
    for share in np.linspace(0.0, 1.0, 33):
        p = a + share * (b - a)
        t = np.einsum("ij,ij->i", p - c, axis) / np.einsum("ij,ij->i", axis, axis)
        best = np.minimum(best, np.linalg.norm(p - c - np.clip(t, 0, 1)[:, None] * axis, axis=1))
    return best


@pytest.mark.parametrize("name", ALL)
def test_poles_do_not_cut_through_legs_trunk_or_skis(name):
    tracks = TRACKS[name]
    hip, leg = cases.hips(FIGURE, tracks), cases.legs(FIGURE, tracks)
    for side in SIDES:
        grip, tip = tracks.position[f"pole.{side}"], tracks.position[f"pole_tip.{side}"]
        parts = [(tracks.position["pelvis"], tracks.position["neck"], 0.16)]
        for other in SIDES:
            ankle, ski = tracks.position[f"foot.{other}"], tracks.position[f"ski.{other}"]
            q = tracks.rotation[f"ski.{other}"]
            parts += [
                (hip[other], leg[other].middle, 0.08),
                (leg[other].middle, ankle, 0.055),
                (ski + rot.rotate(q, np.array((0, -0.8, 0.0))),
                 ski + rot.rotate(q, np.array((0, 0.7, 0.0))), 0.04),
            ]
        for start, end, radius in parts:
            assert distance_between(grip, tip, start, end).min() > radius


# Symmetry, smoothness, rates


@pytest.mark.parametrize("name", ALL)
def test_a_mirrored_motion_gives_mirrored_tracks(name):
    mirrored = map_skier(cases.mirrored_motion(MOTIONS[name]), FIGURE, STYLES[name])
    tracks = TRACKS[name]
    for role, position in tracks.position.items():
        other = mirrored.position[cases.other_side(role)]
        assert np.abs(cases.mirrored(position) - other).max() < 1e-9, role
        turn = cases.mirrored_turn(tracks.rotation[role])
        other = mirrored.rotation[cases.other_side(role)]
        other = other * np.where(other[:, :1] < 0.0, -1.0, 1.0)
        assert 1.0 - np.abs(np.einsum("ij,ij->i", turn, other)).min() < 1e-12, role
    assert len(mirrored.contacts) == len(tracks.contacts)


@pytest.mark.parametrize("name", ALL)
def test_tracks_have_no_corners(name):
    """Halving the step leaves the largest acceleration as it is; a corner would double it."""
    style = replace(STYLES[name], pole_plants=False)
    peaks = []
    for fps in (96.0, 192.0):
        motion = cases.solve(FIGURE, cases.TURNS[name], seconds=5.0, fps=fps)
        tracks = map_skier(motion, FIGURE, style)
        peaks.append({role: cases.corner(tracks, role) for role in tracks.position})
    for role, coarse in peaks[0].items():
        assert peaks[1][role] < 1.25 * coarse + 0.5, role
    # What the eye follows moves no more violently than the physics: the mass's own
    # acceleration is the leg force.
    force = TRACKS[name].attributes["force"].max() * 9.81
    assert peaks[1]["pelvis"] < 3.0 * force + 10.0


@pytest.mark.parametrize("name", ["short", "carving"])
def test_planting_hands_have_no_corners(name):
    peaks = []
    for fps in (480.0, 960.0):
        motion = cases.solve(FIGURE, cases.TURNS[name], seconds=2.4, fps=fps)
        tracks = map_skier(motion, FIGURE, STYLES[name])
        assert tracks.contacts
        peaks.append({role: cases.corner(tracks, role) for role in ("hand.R", "pole_tip.R")})
    for role, coarse in peaks[0].items():
        assert peaks[1][role] < 1.3 * coarse, role


def turning_steps(tracks, role):
    """Angular speed (n - 1,) of a role from each sample to the next, rad/s."""
    q = tracks.rotation[role]
    cosine = np.abs(np.einsum("ij,ij->i", q[1:], q[:-1])).clip(0.0, 1.0)
    return 2.0 * np.arccos(cosine) / (tracks.time[1] - tracks.time[0])


@pytest.mark.parametrize("name", [n for n in ALL if STYLES[n].pole_plants])
def test_hands_and_poles_turn_without_jitter(name):
    """What half frames show is all there is: finer sampling finds no faster change.

    Between samples the angular speed of a movement that half frames resolve changes by
    as much per second however finely it is sampled; jitter grows as it is looked into.
    """
    change = {"hand": [], "pole": []}
    for fps in (24.0, 96.0):
        motion = cases.solve(FIGURE, cases.TURNS[name], seconds=7.0, fps=fps)
        tracks = map_skier(motion, FIGURE, STYLES[name])
        assert len(tracks.contacts) >= 2
        h = motion.time[1] - motion.time[0]
        for role, found in change.items():
            found.append(max(
                np.abs(np.diff(turning_steps(tracks, f"{role}.{side}"))).max() / h
                for side in SIDES))
    assert change["hand"][1] < 1.35 * change["hand"][0]
    assert change["pole"][1] < 1.35 * change["pole"][0]


@pytest.mark.parametrize("name", [n for n in ALL if STYLES[n].pole_plants])
def test_after_the_lift_a_pole_sweeps_on_and_slows_without_a_second_burst(name):
    motion = cases.solve(FIGURE, cases.TURNS[name], seconds=7.0, fps=96.0)
    tracks = map_skier(motion, FIGURE, STYLES[name])
    middle = 0.5 * (tracks.time[1:] + tracks.time[:-1])
    seen = 0
    for contact in tracks.contacts:
        if contact.end + 0.4 > motion.time[-1]:
            continue
        seen += 1
        speed = turning_steps(tracks, contact.role.replace("pole_tip", "pole"))
        after = speed[(middle > contact.end) & (middle < contact.end + 0.3)]
        # Above what it has already fallen to, it never rises again by much.
        assert np.max(after - np.minimum.accumulate(after)) < 0.12 * after[0]
        assert after[-1] < 0.5 * after[0]
    assert seen


@pytest.mark.parametrize("name", ALL)
def test_the_frame_rate_does_not_matter(name):
    """The same second of the motion has the same pose at 24 and at 60 frames a second."""
    poses = []
    for fps in (24.0, 60.0):
        motion = cases.solve(FIGURE, cases.TURNS[name], seconds=4.0, fps=fps)
        tracks = map_skier(motion, FIGURE, STYLES[name])
        rows = np.rint(np.arange(0.5, 3.6, 0.5) / (motion.time[1] - motion.time[0])).astype(int)
        poses.append({role: p[rows] for role, p in tracks.position.items()})
    for role, position in poses[0].items():
        assert np.abs(position - poses[1][role]).max() < 2e-3, role


def test_keyed_amounts_are_sampled():
    """Constant arrays give what numbers give; a changing one changes only in time."""
    motion = MOTIONS["carving"]
    count = len(motion.time)
    style = STYLES["carving"]
    arrays = {
        f.name: np.full(count, getattr(style, f.name))
        for f in fields(style)
        if isinstance(getattr(style, f.name), float)
    }
    assert len(arrays) > 30
    sampled = map_skier(motion, FIGURE, replace(style, **arrays))
    for role, position in TRACKS["carving"].position.items():
        assert np.abs(position - sampled.position[role]).max() < 1e-9, role
    ramp = np.linspace(np.radians(40.0), np.radians(80.0), count)
    keyed = map_skier(motion, FIGURE, replace(style, knee_flexion=ramp))
    deep = map_skier(motion, FIGURE, replace(style, knee_flexion=np.radians(80.0)))
    assert np.abs(keyed.position["pelvis"][-1] - deep.position["pelvis"][-1]).max() < 1e-9
    assert np.abs(keyed.position["pelvis"][0] - deep.position["pelvis"][0]).max() > 0.05


@pytest.mark.parametrize("name", ALL)
def test_rotations_are_unit_and_sign_continuous(name):
    for role, turn in TRACKS[name].rotation.items():
        assert np.abs(np.linalg.norm(turn, axis=1) - 1.0).max() < 1e-12, role
        assert np.einsum("ij,ij->i", turn[1:], turn[:-1]).min() > 0.9, role


def test_the_root_goes_with_the_feet_on_the_ground():
    motion = cases.solve(FIGURE, cases.TURNS["carving"], slope=0.3)
    tracks = map_skier(motion, FIGURE, STYLES["carving"])
    local = cases.to_ground(motion, tracks.position["root"])
    feet = 0.5 * sum(cases.to_ground(motion, tracks.position[f"ski.{s}"]) for s in SIDES)
    assert np.abs(local[:, 2]).max() < 1e-9
    assert np.abs((local - feet)[:, :2]).max() < 1e-9
    up = rot.rotate(tracks.rotation["root"], np.array((0.0, 0.0, 1.0)))
    ahead = rot.rotate(tracks.rotation["root"], np.array((0.0, -1.0, 0.0)))
    assert np.abs(up - motion.normal).max() < 1e-9
    assert np.abs(ahead - motion.forward).max() < 1e-9


@pytest.mark.parametrize("height", [1.2, 2.1])
def test_any_size_of_figure_keeps_the_geometry(height):
    body = cases.figure(size=height)
    motion = cases.solve(body, cases.TURNS["carving"])
    tracks = map_skier(motion, body, STYLES["carving"])
    half = 0.5 * body.equipment["ski_width"]
    for side in SIDES:
        edges = [cases.to_ground(motion, tracks.position[f"ski.{side}"] + rot.rotate(
            tracks.rotation[f"ski.{side}"], np.array((x, 0.0, 0.0))))[:, 2] for x in (-half, half)]
        assert np.abs(np.minimum(*edges)).max() < 1e-9
        assert cases.legs(body, tracks)[side].shortfall.max() == 0.0
        assert cases.arms(body, tracks)[side].shortfall.max() < 1e-9
    assert tracks.contacts


# Hard cases

HARD = {
    "straight": dict(sharpness=0.0, speed=8.0),
    "one frame": dict(n_frames=1, speed=8.0),
    "two frames": dict(n_frames=2, speed=8.0),
    "three frames": dict(n_frames=3, speed=8.0),
    "stops": dict(speed_mode="SLOPE", speed=3.0, friction=0.2, max_curvature=0.25,
                  max_curvature_rate=1.0),
    "falls": dict(speed_mode="SLOPE", speed=8.0, friction=0.3, max_curvature=0.25,
                  max_curvature_rate=1.0),
    "fast": dict(speed=60.0, sharpness=0.9, frequency=0.5),
    "loops": dict(speed=4.0, frequency=0.15, sharpness=0.8),
    "hectic": dict(speed=10.0, frequency=2.0, sharpness=0.5),
    "stepped": dict(speed=8.0, sharpness="stepped"),
}


@pytest.mark.parametrize("name", sorted(HARD))
@pytest.mark.parametrize("style", ["cruising", "slalom"])
def test_hard_motions_give_a_finite_pose_on_the_snow(name, style):
    settings = dict(HARD[name])
    if settings.get("sharpness") == "stepped":
        settings["sharpness"] = np.where(np.arange(2 * 2 * 96 + 1) < 150, 0.2, 0.7)
    motion = cases.solve(FIGURE, seconds=4.0, **settings)
    with np.errstate(divide="raise", invalid="raise", over="raise"):
        tracks = map_skier(motion, FIGURE, STYLES[style])
    for values in (tracks.position, tracks.rotation, tracks.attributes):
        for role, array in values.items():
            assert len(array) == len(motion.time)
            assert np.all(np.isfinite(array)), role
    for side in SIDES:
        low, _ = lower_and_upper_edge(motion, tracks, side)
        assert np.abs(low).max() < 1e-9
        assert cases.legs(FIGURE, tracks)[side].shortfall.max() < 1e-6
        tip = cases.to_ground(motion, tracks.position[f"pole_tip.{side}"])
        assert tip[:, 2].min() > -1e-9


def test_a_fall_is_one_movement():
    motion = cases.solve(FIGURE, seconds=5.0, **HARD["falls"])
    assert not motion.success
    tracks = map_skier(motion, FIGURE, SkierStyle())
    assert cases.corner(tracks, "pelvis") < 300.0
    assert not [c for c in tracks.contacts if c.end > motion.events[-1].time]


def test_when_style_asks_too_much_the_contacts_and_the_legs_hold_and_it_is_reported():
    style = SkierStyle(knee_flexion=0.0, up_down=0.0, unweighting_amount=0.2)
    motion = MOTIONS["slalom"]
    tracks = map_skier(motion, FIGURE, style)
    for side in SIDES:
        low, _ = lower_and_upper_edge(motion, tracks, side)
        assert np.abs(low).max() < 1e-9
        assert tracks.attributes[f"leg_length.{side}"].max() <= 0.995 * FIGURE.leg_length
    problem = next(p for p in tracks.problems if p.code == "LEG_REACH")
    assert problem.amount > 0.02 and problem.time is not None and problem.remedy


def test_named_styles_ask_for_nothing_they_cannot_have():
    for name, tracks in TRACKS.items():
        assert [p.code for p in tracks.problems] == [], name


def test_edges_that_yield_are_reported():
    style = SkierStyle(edge_law=SIDECUT, edge_limit=np.radians(30.0))
    tracks = map_skier(MOTIONS["carving"], FIGURE, style)
    assert deg(np.abs(tracks.attributes["edge_angle"])).max() < 30.01
    assert any(p.code == "EDGE_LIMITED" for p in tracks.problems)


def test_an_unknown_edge_law_is_refused():
    with pytest.raises(ValueError, match="'MAGIC'"):
        map_skier(MOTIONS["short"], FIGURE, SkierStyle(edge_law="MAGIC"))
