# SPDX-License-Identifier: GPL-3.0-or-later
"""Motions that follow one another, posed as one, so that no seam shows.

The pendulum goes on smoothly from one motion to the next by itself. A body
also looks ahead, smooths and prepares pole plants; posed motion by motion it
would jump at the seam. So a chain is joined, posed in one go, and each motion
takes its own span of the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from ...solvers.motion import TurningMotion
from .tracks import RoleTracks

# Seconds over which one motion's style becomes the next one's, centred on the seam.
STYLE_CHANGE = 0.6


def join_motions(motions: Sequence[TurningMotion], yaws: Sequence[float]) -> TurningMotion:
    """One motion out of motions that continue each other.

    The last sample of a motion and the first of the next are the same
    instant; it is kept once. Mass, height and inertia are those of the first.

    Args:
        motions: in order, each begun from the end state of the one before,
            with the same steps per frame.
        yaws: yaw of each one's placement in radians; yaw and heading of the
            result are relative to the first.

    Returns:
        The joined motion; its time starts at 0.
    """
    first = motions[0]
    starts = seams(motions)
    count = len(first.time)
    arrays: dict[str, np.ndarray] = {}
    for field in fields(TurningMotion):
        values = [getattr(motion, field.name) for motion in motions]
        if not (isinstance(values[0], np.ndarray) and len(values[0]) == count):
            continue
        parts = [values[0]]
        for i, value in enumerate(values[1:], start=1):
            shift = 0.0
            if field.name == "time":
                shift = starts[i]
            elif field.name in ("yaw", "heading"):
                shift = yaws[i] - yaws[0]
            elif field.name in ("phase", "distance"):
                shift = parts[-1][-1] - value[0]
                if field.name == "phase":  # the turn goes on; only whole turns are added
                    shift = 2.0 * np.pi * np.round(shift / (2.0 * np.pi))
            parts.append(value[1:] + shift if shift else value[1:])
        arrays[field.name] = np.concatenate(parts)
    return replace(
        first,
        **arrays,
        half_turns=tuple(
            turn._replace(start=turn.start + start, end=turn.end + start)
            for motion, start in zip(motions, starts, strict=True)
            for turn in motion.half_turns
        ),
        events=tuple(
            event._replace(time=event.time + start)
            for motion, start in zip(motions, starts, strict=True)
            for event in motion.events
        ),
        surfaces=tuple(
            (begin + start, end + start, surface)
            for motion, start in zip(motions, starts, strict=True)
            for begin, end, surface in motion.surfaces
        ),
        steered=tuple(
            (begin + start, end + start, seconds)
            for motion, start in zip(motions, starts, strict=True)
            for begin, end, seconds in motion.steered
        ),
        success=all(motion.success for motion in motions),
        end_state=motions[-1].end_state,
        max_curvature=max(motion.max_curvature for motion in motions),
    )


def seams(motions: Sequence[TurningMotion]) -> list[float]:
    """Start of each motion in seconds from the start of the first.

    Args:
        motions: in order.
    """
    return [0.0, *np.cumsum([float(motion.time[-1]) for motion in motions[:-1]]).tolist()]


def join_styles(styles: Sequence, motions: Sequence[TurningMotion]):
    """One style for joined motions: amounts pass into each other over the seams.

    Args:
        styles: one for each motion, all of one class; amounts are numbers or
            (n,) samples of their motion.
        motions: the motions.

    Returns:
        A style whose amounts are samples of the joined motion where they
        differ. What is not a number (laws, switches) is that of the first,
        and so is an amount that one of them leaves to the figure.
    """
    starts = seams(motions)
    time = np.concatenate(
        [motions[0].time, *(m.time[1:] + s for m, s in zip(motions[1:], starts[1:], strict=True))]
    )
    values = {}
    for field in fields(styles[0]):
        parts = [getattr(style, field.name) for style in styles]
        if any(part is None for part in parts) and np.ndim(parts[0]) == 1:
            values[field.name] = np.interp(time, motions[0].time, parts[0])
            continue
        if isinstance(parts[0], (str, bool)) or any(part is None for part in parts):
            values[field.name] = parts[0]
            continue
        if all(np.ndim(part) == 0 and part == parts[0] for part in parts):
            values[field.name] = parts[0]
            continue
        joined = np.zeros(len(time))
        for i, (part, motion) in enumerate(zip(parts, motions, strict=True)):
            # Beyond its own span a motion's amount stays as it is at the end.
            whole = np.interp(
                time, motion.time + starts[i], np.broadcast_to(part, motion.time.shape)
            )
            joined += whole * _weight(time, starts, i)
        values[field.name] = joined
    return type(styles[0])(**values)


def _weight(time: np.ndarray, starts: Sequence[float], i: int) -> np.ndarray:
    """How much of motion i's style there is: smooth steps that add up to 1."""

    def begun(k: int) -> np.ndarray:
        if k <= 0:
            return np.ones_like(time)
        if k >= len(starts):
            return np.zeros_like(time)
        s = np.clip((time - starts[k]) / STYLE_CHANGE + 0.5, 0.0, 1.0)
        return s**3 * (s * (6.0 * s - 15.0) + 10.0)

    return begun(i) - begun(i + 1)


def cut_tracks(tracks: RoleTracks, start: float, motion: TurningMotion) -> RoleTracks:
    """One motion's span of the tracks of joined motions.

    Args:
        tracks: tracks of the joined motions.
        start: start of the span in seconds.
        motion: the motion whose span it is.

    Returns:
        Its tracks; times count from its own start.
    """
    count = len(motion.time)
    first = int(np.argmin(np.abs(tracks.time - start)))
    span = slice(first, first + count)
    end = float(motion.time[-1])

    def inside(time: float | None) -> bool:
        return time is None or -1e-9 <= time - start <= end + 1e-9

    return RoleTracks(
        clock=replace(
            motion.clock,
            corners=np.array([time - start for time in tracks.clock.corners if inside(time)]),
        ),
        position={role: values[span] for role, values in tracks.position.items()},
        rotation={role: values[span] for role, values in tracks.rotation.items()},
        contacts=tuple(
            replace(
                contact,
                start=max(contact.start - start, 0.0),
                end=min(contact.end - start, end),
                instants=None if contact.instants is None else replace(
                    contact.instants, time=contact.instants.time - start
                ),
            )
            for contact in tracks.contacts
            if contact.end > start and contact.start < start + end
        ),
        events=tuple(
            event._replace(time=event.time - start)
            for event in tracks.events
            if inside(event.time)
        ),
        problems=tuple(
            replace(
                problem,
                time=None if problem.time is None else problem.time - start,
                end_time=None if problem.end_time is None else problem.end_time - start,
            )
            for problem in tracks.problems
            if inside(problem.time)
        ),
        spins={role: values[span] for role, values in tracks.spins.items()},
        attributes={
            name: values[span] if np.shape(values)[:1] == tracks.time.shape else values
            for name, values in tracks.attributes.items()
        },
    )
