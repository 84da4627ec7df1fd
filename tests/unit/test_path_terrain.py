# SPDX-License-Identifier: GPL-3.0-or-later
"""Terrain under a path: geometry against known surfaces, motion against closed forms."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from lab.courses import forest
from poise.solvers.errors import SettingError
from poise.solvers.path import Gate, PathScene, PathSettings, TerrainMesh, follow_path
from poise.solvers.path.descent import BRAKING_TIME, descend, dynamics, stand_on
from poise.solvers.path.nodes import ALONG, COST
from poise.solvers.path.settings import CALM
from poise.solvers.path.terrain import Field, Surface, clip
from poise.solvers.turning.assemble import plane_axes
from poise.solvers.turning.equations import PARAMETERS, make_equations
from poise.solvers.turning.settings import AIR_DENSITY, TurningSettings, make_timeline

_spec = importlib.util.spec_from_file_location(
    "path_cases", Path(__file__).with_name("path_cases.py")
)
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

G = 9.81
TOP = np.array([0.0, 0.0, math.inf])
COAST = PathSettings(speed=6.0, speed_mode="TERRAIN", friction=0.0, drag_area=0.0)
DOWN = np.array([(0.0, 0.0), (0.0, -60.0)])


def graph_mesh(height, low=(-40.0, -90.0), high=(40.0, 20.0), spacing=1.0, keep=None):
    """A triangulated graph z = height(x, y); `keep(x, y)` says which cells stay."""
    counts = [round((b - a) / spacing) + 1 for a, b in zip(low, high, strict=True)]
    x, y = np.meshgrid(*(np.linspace(a, b, n) for a, b, n in zip(low, high, counts, strict=True)),
                       indexing="ij")
    points = np.stack((x, y, height(x, y)), axis=-1).reshape(-1, 3)
    index = np.arange(len(points)).reshape(x.shape)
    a, b, c, d = index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]
    triangles = np.concatenate([
        np.stack(t, axis=-1).reshape(-1, 3) for t in ((a, b, c), (a, c, d))
    ])
    if keep is not None:
        middle = points[triangles].mean(axis=1)
        triangles = triangles[keep(middle[:, 0], middle[:, 1])]
    return TerrainMesh(points, triangles, "Hill")


def merged(*meshes):
    """Several meshes as one."""
    start = np.cumsum([0, *(len(mesh.points) for mesh in meshes)])
    return TerrainMesh(
        np.concatenate([mesh.points for mesh in meshes]),
        np.concatenate([mesh.triangles + s for mesh, s in zip(meshes, start, strict=False)]),
        meshes[0].name,
    )


def field(mesh, low=(-20.0, -60.0), high=(20.0, 10.0), smoothing=2.0, start=TOP):
    return Field(Surface(mesh), np.array(low), np.array(high), smoothing, start)


def waves(x, y):
    return 1.5 * np.sin(0.25 * x) * np.cos(0.2 * y) - 0.1 * x


def scattered(n=400, seed=3, low=(-15.0, -50.0), high=(15.0, 5.0)):
    return np.random.default_rng(seed).uniform(low, high, (n, 2)).T


def flat(x, y):
    return 0.0 * x


# -- geometry ------------------------------------------------------------------------


def test_height_of_a_mesh_converges_to_the_surface_it_samples():
    """Linear interpolation: the error falls with the square of the spacing."""
    x, y = scattered()
    errors = []
    for spacing in (2.0, 1.0, 0.5):
        surface = Surface(graph_mesh(waves, spacing=spacing))
        errors.append(np.abs(surface.height(x, y, np.zeros(len(x))) - waves(x, y)).max())
    assert errors[0] < 0.094  # s^2 / 8 of the second derivatives
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert np.all(np.abs(orders - 2.0) < 0.3)


def test_slope_and_curvature_of_a_wave_are_those_of_the_wave_evened_out():
    """A Gaussian average takes the factor exp(-k^2 sigma^2 / 2) off a wave, and no more."""
    k, sigma = 0.4, 2.0 / math.sqrt(12.0)
    factor = math.exp(-0.5 * (k * sigma) ** 2)
    x, y = scattered()
    errors = []
    for spacing in (1.0, 0.5, 0.25):
        under = field(graph_mesh(lambda x, y: np.sin(k * y), spacing=spacing)).at(x, y)
        errors.append(np.abs(under.q - factor * k * np.cos(k * y)).max())
    assert errors[0] < 0.02 and errors[2] < 0.003
    np.testing.assert_allclose(under.height, factor * np.sin(k * y), atol=2e-3)
    np.testing.assert_allclose(under.yy, -factor * k * k * np.sin(k * y), atol=4e-3)
    np.testing.assert_allclose(under.p, 0.0, atol=1e-9)


def test_a_plane_stays_a_plane_up_to_its_edge():
    tilt = graph_mesh(lambda x, y: 0.3 * y - 0.2 * x, low=(-20.0, -30.0), high=(20.0, 10.0))
    found = field(tilt)
    x, y = scattered(low=(-19.9, -29.9), high=(19.9, 9.5))
    under = found.at(x, y)
    np.testing.assert_allclose(under.height, 0.3 * y - 0.2 * x, atol=1e-6)
    np.testing.assert_allclose((under.p, under.q), ([-0.2] * 400, [0.3] * 400), atol=1e-6)
    assert found.supports(np.array([0.0]), np.array([-29.0]))[0]
    assert not found.supports(np.array([0.0, 0.0]), np.array([-30.5, -40.0])).any()


def even_slope(spacing, fall=0.28):
    """One plane with square faces, as Blender keeps it: in single precision."""
    mesh = graph_mesh(lambda x, y: fall * y, (-40.0, -180.0), (40.0, 40.0), spacing)
    return replace(mesh, points=mesh.points.astype(np.float32).astype(float))


@pytest.mark.parametrize("fall", [0.28, math.tan(math.radians(17.0))])
def test_one_plane_is_one_ground_however_it_is_meshed(fall):
    """To the last bit, or who plans on it goes other ways after a while."""
    x, y = scattered()
    slopes = []
    for spacing in (1.0, 2.0, 5.0, 20.0):
        at = field(even_slope(spacing, fall)).at(x, y)
        assert not at.xx.any() and not at.xy.any() and not at.yy.any()
        slopes.append((at.p, at.q))
    assert np.array(slopes[0])[1] == pytest.approx(fall, abs=2.0**-22)
    for other in slopes[1:]:
        assert np.array_equal(slopes[0], other)


def test_a_wide_hollow_is_no_plane():
    """A slope that changes by less than single precision tells from node to node is kept."""
    mesh = graph_mesh(lambda x, y: 200.0 + 2.0**-18 * y * y)
    at = field(mesh).at(np.zeros(2), np.array([-50.0, 0.0]))
    assert at.q[1] - at.q[0] == pytest.approx(2.0**-17 * 50.0, rel=0.01)


def test_flipped_faces_carry_as_well_and_walls_carry_nobody():
    hill = graph_mesh(waves)
    x, y = scattered()
    near = np.zeros(len(x))
    expected = Surface(hill).height(x, y, near)
    mixed = hill.triangles.copy()
    mixed[::3] = mixed[::3, ::-1]
    flipped = Surface(replace(hill, triangles=mixed))
    np.testing.assert_allclose(flipped.height(x, y, near), expected, atol=1e-9)
    # A wall of two faces, 85 degrees steep, and rubbish among the faces.
    wall = TerrainMesh(
        np.array([(-9, -20, -50), (9, -20, -50), (9, -20.9, -40), (np.nan, 0, 0), (0, 0, 5.0)]),
        np.array([(0, 1, 2), (3, 0, 1), (4, 4, 4)]),
    )
    assert np.array_equal(Surface(merged(hill, wall)).height(x, y, near), expected)
    assert Surface(wall).n_faces == 0
    assert np.isnan(Surface(wall).height(x, y, near)).all()


def test_under_a_bridge_or_over_it_is_where_one_started():
    bridge = graph_mesh(lambda x, y: 4.0 + flat(x, y), (-20.0, -25.0), (20.0, -15.0))
    both = merged(graph_mesh(flat), bridge)
    x, y = np.array([0.3, 5.3]), np.array([-20.4, -21.2])
    surface = Surface(both)
    assert np.allclose(surface.height(x, y, np.array([1.0, np.inf])), [0.0, 4.0])
    lines, heights = surface.crossings(x, y)
    assert sorted(zip(lines.tolist(), np.round(heights, 9).tolist(), strict=True)) == [
        (0, 0.0), (0, 4.0), (1, 0.0), (1, 4.0)
    ]
    under = field(both).at(x, y)  # from (0, 0) on the ground: there is nothing above
    assert np.allclose(under.height, 0.0) and np.all(under.support == 1.0)
    over = field(both, start=np.array([0.0, -20.0, 3.9]))
    assert np.allclose(over.at(x, y).height, 4.0, atol=1e-6)
    assert not over.supports(np.zeros(1), np.array([-10.0]))[0]  # a step of 4 m down


def test_a_cliff_ends_the_terrain_and_a_ramp_beside_it_leads_around():
    def cliff(x, y):
        return np.where(y < -20.0, -6.0, 0.0) * np.clip((8.0 - x) / 8.0, 0.0, 1.0)

    found = field(graph_mesh(cliff, spacing=0.25))
    x = np.array([-10.0, -10.0, -10.0, 9.0])
    y = np.array([-19.0, -20.1, -22.0, -20.1])
    assert found.supports(x, y).tolist() == [True, False, True, True]


def test_clipping_keeps_what_is_looked_at():
    hill = graph_mesh(waves)
    points, triangles = clip(hill.points, hill.triangles, np.array([-5, -9]), np.array([5, 3]))
    small = Surface(TerrainMesh(points, triangles))
    assert small.n_faces < 0.1 * len(hill.triangles)
    x, y = scattered(low=(-5.0, -9.0), high=(5.0, 3.0))
    near = np.zeros(len(x))
    assert np.array_equal(small.height(x, y, near), Surface(hill).height(x, y, near))


def test_smoothing_out_of_range_is_refused():
    with pytest.raises(SettingError, match="Terrain Smoothing"):
        follow_path(
            PathScene((DOWN,), terrain=graph_mesh(flat)), PathSettings(smoothing=0.0)
        )
    with pytest.raises(SettingError, match="Speed Mode"):
        follow_path(PathScene((DOWN,)), COAST)


# -- motion --------------------------------------------------------------------------


def test_a_tilted_plane_gives_the_turns_of_the_turning_solver():
    """The same curvature steered on the same slope: RK4 of `turning.equations`, tilted, sliding."""
    slope, direction, speed, rate, seconds = math.radians(20.0), math.radians(35.0), 8.0, 0.06, 0.8
    ahead, aside, normal = plane_axes(0.0, slope, direction)
    mesh = graph_mesh(lambda x, y: -(normal[0] * x + normal[1] * y) / normal[2], spacing=10.0)
    found = field(mesh)
    settings = replace(COAST, friction=0.06, drag_area=0.5)
    timeline = make_timeline(
        TurningSettings(
            n_frames=2, speed=speed, slope=slope, slope_direction=direction, friction=0.06,
            drag_area=0.5, speed_mode="SLOPE", gravity=settings.gravity,
        )
    )
    p = tuple(float(np.ravel(timeline.quantities[name])[0]) for name in PARAMETERS)
    law = make_equations(math.sin, math.cos, True, True, False)
    count = 600
    h = seconds / count
    state, place = (0.05, 0.1, 0.0, speed), np.zeros(3)
    for i in range(count):
        c = [rate * (i + part) * h for part in (0.0, 0.5, 1.0)]
        first = law.forced(*state, c[0], p)
        after = law.forced_step(*state, h, first, c[1], c[2], p, p)
        foot = [
            v / (1.0 - k * settings.height * math.sin(theta))
            for (theta, _, _, v), k in ((state, c[0]), (after, c[2]))
        ]
        for (_, _, psi, _), f in zip((state, after), foot, strict=True):
            place = place + 0.5 * h * f * (math.cos(psi) * ahead + math.sin(psi) * aside)
        state = after
    # The same start: in the ground plan, yaw 0 of the plane lies over its facing.
    motion = descend(
        found, np.array([[0.0, 0.0, 0.0, 0.05, 0.1, 0.0, speed]]).T, np.array([rate]), None,
        settings, math.inf, seconds / 15, 15,
    )
    theta, omega, psi, v = state
    assert abs(motion.theta[-1, 0] - theta) < 1e-5
    assert abs(motion.omega[-1, 0] - omega) < 3e-5
    assert abs(motion.speed[-1, 0] - v) < 1e-5
    assert np.allclose((motion.x[-1, 0], motion.y[-1, 0]), place[:2], atol=2e-5)
    under = stand_on(found, motion.x[-1], motion.y[-1], motion.psi[-1])
    forward, left, up = under.frame()
    assert np.allclose(up[0], normal, atol=1e-6)
    assert np.allclose(forward[0], math.cos(psi) * ahead + math.sin(psi) * aside, atol=1e-5)
    assert np.allclose(np.cross(forward[0], left[0]), up[0])


def straight(mesh, settings, start=(0.0, 0.0), steps=120, step=0.05, psi=0.0, **options):
    """Upright and straight on: a bead on the terrain."""
    found = field(mesh, **options)
    state = np.array([[*start, psi, 0.0, 0.0, 0.0, settings.speed]]).T
    motion = descend(found, state, np.zeros(1), None, settings, math.inf, step, steps)
    z = found.at(motion.x[:, 0], motion.y[:, 0]).height
    return motion, z


def test_energy_is_kept_on_a_frictionless_bowl_and_ramp():
    """V^2 / 2 + g z stays within 0.1 % of what is exchanged, evened out surface and all."""
    bowl = graph_mesh(lambda x, y: 0.02 * (x * x + (y + 25.0) ** 2), spacing=0.5)
    motion, z = straight(bowl, replace(COAST, speed=1.0))
    energy = 0.5 * motion.speed[:, 0] ** 2 + G * z
    assert np.ptp(z) > 10.0
    assert np.ptp(energy) < 1e-3 * G * np.ptp(z)

    def ramp(x, y):
        return -3.0 * np.tanh((-y - 25.0) / 6.0)

    motion, z = straight(graph_mesh(ramp, spacing=0.5), COAST, steps=140)
    energy = 0.5 * motion.speed[:, 0] ** 2 + G * z
    assert motion.y[-1, 0] < -45.0
    assert np.ptp(energy) < 2e-3 * G * np.ptp(z)


def test_terminal_speed_on_a_plane_and_with_brakes():
    """g sin(a) - mu g cos(a) = rho CdA V^2 / (2 m), reached as tanh does."""
    a = math.radians(12.0)
    plane = graph_mesh(lambda x, y: y * math.tan(a), high=(40.0, 20.0), low=(-40.0, -1200.0),
                       spacing=20.0)
    settings = replace(COAST, speed=2.0, friction=0.05, drag_area=0.6)
    drive = G * (math.sin(a) - 0.05 * math.cos(a))
    k = 0.5 * AIR_DENSITY * 0.6 / settings.mass
    top = math.sqrt(drive / k)
    motion, _ = straight(plane, settings, steps=400, step=0.1, low=(-3.0, -1190.0), high=(3.0, 5.0))
    t = 0.1 * np.arange(401)
    expected = top * np.tanh(top * k * t + math.atanh(2.0 / top))
    assert abs(motion.speed[-1, 0] - top) < 0.02 * top
    np.testing.assert_allclose(motion.speed[:, 0], expected, rtol=1e-6)
    # With brakes: never faster than asked for, and there as exp(-t / BRAKING_TIME).
    braked = replace(settings, most_speed=9.0, braking=3.0)
    motion, _ = straight(plane, braked, steps=400, low=(-3.0, -400.0), high=(3.0, 5.0))
    speed = motion.speed[:, 0]
    assert speed.max() <= 9.0 and speed[-1] > 8.999
    late = speed > 9.0 - 0.8 * drive * BRAKING_TIME
    gap = 9.0 - speed[late][:20]
    np.testing.assert_allclose(gap[1:] / gap[:-1], math.exp(-0.05 / BRAKING_TIME), rtol=1e-3)
    # Brakes that do not hold on the slope leave it to accelerate.
    weak, _ = straight(
        plane, replace(braked, braking=0.5), steps=400, low=(-3.0, -400.0), high=(3.0, 5.0)
    )
    assert weak.speed[-1, 0] > 10.0


def test_hollows_press_and_crests_lighten_by_v_squared_over_the_radius():
    """F_n / m = g + V^2 kappa at the bottom of a trough, g - V^2 kappa on top of a roll."""
    for sign in (1.0, -1.0):
        mesh = graph_mesh(lambda x, y, s=sign: s * 0.02 * (y + 20.0) ** 2, spacing=0.25)
        under = stand_on(field(mesh), np.zeros(1), np.array([-20.0]), np.zeros(1))
        zero = np.zeros(1)
        rates = dynamics(under, zero, zero, zero, np.array([5.0]), COAST)
        assert abs(rates.load[0] - (G + sign * 25.0 * 0.04)) < 0.01


def test_straight_tracks_are_geodesics():
    """Clairaut: on a surface of revolution r cos(angle to the parallel) stays the same."""
    cone = graph_mesh(
        lambda x, y: -0.5 * np.hypot(x, y + 20.0), low=(-30.0, -50.0), high=(30.0, 10.0),
        spacing=0.5,
    )
    found = field(cone, start=np.array([12.0, -5.0, math.inf]))
    settings = replace(COAST, speed_mode="KEYED")
    state = np.array([[12.0, -5.0, 0.2, 0.0, 0.0, 0.0, 6.0]]).T
    motion = descend(found, state, np.zeros(1), 6.0, settings, math.inf, 0.05, 60)
    x, y, psi = motion.x[:, 0], motion.y[:, 0], motion.psi[:, 0]
    forward = stand_on(found, x, y, psi).frame()[0]
    radius = np.hypot(x, y + 20.0)
    around = np.stack((-(y + 20.0), x), axis=1) / radius[:, None]
    clairaut = radius * np.einsum("ij,ij->i", forward[:, :2], around)
    assert np.ptp(psi) > 0.1  # it turns in the ground plan
    assert np.ptp(clairaut) < 0.01 * np.abs(clairaut).max()


def test_the_ground_rolls_as_its_frame_does():
    """theta' - omega is the turn of the normal to the left, by differences of the frame."""
    found = field(graph_mesh(waves, spacing=0.5))
    state = np.array([[3.0, -5.0, 0.3, 0.1, 0.0, 0.02, 8.0]]).T
    motion = descend(found, state, np.zeros(1), 8.0, replace(COAST, speed_mode="KEYED"),
                     math.inf, 0.01, 100)
    under = stand_on(found, motion.x[:, 0], motion.y[:, 0], motion.psi[:, 0])
    _, left, normal = under.frame()
    expected = np.einsum("ij,ij->i", np.gradient(normal, 0.01, axis=0), left)
    rolling = under.rolling(motion.foot[:, 0])
    assert np.abs(expected).max() > 0.1
    np.testing.assert_allclose(rolling[2:-2], expected[2:-2], atol=0.02)
    rate = np.gradient(motion.theta[:, 0], 0.01) - motion.omega[:, 0]
    np.testing.assert_allclose(rate[2:-2], -rolling[2:-2], atol=1e-3)


def test_the_ground_may_be_looked_up_once_half_way_and_once_at_the_end():
    """As exact as fifty times the steps: to 0.1 mm and 0.01 degrees a step of 0.1 s."""
    found, rng = field(graph_mesh(waves, spacing=0.5)), np.random.default_rng(5)
    x, y = scattered(200, low=(-10.0, -45.0), high=(10.0, 0.0))
    turned, bend = rng.normal(0.0, 0.2, (3, 200)), rng.normal(0.0, 0.05, 200)
    state = np.stack((x, y, *turned, bend, 7.0 + 0.0 * x))
    rate = rng.normal(0.0, 0.3, 200)
    coarse, fine = (
        descend(found, state, rate, None, COAST, math.inf, 0.1 / n, n) for n in (1, 50)
    )
    for name, most in (("x", 1e-4), ("y", 1e-4), ("theta", 2e-4), ("speed", 2e-3)):
        error = getattr(coarse, name)[-1] - getattr(fine, name)[-1]
        assert np.sqrt(np.mean(error**2)) < most, name


def test_who_falls_is_left_behind_and_the_others_go_on_as_if_alone():
    found, rng = field(graph_mesh(waves, spacing=0.5)), np.random.default_rng(6)
    x, y = scattered(60, low=(-10.0, -45.0), high=(10.0, 0.0))
    turned, bend = rng.normal(0.0, 0.2, (3, 60)), rng.normal(0.0, 0.05, 60)
    state = np.stack((x, y, *turned, bend, 7.0 + 0.0 * x))
    rate, limit = rng.normal(0.0, 0.5, 60), math.radians(25.0)
    together = descend(found, state, rate, None, COAST, limit, 0.1, 3)
    assert 10 < len(together.kept) < 50
    for i in range(60):
        alone = descend(found, state[:, i : i + 1], rate[i : i + 1], None, COAST, limit, 0.1, 3)
        column = np.flatnonzero(together.kept == i)
        assert len(alone.kept) == len(column)
        for name in ("x", "psi", "theta", "omega", "foot_middle", "curvature", "speed"):
            np.testing.assert_allclose(
                getattr(alone, name)[:, :1], getattr(together, name)[:, column], atol=1e-12
            )


# -- whole paths ---------------------------------------------------------------------


def hill(x, y):
    return 0.2 * y + 0.8 * np.sin(0.15 * y) * np.cos(0.1 * x)


WINDING = np.stack(
    (2.5 * np.sin(np.linspace(0.0, 4.0 * math.pi, 200)), np.linspace(0.0, -60.0, 200)), axis=1
)


@pytest.fixture(scope="module")
def descent():
    scene = PathScene((WINDING,), terrain=graph_mesh(hill))
    settings = replace(COAST, speed=5.0, friction=0.05, drag_area=0.4, most_speed=7.0)
    return scene, settings, follow_path(scene, settings)


def test_a_path_over_a_hill_is_followed_on_the_hill(descent):
    scene, settings, result = descent
    motion = result.motion
    assert result.finished and not motion.problems
    assert result.mean_distance < 0.8
    x, y, z = motion.position.T
    surface = motion.surfaces[0][2]
    exact = surface.height(x, y, z)
    # Evening out moves the height by sigma^2 / 2 of the mean curvature, and no more.
    assert np.abs(z - exact).max() < 0.02
    step = np.diff(motion.position, axis=0)
    along = np.einsum("ij,ij->i", step, 0.5 * (motion.forward[1:] + motion.forward[:-1]))
    np.testing.assert_allclose(along, np.diff(motion.distance), atol=2e-3)
    assert motion.speed.max() <= 7.0 + 1e-6
    # V' by the motion's own forces; the speed of the centre of mass is V.
    assert result.brake.max() > 0.5
    again = follow_path(scene, settings)
    assert np.array_equal(again.motion.position, motion.position)
    assert np.array_equal(again.motion.lean, motion.lean)


def test_plans_over_a_hill_are_the_best_of_all(descent):
    """Against every child of every child, and against the paper's own search."""
    scene, settings, _ = descent
    for mode in ("TERRAIN", "KEYED"):
        small = replace(settings, stages=4, values=5, effort=0.1, speed_mode=mode, speed=6.0)
        ready, planner, (floats, ints) = cases.planner_and_root(scene, small)
        plan = planner.plan(planner.tree(floats, ints), 0.0)
        assert plan.complete and plan.optimal
        assert planner.plan_plainly(floats, ints, 0.0).choices == plan.choices
        for _stage in range(4):
            children = planner.expand(floats, ints)
            floats, ints = children.floats, children.ints
        assert floats.shape[1] > 10
        whole = floats[ALONG] >= planner._goal(plan.floats[0], 0)
        assert plan.cost == pytest.approx(floats[COST][whole].min(), abs=1e-12)


def test_a_path_may_hover_and_faces_may_look_down(descent):
    scene, settings, result = descent
    lifted = np.column_stack((WINDING, np.full(len(WINDING), 50.0)))
    turned = replace(scene.terrain, triangles=scene.terrain.triangles[:, ::-1])
    other = follow_path(replace(scene, polylines=(lifted,), terrain=turned), settings)
    np.testing.assert_allclose(other.motion.position, result.motion.position, atol=1e-5)


def test_a_hole_is_gone_around_and_an_edge_is_reported(descent):
    scene, settings, _ = descent

    def outside(x, y):
        return np.hypot(x - 1.0, y + 30.0) > 2.5

    hole = PathScene((DOWN,), terrain=graph_mesh(hill, spacing=0.5, keep=outside))
    result = follow_path(hole, settings)
    assert result.finished
    distance = np.hypot(result.motion.position[:, 0] - 1.0, result.motion.position[:, 1] + 30.0)
    assert 2.2 < distance.min() < 4.0
    ends = PathScene((DOWN,), terrain=graph_mesh(hill, low=(-40.0, -40.0)))
    result = follow_path(ends, settings)
    problem = next(p for p in result.motion.problems if p.severity == "ERROR")
    assert problem.code == "OFF_TERRAIN" and "Hill" in problem.message
    assert result.failure.reason == "OFF" and problem.time == result.failure.time
    assert -40.0 < result.motion.position[-1, 1] < -34.0
    nowhere = PathScene((DOWN + (0.0, 90.0),), terrain=scene.terrain)
    result = follow_path(nowhere, settings)
    assert result.motion.problems[0].code == "OFF_TERRAIN" and result.failure.time == 0.0


def test_crests_to_lift_off_from_and_weak_brakes_are_reported():
    """V^2 kappa > g at the crest: 0.9 m on 34 m of wave length, 0.031 1/m, from 17.9 m/s on."""

    def wave(x, y):
        return 0.9 * np.sin(2.0 * math.pi * y / 34.0)

    scene = PathScene((2.0 * DOWN,), terrain=graph_mesh(wave, low=(-40.0, -150.0)))
    keyed = replace(COAST, speed_mode="KEYED")
    assert follow_path(scene, replace(keyed, speed=16.0)).load.min() > 0.0
    result = follow_path(scene, replace(keyed, speed=20.0))
    assert result.finished
    crests = [p for p in result.motion.problems if p.code == "LIFTS_OFF"]
    # Crests at y = -25.5, -59.5 and -93.5 m.
    places = [np.interp(p.time, result.motion.time, result.motion.position[:, 1]) for p in crests]
    np.testing.assert_allclose(places, (-25.5, -59.5, -93.5), atol=6.0)
    assert result.motion.force_normal.min() > -20.0  # the legs hold on: no force pulls them
    steep = PathScene((DOWN,), terrain=graph_mesh(lambda x, y: 0.4 * y))
    result = follow_path(steep, replace(COAST, speed=6.0, most_speed=7.0, braking=1.0))
    problem = next(p for p in result.motion.problems if p.code == "BRAKES_TOO_WEAK")
    assert problem.amount == pytest.approx(result.motion.speed.max() - 7.0)
    assert problem.amount > 3.0


def test_a_motion_goes_on_where_another_one_ends(descent):
    scene, settings, result = descent
    rows = len(result.motion.time) // 2
    half = replace(settings, most_seconds=float(result.motion.time[rows]))
    first = follow_path(scene, half).motion
    second = follow_path(scene, replace(settings, start_state=first.end_state)).motion
    np.testing.assert_allclose(second.position[0], first.position[-1], atol=1e-6)
    np.testing.assert_allclose(second.normal[0], first.normal[-1], atol=1e-6)
    for name in ("speed", "lean", "lean_rate", "curvature"):
        assert getattr(second, name)[0] == pytest.approx(getattr(first, name)[-1], abs=1e-6)


def test_another_machine_steers_alike_down_a_hill(monkeypatch):
    mesh = graph_mesh(lambda x, y: 0.2 * y + 0.4 * np.sin(0.25 * y + 0.1 * x), low=(-40.0, -190.0))
    settings = replace(COAST, friction=0.06, fps=10.0)
    scene = replace(forest(40, 150.0)[0], terrain=mesh)
    a = follow_path(scene, settings, advice=False)
    cases.on_another_machine(monkeypatch)
    b = follow_path(scene, settings, advice=False)
    assert a.finished and a.motion.time[-1] > 11.0 and np.ptp(a.motion.speed) > 1.0
    cases.assert_steered_alike(a, b)
    assert not np.array_equal(a.motion.speed, b.motion.speed)


def test_an_area_too_large_for_the_grid_is_told(monkeypatch, descent):
    from poise.solvers.path import terrain

    scene, settings, _ = descent
    monkeypatch.setattr(terrain, "MOST_NODES", 8000)
    codes = [p.code for p in follow_path(scene, settings).motion.problems]
    assert codes == ["TERRAIN_COARSE"]


def test_a_slope_that_does_not_carry_on_is_reported():
    uphill = PathScene((DOWN,), terrain=graph_mesh(lambda x, y: -0.2 * y))
    result = follow_path(uphill, replace(COAST, speed=6.0, friction=0.05))
    problem = result.motion.problems[0]
    assert problem.code == "STOOD_STILL" and problem.severity == "ERROR"
    # V^2 / 2 = (g sin(a) + mu g cos(a)) d, d along the slope: 7.45 m in the ground plan.
    a = math.atan(0.2)
    reach = 18.0 / (G * (math.sin(a) + 0.05 * math.cos(a))) * math.cos(a)
    assert 0.75 * reach < -result.motion.position[-1, 1] <= reach * 1.02


def test_a_slalom_down_a_plane_is_the_same_on_every_mesh_of_it():
    """Gates 12 m apart at 10 m/s: a sinusoid past the poles leans by 21 degrees, of 50."""
    gates = []
    for i in range(8):
        pole, side = np.array([0.6, -20.0 - 12.0 * i]), 1.0 if i % 2 == 0 else -1.0
        ends = [pole * (side, 1.0), (pole + [5.0, 0.0]) * (side, 1.0)]
        gates.append(Gate(*(ends if side < 0.0 else ends[::-1]), 0.03))
    settings = PathSettings(
        speed=9.0, speed_mode="TERRAIN", friction=0.08, drag_area=0.45, most_speed=10.0,
        braking=6.0, max_lean=math.radians(50.0), max_curvature=0.25, max_curvature_rate=2.0,
        clearance=0.35, mass=80.0, inertia=12.6, height=1.02, effort=CALM,
    )
    way = np.array([(0.0, 0.0), (0.0, -122.0)])
    one, other = (
        follow_path(PathScene((way,), gates=tuple(gates), terrain=even_slope(spacing)), settings)
        for spacing in (2.0, 20.0)
    )
    assert one.finished and np.all(np.isfinite(one.gate_times))
    assert one.max_distance < 5.0
    assert np.array_equal(one.motion.curvature, other.motion.curvature)
    assert np.max(np.abs(one.motion.position - other.motion.position)) < 1e-5
