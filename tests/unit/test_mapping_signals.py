# SPDX-License-Identifier: GPL-3.0-or-later
"""Shapes and signals that mappings are made of."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from poise.addon.mapping import signals as sig

_spec = importlib.util.spec_from_file_location(
    "mapping_cases", Path(__file__).with_name("mapping_cases.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

X = np.linspace(-2.0, 2.0, 40001)
H = X[1] - X[0]


@pytest.mark.parametrize("shape", [
    sig.step,
    lambda x: sig.ramp(x, 0.3),
    lambda x: sig.at_most(x, 0.5, 0.2),
    lambda x: sig.limited(x, 0.8),
    lambda x: sig.saturated(x, 0.3),
    lambda x: sig.flattened(x, 0.4),
    lambda x: np.abs(sig.flattened(x, 0.4)),
    lambda x: sig.window(x, -0.3, 0.4, 0.5, 0.6),
], ids=["step", "ramp", "at_most", "limited", "saturated", "flattened", "|flattened|", "window"])
def test_shapes_have_a_continuous_second_derivative(shape):
    """A jump in it would not shrink with the step of the sampling."""
    bend = np.diff(shape(X), 2) / H**2
    assert np.abs(np.diff(bend)).max() < 60.0 * H * max(np.abs(bend).max(), 1.0)


def test_shapes_are_exact_where_they_promise_to_be():
    assert sig.flattened(np.array([0.4, -0.9]), 0.4) == pytest.approx([0.4, -0.9], abs=0)
    assert sig.limited(np.array([0.55, -9.0]), 0.8) == pytest.approx([0.55, -0.8])
    assert np.all(sig.ramp(X, 0.3) >= np.maximum(X, 0.0))
    assert np.all(sig.at_most(X, 0.5, 0.2) <= 0.5)
    assert sig.at_most(np.array([0.2]), 0.5, 0.2) == pytest.approx([0.2], abs=0)
    held = sig.window(np.array([-0.3, 0.0, 0.4]), -0.3, 0.4, 0.5, 0.6)
    assert held == pytest.approx([1.0, 1.0, 1.0], abs=0)


@pytest.mark.parametrize("spacing", [1 / 48, 1 / 96])
def test_smoothing_leaves_smooth_curves_and_has_no_lag(spacing):
    """Off by (s w)^4 / 8 of a sine: 3e-5 for s = 0.03 s and w = 2 pi / s * 0.66."""
    t = np.arange(0.0, 6.0, spacing)
    w = 4.0
    wave = np.sin(w * t + 0.3)
    inner = slice(20, -20)
    off = np.abs(sig.smoothed(wave, spacing, 0.03) - wave)[inner].max()
    assert off < 2.0 * (0.03 * w) ** 4 / 8
    line = 3.0 - 2.0 * t
    assert np.abs(sig.smoothed(line, spacing, 0.25) - line).max() < 1e-12


def test_smoothing_rounds_a_step_within_its_width():
    t = np.arange(0.0, 2.0, 1 / 200)
    stepped = np.where(t < 1.0, 0.0, 1.0)
    smooth = sig.smoothed(stepped, 1 / 200, 0.05)
    assert np.abs(smooth - stepped)[np.abs(t - 1.0) > 0.25].max() < 1e-3
    assert np.abs(np.diff(smooth)).max() < 0.08


def test_interpolation_between_samples_is_cubic():
    t = np.arange(0.0, 1.0, 0.05)
    cubic = np.stack((t**3 - t, 2.0 - t**2), axis=1)
    at = np.array([0.0, 0.012, 0.4999, 0.93])
    expected = np.stack((at**3 - at, 2.0 - at**2), axis=1)
    assert np.abs(sig.at_times(cubic, 0.05, at) - expected).max() < 1e-13


def test_crossings_are_exact_between_samples():
    t = np.arange(0.0, 10.0, 1 / 24)
    found = sig.crossings(np.sin(1.3 * (t - 0.37)), t)
    expected = 0.37 + 2.0 * np.pi / 1.3 * np.arange(2)
    assert found == pytest.approx(expected, abs=1e-7)


def test_peak_curvature_is_that_of_the_steady_turn():
    """The closed form at the largest lean is what an unlimited steady turn comes to."""
    body = cases.figure()
    motion = cases.solve(body, seconds=8.0, speed=9.0, frequency=0.4, sharpness=0.5)
    peak = sig.peak_curvature(motion)
    later = motion.time > 3.0
    assert np.abs(motion.curvature[later]).max() == pytest.approx(peak[later].mean(), rel=2e-3)


def test_signals_of_a_straight_run_are_quiet():
    body = cases.figure()
    motion = cases.solve(body, seconds=3.0, speed=9.0, sharpness=0.0)
    signals = sig.read_signals(motion)
    assert signals.intensity.max() < 1e-3
    assert np.abs(signals.force - 1.0).max() < 1e-3
