# SPDX-License-Identifier: GPL-3.0-or-later
"""A person's way through the sidebar, in a real Blender window.

The scenario runs once; each of its checks is a test here. Its pictures of the
screen are kept under out/gui to be looked at.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "out" / "gui"
TIMEOUT = 1200

sys.path.insert(0, str(ROOT / "tools"))

import environments
import gui_blender


def _zip() -> Path:
    """Build the zip for the Python that this Blender runs."""
    shown = subprocess.run(
        gui_blender.command(
            ["python3", "-c", "import sys; print('%d.%d' % sys.version_info[:2])"]
        ),
        capture_output=True, text=True, check=True,
    ).stdout.strip()
    if "POISE_ZIP" in os.environ:
        return Path(os.environ["POISE_ZIP"]).resolve()
    python = environments.environment("blender")
    build = ROOT / "tools" / "build.py"
    subprocess.run([str(python), str(build), "test", "--python", shown], check=True)
    return next((ROOT / "build" / f"test-{shown}").glob("*.zip"))


@pytest.fixture(scope="session")
def played() -> dict[str, dict]:
    """Play the scenario; return its checks by name."""
    try:
        root = gui_blender.install()
    except gui_blender.Unavailable as error:
        pytest.fail(f"no Blender with a window: {error}")
    inside = Path("/", "root", f"poise-{time.time_ns()}")
    folder = root / inside.relative_to("/")
    folder.mkdir()
    try:
        for name in ("run.sh", "scenario.py", "window.py"):
            shutil.copy2(Path(__file__).parent / name, folder)
        archive = shutil.copy2(_zip(), folder)
        command = ["sh", str(inside / "run.sh"), str(inside), str(inside / Path(archive).name)]
        shutil.rmtree(OUT, ignore_errors=True)
        OUT.mkdir(parents=True)
        with open(OUT / "blender.txt", "w", encoding="utf-8") as log:
            subprocess.run(
                gui_blender.command(command), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                timeout=TIMEOUT,
            )
    finally:
        for result in (*folder.glob("*.png"), *folder.glob("*.json"), *folder.glob("*.blend")):
            shutil.copy2(result, OUT)
        shutil.rmtree(folder, ignore_errors=True)
    results = OUT / "results.json"
    assert results.is_file(), (OUT / "blender.txt").read_text(encoding="utf-8")[-3000:]
    return {line["name"]: line for line in json.loads(results.read_text(encoding="utf-8"))}


CHECKS = re.findall(
    r'report\.check\(\s*"([^"]+)"', (Path(__file__).parent / "scenario.py").read_text("utf-8")
)


@pytest.mark.parametrize("check", [*CHECKS, "the scenario came to its end"])
def test_in_the_window(played, check):
    if check not in played:
        pytest.fail("the scenario did not get that far")
    if not played[check]["passed"]:
        pytest.fail(played[check]["seen"])


def test_blender_printed_no_traceback(played):
    log = (OUT / "blender.txt").read_text(encoding="utf-8")
    if "Traceback" in log:
        pytest.fail(log[-3000:])
