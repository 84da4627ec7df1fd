# SPDX-License-Identifier: GPL-3.0-or-later
"""What the panel says about a legged motion, and its strides."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ....solvers.legged import PRESETS, GaitMotion, GaitSettings
from ...settings.gait import GAITS
from .job import SolvedGait


def label(gait: str) -> str:
    """What the animator calls a gait.

    Args:
        gait: its name, or that of a preset.
    """
    return GAITS[gait][0] if gait in GAITS else gait


@dataclass(frozen=True)
class GaitNumbers:
    """What the panel says about a legged motion.

    Attributes:
        gaits: names of the gaits, in order.
        stride: (shortest, longest) stride, m.
        period: (shortest, longest) time of a stride, s.
        duty: (smallest, largest) duty factor.
        froude: (smallest, largest) Froude number.
        speed: (smallest, largest) speed, m/s.
        flights: how many flights of all legs there are.
        bank: largest lean in bends, rad.
        distance: length of the way, m.
    """

    gaits: tuple[str, ...]
    stride: tuple[float, float] | None
    period: tuple[float, float] | None
    duty: tuple[float, float] | None
    froude: tuple[float, float]
    speed: tuple[float, float]
    flights: int
    bank: float
    distance: float

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Lines for the panel: (what, how much)."""
        lines = [("Gaits", ", ".join(self.gaits))]
        for label, values, form, unit in (
            ("Speed", self.speed, "{:.2f}", " m/s"),
            ("Froude Number", self.froude, "{:.2f}", ""),
            ("Stride", self.stride, "{:.2f}", " m"),
            ("Stride Time", self.period, "{:.2f}", " s"),
            ("Duty Factor", self.duty, "{:.2f}", ""),
        ):
            if values is not None:
                low, high = (form.format(value) for value in values)
                lines.append((label, (low if low == high else f"{low} to {high}") + unit))
        lines.append(("Flights", str(self.flights)))
        if self.bank > 0.005:
            lines.append(("Largest Bank", f"{math.degrees(self.bank):.1f}°"))
        lines.append(("Way", f"{self.distance:.1f} m"))
        return tuple(lines)


def cycles_of(settings: GaitSettings) -> dict[str, int]:
    """Gaits of a list that are the same again only after some strides, and after how many.

    Args:
        settings: the solver's settings.
    """
    gaits = [PRESETS[i.gait] if isinstance(i.gait, str) else i.gait for i in settings.sequence]
    return {gait.name: gait.cycle for gait in gaits}


def _strides(motion: GaitMotion, cycles: dict[str, int]) -> list[tuple[float, float, float]]:
    """(time, length, duty factor) of each stride: from a leg's touchdown to its next, or,
    where sides alternate, of the mean of two."""
    found = []
    for leg in {p.leg for p in motion.footprints}:
        own = sorted((p for p in motion.footprints if p.leg == leg), key=lambda p: p.on)
        for k, here in enumerate(own):
            count = cycles.get(here.gait, 1)
            last = own[k : k + count + 1][-1]
            if len(own) > k + count and np.isfinite(here.on) and np.isfinite(last.on):
                period = (last.on - here.on) / count
                length = float(np.linalg.norm((last.position - here.position)[:2])) / count
                found.append((period, length, (here.off - here.on) / max(period, 1e-9)))
    return found


def stride_times(motion: GaitMotion, settings: GaitSettings) -> np.ndarray:
    """(n,) s of each stride.

    Args:
        motion: a solved motion.
        settings: what it was solved from.
    """
    strides = _strides(motion, cycles_of(settings))
    return np.array([period for period, _length, _duty in strides])


def distance_of(motion: GaitMotion) -> float:
    """Length of a body's way in the ground plan, m.

    Args:
        motion: a solved motion.
    """
    return float(np.sum(np.linalg.norm(np.diff(motion.position[:, :2], axis=0), axis=1)))


def numbers_of(solved: SolvedGait) -> GaitNumbers:
    """Sum a legged motion up in a few numbers.

    Args:
        solved: a solved motion.
    """
    motion, settings = solved.motion, solved.job.settings
    strides = np.array(_strides(motion, cycles_of(settings))).reshape(-1, 3)
    speed = np.atleast_1d(np.asarray(settings.speed, dtype=float))
    froude = speed**2 / (settings.gravity * motion.creature.hip_height())

    def span(values: np.ndarray) -> tuple[float, float] | None:
        return (float(values.min()), float(values.max())) if len(values) else None

    airborne = ~motion.contact.any(axis=1)
    names = dict.fromkeys(name for name, _start, _end in motion.gaits)
    return GaitNumbers(
        gaits=tuple(label(name) for name in names),
        stride=span(strides[:, 1]),
        period=span(strides[:, 0]),
        duty=span(strides[:, 2]),
        froude=(float(froude.min()), float(froude.max())),
        speed=(float(speed.min()), float(speed.max())),
        flights=int(np.count_nonzero(np.diff(airborne.astype(int)) == 1)),
        bank=float(np.abs(motion.bank).max()),
        distance=distance_of(motion),
    )
