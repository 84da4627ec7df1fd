# SPDX-License-Identifier: GPL-3.0-or-later
"""The lamp's motor programs as plans: what each is asked for, and the motion that does it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import SettingError
from . import lamp_search
from .lamp_play import step_for
from .lamp_programs import Motion
from .lamp_search import Found
from .plans import Plan

JUMP, FLIP, STAND = "JUMP", "FLIP", "STAND"
PROGRAMS = (JUMP, FLIP, STAND)

NEAR = 0.02
"""m, that a program that was looked for may miss its length by."""
SAME = 1e-4
"""m: lengths that differ by less are the same."""
MOST = 50.0
"""s that a search may take."""


def plans() -> tuple[Plan, ...]:
    """What the lamp comes with; lengths are those of the solver's lamp, m."""
    found = [Plan("Jump", (), (), (), program=JUMP, amount=0.6)]
    for name, _turns, length, drop, _numbers in lamp_search.FLIPS:
        found.append(Plan(name, (), (), (), program=FLIP, amount=length, drop=drop))
    return (*found, Plan("Stand", (), (), (), program=STAND))


def turns_of(plan: Plan) -> int:
    """How often the base turns back over.

    Args:
        plan: of a motor program.
    """
    return 1 if plan.program == FLIP else 0


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
    for name, turns, *known, _numbers in lamp_search.FLIPS:
        if turns == turns_of(plan) and np.allclose(known, asked, atol=SAME, rtol=0.0):
            return lamp_search.shipped(name)
    raise SettingError(
        f"Length of {plan.name}", f"{plan.amount:.2f} m with a drop of {plan.drop:.2f} m",
        "one whose motor program is known: click Find Jump",
    )


def find(
    plan: Plan, seed: int = 0, progress: Callable[[float], None] | None = None
) -> tuple[tuple[float, ...], Found]:
    """Find a plan's program: from the nearest that is known, or at random where that leads nowhere.

    Args:
        plan: of a motor program, in lengths of the solver's lamp.
        seed: of all that is random; above 0 nothing that is known is begun from.
        progress: told the share that is done; raises Cancelled to stop.

    Returns:
        What `Plan.found` holds; and what it does.

    Raises:
        SettingError: it needs no program, or none was found.
    """
    if plan.program not in (JUMP, FLIP):
        raise SettingError(f"Program of {plan.name}", plan.program or "none", f"{JUMP} or {FLIP}")
    turns = turns_of(plan)
    goal = Motion(plan.name, np.zeros(12), turns, plan.amount, plan.drop)
    ground = step_for(goal, 0.0)
    known = [
        (abs(length - plan.amount) + abs(drop - plan.drop), numbers)
        for _name, own, length, drop, numbers in lamp_search.FLIPS if own == turns
    ]
    if not turns:
        known = [
            (abs(length - plan.amount) + abs(plan.drop), numbers)
            for length, numbers in lamp_search.JUMPS
        ]
    starts = [[np.array(numbers) for _far, numbers in sorted(known)[:3]], []][bool(seed) :]
    for k, start in enumerate(starts):
        def told(share: float, k: int = k) -> None:
            if progress is not None:
                progress((k + share) / len(starts))

        found = lamp_search.find(
            plan.amount, turns, ground, seed, start, NEAR, seconds=MOST / len(starts),
            progress=told,
        )
        if found is not None and abs(found.length - plan.amount) <= NEAR:
            return (plan.amount, plan.drop, *found.program.tolist()), found
    near = "none that comes to rest" if found is None else f"one that ends at {found.length:.2f} m"
    raise SettingError(
        f"Length of {plan.name}", f"{plan.amount:.2f} m, and the search found {near}",
        "another one, or looked for with another Seed",
    )
