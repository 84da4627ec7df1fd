# SPDX-License-Identifier: GPL-3.0-or-later
"""Make the Python environments that tests, demo and packaging run in.

    python tools/environments.py NAME ARGUMENT...

runs the Python of environment NAME ("unit", "lint" or "blender") with the
arguments, and makes the environment first if it is not there. Environments
are kept outside the repository, one for each Python version, and made anew
when what they need has changed.

The "blender" environment holds Blender as a Python module and no scipy: the
wheel that the extension brings along is the one under test.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

if sys.version_info[:2] not in ((3, 11), (3, 13)):
    sys.exit(
        "Poise needs Python 3.11 (for Blender 4.5) or 3.13 (for Blender 5.1 and later), not "
        f"{sys.version_info[0]}.{sys.version_info[1]}: name another one with make PYTHON=python3.13"
    )

import fcntl
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager

import check_system

ROOT = Path(__file__).resolve().parents[1]
SCIPY = "1.17.1"
"""The scipy that the extension bundles: works with numpy 1.26 (4.5 LTS) up to 2.6."""

TESTING = ("pytest==9.2.0", "pillow")


def cache_folder() -> Path:
    """Where environments and downloads are kept between runs."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "poise"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def manifest() -> dict:
    """The extension's manifest, which alone holds the versions."""
    return tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))


def requirements(name: str) -> list[str]:
    """What environment `name` holds under the running Python.

    Args:
        name: "unit", "lint" or "blender".

    Returns:
        Requirements for pip.
    """
    old = sys.version_info[:2] == (3, 11)
    numpy = "numpy==1.26.*" if old else "numpy>=2.2"
    if name == "unit":
        return [numpy, f"scipy=={SCIPY}", *TESTING]
    if name == "lint":
        return [numpy, "ruff==0.17.6", "mypy==2.4.1"]
    if name == "blender":
        bpy = "bpy==4.5.*" if old else f"bpy>=5.1,<{manifest()['blender_version_max']}"
        return [bpy, *TESTING]
    raise ValueError(f"no environment is called {name!r}: unit, lint or blender")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Keep other processes out while something in the cache is made."""
    with open(path, "w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def environment(name: str) -> Path:
    """Make environment `name` if it is missing or out of date.

    Args:
        name: "unit", "lint" or "blender".

    Returns:
        Its Python.
    """
    wanted = "\n".join([sys.version, sys.base_prefix, *requirements(name)])
    folder = cache_folder() / f"env-{sys.version_info[0]}.{sys.version_info[1]}-{name}"
    python = folder / "bin" / "python"
    stamp = folder / "holds.txt"
    with locked(folder.parent / f"{folder.name}.lock"):
        if not (stamp.is_file() and stamp.read_text(encoding="utf-8") == wanted):
            held = ", ".join(requirements(name))
            print(f"Making the {name} environment: {held}", file=sys.stderr)
            shutil.rmtree(folder, ignore_errors=True)
            check_system.require_venv()
            _run(sys.executable, "-m", "venv", str(folder))
            _run(str(python), "-m", "pip", "install", "--quiet", "--no-input",
                 "--disable-pip-version-check", *requirements(name))
            stamp.write_text(wanted, encoding="utf-8")
    if name == "blender":
        check_system.require(folder)
    return python


def _run(*command: str) -> None:
    # The caller's output belongs to what it runs in the environment.
    result = subprocess.run(command, stdout=sys.stderr)
    if result.returncode:
        sys.exit(f"'{' '.join(command)}' failed with exit code {result.returncode}")


def main() -> None:
    """Run the named environment's Python with the remaining arguments."""
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    python = str(environment(sys.argv[1]))
    variables = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "PYTHONHOME")}
    os.execve(python, [python, *sys.argv[2:]], variables)


if __name__ == "__main__":
    main()
