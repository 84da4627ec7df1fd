# SPDX-License-Identifier: GPL-3.0-or-later
"""Measure Poise side by side with the plain way and print the ratios.

Runs the installed extension in a Blender without a window. Each tools/bench_*.py
with a function `rows()` adds its rows; name some to run only those:

    python tools/bench.py turning
"""

from __future__ import annotations

import importlib
import os
import platform
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
sys.path.insert(0, str(TOOLS))

import installed
from bench_rows import Row


def figure(value: float, unit: str) -> str:
    """A figure with three digits and its unit.

    Args:
        value: the figure.
        unit: its unit.
    """
    return f"{value:.3g} {unit}"


def table(rows: list[Row]) -> str:
    """Lay rows out as a Markdown table.

    Args:
        rows: the rows.
    """
    lines = ["| job | the plain way | plain | ours | ratio | goal |", "|---|---|---|---|---|---|"]
    for row in rows:
        goals = []
        if row.goal is not None:
            goals.append(f"at least {row.goal:g}x")
        if row.limit is not None:
            goals.append(f"at most {figure(row.limit, row.unit)}")
        reached = "" if not goals else (" reached" if row.reached else " MISSED")
        job = f"{row.job} ({row.note})" if row.note else row.job
        lines.append(
            f"| {job} | {row.plain_way} | {figure(row.plain, row.unit)} | "
            f"{figure(row.ours, row.unit)} | {row.ratio:.3g}x | "
            f"{', '.join(goals)}{reached} |"
        )
    return "\n".join(lines)


def main() -> None:
    """Run the benchmarks and print one table."""
    wanted = sys.argv[1:]
    names = [path.stem for path in sorted(TOOLS.glob("bench_*.py")) if path.stem != "bench_rows"]
    if wanted:
        names = [name for name in names if name.removeprefix("bench_") in wanted]
    if not names:
        sys.exit(f"no such benchmark: {' '.join(wanted)}")
    installed.start()
    import bpy
    import numpy

    rows: list[Row] = []
    for name in names:
        print(f"{name} ...", file=sys.stderr, flush=True)
        installed.new_file()
        rows += importlib.import_module(name).rows()
    print(table(rows))
    print(
        f"\nBlender {bpy.app.version_string}, Python {platform.python_version()}, "
        f"numpy {numpy.__version__}, {os.cpu_count()} cores; medians of runs turn and turn about"
    )


if __name__ == "__main__":
    main()
