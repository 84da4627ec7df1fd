# SPDX-License-Identifier: GPL-3.0-or-later
"""Hands and eyes for a script that runs inside a Blender with a window.

A scenario is a generator: each `yield seconds` lets Blender draw and handle
what was pressed. Steps that press keys or look for buttons are generators too
and are called with `yield from`.

Buttons are found as a person finds them, by moving the pointer over the
sidebar: under the pointer, Blender's own "Copy Python Command" and "Copy Data
Path" tell which operator or property a button is. No pixel position, theme or
panel height is assumed.
"""

from __future__ import annotations

import json
import subprocess
import traceback
from dataclasses import dataclass, field
from os import getloadavg
from pathlib import Path
from time import monotonic

import bpy
from bpy_extras.view3d_utils import location_3d_to_region_2d

TICK = 0.06
"""Seconds that Blender gets to handle an event and draw."""

GLANCE = 0.01
"""Seconds on a place while looking for a button."""

STEP = 17
"""Pixels from glance to glance: less than a button is high, at scale 1."""


@dataclass
class Way:
    """What a person does on the way to something, and how long the machine takes for it."""

    clicks: int = 0
    keys: int = 0
    scrolls: int = 0
    seconds: float = 0.0
    began: float = field(default_factory=monotonic)

    def __add__(self, other: Way) -> Way:
        return Way(self.clicks + other.clicks, self.keys + other.keys,
                   self.scrolls + other.scrolls, self.seconds + other.seconds)

    def __str__(self) -> str:
        return (f"{self.clicks} clicks, {self.keys} keys, {self.scrolls} scrolls, "
                f"{self.seconds:.1f} s at a load of {getloadavg()[0]:.1f}")


class Window:
    """The one window of this Blender, its 3D viewport and that viewport's sidebar."""

    def __init__(self, folder: Path):
        self.folder = folder
        self.pictures = 0
        self.pointer = (10, 10)
        self.way = None

    # -- what is where -------------------------------------------------------

    @property
    def window(self):
        return bpy.context.window_manager.windows[0]

    @property
    def area(self):
        return next(area for area in self.window.screen.areas if area.type == "VIEW_3D")

    def region(self, kind: str):
        return next(region for region in self.area.regions if region.type == kind)

    @property
    def sidebar(self):
        return self.region("UI")

    def centre(self) -> tuple[int, int]:
        """Middle of the viewport that the sidebar does not cover."""
        region = self.region("WINDOW")
        width = region.width
        if self.area.spaces.active.show_region_ui:
            width -= self.sidebar.width
        return region.x + width // 2, region.y + region.height // 2

    def at(self, place) -> tuple[float, float]:
        """Where a place of the scene is on the screen."""
        region, view = self.region("WINDOW"), self.area.spaces.active.region_3d
        x, y = location_3d_to_region_2d(region, view, place)
        return region.x + x, region.y + y

    def runs(self, name: str) -> bool:
        """Whether an operator of Poise goes on in the window.

        Args:
            name: end of its name.
        """
        return any(op.bl_idname.endswith(name) for op in self.window.modal_operators)

    # -- hands ---------------------------------------------------------------

    def event(self, kind: str, value: str = "PRESS", **modifiers: bool | str) -> None:
        x, y = self.pointer
        if value == "PRESS" and self.way is not None and not kind.startswith("WHEEL"):
            if kind == "LEFTMOUSE":
                self.way.clicks += 1
            else:
                self.way.keys += 1
        self.window.event_simulate(type=kind, value=value, x=x, y=y, **modifiers)

    def move(self, x: float, y: float, wait: float = TICK):
        self.pointer = (int(x), int(y))
        self.event("MOUSEMOVE", "NOTHING")
        yield wait

    def press(self, key: str, **modifiers: bool):
        """Press and let go a key, with modifiers (ctrl=True)."""
        for value in ("PRESS", "RELEASE"):
            self.event(key, value, **modifiers)
            yield TICK

    def click(self, x: float, y: float):
        yield from self.move(x, y)
        yield from self.press("LEFTMOUSE")
        yield 3 * TICK

    def drag(self, x: float, y: float, dx: int, dy: int = 0, steps: int = 12, halfway=None):
        """Press at a point, pull by (dx, dy) in steps, let go.

        Args:
            x: start.
            y: start.
            dx: how far to the right in all.
            dy: how far up in all.
            steps: in how many moves.
            halfway: called without arguments in the middle; a generator.
        """
        yield from self.move(x, y)
        self.event("LEFTMOUSE", "PRESS")
        yield TICK
        for i in range(1, steps + 1):
            yield from self.move(x + dx * i / steps, y + dy * i / steps)
            if halfway and i == steps // 2:
                yield from halfway()
        self.event("LEFTMOUSE", "RELEASE")
        yield 3 * TICK

    def wheel(self, x: float, y: float, notches: int):
        """Turn the wheel at a point: down for positive notches."""
        yield from self.move(x, y)
        for value in ("PRESS", "RELEASE") * abs(notches):
            self.event("WHEELDOWNMOUSE" if notches > 0 else "WHEELUPMOUSE", value)
        yield 2 * TICK

    def search(self, words: str):
        """Run what F3 finds first by some words, with the pointer over the viewport."""
        yield from self.move(*self.centre())
        yield from self.press("F3")
        yield from self.choose(words)

    def choose(self, words: str):
        """Type words into what lists entries and take the first that is left."""
        yield 5 * TICK
        for letter in words:
            kind = "SPACE" if letter == " " else letter.upper()
            self.event(kind, "PRESS", unicode=letter)
            yield TICK
            self.event(kind, "RELEASE")
        yield 5 * TICK
        yield from self.press("RET")

    def begin_way(self) -> None:
        """Count what a person does from here on, and the seconds that it takes but for looking."""
        self.way = Way()

    def end_way(self) -> Way:
        """Count no longer; what was counted."""
        way, self.way = self.way, None
        way.seconds += monotonic() - way.began
        return way

    # -- eyes ----------------------------------------------------------------

    def picture(self, name: str, pointer=None):
        """Keep a picture of the screen as NN-name.png; return its path.

        Args:
            name: what it shows.
            pointer: where the pointer goes first, so that no tooltip is in the way.
        """
        if pointer:
            yield from self.move(*pointer)
        yield 8 * TICK
        self.pictures += 1
        path = self.folder / f"{self.pictures:02d}-{name}.png"
        subprocess.run(["import", "-window", "root", str(path)], check=True)
        return path

    def under_pointer(self) -> str:
        """What the button under the pointer is: a command, a data path or nothing."""
        manager = bpy.context.window_manager
        manager.clipboard = ""
        with bpy.context.temp_override(window=self.window, area=self.area, region=self.sidebar):
            if bpy.ops.ui.copy_python_command_button.poll():
                bpy.ops.ui.copy_python_command_button()
            elif bpy.ops.ui.copy_data_path_button.poll():
                bpy.ops.ui.copy_data_path_button(full_path=True)
        return manager.clipboard

    def find(self, *wanted: str, part: float = 0.43):
        """Find the button whose command or data path has all the wanted pieces in it.

        Looks at what the sidebar shows, then turns the wheel to the top and on
        to the bottom; first down the column where most buttons are, then down
        others.

        Args:
            wanted: pieces of the command or the data path.
            part: the column to look down first, as a share of the sidebar's width.

        Returns:
            (x, y) of the button, with the pointer on it; None if there is none.
        """
        region, began = self.sidebar, monotonic()
        step = round(STEP * bpy.context.preferences.system.ui_scale)
        rows = range(region.y + region.height - 10, region.y + 4, -step)
        pages = [0, -60] + [6] * 12
        for column in dict.fromkeys((part, 0.43, 0.62, 0.82, 0.12)):
            x = region.x + region.width * column
            before = None
            for notches in pages:
                if notches:
                    yield from self.wheel(x, region.y + region.height // 2, notches)
                names = []
                for y in rows:
                    yield from self.move(x, y, GLANCE)
                    yield GLANCE  # whatever came first, the wait or the move
                    names.append(self.under_pointer())
                    if all(piece in names[-1] for piece in wanted):
                        # What a glance saw has to be there still after a redraw.
                        yield 3 * TICK
                        if all(piece in self.under_pointer() for piece in wanted):
                            if self.way is not None:
                                self.way.scrolls += notches != 0
                                self.way.seconds -= monotonic() - began
                            return x, y
                if names == before and notches > 0:
                    break
                before = names
        return None

    def click_button(self, *wanted: str, part: float = 0.43):
        """Find a button as `find` does and click it; return whether there was one."""
        at = yield from self.find(*wanted, part=part)
        if at:
            yield from self.click(*at)
        return at is not None

    # -- the sidebar -----------------------------------------------------------

    def open_sidebar(self):
        """Press N over the viewport."""
        yield from self.move(*self.centre())
        yield from self.press("N")
        yield 0.5

    def choose_tab(self, name: str):
        """Click down the row of tabs until the one called `name` is in front."""
        region = self.sidebar
        x = region.x + region.width - 10
        for y in range(region.y + region.height - 15, region.y, -20):
            if region.active_panel_category == name:
                break
            yield from self.click(x, y)


def panels() -> list:
    """Poise's panels that stand in the sidebar by themselves, in the order of registration."""
    found = [
        cls for cls in bpy.types.Panel.__subclasses__()
        if getattr(cls, "bl_category", "") == "Poise"
    ]
    return [cls for cls in found if not getattr(cls, "bl_parent_id", "")]


def open_only(*names: str) -> None:
    """Let some panels stand open and the others closed in sidebars that are made from now on.

    Args:
        names: of the panels; of parts of panels, those that are to open beside what they do
            by themselves.
    """
    for cls in panels():
        parts = [
            child for child in bpy.types.Panel.__subclasses__()
            if getattr(child, "bl_parent_id", "") == cls.bl_idname
        ]
        for part in reversed([cls, *parts]):
            bpy.utils.unregister_class(part)
        cls.bl_options = set() if cls.bl_idname in names else {"DEFAULT_CLOSED"}
        for part in parts:
            if part.__name__ in names:
                part.bl_options = set()
        for part in (cls, *parts):
            bpy.utils.register_class(part)


def until(done, seconds: float = 40.0):
    """Wait until `done()` holds, at most `seconds`; return whether it does."""
    waited = 0.0
    while not done() and waited < seconds:
        yield 0.2
        waited += 0.2
    return done()


class Report:
    """What held and what did not, one line each, kept as JSON."""

    def __init__(self, path: Path):
        self.path = path
        self.lines = []
        self.began = monotonic()

    def check(self, name: str, passed: bool, seen: object = "") -> None:
        """Note one check; a scenario goes on after a failure."""
        at = round(monotonic() - self.began, 1)
        self.lines.append({"name": name, "passed": bool(passed), "seen": str(seen), "at": at})
        print(f"{at:6.1f} s ", "ok      " if passed else "FAILED  ", name, seen, flush=True)
        self.path.write_text(json.dumps(self.lines, indent=1), encoding="utf-8")


def play(scenario, report: Report) -> None:
    """Play a scenario through timers and quit Blender at its end.

    Args:
        scenario: generator that yields seconds to wait.
        report: where an exception in the scenario is noted.
    """

    def step():
        try:
            return next(scenario)
        except StopIteration:
            report.check("the scenario came to its end", True)
        except BaseException:
            report.check("the scenario came to its end", False, traceback.format_exc())
        bpy.ops.wm.quit_blender()
        return None

    # Persistent: opening a file must not end the scenario.
    bpy.app.timers.register(step, first_interval=1.0, persistent=True)
