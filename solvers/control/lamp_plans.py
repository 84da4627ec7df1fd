# SPDX-License-Identifier: GPL-3.0-or-later
"""The lamp's motor programs as plans: what each is asked for, and the motion that does it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..errors import SettingError
from . import lamp_search
from .lamp_play import Done, play, step_for
from .lamp_programs import Motion
from .plans import Plan

JUMP, FLIP, DOUBLE_FLIP, STAND = "JUMP", "FLIP", "DOUBLE_FLIP", "STAND"
TURNS = {JUMP: 0, FLIP: 1, DOUBLE_FLIP: 2}
PROGRAMS = (*TURNS, STAND)

NEAR = 0.02
"""m, that a program that was looked for may miss its length by."""
SAME = 1e-4
"""m: lengths that differ by less are the same."""
MOST = 50.0
"""s that a search may take."""


def plans() -> tuple[Plan, ...]:
    """What the lamp comes with; lengths are those of the solver's lamp, m."""
    found = [Plan("Jump", (), (), (), program=JUMP, amount=0.6)]
    for name, turns, length, drop, _numbers in lamp_search.OTHERS:
        program = next(name for name, count in TURNS.items() if count == turns)
        found.append(Plan(name, (), (), (), program=program, amount=length, drop=drop))
    return (*found, Plan("Stand", (), (), (), program=STAND))


def turns_of(plan: Plan) -> int:
    """How often the base turns back over.

    Args:
        plan: of a motor program.
    """
    return TURNS.get(plan.program, 0)


def motion_of(plan: Plan) -> Motion | None:
    """The motion of a plan in lengths of the solver's lamp; None to stand.

    Args:
        plan: of a motor program.

    Raises:
        SettingError: the lamp has no such program; or none is known for its length and drop.
    """
    if plan.program not in PROGRAMS:
        raise SettingError(f"Program of {plan.name}", plan.program or "none", " or ".join(PROGRAMS))
    if plan.program == STAND:
        return None
    asked = (plan.amount, plan.drop)
    if plan.found and np.allclose(plan.found[:2], asked, atol=SAME, rtol=0.0):
        return Motion(plan.name, np.array(plan.found[2:]), turns_of(plan), *asked)
    if plan.program == JUMP and abs(plan.drop) < SAME:
        # The ends of what it can do are known to a rounding of units.
        low, high = lamp_search.SHORTEST, lamp_search.LONGEST
        length = min(max(plan.amount, low), high) if low - SAME < plan.amount < high + SAME else 0.0
        if length:
            return lamp_search.jump(length)
    for name, turns, *known, _numbers in lamp_search.OTHERS:
        if turns == turns_of(plan) and np.allclose(known, asked, atol=SAME, rtol=0.0):
            return lamp_search.shipped(name)
    raise SettingError(
        f"Length of {plan.name}", f"{plan.amount:.2f} m with a drop of {plan.drop:.2f} m",
        "one whose motor program is known: click Find Jump",
    )


def find(
    plan: Plan, seed: int = 0, progress: Callable[[float], None] | None = None
) -> tuple[tuple[float, ...], Done]:
    """Find a plan's program: one that is known and does it, one near it, or a wholly new one.

    Args:
        plan: of a motor program, in lengths of the solver's lamp.
        seed: of all that is random; above 0 nothing that is known is begun from.
        progress: told the share that is done; raises Cancelled to stop.

    Returns:
        What `Plan.found` holds; and what it does.

    Raises:
        SettingError: it needs no program, or none was found.
    """
    if plan.program not in TURNS:
        raise SettingError(f"Program of {plan.name}", plan.program or "none", " or ".join(TURNS))
    turns = turns_of(plan)
    known = [] if seed else _nearest(plan)
    found: list[Done] = []

    def does(numbers: np.ndarray) -> bool:
        motion = Motion(plan.name, numbers, turns, plan.amount, plan.drop)
        found.append(play([motion], end=0.0).motions[0])
        return math.isfinite(found[-1].rested) and abs(found[-1].length - plan.amount) <= NEAR

    for numbers in known:
        if does(numbers):
            return (plan.amount, plan.drop, *numbers.tolist()), found[-1]
    goal = Motion(plan.name, np.zeros(12), turns, plan.amount, plan.drop)
    ways = [known, []] if known else [[]]
    for k, start in enumerate(ways):
        def told(share: float, k: int = k) -> None:
            if progress is not None:
                progress((k + share) / len(ways))

        made = lamp_search.find(
            plan.amount, turns, step_for(goal, 0.0), seed, start, NEAR,
            seconds=MOST / len(ways), progress=told,
        )
        if made is not None and does(made.program):
            return (plan.amount, plan.drop, *made.program.tolist()), found[-1]
    ends = [f"{done.length:.2f} m" for done in found if math.isfinite(done.rested)]
    raise SettingError(
        f"Length of {plan.name}",
        f"{plan.amount:.2f} m, and what was found {'ends at ' + ends[-1] if ends else 'falls'}",
        "another one, or looked for with another Seed",
    )


def _nearest(plan: Plan) -> list[np.ndarray]:
    """The three programs that are known and come nearest to a plan's length and drop."""
    known = [
        (abs(length - plan.amount) + abs(drop - plan.drop), numbers)
        for _name, own, length, drop, numbers in lamp_search.OTHERS if own == turns_of(plan)
    ]
    if plan.program == JUMP:
        known += [
            (abs(length - plan.amount) + abs(plan.drop), numbers)
            for length, numbers in lamp_search.JUMPS
        ]
    return [np.array(numbers) for _far, numbers in sorted(known)[:3]]
