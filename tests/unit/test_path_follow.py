# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions along paths: physics, clearance, order, phase, and what happens where there is no way.

Scenes are those of van de Panne, Fiume and Vranesic (1993), section 6.3.
"""

import importlib.util
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab import courses
from lab.pendulum import angular_acceleration
from poise.solvers.errors import Cancelled, SettingError
from poise.solvers.motion import BodyState, Placement
from poise.solvers.path import (
    Disc,
    Gate,
    MovingDisc,
    PathScene,
    PathSettings,
    Polygon,
    Wall,
    follow,
    follow_path,
)
from poise.solvers.path.obstacles import ObstacleField
from poise.solvers.path.phase import estimate_turns
from poise.solvers.path.prepare import prepare
from poise.solvers.turning.pendulum import foot_speed as foot_speed_of

_spec = importlib.util.spec_from_file_location(
    "mapping_cases", Path(__file__).with_name("mapping_cases.py")
)
mapping_cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(mapping_cases)

_spec = importlib.util.spec_from_file_location(
    "path_cases", Path(__file__).with_name("path_cases.py")
)
path_cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(path_cases)

STRAIGHT = np.array([(0.0, 0.0), (0.0, -60.0)])
WAVE_T = np.linspace(0.0, 70.0, 300)
WAVE = np.stack((4.0 * np.sin(2.0 * math.pi * WAVE_T / 45.0), -WAVE_T), axis=1)
FINE = 240.0  # frames a second: samples well within a substep of 0.1 s


@pytest.fixture(scope="module", params=list(courses.SCENES))
def case(request):
    """A scene of the paper, followed, with samples far finer than the steps."""
    scene, settings = courses.SCENES[request.param]()
    settings = replace(settings, fps=FINE)
    return scene, settings, follow_path(scene, settings)


# --- physics, limits and clearance on each scene -------------------------------------


def test_scenes_are_followed_to_their_end(case):
    scene, _, result = case
    assert result.finished and result.failure is None and result.motion.success
    assert not [p for p in result.motion.problems if p.severity == "ERROR"]
    assert result.along[-1] >= result.length - 1e-6
    assert result.along[-2] < result.length
    assert result.mean_distance < 1.0 and result.max_distance < 3.0
    assert result.motion.position[0, :2] == pytest.approx(scene.polylines[0][0, :2])


def test_equations_of_motion_hold_along_the_track(case):
    _, s, result = case
    m = result.motion
    alpha = angular_acceleration(
        m.curvature, m.lean, m.speed, s.mass, s.height, s.inertia, s.gravity
    )
    assert np.max(np.abs(m.lean_acceleration - alpha)) < 1e-12
    assert np.max(np.abs(m.foot_speed - foot_speed_of(m.speed, m.curvature, m.lean, s.height))) < (
        1e-12
    )
    # Forces balance the body: F_x l cos + F_y l sin = I alpha (Eq. 13).
    torque = s.height * (m.force_lateral * np.cos(m.lean) + m.force_normal * np.sin(m.lean))
    assert np.max(np.abs(torque - s.inertia * m.lean_acceleration)) < 1e-9
    # What is handed on is the derivative of what is handed on, by central differences.
    dt = m.time[1] - m.time[0]
    turn = m.curvature * m.foot_speed

    # Where stages meet, the acceleration has a corner: not there.
    into = np.mod(m.time[1:-1] + 1e-9, s.stage)
    smooth = (into > 1.5 * dt) & (into < s.stage - 1.5 * dt)

    def residual(value, rate, tolerance):
        difference = (value[2:] - value[:-2]) / (2.0 * dt)
        assert np.max(np.abs(difference - rate[1:-1])[smooth]) < tolerance

    residual(m.lean, m.lean_rate, 5e-3)
    residual(m.lean_rate, m.lean_acceleration, 5e-2)
    residual(m.yaw, turn, 1e-2)
    residual(m.distance, m.foot_speed, 5e-3)
    for axis in range(2):
        residual(m.position[:, axis], m.foot_speed * m.forward[:, axis], 1e-2)


def test_curvature_and_its_rate_stay_within_their_limits(case):
    _, s, result = case
    m = result.motion
    assert np.max(np.abs(m.curvature)) <= s.max_curvature * (1.0 + 1e-12)
    rate = np.diff(m.curvature) / np.diff(m.time)
    assert np.max(np.abs(rate)) <= s.max_curvature_rate * (1.0 + 1e-6)
    # Constant within each stage: the rate changes only where stages meet.
    jumps = np.flatnonzero(np.abs(np.diff(rate)) > 1e-6)
    off = np.abs(m.time[jumps + 1] / s.stage - np.round(m.time[jumps + 1] / s.stage))
    assert np.max(off) * s.stage <= 1.0 / FINE + 1e-9
    assert m.clipped.any() == bool(np.max(np.abs(m.curvature)) >= s.max_curvature - 1e-12)


def test_lean_stays_within_its_limit_and_is_used(case):
    _, s, result = case
    assert result.max_lean == pytest.approx(float(np.max(np.abs(result.motion.lean))))
    assert 0.5 * s.max_lean < result.max_lean <= s.max_lean


def test_no_track_comes_nearer_than_the_clearance_at_any_time(case):
    scene, s, result = case
    m = result.motion
    field = ObstacleField(scene.obstacles, scene.gates, s.clearance, 1.0)
    d, _ = field.clearance(m.position[:, 0], m.position[:, 1], m.time)
    assert result.min_clearance == float(np.min(d)) >= s.clearance
    assert result.min_clearance < 2.5  # the obstacles are in the way
    # Not between samples either, to the exact collision test.
    p = m.position
    hit = field.hits(
        p[:-1, 0], p[:-1, 1], p[1:, 0], p[1:, 1], np.full(len(p) - 1, s.clearance - 1e-4)
    )
    assert np.all(hit == -1)


def test_the_path_is_followed_forward(case):
    _, _, result = case
    assert np.all(np.diff(result.along) >= -1e-9)
    assert result.distance[0] == pytest.approx(0.0, abs=1e-9)
    assert result.mean_distance == pytest.approx(float(np.mean(result.distance)))


def test_edge_changes_stand_where_the_vertical_is_crossed(case):
    _, _, result = case
    m = result.motion
    edges = [event for event in m.events if event.kind == "EDGE_CHANGE"]
    assert len(edges) == len(m.half_turns) - 1 >= 3
    for event, turn, following in zip(edges, m.half_turns[:-1], m.half_turns[1:], strict=True):
        assert event.time == turn.end == following.start
        assert turn.side == -following.side
        assert event.side == ("L" if following.side > 0 else "R")
        assert abs(np.interp(event.time, m.time, m.lean)) < 1e-4
        assert np.interp(event.time, m.time, m.lean_rate) * following.side > 0.0
        phase = np.interp(event.time, m.time, m.phase) / math.pi
        assert phase == pytest.approx(round(phase), abs=0.02)
        assert round(phase) % 2 == (0 if following.side > 0 else 1)
    for turn in m.half_turns:
        inside = (m.time >= turn.start) & (m.time <= turn.end)
        assert np.max(m.lean[inside] * turn.side) >= math.radians(1.0) - 1e-9
        change = np.interp([turn.start, turn.end], m.time, m.yaw)
        assert turn.change == pytest.approx(change[1] - change[0], abs=1e-9)


def test_phase_grows_and_lean_lies_within_its_ellipse(case):
    _, _, result = case
    m = result.motion
    assert np.all(np.diff(m.phase) >= -1e-9)
    assert np.all(np.abs(m.lean) <= m.max_lean * (1.0 + 1e-9) + math.radians(1.0))
    assert np.all(m.frequency > 0.0) and np.all(np.isfinite(m.frequency))
    assert m.phase[-1] - m.phase[0] == pytest.approx(math.pi * len(m.half_turns), abs=1.2 * math.pi)


def test_gates_are_passed_in_order_between_their_poles():
    scene, settings = courses.gate_slalom()
    result = follow_path(scene, replace(settings, fps=FINE))
    m = result.motion
    times = np.array(result.gate_times)
    assert np.all(np.diff(times) > 0.5) and times[-1] < m.time[-1]
    for gate, time in zip(scene.gates, times, strict=True):
        x = np.interp(time, m.time, m.position[:, 0])
        y = np.interp(time, m.time, m.position[:, 1])
        assert y == pytest.approx(gate.left[1], abs=5e-3)
        assert gate.right[0] + settings.clearance <= x <= gate.left[0] - settings.clearance


def test_slalom_poles_are_passed_on_the_side_their_lines_leave_open():
    scene, settings = courses.slalom()
    m = follow_path(scene, settings).motion
    for wall in scene.obstacles[:10]:
        pole = wall.points[0]
        x = np.interp(-pole[1], -m.position[:, 1], m.position[:, 0])
        assert (x - pole[0]) * np.sign(pole[0]) > settings.clearance


def test_two_more_stages_lead_another_way_through_the_trees():
    """Fig. 16: "planning ahead an extra two stages considerably changes the motion by choosing a
    different route". Fast enough for trees to be seen late, these are sides of trees apart."""
    scene, settings = courses.tree_skiing()
    ten, twelve = (
        follow_path(scene, replace(settings, speed=9.0, stages=n), advice=False) for n in (10, 12)
    )
    assert ten.finished and twelve.finished
    tracks = [result.motion.position for result in (ten, twelve)]
    n = min(len(track) for track in tracks)
    apart = np.hypot(*(tracks[0][:n] - tracks[1][:n])[:, :2].T)
    assert np.max(apart) > 3.0
    # Who looks further finds the way that keeps nearer to the path.
    assert twelve.mean_distance < 0.8 * ten.mean_distance

    def left_of(track):
        """Which trees are passed on their left side (+X of who goes along -Y)."""
        x = [np.interp(-tree.centre[1], -track[:, 1], track[:, 0]) for tree in scene.obstacles]
        return [a > tree.centre[0] for a, tree in zip(x, scene.obstacles, strict=True)]

    assert left_of(tracks[0]) != left_of(tracks[1])


def test_the_bicycle_steers_right_first_to_turn_left():
    """Counter-steering: lean is got by moving the support out from underneath the body."""
    scene, settings = courses.bicycle_corner()
    m = follow_path(scene, settings).motion
    leaning = int(np.argmax(m.lean > math.radians(5.0)))
    assert 0 < leaning and m.yaw[-1] - m.yaw[0] > 0.25 * math.pi
    assert np.min(m.curvature[:leaning]) < -0.01
    assert np.max(np.abs(m.curvature[: max(1, leaning - 24)])) < 0.05


# --- exactness ---------------------------------------------------------------------------


def test_same_motion_at_any_frame_rate():
    scene, settings = courses.tree_skiing()
    a, b = (follow_path(scene, replace(settings, fps=fps)) for fps in (24.0, 60.0))
    assert a.motion.steps_per_frame == 2 and b.motion.steps_per_frame == 1
    # Every 1/12 s both have a sample.
    n = min((len(a.motion.time) - 1) // 4, (len(b.motion.time) - 1) // 5)
    for name in ("position", "lean", "lean_rate", "yaw", "curvature", "leg_force"):
        one, two = getattr(a.motion, name)[: 4 * n : 4], getattr(b.motion, name)[: 5 * n : 5]
        assert np.max(np.abs(one - two)) < 1e-9 * max(1.0, float(np.max(np.abs(one))))


def test_another_machine_steers_alike_for_a_minute(monkeypatch):
    scene, settings = courses.forest(120, 430.0)
    settings = replace(settings, speed=7.0, fps=10.0)
    a = follow_path(scene, settings, advice=False)
    path_cases.on_another_machine(monkeypatch)
    b = follow_path(scene, settings, advice=False)
    assert a.finished and a.motion.time[-1] > 60.0
    path_cases.assert_steered_alike(a, b)


def test_same_motion_bit_for_bit():
    scene, settings = courses.potholes()
    a, b = (follow_path(scene, settings) for _ in range(2))
    assert np.array_equal(a.motion.position, b.motion.position)
    assert np.array_equal(a.motion.lean, b.motion.lean)
    assert a.expanded == b.expanded


def test_motion_stays_within_a_micrometre_a_stage_of_a_finer_integration():
    """The controls of a whole run, integrated stage by stage in steps ten times finer."""
    from poise.solvers.path.stages import simulate

    scene, settings = courses.tree_skiing()
    result = follow_path(scene, replace(settings, fps=10.0 / 3.0 * 18.0))  # 18 frames a stage
    m = result.motion
    rows = np.arange(0, len(m.time) - 18, 18)
    assert np.allclose(m.time[rows] / 0.3, np.round(m.time[rows] / 0.3))
    state = np.array(
        [m.position[rows, 0], m.position[rows, 1], m.yaw[rows], m.lean[rows], m.lean_rate[rows],
         m.curvature[rows]]
    )
    rate = (m.curvature[rows + 18] - m.curvature[rows]) / 0.3
    fine = simulate(state, rate, 8.0, settings, math.inf, 0.01, 30)
    error = np.hypot(fine.x[-1] - m.position[rows + 18, 0], fine.y[-1] - m.position[rows + 18, 1])
    assert np.max(error) < 5e-4
    assert np.max(np.abs(fine.theta[-1] - m.lean[rows + 18])) < 5e-4


def test_a_path_that_crosses_itself_is_followed_in_order():
    """Two loops of 30 m: straight on at the crossing, not around the wrong loop."""
    t = np.linspace(0.0, 2.0 * math.pi, 1500)
    eight = 45.0 * np.stack((np.sin(t), np.sin(t) * np.cos(t)), axis=1)
    result = follow_path(PathScene((eight,)), PathSettings(speed=6.0))
    m = result.motion
    assert result.finished and result.mean_distance < 0.5
    # First the loop at positive x, then the one at negative x.
    half = np.searchsorted(result.along, 0.5 * result.length)
    assert np.max(m.position[:half, 0]) > 40.0 and np.min(m.position[:half, 0]) > -3.0
    assert np.min(m.position[half:, 0]) < -40.0


def test_laps_of_a_closed_path():
    angle = np.linspace(0.0, 2.0 * math.pi, 200)[:-1]
    ring = 25.0 * np.stack((np.cos(angle), np.sin(angle)), axis=1)
    scene = PathScene((ring,), cyclic=True, laps=2)
    result = follow_path(scene, PathSettings(speed=8.0, values=11))
    m = result.motion
    assert result.finished
    assert m.yaw[-1] - m.yaw[0] == pytest.approx(4.0 * math.pi, abs=0.5)
    assert m.time[-1] == pytest.approx(2.0 * 2.0 * math.pi * 25.0 / 8.0, rel=0.05)
    assert np.all(np.diff(m.heading) >= -1e-6)
    # It leans to the left all the time but for getting into the turn: no half turns there.
    assert np.mean(m.lean[48:]) == pytest.approx(math.atan(8.0**2 / (25.0 * 9.81)), abs=0.05)
    assert len(m.half_turns) <= 3
    assert np.all(np.diff(m.phase) >= -1e-9)


def test_speed_over_time_is_kept():
    count = 2 * 48 * 12 + 1
    speed = np.linspace(5.0, 9.0, count)
    result = follow_path(PathScene((WAVE,)), PathSettings(speed=speed))
    m = result.motion
    assert result.finished
    expected = np.interp(m.time, np.arange(count) / 96.0, speed)
    assert np.max(np.abs(m.speed - expected)) < 1e-9
    alpha = angular_acceleration(m.curvature, m.lean, m.speed, 70.0, 1.0, 5.0, 9.81)
    assert np.max(np.abs(m.lean_acceleration - alpha)) < 1e-12
    assert np.max(np.abs(np.gradient(m.lean_rate, m.time) - alpha)[5:-5]) < 0.5


def test_a_moving_obstacle_is_given_way_to():
    t = np.array([0.0, 10.0])
    other = MovingDisc(t, np.array([(-20.0, -30.0), (20.0, -30.0)]), 1.0, "Other")
    settings = PathSettings(speed=6.0)  # both at (0, -30) after 5 s
    result = follow_path(PathScene((STRAIGHT,), obstacles=(other,)), settings)
    assert result.finished
    m = result.motion
    where = np.stack([np.interp(m.time, t, other.centres[:, i]) for i in range(2)], axis=1)
    gap = np.hypot(*(m.position[:, :2] - where).T) - 1.0
    assert settings.clearance <= np.min(gap) < 4.0
    assert np.min(result.clearance) == pytest.approx(np.min(gap))
    assert np.max(result.distance) > 0.5
    # Had it stood where it was at the start, there would have been nothing to avoid.
    still = Disc(np.array([-20.0, -30.0]), 1.0)
    free = follow_path(PathScene((STRAIGHT,), obstacles=(still,)), settings)
    assert np.max(free.distance) < 1e-9


def test_a_footprint_that_is_not_convex_is_gone_around():
    shape = np.array([(-3, -20), (3, -20), (3, -26), (2, -26), (2, -21), (-2, -21), (-2, -26),
                      (-3, -26)], dtype=float)
    result = follow_path(PathScene((STRAIGHT,), obstacles=(Polygon(shape),)), PathSettings())
    assert result.finished and result.min_clearance >= 0.5
    assert np.max(np.abs(result.motion.position[:, 0])) > 3.5


# --- starting from a state, placement ------------------------------------------------


def test_going_on_from_another_motion():
    first = follow_path(PathScene((WAVE,)), PathSettings())
    state = first.motion.end_state
    more = WAVE + WAVE[-1]
    result = follow_path(PathScene((more,)), PathSettings(start_state=state))
    m = result.motion
    assert m.position[0] == pytest.approx(state.position)
    for name in ("lean", "lean_rate", "curvature"):
        assert getattr(m, name)[0] == pytest.approx(getattr(state, name), abs=1e-12)
    assert m.yaw[0] == pytest.approx(state.yaw, abs=1e-12)
    assert result.finished


def test_yaw_counts_from_the_placement_and_heading_stays_beside_it():
    turned = WAVE @ np.array([(0.0, 1.0), (-1.0, 0.0)])
    plain = follow_path(PathScene((WAVE,)), PathSettings()).motion
    facing = math.atan2(turned[1, 0] - turned[0, 0], -(turned[1, 1] - turned[0, 1]))
    facing -= math.atan2(WAVE[1, 0] - WAVE[0, 0], -(WAVE[1, 1] - WAVE[0, 1]))
    other = follow_path(PathScene((turned,)), PathSettings(placement=Placement(yaw=facing))).motion
    n = min(len(plain.yaw), len(other.yaw)) // 4  # later the two may choose otherwise
    assert np.max(np.abs(other.yaw[:n] - plain.yaw[:n])) < 1e-6
    assert np.max(np.abs(plain.heading - plain.yaw)) < 1.2
    assert np.max(np.abs(other.heading - other.yaw)) < 1.2


# --- the phase ------------------------------------------------------------------------


def test_phase_of_a_perfect_turn_is_that_of_the_turning_solver():
    """On an ellipse the estimates of section 6.2 are exact."""
    t = np.linspace(0.0, 7.0, 1401)
    w, lean, start = 2.7, 0.4, 0.8
    phi = start + w * t
    turns = estimate_turns(t, lean * np.sin(phi), lean * w * np.cos(phi), 3.0)
    assert np.max(np.abs(turns.phase - phi)) < 2e-3
    assert np.max(np.abs(turns.max_lean[300:-300] / lean - 1.0)) < 1e-3
    assert np.max(np.abs(turns.frequency[300:-300] / w - 1.0)) < 1e-3
    expected = (np.arange(1, 7) * math.pi - start) / w
    assert turns.crossings == pytest.approx(expected[: len(turns.crossings)], abs=1e-6)


def test_phase_where_the_vertical_is_never_crossed():
    """Leaning left all the time, more and less: it goes to the apex and waits there."""
    t = np.linspace(0.0, 10.0, 1001)
    lean = 0.3 * (1.0 - np.exp(-2.0 * t)) + 0.05 * np.sin(2.0 * t) * (t > 2.0)
    turns = estimate_turns(t, lean, np.gradient(lean, t), 3.0)
    assert len(turns.crossings) == 0 and turns.sides.tolist() == [1]
    assert np.all(np.diff(turns.phase) >= 0.0)
    assert 0.0 <= turns.phase[0] < 0.3 * math.pi
    assert np.all(np.abs(turns.phase[300:] - 0.5 * math.pi) < 0.2 * math.pi)


def test_wobbles_about_the_upright_are_no_turns():
    t = np.linspace(0.0, 6.0, 601)
    wobble = 0.01 * np.sin(9.0 * t)
    lean = np.where(t < 2.0, 0.3 * np.sin(0.5 * math.pi * t), wobble)
    lean = np.where(t > 4.0, -0.3 * np.sin(0.5 * math.pi * (t - 4.0)), lean)
    turns = estimate_turns(t, lean, np.gradient(lean, t), 3.0)
    assert turns.sides.tolist() == [1, -1]
    assert 3.3 < turns.crossings[0] <= 4.1
    assert np.all(np.diff(turns.phase) >= 0.0)


def test_an_upright_run_has_no_turns():
    m = follow_path(PathScene((STRAIGHT,)), PathSettings()).motion
    assert np.all(m.lean == 0.0) and np.all(m.phase == 0.0)
    assert len(m.half_turns) == 1 and not m.events
    assert np.all(np.isfinite(m.frequency)) and np.all(m.max_lean > 0.0)


def test_mappings_take_it_like_any_turns():
    from poise.addon.mapping.skier import SkierStyle, map_skier

    figure = mapping_cases.figure()
    scene, settings = courses.tree_skiing()
    m = follow_path(scene, settings).motion
    tracks = map_skier(m, figure, SkierStyle())
    for track in (tracks.position, tracks.rotation):
        for value in track.values():
            assert np.all(np.isfinite(value))


# --- where there is no way ---------------------------------------------------------------


def blocked():
    """A wall across a straight path, far too wide to be avoided."""
    return PathScene(
        (STRAIGHT,), obstacles=(Wall(np.array([(-80.0, -40.0), (80.0, -40.0)]), "Wall"),)
    )


def test_a_wall_across_the_way_is_named_with_place_speed_and_lean():
    settings = PathSettings()
    result = follow_path(blocked(), settings)
    f = result.failure
    assert not result.finished and not result.motion.success
    assert f.reason == "HIT" and f.obstacle == 0 and f.gate is None and f.name == '"Wall"'
    assert f.place == pytest.approx([0.0, -40.0])
    assert f.speed == 8.0 and -40.0 < f.position[1] < -20.0
    (problem,) = [p for p in result.motion.problems if p.severity == "ERROR"]
    assert problem.code == "NO_WAY" and problem.time == f.time
    assert '"Wall"' in problem.message and "8.0 m/s" in problem.message
    assert "30" in problem.message
    assert result.min_clearance >= settings.clearance
    assert any(c.why == "HIT" for c in result.candidates)
    assert result.motion.events[-1].kind == "STOP"


def tight_gates(which=None, move=0.0):
    """Gates 6 m apart and 8 m aside: not at 8 m/s with 30 degrees of lean."""
    places = [[0.0, -25.0], [8.0, -31.0], [0.0, -80.0]]
    if which is not None:
        places[which][0] += move  # left of who goes along -Y is +X
    gates = tuple(Gate(np.array([x + 1.0, y]), np.array([x - 1.0, y])) for x, y in places)
    return PathScene((np.array([(0.0, 0.0), (0.0, -100.0)]),), gates=gates)


def test_a_gate_too_far_aside_is_named_and_what_would_help_was_tried():
    settings = PathSettings(clearance=0.2)
    result = follow_path(tight_gates(), settings)
    f = result.failure
    assert f.reason == "MISSED" and f.gate in (0, 1) and f.name == f"gate {f.gate + 1}"
    assert f.place == pytest.approx([(0.0, -25.0), (8.0, -31.0)][f.gate])
    assert math.isnan(result.gate_times[f.gate])
    (problem,) = [p for p in result.motion.problems if p.severity == "ERROR"]
    assert f.name in problem.message and "too sharp" in problem.message
    assert "8.0 m/s" in problem.message and "30" in problem.message
    fix = dict(problem.fix)
    assert len(fix) >= 2, problem.remedy
    # Each is true: with it, both gates are passed.
    for name, value in fix.items():
        scene, changed = tight_gates(), settings
        if name == "speed":
            assert value < 8.0
            changed = replace(settings, speed=value)
        elif name == "max_lean":
            assert value > settings.max_lean
            changed = replace(settings, max_lean=value)
        else:
            assert name == f"gates[{f.gate}].offset"
            assert 0.0 < value * (1.0, -1.0)[f.gate] <= 4.0  # towards the other
            scene = tight_gates(f.gate, value)
        better = follow_path(scene, changed, advice=False)
        assert np.all(np.isfinite(better.gate_times[:2])), name


def test_before_a_gate_out_of_reach_it_stops_near_the_path():
    """Three gates on the path, and the next 30 m aside of the third and 10 m further on, where
    the tightest turns at 30 degrees and 8 m/s, of 11 m, never get. It does not wander about."""
    places = [(1.0, -20.0), (-1.0, -34.0), (30.0, -44.0), (0.0, -80.0)]
    gates = tuple(Gate(np.array([x + 2.5, y]), np.array([x - 2.5, y])) for x, y in places)
    way = np.array([(0.0, 0.0), (0.0, -150.0)])
    settings = PathSettings(clearance=0.3)
    result = follow_path(PathScene((way,), gates=gates), settings, advice=False)
    assert np.isfinite(result.gate_times).tolist() == [True, True, False, False]
    f = result.failure
    assert f.reason == "MISSED" and f.gate == 2
    # In reach it was before the gate before, at most.
    assert result.gate_times[1] < result.motion.time[-1] <= result.gate_times[1] + 2.0
    assert result.max_distance < 5.0
    (problem,) = [p for p in result.motion.problems if p.severity == "ERROR"]
    assert problem.code == "NO_WAY" and "gate 3" in problem.message


def test_a_lone_gate_far_aside_is_no_reason_to_leave_the_path():
    """24 m before it a right angle on the tightest circle, of 11 m, still leads there; what plans
    of more stages find from further back must not pass it by."""
    gate = Gate(np.array([42.5, -60.0]), np.array([37.5, -60.0]))
    way = np.array([(0.0, 0.0), (0.0, -150.0)])
    result = follow_path(PathScene((way,), gates=(gate,)), PathSettings(clearance=0.3),
                         advice=False)
    assert result.failure.reason == "MISSED" and result.failure.gate == 0
    assert 36.0 / 8.0 < result.motion.time[-1] <= 36.0 / 8.0 + 2.0
    assert result.max_distance < 1.0


def test_a_corner_that_is_cut_is_told_with_place_and_amount():
    way = np.array([(0.0, 0.0), (0.0, -50.0), (60.0, -50.0)])
    result = follow_path(PathScene((way,)), PathSettings())
    assert result.finished and result.max_distance > 2.0
    (problem,) = [p for p in result.motion.problems if p.code == "BESIDE_PATH"]
    m = result.motion
    worst = int(np.argmax(result.distance))
    assert problem.amount == result.max_distance
    assert problem.time <= m.time[worst] <= problem.end_time
    x, y, _ = m.position[worst]
    assert f"{result.max_distance:.1f} m beside the path" in problem.message
    assert f"({x:.1f}, {y:.1f}, 0.0) m" in problem.message
    # Not where something stands in the way, or a gate beside the path is what it goes for.
    pond = Disc(np.array([0.0, -30.0]), 4.0)
    gate = Gate(np.array([7.0, -30.0]), np.array([4.0, -30.0]))
    for scene in (PathScene((STRAIGHT,), obstacles=(pond,)), PathScene((STRAIGHT,), gates=(gate,))):
        result = follow_path(scene, PathSettings())
        assert result.finished and result.max_distance > 4.0
        assert "BESIDE_PATH" not in {p.code for p in result.motion.problems}


def test_without_advice_nothing_is_tried():
    calls = []
    result = follow_path(blocked(), PathSettings(), lambda f: calls.append(f), advice=False)
    (problem,) = [p for p in result.motion.problems if p.severity == "ERROR"]
    assert problem.fix == () and problem.remedy
    assert calls[-1] == 1.0


def test_starting_inside_or_beside_an_obstacle():
    for x, text in ((0.5, "Starts inside"), (1.3, "Starts 0.30 m from")):
        scene = PathScene((STRAIGHT,), obstacles=(Disc(np.array([x, 0.0]), 1.0, "Fir"),))
        result = follow_path(scene, PathSettings())
        assert result.failure.reason == "BLOCKED" and len(result.motion.time) == 1
        (problem,) = result.motion.problems
        assert problem.code == "START_BLOCKED" and problem.message.startswith(text)
        assert '"Fir"' in problem.message


def test_a_path_through_an_obstacle_is_left():
    scene = PathScene((STRAIGHT,), obstacles=(Disc(np.array([0.0, -30.0]), 2.0),))
    result = follow_path(scene, PathSettings())
    assert result.finished and result.min_clearance >= 0.5
    assert 2.5 <= result.max_distance < 5.0


def test_gates_in_an_impossible_order_are_pointed_out():
    near = Gate(np.array([1.0, -20.0]), np.array([-1.0, -20.0]), name="Near")
    far = Gate(np.array([1.0, -40.0]), np.array([-1.0, -40.0]), name="Far")
    result = follow_path(PathScene((STRAIGHT,), gates=(far, near)), PathSettings(), advice=False)
    orders = [p for p in result.motion.problems if p.code == "GATE_ORDER"]
    assert len(orders) == 1 and '"Near" comes before gate "Far"' in orders[0].message
    assert not result.finished


def test_a_tree_beyond_the_horizon_is_seen_by_thinking_again():
    """Two walls leave a way only to who begins early: counted when stages are taken back."""
    scene, settings = courses.bicycle_corner()
    result = follow_path(scene, replace(settings, speed=7.0, stages=5))
    assert result.finished and result.second_thoughts >= 1
    assert result.min_clearance >= settings.clearance
    rate = np.diff(result.motion.curvature) / np.diff(result.motion.time)
    assert np.max(np.abs(rate)) <= settings.max_curvature_rate * (1.0 + 1e-6)
    assert np.max(np.abs(np.diff(result.motion.position[:, :2], axis=0))) < 0.2


def test_steering_harder_is_thought_of_where_the_usual_finds_no_way(monkeypatch):
    """Who looks 1.8 s ahead meets gates unprepared: what is passed then needs other plans."""
    settings = PathSettings(speed=7.5, clearance=0.3, stages=6, most_seconds=25.0)
    usual = 9.81 * math.tan(settings.max_lean) / settings.speed**2 / settings.stage
    slaloms = [courses.gate_slalom(6, gap, 1.6, 2.4)[0] for gap in (13.0, 15.0, 17.0, 18.0)]
    through = [follow_path(course, settings, advice=False) for course in slaloms]
    through = [result for result in through if result.finished]
    assert len(through) >= 3
    rates = []
    for result in through:
        assert result.second_thoughts >= 1 and np.all(np.isfinite(result.gate_times))
        assert result.min_clearance >= 0.3 and result.max_lean <= settings.max_lean
        m = result.motion
        rates.append(np.max(np.abs(np.diff(m.curvature) / np.diff(m.time))))
    assert 1.2 * usual < max(rates) <= 2.0 * usual * (1.0 + 1e-6) < settings.max_curvature_rate
    monkeypatch.setattr(follow, "_think_again", lambda *_: None)
    assert not any(follow_path(course, settings, advice=False).finished for course in slaloms)


def test_time_may_run_out():
    """More time is what would help then: nothing else is tried."""
    calls = []
    result = follow_path(PathScene((STRAIGHT,)), PathSettings(most_seconds=3.0), calls.append)
    assert result.failure.reason == "TIME" and result.motion.time[-1] == pytest.approx(3.0)
    (problem,) = result.motion.problems
    assert "24.0 of 60.0 m" in problem.message
    assert problem.remedy.startswith("More speed") and problem.fix == ()
    assert sum(call == 0.9 for call in calls) <= 1


def test_advice_looks_at_the_path_about_a_failure_only():
    """The same two gates, too far aside for each other, far along a lap: as much work as near."""
    way = np.array([(0.0, 0.0), (0.0, -800.0), (60.0, -800.0), (60.0, 0.0)])
    tries, fixes = [], []
    for offset in (0.0, -240.0):  # 100 stages straight on
        gates = tuple(
            Gate(gate.left + [0.0, offset], gate.right + [0.0, offset])
            for gate in tight_gates().gates
        )
        calls = []
        scene = PathScene((way,), True, gates=gates)
        result = follow_path(scene, PathSettings(clearance=0.2), calls.append)
        assert result.failure.reason == "MISSED"
        tries.append(sum(call == 0.9 for call in calls))  # one for each batch of nodes
        (problem,) = [p for p in result.motion.problems if p.severity == "ERROR"]
        fixes.append(dict(problem.fix))
    assert tries[1] < 1.5 * tries[0]
    assert len(fixes[0]) >= 2 and fixes[1].keys() == fixes[0].keys()


# --- progress and bad input ----------------------------------------------------------


def test_progress_rises_to_one_and_may_cancel():
    scene, settings = courses.potholes()
    seen = []
    follow_path(scene, settings, seen.append)
    assert seen[-1] == 1.0 and all(b >= a for a, b in zip(seen[:-1], seen[1:], strict=True))
    assert len(seen) > 40

    def stop(fraction):
        if fraction > 0.3:
            raise Cancelled

    with pytest.raises(Cancelled):
        follow_path(scene, settings, stop)


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"speed": 0.0}, "Speed is 0.0"),
        ({"speed": -3.0}, "Speed is -3.0"),
        ({"speed": math.nan}, "Speed is nan"),
        ({"speed": np.zeros((2, 2))}, "Speed is an array"),
        ({"fps": 0.0}, "Frame Rate"),
        ({"stages": 0}, "Stages"),
        ({"effort": -0.1}, "Calm"),
        ({"stages": 2.5}, "Stages"),
        ({"stages": 40, "values": 15}, "Stages"),
        ({"values": 1}, "Stage Values"),
        ({"stage": math.inf}, "Stage Length"),
        ({"max_lean": 0.0}, "Lean Limit"),
        ({"max_curvature": 0.0}, "Curvature Limit"),
        ({"max_curvature": 2.5}, "Curvature Limit is 2.5 1/m"),
        ({"max_curvature_rate": -1.0}, "Curvature Rate Limit"),
        ({"clearance": -0.1}, "Clearance"),
        ({"mass": 0.0}, "Mass"),
        ({"inertia": None}, "Inertia"),
        ({"window": 0.0}, "Path Window"),
        ({"start_state": BodyState(np.zeros(3), 0.0, 8.0, lean=0.7)}, "Start State: lean"),
        ({"start_state": BodyState(np.zeros(3), 0.0, 8.0, curvature=0.5)}, "Start State: curv"),
        ({"start_state": BodyState(np.zeros(3), math.nan, 8.0)}, "Start State: yaw"),
        ({"start_state": BodyState(np.zeros(2), 0.0, 8.0)}, "Start Position"),
        ({"placement": Placement(np.array([np.inf, 0.0, 0.0]))}, "Placement"),
    ],
)
def test_bad_settings_give_one_clear_sentence(changed, text):
    with pytest.raises(SettingError, match="must be") as error:
        prepare(PathScene((STRAIGHT,)), replace(PathSettings(), **changed))
    assert str(error.value).startswith(text)


def test_gates_without_width():
    gate = Gate(np.zeros(2), np.zeros(2), name="Start")
    with pytest.raises(SettingError, match='Width of gate "Start" is 0 m'):
        prepare(PathScene((STRAIGHT,), gates=(gate,)), PathSettings())


def test_a_kilometre_of_path():
    t = np.linspace(0.0, 1000.0, 4000)
    path = np.stack((8.0 * np.sin(2.0 * math.pi * t / 150.0), -t), axis=1)
    result = follow_path(PathScene((path,)), PathSettings(speed=15.0, max_curvature=0.1))
    assert result.finished and result.mean_distance < 1.0
    assert result.along[-1] >= result.length - 1e-6


def odd_scene(rng):
    """Any path, any obstacles, any gates: mostly no way at all."""
    size = 10.0 ** rng.uniform(-1.0, 2.0)
    kind = rng.integers(3)
    if kind == 0:
        path = np.cumsum(rng.normal(size=(40, 2)), axis=0) * size / 6.0
    elif kind == 1:
        path = np.array([(0.0, 0.0), (0.0, -size), (0.1, -size), (0.1, 0.0)])  # hairpin
    else:
        t = np.linspace(0.0, 1.0, 100)
        path = size * np.stack((0.05 * np.sin(30.0 * t), -t), axis=1)
    obstacles = []
    for kind in rng.integers(0, 4, rng.integers(0, 8)):
        at = path[rng.integers(len(path))] + rng.normal(size=2) * 4.0
        obstacles.append(
            (
                Disc(at, rng.uniform(0.0, 1.0)),
                Polygon(at + rng.normal(size=(rng.integers(1, 7), 2))),
                Wall(at + 3.0 * rng.normal(size=(rng.integers(1, 5), 2))),
                MovingDisc(np.array([0.0, 4.0]), at + 5.0 * rng.normal(size=(2, 2)), 0.3),
            )[kind]
        )
    gates = tuple(
        Gate(path[-1] + rng.normal(size=2), path[-1] + rng.normal(size=2))
        for _ in range(rng.integers(0, 2))
    )
    return PathScene((path,), bool(rng.random() < 0.3), tuple(obstacles), gates)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("block", range(4))
def test_any_scene_gives_a_motion_or_one_clear_sentence(block):
    outcomes = set()
    for seed in range(9 * block, 9 * block + 9):
        rng = np.random.default_rng(seed)
        settings = PathSettings(
            speed=float(10.0 ** rng.uniform(-0.5, 1.3)),
            stages=int(rng.integers(1, 8)),
            values=int(rng.integers(2, 8)),
            substeps=int(rng.integers(1, 5)),
            clearance=float(rng.choice([0.0, 0.1, 0.5])),
            fps=float(rng.choice([24.0, 29.97, 60.0])),
            most_seconds=8.0,
            most_nodes=1000,
        )
        result = follow_path(odd_scene(rng), settings, advice=bool(seed % 6 == 0))
        m = result.motion
        for name in ("position", "yaw", "lean", "phase", "leg_force", "frequency", "heading"):
            assert np.all(np.isfinite(getattr(m, name))), (seed, name)
        assert np.max(np.abs(m.lean)) <= settings.max_lean
        reason = result.failure.reason if result.failure else ""
        if reason != "BLOCKED":
            assert result.min_clearance >= settings.clearance, seed
        errors = [p for p in m.problems if p.severity == "ERROR"]
        assert len(errors) == (not result.finished), seed
        outcomes.add(reason)
    assert len(outcomes) >= 2
