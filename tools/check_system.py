# SPDX-License-Identifier: GPL-3.0-or-later
"""Name the system libraries that Blender links and this system lacks.

Blender's Python module brings most of what it needs, but not the window
system's and the graphics driver's libraries. As root on a Debian-like system
they are installed; elsewhere the missing ones are named.
"""

from __future__ import annotations

import ctypes
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

# Shared library -> Debian package. libEGL and the Mesa driver are opened at
# run time (rendering without a window), so that the linker does not name them.
PACKAGES = {
    "libX11.so.6": "libx11-6",
    "libXext.so.6": "libxext6",
    "libXrender.so.1": "libxrender1",
    "libXfixes.so.3": "libxfixes3",
    "libXi.so.6": "libxi6",
    "libXt.so.6": "libxt6",
    "libXxf86vm.so.1": "libxxf86vm1",
    "libxkbcommon.so.0": "libxkbcommon0",
    "libSM.so.6": "libsm6",
    "libICE.so.6": "libice6",
    "libGL.so.1": "libgl1",
    "libEGL.so.1": "libegl1",
    "libgomp.so.1": "libgomp1",
}
OPENED_AT_RUN_TIME = ("libGL.so.1", "libEGL.so.1")


def missing_libraries(environment: Path) -> list[str]:
    """Libraries that Blender in this environment would not find.

    Args:
        environment: folder of a virtual environment that holds bpy.

    Returns:
        File names of shared libraries, sorted.
    """
    missing = set()
    for module in environment.glob("lib/python*/site-packages/bpy/__init__*.so"):
        listing = subprocess.run(["ldd", str(module)], capture_output=True, text=True).stdout
        for line in listing.splitlines():
            if "not found" in line:
                missing.add(line.split()[0])
    for library in OPENED_AT_RUN_TIME:
        try:
            ctypes.CDLL(library)
        except OSError:
            missing.add(library)
    return sorted(missing)


def require(environment: Path) -> None:
    """Install or name what is missing; return only if nothing is.

    Args:
        environment: folder of a virtual environment that holds bpy.
    """
    missing = missing_libraries(environment)
    if not missing:
        return
    packages = sorted({PACKAGES[name] for name in missing if name in PACKAGES})
    if packages and shutil.which("apt-get") and os.geteuid() == 0:
        print(f"Installing what Blender links: {' '.join(packages)}", file=sys.stderr)
        apt_install(packages)
        missing = missing_libraries(environment)
        if not missing:
            return
    hint = f" (apt-get install {' '.join(packages)})" if packages else ""
    sys.exit(f"Blender needs these libraries of the system: {', '.join(missing)}{hint}")


def require_venv() -> None:
    """Install or name what this Python lacks to make virtual environments."""
    if importlib.util.find_spec("ensurepip"):
        return
    # Debian keeps it in a package of its own.
    package = f"python{sys.version_info[0]}.{sys.version_info[1]}-venv"
    if shutil.which("apt-get") and os.geteuid() == 0:
        apt_install([package])
        importlib.invalidate_caches()
    if not importlib.util.find_spec("ensurepip"):
        sys.exit(f"Python's venv module needs ensurepip (on Debian: apt-get install {package})")


def apt_install(packages: list[str]) -> None:
    """Install Debian packages as root, without questions.

    Args:
        packages: names of Debian packages.
    """
    variables = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    for command in (
        ["apt-get", "-q", "update"],
        ["apt-get", "-q", "install", "-y", "--no-install-recommends", *packages],
    ):
        subprocess.run(command, env=variables, stdout=sys.stderr, check=False)
