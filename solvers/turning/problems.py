# SPDX-License-Identifier: GPL-3.0-or-later
"""What went wrong in a turning motion, where, how much, and what would help."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..motion import Problem, TurningMotion, told_apart
from .settings import STOP_SPEED, Timeline, TurningSettings
from .summary import LOOP, ellipse_demand

Retry = Callable[[TurningSettings], bool]


def find_problems(
    timeline: Timeline, motion: TurningMotion, held: np.ndarray, retry: Retry | None = None
) -> tuple[Problem, ...]:
    """List the problems of a motion, in order of time.

    Args:
        timeline: checked settings.
        motion: the motion, its own `problems` still empty.
        held: (n,) True where the wanted turn asks for more than the limits
            allow and is made smaller.
        retry: settings -> True if a figure with them neither falls nor stops;
            used to look for a fix. None to offer none.

    Returns:
        The problems.
    """
    problems: list[Problem] = []
    if motion.success and not motion.clipped.any():
        if not any(turn.saturated or abs(turn.change) > LOOP for turn in motion.half_turns):
            return ()
    for event in motion.events:
        if event.kind == "FALL":
            problems.append(_fall(timeline, motion, event.time, event.side, retry))
        elif event.kind == "STOP":
            problems.append(_stop(timeline, event.time, retry))
    end = problems[0].time if problems else None
    problems += _held(timeline, motion, held, end)
    problems += _reached(motion, held, end)
    problems += _spread(motion)
    problems += _loops(motion)
    return tuple(sorted(problems, key=lambda problem: problem.time or 0.0))


def _degrees(angle: float) -> str:
    return f"{math.degrees(angle):.1f}\u00b0"


def _spans(flags: np.ndarray, time: np.ndarray) -> list[tuple[int, int]]:
    """First and last sample of each run of True, runs less than 0.1 s apart joined."""
    padded = np.concatenate(([False], flags, [False]))
    edges = np.flatnonzero(padded[1:] != padded[:-1])
    spans: list[tuple[int, int]] = []
    for first, last in zip(edges[::2], edges[1::2] - 1, strict=True):
        if spans and time[first] - time[spans[-1][1]] < 0.1:
            spans[-1] = (spans[-1][0], int(last))
        else:
            spans.append((int(first), int(last)))
    return spans


def _is_constant(settings: TurningSettings, name: str) -> bool:
    return np.ndim(getattr(settings, name)) == 0


def _try_to_help(
    settings: TurningSettings, candidates: list[tuple[str, float]], retry: Retry | None
) -> tuple[tuple[str, float], ...]:
    """First change of one setting with which the figure stays up."""
    if retry is None:
        return ()
    for name, value in candidates:
        change: dict[str, Any] = {name: value}
        if retry(replace(settings, **change)):
            return ((name, value),)
    return ()


_LABELS = {
    "sharpness": ("a Max Lean of {:.1f}\u00b0", math.degrees),
    "frequency": ("a Frequency of {:.2f} Hz", float),
    "speed": ("a Speed of {:.1f} m/s", float),
    "max_curvature": ("a Curvature Limit of {:.2f} 1/m", float),
    "max_curvature_rate": ("a Curvature Rate Limit of {:.2f} 1/(m s)", float),
}


def _name_fix(fix: tuple[tuple[str, float], ...]) -> str:
    text, convert = _LABELS[fix[0][0]]
    return text.format(convert(fix[0][1]))


def _fall(
    timeline: Timeline, motion: TurningMotion, time: float, side: str, retry: Retry | None
) -> Problem:
    settings = timeline.settings
    candidates: list[tuple[str, float]] = []
    for name, factors in (
        ("max_curvature_rate", (1.5, 2.5, 5.0)),
        ("max_curvature", (1.25, 1.6, 2.5)),
        ("speed", (1.25, 1.6)),
        ("sharpness", (0.7, 0.4)),
        ("frequency", (0.7,)),
    ):
        value = getattr(settings, name)
        if _is_constant(settings, name) and math.isfinite(value):
            candidates += [(name, factor * float(value)) for factor in factors]
    fix = _try_to_help(settings, candidates, retry)
    if fix:
        remedy = f"With {_name_fix(fix)} it stays up"
    elif not timeline.limited:
        remedy = "It was leaning too far, or tipping too fast, to be caught: start nearer upright"
    else:
        remedy = (
            "Raise the curvature limits, lower Max Lean, or make changes of "
            "Speed and Max Lean slower"
        )
    where = "left" if side == "L" else "right"
    return Problem(
        "FALL",
        f"Falls to the {where} at {time:.2f} s: within the limits on the curvature the "
        "feet do not come back under the body in time"
        if timeline.limited
        else f"Falls to the {where} at {time:.2f} s",
        "ERROR",
        time=time,
        end_time=float(motion.time[-1]),
        amount=timeline.settings.fall_angle,
        remedy=remedy,
        fix=fix,
    )


def _stop(timeline: Timeline, time: float, retry: Retry | None) -> Problem:
    settings = timeline.settings
    if not timeline.sliding:
        return Problem(
            "STOP",
            f"Stops at {time:.2f} s, where Speed falls below {STOP_SPEED} m/s",
            "ERROR",
            time=time,
            end_time=(settings.n_frames - 1) / settings.fps,
            remedy="Who stands cannot keep balance by steering: keep Speed above it, "
            "or end the motion there",
        )
    friction = float(np.max(timeline.quantities["friction"]))
    candidates: list[tuple[str, float]] = []
    if _is_constant(settings, "speed") and settings.start_state is None:
        candidates = [("speed", factor * float(settings.speed)) for factor in (1.5, 2.5, 4.0)]
    fix = _try_to_help(settings, candidates, retry)
    remedy = f"A slope steeper than {_degrees(math.atan(friction))} keeps it going"
    if fix:
        remedy += f"; so does {_name_fix(fix)} at the start"
    return Problem(
        "STOP",
        f"Comes to a stop at {time:.2f} s: friction and drag are stronger than the slope",
        "ERROR",
        time=time,
        end_time=(settings.n_frames - 1) / settings.fps,
        remedy=remedy,
        fix=fix,
    )


def _fitting_lean(asked: float, fits: Callable[[float], bool]) -> float:
    """Largest lean up to the one asked for that fits, by bisection."""
    low, high = 0.0, asked
    for _ in range(40):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _held(
    timeline: Timeline, motion: TurningMotion, held: np.ndarray, end: float | None
) -> list[Problem]:
    """Spans in which the limits make the wanted turn smaller."""
    problems = []
    settings = timeline.settings
    if end is not None:
        held = held & (motion.time < end)

    def at(name: str, row: int) -> float:
        value = np.asarray(timeline.quantities[name])
        return float(value if value.ndim == 0 else value[2 * row])

    for first, last in _spans(held, motion.time):
        rows = range(first, last + 1, max(1, (last - first) // 64))
        need = []
        for row in rows:
            speed = max(float(motion.speed[row]), STOP_SPEED)
            curvature, rate = ellipse_demand(
                at("omega_0", row) / (2.0 * math.pi),
                at("asked", row),
                speed,
                at("height", row),
                at("inertia", row),
                at("mass", row),
                at("g_normal", row),
            )
            need.append(
                (curvature / at("max_curvature", row), rate / at("max_curvature_rate", row), row)
            )
            if timeline.constant and not timeline.sliding:
                break
        by_curvature, by_rate, row = max(need, key=lambda item: max(item[:2]))
        asked = at("asked", row)
        got = float(motion.max_lean[row]) / _beta_at(motion, motion.time[row])
        leans, wanted = told_apart(math.degrees(got), math.degrees(asked), 1, "\u00b0")
        if by_curvature >= by_rate:
            limit = f"the curvature limit of {at('max_curvature', row):.3g} 1/m"
        else:
            limit = f"the curvature rate limit of {at('max_curvature_rate', row):.3g} 1/(m s)"
        speed = max(float(motion.speed[row]), STOP_SPEED)
        most = (at("max_curvature", row), at("max_curvature_rate", row))

        def fits(lean: float, frequency: float, speed: float, row: int, most: tuple) -> bool:
            curvature, rate = ellipse_demand(
                frequency,
                lean,
                speed,
                at("height", row),
                at("inertia", row),
                at("mass", row),
                at("g_normal", row),
            )
            return curvature <= most[0] and rate <= most[1]

        frequency = at("omega_0", row) / (2.0 * math.pi)
        lean = _fitting_lean(
            asked,
            lambda x, f=frequency, v=speed, r=row, m=most: fits(x, f, v, r, m),  # type: ignore
        )
        lean *= 1.0 - 1e-6
        faster = speed
        while not fits(asked, frequency, faster, row, most) and faster < 100.0:
            faster *= 1.02
        remedy = f"Max Lean of {_degrees(lean)} just fits"
        if faster < 100.0:
            remedy += f"; the lean asked for needs a Speed of {faster:.1f} m/s"
        fixable = _is_constant(settings, "sharpness") and not settings.amplitude_irregularity
        fixable = fixable and lean > 0.25 * asked  # else something else is to be changed
        problems.append(
            Problem(
                "CURVATURE_CLIPPED",
                f"Leans {leans} instead of {wanted}: a turn that sharp asks for "
                f"{told_apart(max(by_curvature, by_rate), 1.0, 2)[0]} times {limit}",
                "WARNING",
                time=float(motion.time[first]),
                end_time=float(motion.time[last]),
                amount=asked - got,
                remedy=remedy,
                fix=(("sharpness", lean),) if fixable else (),
            )
        )
    return problems


def _beta_at(motion: TurningMotion, time: float) -> float:
    for turn in motion.half_turns:
        if time <= turn.end:
            return turn.beta
    return motion.half_turns[-1].beta if motion.half_turns else 1.0


def _reached(motion: TurningMotion, held: np.ndarray, end: float | None) -> list[Problem]:
    """Spans in which a limit was reached although the wanted turn fits."""
    flags = motion.clipped & ~held
    if end is not None:
        flags = flags & (motion.time < end)
    spans = _spans(flags, motion.time)
    if not spans:
        return []
    first, last = spans[0][0], spans[-1][1]
    total = float(np.mean(flags)) * float(motion.time[-1])
    return [
        Problem(
            "LIMIT_REACHED",
            f"The curvature limits hold the turning back for {total:.2f} s in all while the "
            "motion changes",
            "INFO",
            time=float(motion.time[first]),
            end_time=float(motion.time[last]),
            amount=total,
            remedy="Change Max Lean, Speed or Heading more slowly",
        )
    ]


def _spread(motion: TurningMotion) -> list[Problem]:
    """Heading changes that one half turn cannot do."""
    problems = []
    group: list = []
    for turn in (*motion.half_turns, None):
        if turn is not None and turn.saturated:
            group.append(turn)
            continue
        if group:
            short = max(abs(item.wanted_change - item.change) for item in group)
            number = len(group)
            turns = "half turn" if number == 1 else "half turns"
            problems.append(
                Problem(
                    "HEADING_SPREAD",
                    f"The heading asked for is up to {_degrees(short)} away, more than a half "
                    f"turn can change: spread over {number} {turns} and the next",
                    "INFO",
                    time=group[0].start,
                    end_time=group[-1].end,
                    amount=short,
                    remedy="Change Heading more slowly, or raise Max Lean",
                )
            )
            group = []
    return problems


def _loops(motion: TurningMotion) -> list[Problem]:
    loops = [turn for turn in motion.half_turns if abs(turn.change) > LOOP]
    if not loops:
        return []
    largest = max(abs(turn.change) for turn in loops)
    return [
        Problem(
            "LOOP",
            f"A half turn turns by {_degrees(largest)}: the track loops",
            "WARNING",
            time=loops[0].start,
            end_time=loops[-1].end,
            amount=largest,
            remedy="A higher Speed, a higher Frequency or a smaller Max Lean turns less",
        )
    ]
