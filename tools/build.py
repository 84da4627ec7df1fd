# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the extension's zips, each with the scipy wheels that it bundles.

    python tools/build.py package              one zip per platform under dist/
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

sys.path.insert(0, str(Path(__file__).resolve().parent))

from environments import ROOT, SCIPY, cache_folder, locked, manifest

PACKAGE = ("__init__.py", "LICENSE", "addon", "operators", "panels", "presets", "solvers")
"""What of the repository goes into the extension."""

PYTHONS = ("3.11", "3.13")
"""Blender 4.5 to 5.0 run Python 3.11, 5.1 to 5.3 run 3.13."""

PLATFORMS = {
    "linux-x64": "manylinux_2_28_x86_64",
    "windows-x64": "win_amd64",
    "macos-arm64": "macosx_12_0_arm64",
    "macos-x64": "macosx_10_14_x86_64",
}
"""Blender's name of a platform -> the tag of the wheels to take."""


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


def stage(folder: Path, platforms: list[str], pythons: list[str]) -> None:
    """Lay out what goes into the zip: the package, the wheels, the full manifest.

    Args:
        folder: made anew.
        platforms: Blender's names of the platforms whose wheels go in.
        pythons: Python versions whose wheels go in.
    """
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "wheels").mkdir(parents=True)
    for name in PACKAGE:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy2(source, folder / name)
    wheels = [wheel(target, python) for target in platforms for python in pythons]
    for path in wheels:
        shutil.copy2(path, folder / "wheels")
    added = (
        f"platforms = {json.dumps(platforms)}\n"
        f"wheels = {json.dumps([f'./wheels/{path.name}' for path in wheels])}\n\n"
    )
    text = (ROOT / "blender_manifest.toml").read_text(encoding="utf-8")
    # Keys of the top level have to stand before the first table.
    text = re.sub(r"^\[", lambda match: added + match[0], text, count=1, flags=re.MULTILINE)
    (folder / "blender_manifest.toml").write_text(text, encoding="utf-8")


def build(folder: Path, output: Path, split: bool) -> list[Path]:
    """Zip a staged extension, validate what came out, then put it in place.

    Args:
        folder: staged extension.
        output: folder for the zips; older zips in it are removed.
        split: one zip for each platform.

    Returns:
        The zips.
    """
    new = output / "new"
    shutil.rmtree(new, ignore_errors=True)
    new.mkdir(parents=True)
    tool = [sys.executable, str(extension_tool())]
    arguments = ["build", f"--source-dir={folder}", f"--output-dir={new}"]
    if split:
        arguments.append("--split-platforms")
    _must(*tool, *arguments)
    names = sorted(path.name for path in new.glob("*.zip"))
    for name in names:
        _must(*tool, "validate", str(new / name))
        # In one step: whoever installs the older one now reads on undisturbed.
        (new / name).replace(output / name)
    new.rmdir()
    for old in output.glob("*.zip"):
        if old.name not in names:
            old.unlink()
    return [output / name for name in names]


def test_zip(python: str) -> Path:
    """Build a zip for tests: this platform's wheel for one Python.

    Args:
        python: "3.11".

    Returns:
        The zip.
    """
    base = ROOT / "build" / f"test-{python}"
    base.mkdir(parents=True, exist_ok=True)
    with locked(base / "lock"):
        stage(base / "stage", [this_platform()], [python])
        return build(base / "stage", base, split=False)[0]


def package() -> list[Path]:
    """Build and validate the zips to be published, one per platform."""
    staged = ROOT / "build" / "package"
    stage(staged, list(PLATFORMS), list(PYTHONS))
    zips = build(staged, ROOT / "dist", split=True)
    for path in zips:
        names = zipfile.ZipFile(path).namelist()
        wheels = [name for name in names if name.endswith(".whl")]
        if len(wheels) != len(PYTHONS):
            sys.exit(f"{path.name} should bundle {len(PYTHONS)} wheels and has {wheels}")
    return zips


def _must(*command: str) -> None:
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"'{' '.join(command)}' failed:\n{result.stdout}{result.stderr}")


def main() -> None:
    """Build what the command line asks for and print the zips."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("package", "test"))
    parser.add_argument("--python", default=f"{sys.version_info[0]}.{sys.version_info[1]}")
    arguments = parser.parse_args()
    zips = package() if arguments.what == "package" else [test_zip(arguments.python)]
    for path in zips:
        print(f"{path.relative_to(ROOT)}  {path.stat().st_size / 2**20:.1f} MiB")
    print(f"version {manifest()['version']}, {len(zips)} built and validated")


if __name__ == "__main__":
    main()
