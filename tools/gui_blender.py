# SPDX-License-Identifier: GPL-3.0-or-later
"""A real Blender with a window, for tests: in a folder of its own, drawn by software.

The Python module has no window, so the tests of panels, keys and drawing run
Debian's Blender in a change-root made by debootstrap, with a virtual screen.
The mirror is the one that apt uses on this system. Needs root on a system
with apt; the folder is kept between runs.

    python tools/gui_blender.py install        make it ready
    python tools/gui_blender.py run COMMAND    run a command in it

/proc and /tmp are mounted in a mount namespace of the command's own and vanish
with it; the host's /dev is never mounted, so that nothing outside can be reached,
or deleted, from within the folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from check_system import apt_install
from environments import cache_folder, locked

BASE = "trixie"
"""Suite that debootstrap of a few years knows; the packages come from SUITE."""
SUITE = "sid"
PACKAGES = (
    "blender", "libegl1", "libgl1-mesa-dri", "libglx-mesa0", "xvfb", "xauth", "xdotool",
    "imagemagick", "python3-numpy", "python3-requests", "python3-cattr", "fonts-dejavu-core",
)


UNAVAILABLE = 3
"""Exit code when it cannot be had here, as against a fault of this script."""


class Unavailable(Exception):
    """A Blender with a window cannot be had on this system; says why."""


def folder() -> Path:
    """The change-root's folder."""
    return cache_folder() / "window" / "root"


def mirror() -> str:
    """The Debian mirror that apt uses here."""
    listing = subprocess.run(
        ["apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages"],
        capture_output=True, text=True,
    ).stdout
    for address in listing.split():
        if address.rstrip("/").endswith("/debian"):
            return address.rstrip("/")
    raise Unavailable("apt's sources on this system name no Debian mirror")


def install() -> Path:
    """Make the change-root with Blender ready, if it is not.

    Returns:
        Its folder.

    Raises:
        Unavailable: not root, no apt, or a download failed.
    """
    root = folder()
    ready = root.parent / "ready.txt"
    wanted = " ".join((BASE, SUITE, *PACKAGES))
    root.parent.mkdir(parents=True, exist_ok=True)
    with locked(root.parent / "lock"):
        if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
            return root
        if os.geteuid() != 0 or not shutil.which("apt-get"):
            raise Unavailable("only root on a system with apt can install it")
        ready.unlink(missing_ok=True)
        _remove(root)
        if not shutil.which("debootstrap"):
            apt_install(["debootstrap"])
        address = mirror()
        # debootstrap mounts /proc in the folder: in a namespace, so that it cannot stay.
        _must("unshare", "--mount", "--propagation", "private",
              "debootstrap", "--variant=minbase", BASE, str(root), address)
        sources = root / "etc" / "apt" / "sources.list"
        sources.write_text(f"deb [check-valid-until=no] {address} {SUITE} main\n", encoding="utf-8")
        (root / "usr" / "sbin" / "policy-rc.d").write_text("#!/bin/sh\nexit 101\n")
        (root / "usr" / "sbin" / "policy-rc.d").chmod(0o755)
        _must(*command(["apt-get", "-q", "update"]))
        _must(*command(["apt-get", "-q", "install", "-y", "--no-install-recommends", *PACKAGES]))
        _must(*command(["apt-get", "clean"]))
        ready.write_text(wanted, encoding="utf-8")
    return root


def command(arguments: list[str]) -> list[str]:
    """How to run a command inside the change-root.

    Everything that it starts ends with it: it is the first process of a
    process namespace.

    Args:
        arguments: command and arguments, with paths as seen from inside.

    Returns:
        Command for the host.
    """
    root = folder()
    script = (
        'mount -t proc proc "$0/proc" && mount -t tmpfs tmpfs "$0/tmp" && '
        'exec chroot "$0" /usr/bin/env -i "$@"'
    )
    variables = [
        "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "LC_ALL=C.UTF-8",
        "DEBIAN_FRONTEND=noninteractive",
    ]
    variables += [f"{k}={v}" for k, v in os.environ.items() if k.lower().endswith("_proxy")]
    return ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child",
            "sh", "-c", script, str(root), *variables, *arguments]


def _must(*arguments: str) -> None:
    result = subprocess.run(arguments, stdout=sys.stderr)
    if result.returncode:
        raise Unavailable(f"'{' '.join(arguments)}' failed with exit code {result.returncode}")


def _remove(root: Path) -> None:
    if not root.exists():
        return
    mounted = Path("/proc/self/mountinfo").read_text(encoding="utf-8")
    if f" {root}/" in mounted or f" {root} " in mounted:
        raise Unavailable(f"something is mounted in {root}: unmount it first")
    subprocess.run(["rm", "-rf", "--one-file-system", str(root)], check=True)


def main() -> None:
    """Install the change-root, or run a command in it."""
    if sys.argv[1:] == ["install"]:
        try:
            print(install())
        except Unavailable as error:
            print(f"No Blender with a window: {error}", file=sys.stderr)
            sys.exit(UNAVAILABLE)
    elif sys.argv[1:2] == ["run"] and len(sys.argv) > 2:
        sys.exit(subprocess.run(command(sys.argv[2:])).returncode)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
