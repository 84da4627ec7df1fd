# SPDX-License-Identifier: GPL-3.0-or-later
"""What is shown of scripts: which controller is in force, and what became of each."""

from __future__ import annotations

from dataclasses import dataclass

from ..view import View
from .job import SolvedControl


@dataclass(frozen=True)
class ControlNumbers:
    """What the panel says.

    Attributes:
        rows: (what, how much).
    """

    rows: tuple[tuple[str, str], ...]

    def lines(self) -> tuple[tuple[str, str], ...]:
        """Lines for the panel: (what, how much)."""
        return self.rows


class ControlView(View):
    """How scripts are shown."""

    def numbers(self, solved: SolvedControl) -> ControlNumbers:
        run = solved.motion
        rows = [("Time", f"{solved.tracks.time[-1]:.2f} s")]
        for time, line in run.ran.reached:
            rows.append((f"{run.names[line]} reached", f"{time:.2f} s"))
        return ControlNumbers(tuple(rows))

    def hud(self, solved: SolvedControl, row: int) -> list[str]:
        run = solved.motion
        line = int(run.ran.active[row])
        return [run.names[line] if line < len(run.names) else "No control"]
