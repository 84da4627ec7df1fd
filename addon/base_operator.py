# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather, solve, apply, report: once, for every operator that solves a motion.

`gather` reads Blender, `solve` is pure, `apply` writes. From a script or in
the background `execute` runs them one after the other. From the window a
solve that takes longer than a moment runs in a worker thread under a modal
timer; what has to be read out of Blender afterwards is read in steps in the main
thread. Esc stops both, and a cancelled operator has changed nothing. What is then written
is written at once, or, where there is much of it, in steps too: Esc keeps what is done by then.
"""

from __future__ import annotations

import threading
from math import isfinite
from time import monotonic

import bpy

from ..solvers.errors import Cancelled, SettingError
from .context import let_undo_see
from .errors import UserError
from .steps import Steps, finish
from .texts import tr

# What the animator can put right; everything else is a defect and is shown.
FIXABLE = (UserError, SettingError)

# How long steps in the main thread go on before the window gets its turn.
SLICE = 0.04

# A solve that is done within this time never becomes modal.
PATIENCE = 0.25


def require_numbers(operator) -> None:
    """Refuse options that a script set to no number: Blender limits only numbers.

    Args:
        operator: an operator that runs.

    Raises:
        UserError: one of its options is not finite.
    """
    for prop in operator.properties.rna_type.properties:
        if prop.type != "FLOAT":
            continue
        value = getattr(operator, prop.identifier)
        for number in value if prop.is_array else (value,):
            if not isfinite(number):
                raise UserError(f"{prop.name} is {number}: it must be a number")


def one_line(text: str) -> str:
    """A report in the interface's language, without line breaks: names of objects, set by
    scripts, may hold some.

    Args:
        text: a sentence.
    """
    return tr(" ".join(text.split()))


class SettingsOperator:
    """Mixin for operators that do their work in `run` and report its sentence."""

    bl_options = {"REGISTER", "UNDO"}

    def run(self, context) -> str:
        """Do the work; return a sentence for the report.

        Args:
            context: Blender's context.

        Raises:
            UserError: the animator has to put something right.
        """
        raise NotImplementedError

    def execute(self, context):
        try:
            require_numbers(self)
            message = self.run(context)
        except FIXABLE as error:
            self.report({"ERROR"}, one_line(str(error)))
            return {"CANCELLED"}
        let_undo_see(context)
        if message:
            self.report({"INFO"}, one_line(message))
        return {"FINISHED"}


class ByMenu:
    """Mixin for operators with a `kind`, which a menu asks for where they are called without."""

    menu = ""

    def invoke(self, context, _event):
        if context.window is None or self.properties.is_property_set("kind"):
            return self.execute(context)
        bpy.ops.wm.call_menu(name=self.menu)
        return {"CANCELLED"}


class Work:
    """A pure call in a worker thread, with progress and a way to stop it."""

    def __init__(self, function, job) -> None:
        self.fraction = 0.0
        self.result = None
        self.error: BaseException | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._call, args=(function, job), daemon=True)
        self._thread.start()

    def _call(self, function, job) -> None:
        try:
            self.result = function(job, self._progress)
        except Exception as error:  # handed to the main thread, which reports or raises it
            self.error = error

    def _progress(self, fraction: float) -> None:
        self.fraction = fraction
        if self._stop.is_set():
            raise Cancelled

    def wait(self, seconds: float) -> bool:
        """Wait at most some seconds; True when the work is done."""
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def stop(self) -> None:
        """Ask the work to stop and wait until it has."""
        self._stop.set()
        self._thread.join()


class SolvingOperator:
    """Mixin for operators that solve; see the module's docstring."""

    bl_options = {"REGISTER", "UNDO"}

    # Share of the whole that `solve` takes where there is something to prepare.
    solving = 0.5

    _work: Work | None = None
    _steps: Steps | None = None
    _writing: Steps[str] | None = None
    _prepared = 0.0
    _timer = None
    _ready = False

    def gather(self, context):
        """Read everything the solve needs out of Blender; returns the job."""
        raise NotImplementedError

    def solve(self, job, progress):
        """The pure part; `progress(fraction)` may raise `Cancelled`."""
        raise NotImplementedError

    def prepare(self, context, job, result) -> Steps:
        """Steps that read what `apply` needs besides; they return its `result`."""
        yield from ()
        return result

    def apply(self, context, job, result) -> str:
        """Write the result into Blender; returns a sentence for the report."""
        raise NotImplementedError

    def writing(self, context, job, result) -> Steps[str]:
        """Steps in which `apply` is done; `Cancelled`, thrown into them, ends them early."""
        yield from ()
        return self.apply(context, job, result)

    def execute(self, context):
        try:
            require_numbers(self)
            job = self.gather(context)
            result = finish(self.prepare(context, job, self.solve(job, _ignore)))
            return self._told(context, finish(self.writing(context, job, result)))
        except FIXABLE as error:
            return self._refused(error)

    def invoke(self, context, event):
        try:
            require_numbers(self)
            self._job = self.gather(context)
        except FIXABLE as error:
            return self._refused(error)
        self._work = Work(self.solve, self._job)
        self._steps = self._writing = None
        if self._go_on(context, PATIENCE):
            ended = self._write(context, PATIENCE)
            if ended is not None:
                return ended
        manager = context.window_manager
        self._timer = manager.event_timer_add(0.05, window=context.window)
        manager.progress_begin(0, 100)
        manager.modal_handler_add(self)
        self._started = monotonic()
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if event.type == "ESC" and event.value == "PRESS":
            if self._writing is not None:
                return self._write(context, stopped=True)
            self._stop()
            self._end_modal(context)
            self.report({"INFO"}, one_line("Cancelled: nothing was changed"))
            return {"CANCELLED"}
        if event.type != "TIMER":
            # Settings changed half-way would not be those that are solved.
            return {"RUNNING_MODAL"}
        if self._ready or self._writing is not None:
            return self._write(context) or {"RUNNING_MODAL"}
        # What is done is written at the next turn: Esc pressed until now is heard before it.
        self._ready = self._go_on(context, SLICE)
        twice = type(self).prepare is not SolvingOperator.prepare
        percent = (100 * self.solving if twice else 100) * self._work.fraction
        if self._steps is not None:
            percent = 100 * (self.solving + (1.0 - self.solving) * self._prepared)
        context.window_manager.progress_update(percent)
        spent = monotonic() - self._started
        left = spent * (100.0 - percent) / percent if percent > 2.0 else 0.0
        told = f", about {left:.0f} s left" if spent > 1.0 and left >= 1.0 else ""
        context.workspace.status_text_set(tr(f"Poise: {percent:.0f} %{told}  (Esc cancels)"))
        return {"RUNNING_MODAL"}

    def _go_on(self, context, seconds: float) -> bool:
        """Solve and prepare for some time; True when there is nothing left to do."""
        until = monotonic() + seconds
        work = self._work
        if self._steps is None:
            if not work.wait(seconds):
                return False
            if work.error is not None:
                return True
            self._steps = self.prepare(context, self._job, work.result)
        try:
            while True:
                self._prepared = next(self._steps)
                if monotonic() >= until:
                    return False
        except StopIteration as done:
            work.result = done.value
        except FIXABLE as error:
            work.error = error
        return True

    def _stop(self) -> None:
        """Leave neither thread nor half-done steps behind."""
        if self._work is not None:
            self._work.stop()
        for steps in (self._steps, self._writing):
            if steps is not None:
                steps.close()
        self._steps = self._writing = None

    def cancel(self, context):
        """Blender closes the operator (file load, quit)."""
        self._stop()
        self._end_modal(context)

    def _end_modal(self, context) -> None:
        if self._timer is None:
            return
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        if context.workspace is not None:
            context.workspace.status_text_set(None)
        self._timer = None

    def _write(self, context, seconds: float = SLICE, stopped: bool = False):
        """Write for some time, or end it; what the operator returns, or None to go on."""
        until = monotonic() + seconds
        try:
            if self._writing is None:
                work, self._work, self._steps = self._work, None, None
                if work.error is not None:
                    raise work.error
                self._writing = self.writing(context, self._job, work.result)
            if stopped:
                self._writing.throw(Cancelled)
            while stopped or monotonic() < until:
                next(self._writing)
        except StopIteration as done:
            self._end_modal(context)
            return self._told(context, done.value)
        except BaseException as error:
            self._end_modal(context)
            if not isinstance(error, FIXABLE):
                raise
            return self._refused(error)
        context.workspace.status_text_set(tr("Poise: writing keys  (Esc stops)"))
        return None

    def _told(self, context, message: str) -> set[str]:
        let_undo_see(context)
        self.report({"INFO"}, one_line(message))
        return {"FINISHED"}

    def _refused(self, error: Exception) -> set[str]:
        self.report({"ERROR"}, one_line(str(error)))
        return {"CANCELLED"}


def _ignore(fraction: float) -> None:
    """Progress of a blocking run: nobody watches."""
