# SPDX-License-Identifier: GPL-3.0-or-later
"""What can be controlled: one row for each sort of mechanical figure.

To add one (a car, a lamp):

1. Its physics and its controllers in `solvers/control/`, which know no Blender.
2. How it looks: a module in `rigs/builders/` that makes a `Mechanism` (bones, meshes, numbers of
   the bones), and a row in `rigs/machines.py` with what the Add menu calls it. The row's name is
   what its armature is marked with, `armature["poise_machine"]`; an armature of somebody else's
   is marked likewise by an operator that sets it up (`machines.mark`).
3. A module here with a subclass of `MachineFigure` (`figures/base.py` says what each method has
   to give), and a line in `FIGURES` that names the machines it is for.

All else is common: settings, lists, Build, Set from Pose, storing and judging of tables, preview,
bake, texts. What a controller of a new figure asks for that no other has (a list of obstacles,
a jump's length) is a property in `settings/control.py`, read by the figure's `plan`; its panel
draws it where `figure.draws` names it.
"""

from __future__ import annotations

from ....rigs.actor import Actor
from .base import MachineFigure
from .car import CarFigureKind
from .chain import ChainFigure
from .lamp import LampFigure

_CHAIN = ChainFigure()

FIGURES: dict[str, MachineFigure] = {
    "PENDULUM": _CHAIN,
    "CHAIN": _CHAIN,
    "LUXO": LampFigure(),
    "CAR": CarFigureKind(),
}
"""Machine, as armatures are marked with it -> who knows it."""


def figure_of(actor: Actor) -> MachineFigure | None:
    """Who knows an actor as a mechanical figure; None for anybody else.

    Args:
        actor: who is to move.
    """
    return FIGURES.get(actor.machine)
