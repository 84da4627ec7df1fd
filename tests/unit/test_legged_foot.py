# SPDX-License-Identifier: GPL-3.0-or-later
"""Feet: planted, rolling about heel and toe, swung without a jump; footholds on terrain."""

import math

import numpy as np
import pytest
from poise.solvers.legged.body import minimum_jerk
from poise.solvers.legged.creature import Leg
from poise.solvers.legged.foot import (
    RUSH,
    Feet,
    Swing,
    Trajectory,
    bump,
    progress,
    strike_on_steps,
    within_reach,
)
from poise.solvers.legged.footholds import (
    GOOD,
    MOVED,
    NO_GROUND,
    TOO_HIGH,
    level_ground,
    place_footholds,
    reference_places,
    step_height,
)
from poise.solvers.rotations import about_x, about_z, between, multiply, rotate, to_euler

ON = np.array([-math.inf, 1.0, 2.0, 3.2])
OFF = np.array([0.5, 1.6, 2.7, math.inf])


USUAL = {"rise": 0.0, "snap": 0.0, "kick": 0.0, "strike": 0.3, "push": 0.7, "wait": 0.0,
         "rest": 0.0, "edge": 1.0, "toe": 0.15, "added": ()}


def _feet(*cases):
    """Feet that take four steps each."""
    cases = [USUAL | case for case in cases]
    legs = [
        Leg(
            "leg.L", np.array([0.1, 0.0, 0.9]), np.array([0.1, 0.0, 0.0]), 0.9,
            ankle=np.array([0.0, 0.0, 0.07]), heel=0.05, toe=case["toe"], flat=0.2, rise=0.6,
        ) for case in cases
    ]
    place = np.array([[0.0, -0.8 * k, case["rise"] * k] for case in cases for k in range(4)])
    yaw = about_z(np.array([0.0, 0.3, 0.6, 0.6]))
    turn = multiply(about_x(np.array([0.0, 0.1, -0.1, 0.0])), yaw)
    kick, snap, strike, push, wait, rest, edge = (
        np.repeat([case[name] for case in cases], 4)
        for name in ("kick", "snap", "strike", "push", "wait", "rest", "edge")
    )
    kinds = sorted({case["added"] for case in cases if case["added"]})
    which = [kinds.index(case["added"]) if case["added"] else -1 for case in cases]
    m = len(place)
    return Feet(
        legs, np.repeat(np.arange(len(cases)), 4), np.tile(ON, len(cases)),
        np.tile(OFF, len(cases)), place, np.tile(turn, (len(cases), 1)), strike, push,
        Swing(np.full(m, 0.1), np.full(m, 0.4), kick, snap, np.full(m, 0.8), np.zeros(m), wait,
              rest, edge, (tuple(Trajectory(kind, 0.9) for kind in kinds), np.repeat(which, 4))),
    )


def _foot(rise=0.0, snap=0.0, kick=0.0, **case):
    return _OneFoot(_feet({"rise": rise, "snap": snap, "kick": kick} | case))


class _OneFoot:
    """Feet of which there is one."""

    def __init__(self, feet):
        self.feet, self.position, self.sole = feet, feet.position, feet.sole

    def __call__(self, time):
        return self.feet(time, [len(time)])


@pytest.mark.parametrize(
    "foot",
    [
        _foot(),
        _foot(0.2, 0.7, 0.1),
        _foot(-0.2, strike=-0.3),
        _foot(-0.3, 0.6, edge=0.0),
        _foot(0.3, edge=0.4),
        _foot(0.2, wait=0.3),
        _foot(-0.2, wait=0.1, rest=0.3),
        _foot(strike=0.0, push=0.0),
        _foot(push=-0.2),
        _foot(added=((0.3, -0.1, 0.3), (0.7, 0.1, 0.1))),
    ],
    ids=["flat", "up", "toes first", "down a slope", "up a rounded edge", "up first", "ahead first",
         "all flat", "off the heel", "added"],
)
def test_every_point_of_the_foot_moves_without_a_jump_of_speed(foot):
    """Central differences of position from both sides of each event agree."""
    tiny = 1e-5
    for moment in np.concatenate((ON[1:], OFF[:-1])):
        time = moment + tiny * np.array([-2.0, -1.0, 0.0, 1.0, 2.0])
        pose = foot(time)
        for arm in ([0.0, 0.05, 0.0], [0.0, -0.15, 0.0], [0.03, 0.0, 0.07]):
            point = pose.position + rotate(pose.orientation, np.array(arm))
            speed = np.diff(point, axis=0) / tiny
            assert np.allclose(speed, speed[0], atol=5e-3)
            assert np.linalg.norm(np.diff(point, axis=0)) < 1e-3


def test_feet_move_together_as_each_of_them_alone():
    cases = (
        {"rise": 0.2, "snap": 0.7, "kick": 0.1, "edge": 0.4},
        {"added": ((0.3, -0.1, 0.3), (0.7, 0.1, 0.1))},
        {"rise": -0.2, "strike": -0.3, "wait": 0.1, "rest": 0.3, "toe": -0.02}, {"push": -0.2},
    )
    times = [np.linspace(-1.0, 4.0, 300 + k) for k in range(len(cases))]
    together = _feet(*cases)
    pose = together(np.concatenate(times), [len(time) for time in times])
    share = np.linspace(0.0, 1.0, len(pose.pitch))
    points = (pose.position, pose.orientation, pose.pitch, pose.contact, together.ankles(pose),
              *together.sole(pose), together.toe_tip(pose, share))
    first = 0
    for k, (case, time) in enumerate(zip(cases, times, strict=True)):
        of = slice(first, first + len(time))
        alone = _feet(case)
        own = alone(time, [len(time)])
        for both, one in zip(points, (
            own.position, own.orientation, own.pitch, own.contact, alone.ankles(own),
            *alone.sole(own), alone.toe_tip(own, share[of]),
        ), strict=True):
            assert np.array_equal(both[of], one)
        assert np.array_equal(pose.step[of], own.step + 4 * k)
        first += len(time)


def test_flat_foot_stands_exactly_and_rolling_points_stay():
    foot = _foot()
    for step in (1, 2):
        on, support = ON[step], OFF[step] - ON[step]
        pose = foot(on + support * np.linspace(0.21, 0.59, 30))
        assert np.all(pose.contact) and np.all(pose.pitch == 0.0)
        assert np.all(np.abs(pose.position - foot.position[step]) < 1e-15)
        # Heel after touchdown, toe before liftoff.
        early = foot(on + support * np.linspace(0.0, 0.2, 20))
        heel, _ = foot.sole(early)
        assert np.ptp(heel, axis=0).max() < 1e-12 and early.pitch[0] == pytest.approx(0.3)
        late = foot(on + support * np.linspace(0.6, 1.0, 20))
        _, toe = foot.sole(late)
        assert np.ptp(toe, axis=0).max() < 1e-12 and late.pitch[-1] == pytest.approx(-0.7)
        # The other end of the sole is above the ground, never below.
        assert np.all(foot.sole(early)[1][:, 2] >= heel[:, 2] - 0.03)


def test_gait_can_lead_the_foot_through_points():
    plain, led = _foot(), _foot(added=((0.3, -0.1, 0.3), (0.7, 0.1, 0.1)))
    for share, ahead, up in ((0.3, -0.1, 0.3), (0.7, 0.1, 0.1)):
        time = np.array([OFF[1] + share * (ON[2] - OFF[1])])
        moved = led(time).position - plain(time).position
        assert np.allclose(moved[0], [0.0, -0.9 * ahead, 0.9 * up], atol=0.02)


def test_feet_land_flat_on_the_way_up_and_on_the_toes_on_the_way_down():
    strike = np.full(5, 0.35)
    rise = np.array([0.0, 0.3, 0.6, -0.15, -0.4])  # hips 1 m high
    found = strike_on_steps(strike, rise, 1.0)
    assert np.allclose(found, [0.35, 0.0, 0.0, 0.0, -0.35])
    foot = _foot(strike=-0.3)
    early = foot(ON[1] + (OFF[1] - ON[1]) * np.linspace(0.0, 0.2, 20))
    _, toe = foot.sole(early)
    assert np.ptp(toe, axis=0).max() < 1e-12 and early.pitch[0] == pytest.approx(-0.3)


def test_swing_follows_through_and_meets_the_speed_of_the_ground():
    """Seen from a body that goes at 1 m/s, the foot first goes on backwards, and at the end."""
    foot = _foot()
    time = np.linspace(OFF[1], ON[2], 400)
    ahead = -foot(time).position[:, 1] - 0.9 * (time - time[0])
    pace = np.gradient(ahead, time)
    assert pace[5] < -0.3 and pace[-5] < -0.5
    assert pace.max() > 0.5


def test_progress_has_minimum_jerk_or_reaches_its_speed_quickly():
    s = np.linspace(0.0, 1.0, 2001)
    assert np.allclose(progress(s, 0.0), minimum_jerk(s), atol=1e-15)
    speed = np.gradient(progress(s, 0.0), s)
    # Peak speed 1.875, at the middle (Flash and Hogan 1985).
    assert speed.max() == pytest.approx(1.875, abs=1e-4)
    assert s[np.argmax(speed)] == pytest.approx(0.5, abs=1e-3)
    quick = np.gradient(progress(s, 1.0), s)
    assert quick.max() == pytest.approx(1.0 / (1.0 - RUSH), abs=1e-3)
    for snap in (0.0, 0.5, 1.0):
        way = progress(s, snap)
        assert way[0] == 0.0 and way[-1] == 1.0 and np.all(np.diff(way) >= 0.0)
        assert abs(np.gradient(way, s)[0]) < 1e-3 and abs(np.gradient(way, s)[-1]) < 1e-3
        assert np.allclose(way + way[::-1], 1.0, atol=1e-12)


@pytest.mark.parametrize("peak", [0.2, 0.4, 0.5, 0.7])
def test_bump_peaks_where_it_is_told_and_starts_and_ends_level(peak):
    s = np.linspace(0.0, 1.0, 10001)
    height = bump(s, peak)
    assert height.max() == pytest.approx(1.0, abs=1e-6)
    assert s[np.argmax(height)] == pytest.approx(peak, abs=1e-3)
    slope = np.gradient(height, s)
    assert abs(slope[0]) < 0.02 and abs(slope[-1]) < 0.02


def test_swinging_feet_are_drawn_in_without_a_corner():
    hip = np.zeros((4001, 3))
    far = np.linspace(0.5, 2.0, 4001)
    ankle = np.column_stack((far, 0.0 * far, 0.0 * far))
    drawn = within_reach(ankle, ankle, hip, np.full(4001, 0.95), np.full(4001, 1.0))[:, 0]
    assert np.all(drawn[far <= 0.95] == far[far <= 0.95])
    assert drawn.max() <= 1.0
    assert np.max(np.abs(np.diff(drawn, 2))) < 2.0 * (far[1] - far[0]) ** 2 / 0.05


# --- footholds ------------------------------------------------------------------------


def test_foothold_is_under_the_hip_at_midstance_and_out_by_the_tangent_of_the_bank():
    yaw, bank = np.array([0.0, 0.5 * math.pi]), np.array([0.0, 0.3])
    offset = np.array([[0.2, -0.6], [0.2, -0.6]])  # left and ahead
    place = reference_places(np.array([[1.0, 2.0], [0.0, 0.0]]), yaw, offset, bank, np.full(2, 1.4))
    # Facing -Y: left is +X.
    assert np.allclose(place[0], [1.2, 1.4])
    # Facing +X: left is +Y. Leaning to the left, feet go to the right.
    # The hip is 1.4 cos(0.3) high, and the foot that times tan(0.3) out.
    assert np.allclose(place[1], [0.6, 0.2 - 1.4 * math.cos(0.3) * math.tan(0.3)])


def _stairs(x, y):
    """Steps of 0.18 m every 0.3 m along -Y; a hole between 2.0 and 2.2; a cliff of 2 m at 4."""
    way = -np.asarray(y, dtype=float)
    z = 0.18 * np.floor(np.maximum(way, 0.0) / 0.3)
    z = np.where(way > 4.0, z + 2.0, z)
    normal = np.zeros((len(way), 3))
    normal[:, 2] = 1.0
    return z, normal, ~((way > 2.0) & (way < 2.2)) & (np.abs(np.asarray(x)) < 1.0)


def _place(way, ground=_stairs, x=0.0, most_step=0.4):
    wanted = np.column_stack((np.full(len(way), x), -np.asarray(way)))
    return place_footholds(wanted, np.zeros(len(way)), np.zeros(len(way), dtype=int), ground,
                           most_step, 0.3, math.radians(50.0), 0.0)


def test_footholds_lie_on_the_terrain():
    holds = _place([0.1, 0.5, 1.0, 1.5])
    assert np.allclose(holds.position[:, 2], 0.18 * np.array([0, 1, 3, 5]))
    assert np.all(holds.state == GOOD) and np.all(holds.moved == 0.0)


def test_step_into_a_hole_is_shortened():
    holds = _place([1.4, 1.8, 2.1, 2.5])
    assert holds.state.tolist() == [GOOD, GOOD, MOVED, GOOD]
    assert 0.0 < holds.moved[2] <= 0.3
    # Before the hole: shortened, not lengthened.
    assert -holds.position[2, 1] < 2.1
    assert _stairs(*holds.position[2:3, :2].T)[2].all()


def test_step_that_is_too_high_is_shortened_or_told_of():
    holds = _place([3.6, 3.95, 4.1, 4.5])
    assert holds.state[:2].tolist() == [GOOD, GOOD]
    assert holds.state[2] == MOVED and -holds.position[2, 1] <= 4.0
    assert holds.state[3] == TOO_HIGH
    assert abs(holds.position[3, 2] - holds.position[2, 2]) > 2.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_stairs_too_high_are_stood_on_all_the_same(sign):
    """Toes in the next stair, or over an edge, and each stair more than a step: not in the air."""

    def stairs(x, y):
        z, normal, hit = _stairs(x, y)
        return sign * z, normal, hit

    wanted = np.array(((0.0, -0.1), (0.0, -0.88)))
    holds = place_footholds(wanted, np.zeros(2), np.zeros(2, dtype=int), stairs, 0.1, 0.3,
                            math.radians(50.0), 0.0, np.tile((0.1, 0.1), (2, 1)))
    assert holds.state.tolist() == [GOOD, TOO_HIGH]
    assert holds.position[:, 2] == pytest.approx(stairs(*holds.position[:, :2].T)[0])
    assert abs(holds.position[1, 2]) > 0.1


def test_a_slope_is_no_step():
    """Strides of 1 m on 0.4: 0.4 m up each, more than a step of 0.25 m."""
    up = np.array([0.0, 0.4, 1.0]) / math.hypot(0.4, 1.0)

    def slope(x, y):
        return -0.4 * np.asarray(y), np.tile(up, (len(x), 1)), np.ones(len(x), dtype=bool)

    holds = _place([0.0, 1.0, 2.0, 3.0], slope, most_step=0.25)
    assert np.all(holds.state == GOOD) and np.allclose(holds.position[:, 2], [0.0, 0.4, 0.8, 1.2])
    one, two = holds.position[0], holds.position[1] + [0.0, 0.0, 0.3]
    assert step_height(one, up, two, up) == pytest.approx(0.3)


def test_no_ground_keeps_the_height_of_the_last_foothold():
    holds = _place([0.5, 0.9], x=0.0)
    off = _place([0.5, 0.9], x=5.0)
    assert np.all(holds.state == GOOD) and np.all(off.state == NO_GROUND)
    assert np.all(off.position[:, 2] == 0.0) and np.all(np.isfinite(off.position))


def test_steep_or_broken_ground_does_not_carry():
    def wall(x, y):
        normal = np.tile([0.0, 0.99, 0.14], (len(x), 1))
        normal[np.asarray(x) > 10.0] = np.nan
        return np.zeros(len(x)), normal, np.ones(len(x), dtype=bool)

    assert np.all(_place([0.5], wall).state == NO_GROUND)
    assert np.all(_place([0.5], wall, x=20.0).state == NO_GROUND)

    def holes_of_nan(x, y):
        normal = np.tile([0.0, 0.0, -1.0], (len(x), 1))
        return np.full(len(x), np.nan), normal, np.ones(len(x), dtype=bool)

    assert np.all(_place([0.5], holes_of_nan).state == NO_GROUND)


def test_flipped_normals_point_up():
    def flipped(x, y):
        return np.zeros(len(x)), np.tile([0.0, 0.0, -1.0], (len(x), 1)), np.ones(len(x), dtype=bool)

    holds = _place([0.5], flipped)
    assert holds.state[0] == GOOD and holds.normal[0].tolist() == [0.0, 0.0, 1.0]


def test_level_ground_is_level():
    z, normal, hit = level_ground(1.5)(np.zeros(3), np.ones(3))
    assert np.all(z == 1.5) and np.all(hit) and np.all(normal[:, 2] == 1.0)


def test_foot_lies_on_the_slope_and_points_the_way_it_is_told():
    normal = np.array([[0.0, math.sin(0.3), math.cos(0.3)]])  # rising towards -Y
    turn = multiply(between(np.array([0.0, 0.0, 1.0]), normal), about_z(np.array([0.0])))
    assert np.allclose(rotate(turn, np.array([0.0, 0.0, 1.0])), normal)
    toe = rotate(turn, np.array([[0.0, -1.0, 0.0]]))[0]
    assert toe[2] == pytest.approx(math.sin(0.3)) and to_euler(turn)[0][2] == pytest.approx(0.0)
