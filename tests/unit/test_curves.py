# SPDX-License-Identifier: GPL-3.0-or-later
"""Arc length of splines, against high-order quadrature and curves whose length is known."""

import math

import numpy as np
import pytest
from poise.solvers.curves import (
    ArcLength,
    b_spline,
    bezier,
    catmull_rom,
    minimum_jerk,
)
from poise.solvers.errors import SettingError
from scipy.integrate import quad
from scipy.special import ellipe


def _curves():
    rng = np.random.default_rng(4)
    points = np.cumsum(rng.normal(size=(8, 3)), axis=0)
    # Unevenly spaced: two points near each other, then one far off.
    uneven = np.array([[0, 0, 0], [0.01, 0, 0], [5, 1, 0], [5.1, 1.2, 0.3], [5, 4, 2]], float)
    return {
        "centripetal": catmull_rom(points),
        "uniform": catmull_rom(uneven, power=0.0),
        "closed": catmull_rom(points, closed=True),
        "b-spline": b_spline(points),
        "closed b-spline": b_spline(points, closed=True),
        "bezier": bezier(points[:7]),
        "two points": catmull_rom(points[:2]),
        # The handles of the first knot lie on it: the tangent vanishes there.
        "rest at the start": bezier([[0, 0], [0, 0], [1, 1], [2, 0]]),
        "cusp inside": bezier([[0, 0], [1, 1], [0, 1], [1, 0]]),
        "there and back": bezier([[0, 0], [1, 0], [1, 0], [0, 0]]),
    }


CURVES = _curves()


def _length(curve, to):
    """By adaptive quadrature of high order over each piece, halved at its middle as well."""
    slope = curve.derivative()
    ends = np.unique(np.concatenate([curve.x, 0.5 * (curve.x[1:] + curve.x[:-1]), [to]]))
    ends = ends[ends <= to]
    return sum(
        quad(lambda u: np.linalg.norm(slope(u)), a, b, limit=400, epsabs=1e-12, epsrel=1e-12)[0]
        for a, b in zip(ends[:-1], ends[1:], strict=True)
    )


@pytest.mark.parametrize("name", CURVES)
def test_arc_length_agrees_with_quadrature(name):
    curve = CURVES[name]
    arc = ArcLength(curve)
    u = curve.x[0] + (curve.x[-1] - curve.x[0]) * np.array([0.13, 0.5, 0.77, 1.0])
    exact = np.array([_length(curve, x) for x in u])
    np.testing.assert_allclose(arc.of(u), exact, rtol=1e-7)
    assert arc.length == pytest.approx(exact[-1], rel=1e-9)


@pytest.mark.parametrize("name", CURVES)
def test_parameter_at_a_length_is_the_inverse(name):
    arc = ArcLength(CURVES[name])
    s = np.linspace(0.0, arc.length, 301)
    np.testing.assert_allclose(arc.of(arc.at(s)), s, atol=1e-12 * arc.length)
    assert (np.diff(arc.at(s)) > 0.0).all()


@pytest.mark.parametrize("name", CURVES)
def test_speed_along_any_path_is_constant(name):
    curve = CURVES[name]
    arc = ArcLength(curve)
    h = 1e-5 * arc.length
    s = np.linspace(2 * h, arc.length - 2 * h, 400)
    speed = np.linalg.norm(curve(arc.at(s + h)) - curve(arc.at(s - h)), axis=1) / (2 * h)
    # Where a path turns back in one point there is no straight way across it.
    turned = {"there and back": [0.5], "cusp inside": [0.5]}.get(name, [])
    clear = np.all([np.abs(arc.at(s) / curve.x[-1] - u) > 0.01 for u in turned] or [s > 0], axis=0)
    np.testing.assert_allclose(speed[clear], 1.0, atol=1e-3)


def test_lengths_that_are_known():
    # A parabola of one Bezier piece: y = x^2 from 0 to 1.
    parabola = bezier([[0, 0], [1 / 3, 0], [2 / 3, 1 / 3], [1, 1]])
    exact = math.sqrt(5) / 2 + math.asinh(2) / 4
    assert ArcLength(parabola).length == pytest.approx(exact, rel=1e-12)
    # Many points of an ellipse: its circumference is 4 a E(1 - b^2 / a^2).
    angle = np.linspace(0, 2 * math.pi, 400, endpoint=False)
    ellipse = catmull_rom(np.stack([3 * np.cos(angle), np.sin(angle)], axis=1), closed=True)
    assert ArcLength(ellipse).length == pytest.approx(12 * ellipe(1 - 1 / 9), rel=1e-6)


def test_splines_pass_through_their_points_and_smoothly():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(7, 2))
    for closed in (False, True):
        curve = catmull_rom(points, closed)
        np.testing.assert_allclose(curve(curve.x[: len(points)]), points, atol=1e-12)
        inner = curve.x[1:-1]
        slope = curve.derivative()
        np.testing.assert_allclose(slope(inner - 1e-9), slope(inner + 1e-9), atol=1e-6)
        if closed:
            np.testing.assert_allclose(curve(curve.x[0]), curve(curve.x[-1]), atol=1e-12)
            np.testing.assert_allclose(slope(curve.x[0]), slope(curve.x[-1]), atol=1e-9)
    open_spline, around = b_spline(points), b_spline(points, closed=True)
    np.testing.assert_allclose(open_spline(open_spline.x[[0, -1]]), points[[0, -1]], atol=1e-12)
    # A closed uniform cubic: (p_0 + 4 p_1 + p_2) / 6 at the start of a piece.
    np.testing.assert_allclose(around(0.0), (points[0] + 4 * points[1] + points[2]) / 6, atol=1e-12)
    np.testing.assert_allclose(around(around.x[-1]), around(0.0), atol=1e-12)


def test_minimum_jerk_is_the_closed_form_and_keeps_its_character():
    t = np.linspace(0, 1, 101)
    np.testing.assert_allclose(minimum_jerk(t), 10 * t**3 - 15 * t**4 + 6 * t**5, atol=1e-15)
    # Fastest in the middle, 15/8 of the mean speed; at rest, unaccelerated, at both ends.
    fine = minimum_jerk(np.linspace(0, 1, 100_001))
    speed = np.gradient(fine, 1e-5)
    assert speed.max() == pytest.approx(1.875, rel=1e-6)
    assert abs(speed[0]) < 1e-6 and abs(speed[-1]) < 1e-6
    assert minimum_jerk(np.array([-1.0, 2.0])).tolist() == [0.0, 1.0]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: catmull_rom([[0, 0]]), "Points is 1"),
        (lambda: catmull_rom([[0, 0], [0, 0], [1, 0]]), "twice in one place"),
        (lambda: b_spline([[1, 1], [1, 1]]), "not all the same"),
        (lambda: catmull_rom([[0, math.nan], [1, 0]]), "finite"),
        (lambda: bezier([[0, 0], [1, 0], [1, 1]]), "Number of points is 3"),
        (lambda: ArcLength(bezier([[1, 1]] * 4)), "Length of a path is 0.0"),
    ],
)
def test_paths_that_are_none_are_refused(make, words):
    with pytest.raises(SettingError, match=words):
        make()
