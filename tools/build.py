# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the extension's zips, each with the one scipy wheel and the manual that it bundles.

    python tools/build.py package              a zip per platform and Python under dist/
    python tools/build.py test [--python 3.14] one zip for this machine under build/

Runs in the "blender" environment: Blender's own extension tool builds and
validates, without a Blender. numpy is not bundled, Blender has it.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import platform
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent))

import manual_pages
from environments import ROOT, SCIPY, cache_folder, locked, manifest

PACKAGE = ("__init__.py", "LICENSE", "addon", "operators", "panels", "presets", "solvers")
"""What of the repository goes into the extension."""

PLATFORMS = {
    "linux-x64": "manylinux_2_28_x86_64",
    "windows-x64": "win_amd64",
    "macos-arm64": "macosx_12_0_arm64",
    "macos-x64": "macosx_10_14_x86_64",
}
"""Blender's name of a platform -> the tag of the wheels to take."""


class Line(NamedTuple):
    """Blenders that run one Python, and so take one wheel."""

    name: str  # in the names of its zips
    least: str  # Blender's version
    below: str
    platforms: tuple[str, ...] = tuple(PLATFORMS)


_LEAST, _BELOW = (manifest()[f"blender_version_{end}"] for end in ("min", "max"))
LINES = {
    "3.11": Line("blender-4.5", _LEAST, "5.1.0"),
    "3.13": Line("blender-5.1", "5.1.0", _BELOW),
    # Linux distributions build every Blender on the Python that they have.
    "3.14": Line("python-3.14", _LEAST, _BELOW, ("linux-x64",)),
}
"""Python -> its Blenders: blender.org's 4.5 to 5.0 run 3.11, its 5.1 to 5.3 run 3.13."""


def this_platform() -> str:
    """Blender's name of the platform that this runs on."""
    system = {"Linux": "linux", "Windows": "windows", "Darwin": "macos"}[platform.system()]
    machine = {"x86_64": "x64", "AMD64": "x64", "arm64": "arm64"}.get(platform.machine())
    name = f"{system}-{machine}"
    if name not in PLATFORMS:
        sys.exit(f"Blender has no Python module for {platform.system()} {platform.machine()}")
    return name


def wheel(target: str, python: str) -> Path:
    """Fetch the scipy wheel for a platform and Python, once.

    Args:
        target: Blender's name of a platform.
        python: "3.11".

    Returns:
        The wheel in the cache.
    """
    tag = "cp" + python.replace(".", "")
    folder = cache_folder() / "wheels" / f"{target}-{tag}"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent / f"{folder.name}.lock"):
        found = sorted(folder.glob(f"scipy-{SCIPY}-*.whl"))
        if not found:
            command = [
                sys.executable, "-m", "pip", "download", "--quiet", "--no-input",
                "--disable-pip-version-check", "--no-deps", "--only-binary=:all:",
                "--implementation=cp", f"--python-version={python}", f"--abi={tag}",
                f"--platform={PLATFORMS[target]}", f"--dest={folder}", f"scipy=={SCIPY}",
            ]
            if subprocess.run(command, stdout=sys.stderr).returncode:
                sys.exit(f"no scipy {SCIPY} for {target} and Python {python} could be fetched")
            found = sorted(folder.glob(f"scipy-{SCIPY}-*.whl"))
    return found[0]


def extension_tool() -> Path:
    """Blender's own command line for extensions."""
    spec = importlib.util.find_spec("bpy")
    if spec is None or spec.origin is None:
        sys.exit("bpy is not installed: run this in the blender environment")
    pattern = "*/scripts/addons_core/bl_pkg/cli/blender_ext.py"
    return next(Path(spec.origin).parent.glob(pattern))


def full_manifest(python: str, target: str, wheel_name: str, website: str = "") -> str:
    """The manifest of a zip: the repository's, for the Blenders that the zip is for.

    Args:
        python: "3.11".
        target: Blender's name of a platform.
        wheel_name: file name of the wheel that the zip bundles.
        website: what the button of that name in Blender's preferences opens, "" for none.

    Returns:
        Its text.
    """
    line = LINES[python]
    added = f'platforms = ["{target}"]\nwheels = ["./wheels/{wheel_name}"]\n\n'
    if website:
        added = f"website = {json.dumps(website)}\n{added}"
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    for end, version in (("min", line.least), ("max", line.below)):
        text = re.sub(rf'(?m)^(blender_version_{end} = ).*$', rf'\1"{version}"', text)
    text = re.sub(r"(?m)^#.*\n", "", text)
    # Keys of the top level have to stand before the first table.
    return re.sub(r"^\[", lambda match: added + match[0], text, count=1, flags=re.MULTILINE)


def zip_name(python: str, target: str) -> str:
    """File name of a zip, which says what it is for.

    Args:
        python: "3.11".
        target: Blender's name of a platform.
    """
    about = manifest()
    system = target.replace("-", "_")
    return f"{about['id']}-{about['version']}-{LINES[python].name}-{system}.zip"


def stage(folder: Path, python: str, target: str, website: str = "") -> list[str]:
    """Lay out what goes into the zip: the package, the manual, the wheel, the full manifest.

    Args:
        folder: made anew.
        python: Python version whose wheel goes in.
        target: Blender's name of the platform.
        website: see `full_manifest`.

    Returns:
        Paths of all files below the folder, sorted.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "wheels").mkdir(parents=True)
    for name in PACKAGE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy2(source, folder / name)
    manual_pages.write(folder / "manual")
    path = wheel(target, python)
    shutil.copy2(path, folder / "wheels")
    text = full_manifest(python, target, path.name, website)
    (folder / "blender_manifest.toml").write_text(text, encoding="utf-8")
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def build(folder: Path, output: Path, python: str, target: str, website: str = "") -> Path:
    """Stage and zip the extension, validate what came out, then put it in place.

    Args:
        folder: for what is staged.
        output: folder for the zip.
        python: "3.11".
        target: Blender's name of the platform.
        website: see `full_manifest`.

    Returns:
        The zip.
    """
    staged = stage(folder, python, target, website)
    made, path = folder.with_suffix(".zip"), output / zip_name(python, target)
    tool = [sys.executable, str(extension_tool())]
    _must(*tool, "build", f"--source-dir={folder}", f"--output-filepath={made}")
    _must(*tool, "validate", str(made))
    with zipfile.ZipFile(made) as archive:
        inside = sorted(name for name in archive.namelist() if not name.endswith("/"))
    if inside != staged:
        sys.exit(f"{path.name} differs from what was staged: {sorted({*inside} ^ {*staged})}")
    # In one step: whoever installs the older one now reads on undisturbed.
    output.mkdir(parents=True, exist_ok=True)
    made.replace(path)
    return path


def test_zip(python: str) -> Path:
    """Build a zip for tests: this platform's for one Python.

    Args:
        python: "3.11".

    Returns:
        The zip.
    """
    base = ROOT / "build" / f"test-{python}"
    base.mkdir(parents=True, exist_ok=True)
    with locked(base / "lock"):
        path = build(base / "new" / "stage", base, python, this_platform())
        _remove_others(base, [path])
    return path


def package(website: str = "") -> list[Path]:
    """Build and validate the zips to be published, one per platform and Python.

    Args:
        website: see `full_manifest`.
    """
    zips = [
        build(ROOT / "build" / "package", ROOT / "dist", python, target, website)
        for python, line in LINES.items() for target in line.platforms
    ]
    _remove_others(ROOT / "dist", zips)
    return zips


def _remove_others(folder: Path, zips: list[Path]) -> None:
    for old in folder.glob("*.zip"):
        if old not in zips:
            old.unlink()


def _must(*command: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"'{' '.join(command)}' failed:\n{result.stdout}{result.stderr}")


def main() -> None:
    """Build what the command line asks for and print the zips."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("package", "test"))
    here = f"{sys.version_info[0]}.{sys.version_info[1]}"
    parser.add_argument("--python", default=here, choices=LINES)
    parser.add_argument("--website", default="", help="where the project is on the web")
    arguments = parser.parse_args()
    if arguments.what == "package":
        zips = package(arguments.website)
    else:
        zips = [test_zip(arguments.python)]
    for path in zips:
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 2**20:.1f} MiB")
    print(f"version {manifest()['version']}, {len(zips)} built and validated")


if __name__ == "__main__":
    main()
