# SPDX-License-Identifier: GPL-3.0-or-later
"""Every operator and every setting, over its range and beyond, with random values.

No traceback, no key without a number, and undo brings everything back. A
trial depends on its seed alone:

    POISE_FUZZ_TRIALS   number of trials (12)
    POISE_FUZZ_SEED     seed of the first one (1); the others follow
"""

from __future__ import annotations

import os
import re
import traceback
from collections import Counter

import bpy
import operators_fuzz as fuzz
import snapshot as snapshots
from operators_draw import drawn
from operators_help import UNDO_NOISE, call
from poise.addon import motions
from poise.addon.show import preview

TRIALS = int(os.environ.get("POISE_FUZZ_TRIALS", "12"))
FIRST_SEED = int(os.environ.get("POISE_FUZZ_SEED", "1"))

# What takes long to read and what no operator but one touches: read in some trials only.
HEAVY = {"materials", "meshes", "textures", "images", "brushes", "palettes", "linestyles"}
EVERYTHING_EVERY = 8

LEAST_VALID = 0.4


class Failure(Exception):
    """What must not happen has happened."""


def state(everything: bool) -> dict:
    """A snapshot, without the heavy parts in most trials."""
    left_out = snapshots.LEFT_OUT
    if not everything:
        snapshots.LEFT_OUT = left_out | HEAVY
    try:
        bpy.context.view_layer.update()
        return snapshots.snapshot()
    finally:
        snapshots.LEFT_OUT = left_out


def differences(before: dict, after: dict) -> list[str]:
    """What differs; without what undo does not bring back in Blender itself.

    Where objects are that are outside the view layer or disabled is left over
    from when they were seen last, and undo forgets it: their original has no
    place then, though what is evaluated for others has. A driver that cannot be
    computed gives 0 once and is passed over from then on, until undo or loading
    has it tried again.
    """
    depsgraph = bpy.context.evaluated_depsgraph_get()
    ignore = [*UNDO_NOISE]
    seen = set(bpy.context.view_layer.objects.values())
    for obj in bpy.data.objects:
        if obj.mode == "EDIT" and obj.type == "ARMATURE":
            # The edit bones count; what stands in the bones meanwhile does not.
            ignore.append(rf"^armatures\[.*{re.escape(obj.data.name)}.*\]\.(edit_)?bones")
        name = re.escape(f"objects[{obj.name!r}]")
        if _put_away(obj, seen, depsgraph):
            ignore.append(rf"^{name}\.(matrix_world|matrix_local|dimensions|pose\..*)$")
        elif obj.parent is not None and _put_away(obj.parent, seen, depsgraph):
            # Blender computes it from the parent's place when it is read.
            ignore.append(rf"^{name}\.matrix_local$")
        for curve in obj.animation_data.drivers if obj.animation_data is not None else ():
            if not curve.driver.is_valid:
                ignore.append(rf"^{name}{_either_access(curve.data_path)}$")
    return snapshots.diff(before, after, ignore)


def _put_away(obj, seen, depsgraph) -> bool:
    """Whether Blender does not write back where an object is."""
    return obj not in seen or obj.hide_viewport or not obj.evaluated_get(depsgraph).is_evaluated


def _either_access(path: str) -> str:
    """A pattern for a property of groups, read as an attribute or as a custom property."""
    return "".join(rf"(\.{name}|\['{name}'\])" for name in path.split("."))


def shown(changed: list[str]) -> str:
    """Some changes, those of what is stored before those of what Blender computes from it."""
    computed = snapshots.COMPUTED
    stored = [s for s in changed if not computed.match(s.split(": ")[0].rpartition(".")[2])]
    return f"{len(changed)} changes: " + "; ".join((stored + changed)[:5])


class Run:
    """Counts over all trials."""

    def __init__(self) -> None:
        self.trials = self.baked = self.calls = self.finished = self.checked_undo = 0
        self.refusals: Counter[str] = Counter()
        self.called: Counter[str] = Counter()
        self.by_operator: Counter[str] = Counter()
        self.failures: list[str] = []

    def report(self) -> str:
        lines = [
            f"{self.trials} trials from seed {FIRST_SEED} on Blender {bpy.app.version_string}: "
            f"{self.baked} baked ({100 * self.baked / max(self.trials, 1):.0f} %), "
            f"{self.calls} calls, {self.finished} finished, {self.checked_undo} undone",
            "finished of called: "
            + ", ".join(
                f"{name} {self.by_operator[name]}/{count}"
                for name, count in sorted(self.called.items())
            ),
            f"{sum(self.refusals.values())} refusals:",
        ]
        lines += [f"  {count:5d}  {text}" for text, count in self.refusals.most_common()]
        return "\n".join(lines)


def attempt(run: Run, trial: fuzz.Trial, name: str, arguments: dict, everything: bool) -> bool:
    """Call an operator with an undo step; whether it finished.

    A refusal has to be one sentence, and has to leave everything as it was.
    """
    trial.say(f"bpy.ops.poise.{name}({arguments})")
    run.calls += 1
    run.called[name] += 1
    # Only some refusals are looked at closely: a snapshot takes longer than most calls.
    before = state(everything) if trial.chance(0.25) else None
    try:
        result = call(name)("EXEC_DEFAULT", True, **arguments)
    except RuntimeError as refusal:
        text = str(refusal).strip()
        if "Traceback" in text or "Error: Python" in text:
            raise Failure(text) from None
        if not text or "\n" in text:
            raise Failure(f"not one sentence: {text!r}") from None
        run.refusals[fuzz.template(text)] += 1
        trial.say(f"    {text}")
        if before is not None:
            changed = differences(before, state(everything))
            if changed:
                raise Failure(f"refused, but left {shown(changed)}") from None
        return False
    except (TypeError, ValueError, OverflowError) as error:
        # Blender itself takes no such argument: no operator was called.
        if "converting py args to operator properties" not in str(error):
            raise
        run.refusals["(Blender refuses the argument)"] += 1
        return False
    run.finished += result == {"FINISHED"}
    if result == {"FINISHED"}:
        run.by_operator[name] += 1
    return result == {"FINISHED"}


def undo_all(run: Run, before: dict, steps: int, everything: bool) -> None:
    """Undo as many steps as operators have finished, and compare."""
    for _ in range(steps):
        bpy.ops.ed.undo()
    changed = differences(before, state(everything))
    if changed:
        raise Failure(f"undo left {shown(changed)}")
    run.checked_undo += 1


def one_trial(run: Run, trial: fuzz.Trial) -> None:
    """Random state and settings; a bake, and some other operators, undone again.

    The preview is solved and the panels are drawn with what came out.
    """
    run.trials += 1
    fuzz.begin(trial)
    fuzz.set_scene(trial)
    fuzz.set_settings(trial)
    everything = trial.seed % EVERYTHING_EVERY == 0
    trial.say(f"active {getattr(bpy.context.object, 'name', None)}, mode {bpy.context.mode}")
    # Animation that has not been evaluated yet would be seen as a change.
    now = bpy.context.scene
    now.frame_set(now.frame_current, subframe=now.frame_subframe)
    bpy.ops.ed.undo_push(message="before")
    before = state(everything)
    steps = 0
    if attempt(run, trial, "bake", {}, everything):
        run.baked += 1
        steps += 1
    for _ in range(trial.rng.randint(0, 3)):
        name, arguments = fuzz.random_call(trial)
        finished = attempt(run, trial, name, arguments, everything)
        undoable = "UNDO" in getattr(bpy.types, f"POISE_OT_{name}").bl_options
        steps += finished and undoable
    for motion in fuzz.motions():
        if motions.is_motion(motion) and trial.chance(0.3):
            preview.refresh(bpy.context, motion)
    drawn()
    broken = fuzz.broken_keys()
    if broken:
        raise Failure(f"keys without a number: {broken[:5]}")
    if steps:
        undo_all(run, before, steps, everything)


def test_random_operators_on_random_scenes(scene, tmp_path):
    fuzz.make_files(tmp_path)
    run = Run()
    for seed in range(FIRST_SEED, FIRST_SEED + TRIALS):
        trial = fuzz.start(seed, tmp_path)
        # A crash of Blender leaves no other trace of the seed.
        print(f"seed {seed}", flush=True)
        try:
            one_trial(run, trial)
        except Failure as failure:
            reason = str(failure)
        except Exception:
            reason = traceback.format_exc()
        else:
            continue
        run.failures.append("\n".join((f"seed {seed}", *trial.log, f"FAILED: {reason}")))
        # A long run may be stopped before its end.
        print(run.failures[-1], flush=True)
    print(run.report())
    text = "\n\n".join(run.failures[:10])
    assert not run.failures, f"{len(run.failures)} of {run.trials} trials failed\n\n{text}"
    assert run.baked >= LEAST_VALID * run.trials or run.trials < 20
    assert run.called.keys() == set(fuzz.operators()) or run.trials < 1000
