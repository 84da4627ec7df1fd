# SPDX-License-Identifier: GPL-3.0-or-later
"""Which keys an animator gets: every frame, or few with exact slopes. Numpy only.

Times are frames from the start of the motion; a motion has several samples
per frame. Slopes are derivatives of the polynomial through five neighbouring
samples (fourth order), never across a kink: there, each side has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.ndimage import maximum_filter1d

from ...solvers.times import gap, nearest

STENCIL = 5  # samples per slope
EXTRAPOLATION = 4  # samples to reach from the nearest sample to a kink
TELLING = 2  # samples at least between two corners that tell of slopes there
AT_SAMPLE = 1e-6  # frames: nearer than this, a kink is at the sample
SPACING = 0.02  # frames between keys at least: Blender merges keys within 0.01
CROWDED = 0.25  # frames: a whole frame this near to a kink needs no key of its own
CLOSE = 0.1  # frames: nor may a sample between frames have one, however much happens there

# A sparse key set may be this share of the error that straight lines between
# keys on every frame have nearby, or that share of their largest error.
SHARE_NEARBY = 0.5
SHARE_LARGEST = 0.05


@dataclass(frozen=True)
class Stencil:
    """How values and slopes at some times follow from samples.

    Attributes:
        index: (p, s) samples used.
        value: (p, s) weights for the value.
        slope: (p, s) weights for the slope, per frame.
    """

    index: np.ndarray
    value: np.ndarray
    slope: np.ndarray

    def values(self, samples: np.ndarray) -> np.ndarray:
        """(p, c) values.

        Args:
            samples: (m, c).
        """
        return _weighted(self.value, samples, self.index)

    def slopes(self, samples: np.ndarray) -> np.ndarray:
        """(p, c) slopes per frame.

        Args:
            samples: (m, c).
        """
        return _weighted(self.slope, samples, self.index)


def _weighted(weights: np.ndarray, samples: np.ndarray, index: np.ndarray) -> np.ndarray:
    total = weights[:, :1] * samples[index[:, 0]]
    for k in range(1, index.shape[1]):
        total += weights[:, k : k + 1] * samples[index[:, k]]
    return total


def stencil(
    times: np.ndarray, at: np.ndarray, first: np.ndarray, last: np.ndarray, size: int
) -> Stencil:
    """Polynomials through the samples nearest to each time, within its own stretch.

    Args:
        times: (m,) sample times.
        at: (p,) times wanted.
        first: (p,) first sample of the stretch that a time belongs to.
        last: (p,) last sample of it, inclusive.
        size: samples per polynomial; fewer where the stretch is shorter.
    """
    count = np.minimum(size, last - first + 1)
    near = np.searchsorted(times, at)
    start = np.clip(near - count // 2, first, last - count + 1)
    offsets = np.minimum(np.arange(size), count[:, None] - 1)
    index = start[:, None] + offsets
    value = np.zeros(index.shape)
    slope = np.zeros(index.shape)
    for n in np.unique(count):
        rows = np.flatnonzero(count == n)
        value[rows, :n], slope[rows, :n] = _lagrange(times[index[rows, :n]], at[rows])
    return Stencil(index, value, slope)


def through(times: np.ndarray, at: np.ndarray) -> Stencil:
    """Polynomials through the samples nearest to each time, whatever corners lie between.

    Args:
        times: (m,) sample times.
        at: (p,) times wanted.
    """
    ends = np.zeros(len(at), dtype=int), np.full(len(at), len(times) - 1)
    return stencil(times, at, *ends, EXTRAPOLATION)


def _lagrange(nodes: np.ndarray, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Weights for value and derivative of the polynomial through (p, n) nodes."""
    p, n = nodes.shape
    value = np.ones((p, n))
    slope = np.zeros((p, n))
    for j in range(n):
        for i in range(n):
            if i == j:
                continue
            gap = nodes[:, j] - nodes[:, i]
            # Product rule: derivative of the product built so far times the factor.
            slope[:, j] = (slope[:, j] * (at - nodes[:, i]) + value[:, j]) / gap
            value[:, j] *= (at - nodes[:, i]) / gap
    return value, slope


@dataclass(frozen=True)
class Pinned:
    """What is known of a bone's channels at a kink.

    Attributes:
        time: of the kink, frames from the start.
        values: (c,).
        slopes_left: (c,) per frame; not a number where the samples are to tell.
        slopes_right: (c,) the same.
    """

    time: float
    values: np.ndarray
    slopes_left: np.ndarray
    slopes_right: np.ndarray


@dataclass(frozen=True)
class KeyGrid:
    """All times that may carry a key, and how to get values and slopes there.

    Attributes:
        frames: number of whole frames.
        times: (m,) sample times in frames from the start.
        whole: (frames,) the samples on whole frames.
        kinks: (k,) times of kinks in frames, strictly inside the motion, and others that
            are to have a key.
        corner: (k,) bool: whether tracks may have a corner there.
        spacing: least time between two keys in frames.
        inner: stencil of all samples.
        before: stencil of the kinks, from the samples before each.
        after: stencil of the kinks, from the samples after each.
        shorter: the same two with one sample less, to tell how sure they are.
        across: stencil of the kinks as if they were none.
        check: (q,) times at which a sparse curve is compared with the motion.
        check_values: stencil of those times, or None where they are samples.
        stretches: (c + 1, 2) first and last sample between two corners, inclusive.
    """

    frames: int
    times: np.ndarray
    whole: np.ndarray
    kinks: np.ndarray
    corner: np.ndarray
    spacing: float
    inner: Stencil
    before: Stencil
    after: Stencil
    shorter: tuple[Stencil, Stencil]
    across: Stencil
    check: np.ndarray
    check_values: Stencil | None
    stretches: np.ndarray

    def at(self, wanted: np.ndarray) -> Stencil:
        """How values at any times follow from the samples between the same corners.

        Args:
            wanted: (p,) frames from the start of the motion.
        """
        part = np.searchsorted(self.kinks[self.corner], wanted, side="right")
        first, last = self.stretches[part].T
        return stencil(self.times, wanted, first, last, EXTRAPOLATION)


def key_spacing(latest: float) -> float:
    """Least time between two keys in frames.

    Blender keeps times in single precision: late ones lie further apart.

    Args:
        latest: largest frame number that is written, without its sign.
    """
    return max(SPACING, 4.0 * float(np.spacing(np.float32(latest))))


def key_grid(
    count: int,
    per_frame: int,
    kinks: Sequence[float],
    latest: float = 0.0,
    passed: Sequence[float] | np.ndarray = (),
    times: np.ndarray | None = None,
) -> KeyGrid:
    """Prepare the times of a motion.

    Args:
        count: number of samples.
        per_frame: samples per frame at least.
        kinks: times, in frames from the start, at which a track may have a
            corner; those at or beyond the ends do not matter.
        latest: largest frame number that will be written, without its sign.
        passed: times that get a key all the same, though tracks go through smoothly.
        times: (count,) of the samples, those on whole frames among them; None for evenly.
    """
    spacing = key_spacing(latest)
    if times is None:
        times = np.arange(count) / per_frame
    end = times[-1]

    def within(wanted: Sequence[float] | np.ndarray) -> np.ndarray:
        found = [k for k in wanted if spacing < k < end - spacing]
        return np.unique(np.asarray(found, dtype=float))

    corners = within(kinks)
    # Of kinks with no sample between them only the first can be told.
    following = np.searchsorted(times, corners + AT_SAMPLE)
    corners = corners[np.diff(following, prepend=0) > 0]
    corners = corners[np.diff(corners, prepend=-spacing) > spacing]
    smooth = within(passed)
    smooth = smooth[np.diff(smooth, prepend=-spacing) > spacing]
    if len(corners):
        smooth = smooth[gap(smooth, corners) > spacing]
    # First sample at or after each corner; a sample at a corner is on both sides.
    start = np.searchsorted(times, corners - AT_SAMPLE)
    at_sample = times[np.minimum(start, count - 1)] - corners < AT_SAMPLE
    bounds_first = np.concatenate(([0], start))
    bounds_last = np.concatenate((np.where(at_sample, start, start - 1), [count - 1]))

    def stretch(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """First and last sample of the stretch between corners that a time is in."""
        number = np.searchsorted(corners, at - AT_SAMPLE, side="right")
        return bounds_first[number], bounds_last[number]

    inside = np.concatenate((corners, smooth))
    order = np.argsort(inside, kind="stable")
    inside = inside[order]

    def sides(first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The same for all: as given for corners, their own stretch for the others."""
        own = stretch(smooth)
        return np.append(first, own[0])[order], np.append(last, own[1])[order]

    first, last = stretch(times)
    few = last - first + 1 < TELLING
    first, last = np.where(few, 0, first), np.where(few, count - 1, last)
    inner = stencil(times, times, first, last, STENCIL)
    ends = sides(bounds_first[:-1], bounds_last[:-1])
    before = stencil(times, inside, *ends, EXTRAPOLATION)
    before_shorter = stencil(times, inside, *ends, EXTRAPOLATION - 1)
    ends = sides(bounds_first[1:], bounds_last[1:])
    after = stencil(times, inside, *ends, EXTRAPOLATION)
    after_shorter = stencil(times, inside, *ends, EXTRAPOLATION - 1)
    whole = sides(np.zeros(len(corners), int), np.full(len(corners), count - 1))
    across = stencil(times, inside, *whole, STENCIL)
    frames = int(end + AT_SAMPLE) + 1
    check, check_values = times, None
    if per_frame == 1 and count > 1:
        check = np.union1d(times, np.arange(2 * frames - 1) / 2.0)
        check_values = stencil(times, check, *stretch(check + 2.0 * AT_SAMPLE), EXTRAPOLATION)
    return KeyGrid(
        frames=frames,
        times=times,
        whole=np.searchsorted(times, np.arange(frames) - AT_SAMPLE),
        kinks=inside,
        corner=order < len(corners),
        spacing=spacing,
        inner=inner,
        before=before,
        after=after,
        shorter=(before_shorter, after_shorter),
        across=across,
        check=check,
        check_values=check_values,
        stretches=np.stack((bounds_first, bounds_last), axis=1),
    )


@dataclass(frozen=True)
class SparseKeys:
    """Keys shared by the channels of one bone.

    Attributes:
        frames: (k,) times in frames from the start.
        values: (k, c).
        slopes_left: (k, c) per frame.
        slopes_right: (k, c) per frame.
        straight: (k, c) bool, True where a straight line to the next key is nearer.
    """

    frames: np.ndarray
    values: np.ndarray
    slopes_left: np.ndarray
    slopes_right: np.ndarray
    straight: np.ndarray


def sparse_keys(
    grid: KeyGrid,
    samples: np.ndarray,
    step: int,
    held: Sequence[tuple[float, float]] = (),
    limits: np.ndarray | None = None,
    pinned: Sequence[Pinned] = (),
    finer: Sequence[int] | np.ndarray = (),
    inside: bool = False,
    visible: np.ndarray | None = None,
) -> SparseKeys:
    """Keys at most `step` frames apart that follow the samples between the keys too.

    Keys stand closer where the motion needs it, so that on subframes the curve
    is nearer to the motion than straight lines between keys on every frame.

    Args:
        grid: times of the motion.
        samples: (m, c) values of the channels of one bone.
        step: most frames between two keys.
        held: spans, in frames, in which the bone is in contact: both ends get a
            key, with the value that holds inside.
        limits: (c,), or (frames - 1, c) for each frame, largest error wanted of each
            channel, however far off straight lines are; None for no such limit.
        pinned: what is known at ends of these spans.
        finer: frames, counted from the start, in which samples between may have keys too.
        inside: only a contact tells what holds at its ends.
        visible: (c,) error of each channel from which a key between other frames is
            worth it where keys on frames leave it; None for none, but beside kinks.
    """
    last = float(grid.frames - 1)
    inner = grid.inner.slopes(samples)
    wanted = ~grid.corner
    spans = np.sort(np.array(held, dtype=float).reshape(-1, 2), axis=0)
    first, second = (gap(grid.kinks, ends) < grid.spacing for ends in spans.T)
    wanted |= first | second
    at_kink, left, right = at_kinks(grid, samples, first, second, inside)
    at = np.array([known.time for known in pinned])
    spots = nearest(grid.kinks, at) if len(grid.kinks) else np.zeros(0, int)
    for known, k in zip(pinned, spots, strict=bool(len(grid.kinks))):
        if abs(grid.kinks[k] - known.time) < AT_SAMPLE:
            at_kink[k] = known.values
            left[k] = np.where(np.isnan(known.slopes_left), left[k], known.slopes_left)
            right[k] = np.where(np.isnan(known.slopes_right), right[k], known.slopes_right)

    truth = samples if grid.check_values is None else grid.check_values.values(samples)
    here = grid.check <= last + 1e-9
    check, truth = grid.check[here], truth[here]
    tolerance, straight_error = _tolerance(grid, samples, check, truth, step)
    if limits is not None:
        tolerance = np.minimum(tolerance, limits)
    # A corner matters where rounding it over a frame would be seen.
    corner = np.abs(right - left) / 8.0
    if len(grid.kinks):
        spot = np.minimum(grid.kinks.astype(int), max(grid.frames - 2, 0))
        wanted |= (corner > 0.5 * tolerance[spot]).any(axis=1)

    whole = _samples(grid, grid.kinks[wanted & grid.corner], grid.spacing if inside else CLOSE)
    candidates = np.concatenate((whole, grid.kinks))
    order = np.argsort(candidates, kind="stable")
    is_kink = order >= len(whole)
    whole = np.searchsorted(grid.times, whole)
    candidates = candidates[order]
    values = np.concatenate((samples[whole], at_kink))[order]
    slopes_left = np.concatenate((inner[whole], left))[order]
    slopes_right = np.concatenate((inner[whole], right))[order]

    keyed = candidates % step == 0.0
    if wanted.any():
        # A whole frame right beside a kink is the kink.
        keyed &= gap(candidates, grid.kinks[wanted]) > CROWDED
    keyed[is_kink] = wanted
    keyed[0] = keyed[-1] = True

    plain = np.full(samples.shape[1], np.inf) if visible is None else visible
    # On the way into a contact much happens in less than a frame.
    brief = (candidates % 1.0 != 0.0) & ~is_kink & ~np.isin(candidates.astype(int), finer)
    if wanted.any():
        brief &= gap(candidates, grid.kinks[wanted]) >= 1.0
    usual = np.flatnonzero(~brief)
    # For every candidate the first kink at or after it.
    numbers = np.arange(len(candidates))
    next_kink = np.where(is_kink, numbers, len(candidates))
    next_kink = np.minimum.accumulate(next_kink[::-1])[::-1]
    interval = np.minimum(check.astype(int), max(grid.frames - 2, 0))
    while True:
        keys = np.flatnonzero(keyed)
        error, segment = _hermite_error(
            candidates[keys], values[keys], slopes_left[keys], slopes_right[keys], check, truth
        )
        bad = np.unique(segment[(error > tolerance[interval]).any(axis=1)])
        if not len(bad) or len(keys) < 2:
            break
        seen = np.isin(bad, segment[(error > plain).any(axis=1)])
        first, last = keys[bad], keys[bad + 1]
        middle = 0.5 * (candidates[first] + candidates[last])
        split = np.clip(np.searchsorted(candidates, middle), first + 1, last - 1)
        # Between frames only where those on frames do not do, and it would be seen.
        low, high = np.searchsorted(usual, first, "right"), np.searchsorted(usual, last) - 1
        near = np.clip(np.searchsorted(candidates[usual], middle), low, high)
        split = np.where(low <= high, usual[np.clip(near, 0, len(usual) - 1)], split)
        corner = next_kink[first + 1]
        split = np.where(corner < last, corner, split)
        split = split[(last - first > 1) & (seen | ~brief[np.minimum(split, len(brief) - 1)])]
        if not len(split):
            break
        keyed[split] = True
    # What even a key on every frame does not follow better than a straight line.
    straight = np.zeros((len(keys), samples.shape[1]), bool)
    at = candidates[keys]
    bad = bad[(at[bad] % 1.0 == 0.0) & (at[bad + 1] % 1.0 == 0.0) & (np.diff(at)[bad] <= 1.0)]
    largest, usual_error = np.zeros(straight.shape), np.zeros(straight.shape)
    np.maximum.at(largest, segment, error)
    np.maximum.at(usual_error, segment, straight_error)
    straight[bad] = largest[bad] > usual_error[bad] + 1e-12
    return SparseKeys(
        candidates[keys], values[keys], slopes_left[keys], slopes_right[keys], straight
    )


def _samples(grid: KeyGrid, corners: np.ndarray, close: float) -> np.ndarray:
    """Samples that may carry a key: those that no kink takes the place of.

    A kink that is not wanted now may be so later, in the same place. Between frames there is
    no need of one close to a corner that has a key.

    Args:
        grid: times of the motion.
        corners: (k,) times of those that have one.
        close: how close, frames.
    """
    times = grid.times[grid.times <= grid.frames - 1]
    free = gap(times, grid.kinks) > grid.spacing
    free &= (times % 1.0 == 0.0) | (gap(times, corners) > close)
    if grid.spacing > SPACING:  # a power of two
        free &= times % min(grid.spacing, 1.0) == 0.0
    return times[free]


def at_kinks(
    grid: KeyGrid,
    samples: np.ndarray,
    starts: np.ndarray,
    ends: np.ndarray,
    inside: bool = False,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values and the slopes on either side of every kink, (k, c) each.

    Args:
        grid: times of the motion.
        samples: (m, c).
        starts: (k,) bool, True where a contact begins.
        ends: (k,) bool, True where one ends.
        inside: only the contact tells what holds there.
    """
    left, right = grid.before.slopes(samples), grid.after.slopes(samples)
    before, after = grid.before.values(samples), grid.after.values(samples)
    # The side with the nearer sample knows better.
    gap_before = grid.kinks - grid.times[grid.before.index].max(axis=1)
    gap_after = grid.times[grid.after.index].min(axis=1) - grid.kinks
    share = np.clip(gap_before / np.maximum(gap_before + gap_after, 1e-12), 0.0, 1.0)[:, None]
    value = (1.0 - share) * before + share * after
    # A channel that goes smoothly through another one's kink is better read
    # across it than extrapolated from both sides.
    shorter_before, shorter_after = grid.shorter
    unsure = np.abs(left - shorter_before.slopes(samples)) + np.abs(
        right - shorter_after.slopes(samples)
    )
    # Nothing jumps: two sides that miss each other do not know better than that.
    unsure += np.abs(after - before) / np.maximum(gap_before + gap_after, 1e-12)[:, None]
    smooth = np.abs(right - left) <= 2.0 * unsure
    # Nor does a single sample tell of a slope between two corners.
    sides = [np.ptp(side.index, axis=1) + 1 for side in (grid.before, grid.after)]
    smooth |= (np.minimum(*sides) < TELLING)[:, None]
    # What stands still in a contact does so to the last digit.
    still = 1e-9 * (1.0 + np.abs(value))
    starting = starts[:, None] & (inside | (np.abs(right) < still))
    ending = ends[:, None] & (inside | (np.abs(left) < still))
    value = np.where(starting, after, np.where(ending, before, value))
    smooth &= ~(starting | ending)
    slope = grid.across.slopes(samples)
    return (
        np.where(smooth, grid.across.values(samples), value),
        np.where(smooth, slope, left),
        np.where(smooth, slope, right),
    )


def _tolerance(
    grid: KeyGrid, samples: np.ndarray, check: np.ndarray, truth: np.ndarray, step: int
) -> tuple[np.ndarray, np.ndarray]:
    """Error allowed in each frame-long interval, and that of straight lines at `check`."""
    channels = samples.shape[1]
    if grid.frames < 2:
        return np.full((1, channels), np.inf), np.zeros_like(truth)
    keyed = samples[grid.whole]
    interval = np.minimum(check.astype(int), grid.frames - 2)
    part = (check - interval)[:, None]
    error = np.abs(keyed[interval] * (1.0 - part) + keyed[interval + 1] * part - truth)
    largest = np.zeros((grid.frames - 1, channels))
    np.maximum.at(largest, interval, error)
    nearby = maximum_filter1d(largest, 2 * step + 1, axis=0, mode="nearest")
    # Below the last digit of a stored key there is nothing to gain.
    digit = 4.0 * np.finfo(np.float32).eps * np.maximum(np.abs(keyed).max(axis=0), 0.1)
    allowed = np.maximum(SHARE_NEARBY * nearby, SHARE_LARGEST * largest.max(axis=0))
    return np.maximum(allowed, digit), error


def _hermite_error(frames, values, slopes_left, slopes_right, check, truth):
    """Distance of the keyed curve from the motion at `check`, and the segment of each."""
    if len(frames) < 2:
        return np.zeros_like(truth), np.zeros(len(check), int)
    s = np.clip(np.searchsorted(frames, check, side="right") - 1, 0, len(frames) - 2)
    length = (frames[s + 1] - frames[s])[:, None]
    t = (check - frames[s])[:, None] / length
    t2, t3 = t * t, t * t * t
    curve = (
        (2.0 * t3 - 3.0 * t2 + 1.0) * values[s]
        + (t3 - 2.0 * t2 + t) * length * slopes_right[s]
        + (3.0 * t2 - 2.0 * t3) * values[s + 1]
        + (t3 - t2) * length * slopes_left[s + 1]
    )
    return np.abs(curve - truth), s
