# SPDX-License-Identifier: GPL-3.0-or-later
"""A person's way through the sidebar, and what the preview follows, in a real Blender window.

Each scenario runs once; each of its checks is a test here. The pictures of the
screen are kept under out/gui, out/gui-preview, out/gui-manual, out/gui-path, out/gui-rig,
out/gui-gait, out/gui-limb, out/gui-control, out/gui-posing and out/gui-language to be looked at.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).resolve().parent
# Scenario beside this file -> folder for its pictures.
SCENARIOS = {
    "scenario.py": ROOT / "out" / "gui",
    "preview_scenario.py": ROOT / "out" / "gui-preview",
    "manual_scenario.py": ROOT / "out" / "gui-manual",
    "path_scenario.py": ROOT / "out" / "gui-path",
    "rig_scenario.py": ROOT / "out" / "gui-rig",
    "gait_scenario.py": ROOT / "out" / "gui-gait",
    "limb_scenario.py": ROOT / "out" / "gui-limb",
    "control_scenario.py": ROOT / "out" / "gui-control",
    "posing_scenario.py": ROOT / "out" / "gui-posing",
    "language_scenario.py": ROOT / "out" / "gui-language",
}
TIMEOUT = 2400
# Scenarios that play at the same time: much of each is waiting for a key or a redraw.
AT_ONCE = 2

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


def play(scenario: str, root: Path, archive: Path) -> dict[str, dict]:
    """Play a scenario in a Blender of its own.

    Args:
        scenario: its file beside this one.
        root: the change-root's folder.
        archive: zip to install.

    Returns:
        Its checks by name.
    """
    out = SCENARIOS[scenario]
    inside = Path("/", "root", f"poise-{scenario.removesuffix('.py')}-{time.time_ns()}")
    folder = root / inside.relative_to("/")
    folder.mkdir()
    try:
        for name in ("run.sh", "window.py"):
            shutil.copy2(HERE / name, folder)
        shutil.copy2(HERE / scenario, folder / "scenario.py")
        shutil.copy2(archive, folder)
        command = ["sh", str(inside / "run.sh"), str(inside), str(inside / archive.name)]
        shutil.rmtree(out, ignore_errors=True)
        out.mkdir(parents=True)
        with open(out / "blender.txt", "w", encoding="utf-8") as log:
            subprocess.run(
                gui_blender.command(command), stdout=log, stderr=log, stdin=subprocess.DEVNULL,
                timeout=TIMEOUT,
            )
    finally:
        for result in (*folder.glob("*.png"), *folder.glob("*.json"), *folder.glob("*.blend")):
            shutil.copy2(result, out)
        shutil.rmtree(folder, ignore_errors=True)
    results = out / "results.json"
    assert results.is_file(), (out / "blender.txt").read_text(encoding="utf-8")[-3000:]
    return {line["name"]: line for line in json.loads(results.read_text(encoding="utf-8"))}


@pytest.fixture(scope="session")
def played(request):
    """From a scenario to its checks by name; those that this run asks for play side by side.

    Each has a Blender and a screen of its own, and waits for what it sees there.
    """
    try:
        root = gui_blender.install()
    except gui_blender.Unavailable as error:
        pytest.fail(f"no Blender with a window: {error}")
    archive = _zip()
    asked = [item.callspec.params.get("scenario") for item in request.session.items]
    with ThreadPoolExecutor(max_workers=AT_ONCE) as pool:
        playing = {
            scenario: pool.submit(play, scenario, root, archive)
            for scenario in SCENARIOS if scenario in asked
        }
        yield lambda scenario: playing[scenario].result()


CHECKS = [
    (scenario, check)
    for scenario in SCENARIOS
    for check in (
        *re.findall(r'report\.check\(\s*"([^"]+)"', (HERE / scenario).read_text("utf-8")),
        "the scenario came to its end",
    )
]


@pytest.mark.parametrize("scenario, check", CHECKS)
def test_in_the_window(played, scenario, check):
    seen = played(scenario)
    if check not in seen:
        pytest.fail("the scenario did not get that far")
    if not seen[check]["passed"]:
        pytest.fail(seen[check]["seen"])


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_blender_printed_no_traceback(played, scenario):
    played(scenario)
    log = (SCENARIOS[scenario] / "blender.txt").read_text(encoding="utf-8")
    if "Traceback" in log:
        pytest.fail(log[-3000:])
