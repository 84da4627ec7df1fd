# SPDX-License-Identifier: GPL-3.0-or-later
"""The solved motion that the viewport shows, kept until one of its inputs changes.

Nothing here is solved while drawing, and nothing at all in the background.
What changed is noticed after Blender has evaluated the change; a timer that
exists only while there is something to do reads the settings, and a worker
thread solves them if they differ from those of the cached solve. No reference
to Blender's data outlives the timer's call: motions are kept by the identity
that undo does not change.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from time import monotonic

import bpy

from ...solvers.errors import Cancelled
from ...solvers.motion import Problem
from .. import baking, families, motions, pipeline, placement
from ..base_operator import FIXABLE, Work
from ..families.view import Numbers
from ..shots import footprints
from ..ui import preferences

# A solve gets this long before the timer lets Blender draw again, seconds.
SLICE = 0.03

# The timer looks at a worker thread this often, seconds.
POLL = 0.04

# A solve whose settings have changed since is given up only after so long:
# while a slider is dragged, a result that is a moment old is better than none.
PATIENCE = 0.5

# Live Bake waits until nothing has changed for so long, seconds.
LIVE_QUIET = 0.4


@dataclass(frozen=True)
class Status:
    """State of a motion's preview.

    Attributes:
        solved: the solved motion; None while none is there.
        error: one sentence if the settings cannot be solved, or "".
        problems: what the solve found, as lines of the problem list.
        numbers: what the panel says, or None.
        out_of_date: inputs that changed since the bake; empty if none did or
            nothing is baked.
        live_error: why Live Bake could not bake, or "".
        unplanned: the way along the path has not been planned as it is set now.
    """

    solved: pipeline.Solved | None = None
    error: str = ""
    problems: tuple[baking.Listed, ...] = ()
    numbers: Numbers | None = None
    out_of_date: tuple[str, ...] = ()
    live_error: str = ""
    unplanned: bool = False

    @property
    def summary(self) -> tuple[tuple[str, str], ...] | None:
        """Lines for the panel, (what, how much), or None."""
        return None if self.numbers is None else self.numbers.lines()


@dataclass
class _Entry:
    """A cached solve and what it was made from."""

    status: Status = field(default_factory=Status)
    job: pipeline.Job | None = None
    digests: dict[str, str] | None = None
    stale: bool = True
    uses: frozenset[int] = frozenset()
    scene_state: tuple = ()
    live: bool = False  # whether Live Bake was on when last read
    tried: dict[str, str] | None = None  # inputs that Live Bake leaves alone (from now on)
    touched: tuple = ()  # footprint objects as the animator has moved them, not adapted to yet
    left: tuple = ()  # those that Live Bake leaves alone
    by_undo: bool = True  # it is undo, or a file, that brought the inputs to be read next


@dataclass
class _Solving:
    """The one solve that is under way."""

    key: tuple[int, int]
    job: pipeline.Job
    work: Work
    started: float


_entries: dict[tuple[int, int], _Entry] = {}
_solving: _Solving | None = None
_busy = False  # this module itself is reading or baking
_changed_at = 0.0

_NOTHING = Status()


# -- what panels and the overlay ask for ---------------------------------------


def _key(scene: bpy.types.Scene, motion: bpy.types.Object) -> tuple[int, int]:
    return scene.session_uid, motion.session_uid


def status(motion: bpy.types.Object, scene: bpy.types.Scene | None = None) -> Status:
    """State of a motion's preview; asks for a solve if there is none yet.

    Args:
        motion: the Motion object.
        scene: the scene that it is previewed in; None is the context's.
    """
    entry = _entries.get(_key(scene or bpy.context.scene, motion))
    if entry is None or entry.stale:
        request()
    return _NOTHING if entry is None else entry.status


def problems(
    motion: bpy.types.Object, scene: bpy.types.Scene | None = None
) -> tuple[baking.Listed, ...]:
    """The problem list: what the latest solve found, and what its bake did besides.

    Where nothing is solved, as in the background, it is what bake, plan or check left. Nothing
    of it is written into the file.

    Args:
        motion: the Motion object.
        scene: the scene that it is previewed in; None is the context's.
    """
    state, stored = status(motion, scene), baking.stored_problems(motion)
    if state.solved is None and not state.error:
        return stored
    found = state.problems
    if state.error and not found:
        found = (baking.Listed("", state.error, "ERROR"),)
    settings = motion.poise_motion
    if state.out_of_date or state.error or not (settings.record or settings.bones.record):
        return found
    return baking.in_order((*found, *stored))


def solved_for(
    motion: bpy.types.Object, scene: bpy.types.Scene | None = None
) -> pipeline.Solved | None:
    """The latest solve of a motion, or None while there is none.

    Args:
        motion: the Motion object.
        scene: the scene that it is previewed in; None is the context's.
    """
    return status(motion, scene).solved


def request() -> None:
    """Ask for a look at what has to be solved, soon. Cheap; safe while drawing."""
    if bpy.app.background or bpy.app.timers.is_registered(_tick):
        return
    settings = preferences.get(bpy.context)
    delay = settings.preview_delay if settings is not None else 0.05
    bpy.app.timers.register(_tick, first_interval=delay)


def refresh(context: bpy.types.Context, motion: bpy.types.Object) -> Status:
    """Bring a motion's preview up to date now, whatever else happens.

    Args:
        context: Blender's context; its scene counts.
        motion: the Motion object.
    """
    entry = _entries.setdefault(_key(context.scene, motion), _Entry())
    if _read(context, motion, entry):
        _store(entry, entry.job, _result(entry.job), "")
    return entry.status


def keep(context: bpy.types.Context, motion: bpy.types.Object, solved: pipeline.Solved) -> None:
    """Show what was just planned.

    Args:
        context: Blender's context; its scene counts.
        motion: the Motion object.
        solved: its solved job.
    """
    entry = _entries.setdefault(_key(context.scene, motion), _Entry())
    entry.stale = True
    entry.by_undo = False
    entry.digests = pipeline.digests(solved.job)
    entry.status = replace(
        entry.status,
        solved=solved,
        error="",
        problems=_lines(solved.job, solved.problems),
        numbers=families.view_of(solved.job).numbers(solved),
        unplanned=False,
    )
    request()
    _redraw()


def _lines(job: pipeline.Job, found: Iterable[Problem]) -> tuple[baking.Listed, ...]:
    return baking.listed(found, job.start_frame, job.numbers.fps)


def _result(job: pipeline.Job):
    try:
        return pipeline.solve(job)
    except FIXABLE as error:
        return error


# -- noticing changes ----------------------------------------------------------


def on_depsgraph_update(depsgraph: bpy.types.Depsgraph) -> None:
    """Mark what an evaluated change makes stale.

    Args:
        depsgraph: the dependency graph that was evaluated.
    """
    global _changed_at
    if bpy.app.background or _busy:
        return
    updated = set()
    scenes = []
    for update in depsgraph.updates:
        original = update.id.original
        updated.add(original.session_uid)
        if isinstance(original, bpy.types.Scene):
            scenes.append(original)
    stale = False
    for entry in _entries.values():
        if entry.uses & updated:
            entry.stale = stale = True
    for scene in scenes:
        for key, entry in _entries.items():
            if key[0] == scene.session_uid and entry.scene_state != _scene_state(scene):
                entry.stale = stale = True
    if stale:
        _changed_at = monotonic()
    # A scene is updated, too, when another object becomes the active one.
    if stale or scenes:
        request()


def on_undo() -> None:
    """Everything may have changed."""
    global _changed_at
    for entry in _entries.values():
        entry.stale = entry.by_undo = True
    _changed_at = monotonic()
    request()


def reset() -> None:
    """Forget everything: another file, or Poise is disabled."""
    _stop()
    _entries.clear()
    if bpy.app.timers.is_registered(_tick):
        bpy.app.timers.unregister(_tick)


def _scene_state(scene: bpy.types.Scene) -> tuple:
    """What of a scene goes into a solve."""
    units = scene.unit_settings
    return (
        scene.render.fps, scene.render.fps_base, scene.frame_start, scene.frame_end,
        scene.use_preview_range, scene.frame_preview_start, scene.frame_preview_end,
        scene.use_gravity, *scene.gravity, units.system, units.scale_length,
    )


def _used(motion: bpy.types.Object) -> frozenset[int]:
    """Identities of everything whose change may change a motion.

    Motions of one character that continue each other are solved together.
    """
    used: list[bpy.types.ID] = [motion]
    character = motion.poise_motion.character
    if character is not None:
        together = motions.motions_of(character)
        used += [character, character.data, *together]
        used += [rig for rig in baking.rigs_of(motion) if rig is not None]
        for other in together:
            used += _led_by(other)
            if other.poise_motion.live_bake:
                used += footprints.objects_of(other)
    for data in [item.animation_data for item in used if isinstance(item, bpy.types.Object)]:
        if data is not None:
            strips = [strip for track in data.nla_tracks for strip in track.strips]
            actions = [data.action, *(strip.action for strip in strips)]
            used += [action for action in actions if action is not None]
    return frozenset(item.session_uid for item in used if item is not None)


def _led_by(motion: bpy.types.Object) -> list[bpy.types.ID]:
    """Path, terrain and whatever else leads a motion, with what they are made of."""
    found: list[bpy.types.ID | None] = []
    for item in families.led_by(motion):
        found.append(item)
        if isinstance(item, bpy.types.Object):
            found += [item.data, item.parent]
    return [item for item in found if item is not None]


@contextmanager
def _deaf() -> Iterator[None]:
    """Changes made inside are this module's own: none of them marks anything stale."""
    global _busy
    former, _busy = _busy, True
    try:
        yield
    finally:
        _busy = former


# -- the timer -----------------------------------------------------------------


def _tick() -> float | None:
    """One step of bringing shown motions up to date; None when all are."""
    if _solving is not None:
        waiting = _wait_for_solve()
        if waiting is not None:
            return waiting
    playing = any(w.screen is not None and w.screen.is_animation_playing for w in _windows())
    for window in _windows():
        with bpy.context.temp_override(window=window):
            for motion in _shown(bpy.context):
                entry = _entries.setdefault(_key(window.scene, motion), _Entry())
                if not entry.stale:
                    continue
                if _needs_evaluation(motion) and (playing or _rendering()):
                    return 0.5  # reading driven settings means stepping through frames
                if _read(bpy.context, motion, entry):
                    _start(_key(window.scene, motion), entry)
                    return _wait_for_solve() or POLL
                _redraw()
    _drop_dead()
    if _live_wanted():
        if monotonic() - _changed_at < LIVE_QUIET or playing or _rendering() or _in_the_middle():
            return 0.2
        # What was adapted to is read, solved and baked next.
        return POLL if _live_bake() else None
    return None


def _windows() -> list[bpy.types.Window]:
    manager = bpy.context.window_manager
    return list(manager.windows) if manager is not None else []


def _rendering() -> bool:
    return bpy.app.is_job_running("RENDER")


def _needs_evaluation(motion: bpy.types.Object) -> bool:
    """Whether settings are driven or blended by the NLA, objects move, or what plays below has
    to be read, so that frames have to be stepped.

    So may be those of a motion that this one continues or lies on.
    """
    character = motion.poise_motion.character
    together = motions.motions_of(character) if character is not None else [motion]
    animated = [item.animation_data for item in together if item.animation_data is not None]
    things = [
        item
        for other in together
        for item in families.led_by(other)
        if isinstance(item, bpy.types.Object)
    ]
    return any(len(data.drivers) > 0 or len(data.nla_tracks) > 0 for data in animated) or any(
        placement.moves(obj) or obj.type == "ARMATURE" for obj in (*together, *things)
    ) or placement.moves(character) or any(families.lies(other) for other in together)


def _in_the_middle() -> bool:
    """Whether the animator is in the middle of an operator (moving, transforming)."""
    return any(len(window.modal_operators) for window in _windows())


def _shown(context: bpy.types.Context) -> list[bpy.types.Object]:
    """Motions whose numbers or preview a window shows: of the selected characters."""
    if context.view_layer is None:
        return []
    active = motions.active_character(context)
    rigs = {motions.character_of(obj) for obj in context.view_layer.objects.selected}
    rigs = [active, *(rigs - {active})]
    # One look at all objects, however many rigs of other kinds are selected.
    moved = {obj.poise_motion.character for obj in bpy.data.objects if motions.is_motion(obj)}
    return [motions.active_motion(rig) for rig in rigs if rig is not None and rig in moved]


def _read(context: bpy.types.Context, motion: bpy.types.Object, entry: _Entry) -> bool:
    """Read a motion's inputs; whether they have to be solved anew."""
    entry.stale = False
    entry.uses = _used(motion)
    entry.scene_state = _scene_state(context.scene)
    try:
        with _deaf():
            job = pipeline.gather(context, motion)
    except FIXABLE as error:
        entry.job, entry.digests = None, None
        entry.status = Status(error=str(error))
        return False
    except Exception as error:
        # A defect: shown once in the panel and, raised, in the console, instead
        # of at every redraw.
        entry.job, entry.digests = None, None
        entry.status = Status(error=f"The preview failed: {error}")
        raise
    digests = pipeline.digests(job)
    out_of_date = baking.changed_since(motion, job)
    same = digests == entry.digests
    entry.job, entry.digests = job, digests
    live = motion.poise_motion.live_bake
    entry.touched = footprints.touched(motion, job.numbers.unit_scale) if live else ()
    _mind_live_bake(entry, live)
    # A search that may take long is made when it is asked for.
    planned = same and not entry.status.unplanned
    unplanned = not planned and not job.is_planned
    entry.status = replace(
        entry.status,
        out_of_date=out_of_date,
        unplanned=unplanned,
        error="" if unplanned else entry.status.error,
    )
    return not unplanned and (not same or entry.status.solved is None)


def _start(key: tuple[int, int], entry: _Entry) -> None:
    global _solving
    _solving = _Solving(key, entry.job, Work(pipeline.solve, entry.job), monotonic())


def _wait_for_solve() -> float | None:
    """Seconds to wait for the solve under way, or None when it has been stored."""
    global _solving
    entry = _entries.get(_solving.key)
    outdated = entry is None or entry.stale
    if outdated and monotonic() - _solving.started > PATIENCE:
        _stop()
        return None
    if not _solving.work.wait(SLICE):
        return POLL
    done, _solving = _solving, None
    if entry is None:
        return None
    _store(entry, done.job, done.work.error or done.work.result, "")
    _redraw()
    if done.work.error is not None and not isinstance(done.work.error, FIXABLE):
        raise done.work.error
    return None


def _stop() -> None:
    global _solving
    if _solving is None:
        return
    _solving.work.stop()
    entry = _entries.get(_solving.key)
    if entry is not None:
        entry.stale, entry.digests = True, None
    _solving = None


def _store(entry: _Entry, job: pipeline.Job, result, live_error: str) -> None:
    """Keep a solve, or the error it ended with."""
    if isinstance(result, Cancelled):
        return
    if isinstance(result, BaseException):
        text = str(result) if isinstance(result, FIXABLE) else f"The preview failed: {result}"
        found = result.problems if isinstance(result, pipeline.NoMotion) else ()
        entry.status = Status(
            error=text, problems=_lines(job, found), out_of_date=entry.status.out_of_date
        )
        return
    entry.status = Status(
        solved=result,
        problems=_lines(job, result.problems),
        numbers=families.view_of(result.job).numbers(result),
        out_of_date=entry.status.out_of_date,
        live_error=live_error,
    )


def _drop_dead() -> None:
    """Forget motions and scenes that are gone."""
    alive = {obj.session_uid for obj in bpy.data.objects if obj.type == "EMPTY"}
    scenes = {scene.session_uid for scene in bpy.data.scenes}
    for key in [key for key in _entries if key[0] not in scenes or key[1] not in alive]:
        del _entries[key]


def _redraw() -> None:
    for window in _windows():
        for area in window.screen.areas if window.screen is not None else ():
            if area.type in ("VIEW_3D", "GRAPH_EDITOR"):
                area.tag_redraw()


# -- Live Bake -----------------------------------------------------------------
#
# Each live bake is an undo step. (Without one, undo would leave the later keys
# in an action that it finds unchanged between two steps, beside the earlier
# record of the bake.) What undo brings back is therefore never baked by
# itself: undo would not get past it.


def _mind_live_bake(entry: _Entry, live: bool) -> None:
    """Note after reading a motion which inputs Live Bake has to leave alone."""
    if entry.by_undo:
        entry.tried, entry.left = entry.digests, entry.touched
    elif live and not entry.live:
        entry.tried = None
    entry.by_undo, entry.live = False, live


def bake() -> None:
    """Bake the context's motions: whoever registers the operators puts theirs here."""
    raise NotImplementedError


def adapt() -> None:
    """Adapt the context's motion to its footprint objects: from the same place."""
    raise NotImplementedError


def _to_adapt(motion: bpy.types.Object, entry: _Entry) -> bool:
    """Whether footprints were moved since Live Bake last looked, and may be adapted to."""
    character = motion.poise_motion.character
    mine = character is not None and motions.active_character(bpy.context) == character
    return mine and bool(entry.touched) and entry.touched != entry.left


def _live_wanted() -> list[tuple[bpy.types.Window, bpy.types.Object, _Entry]]:
    """What Live Bake has to bake: baked once, and changed since, or stepped elsewhere."""
    found = []
    for window in _windows():
        with bpy.context.temp_override(window=window):
            for motion in _shown(bpy.context):
                settings = motion.poise_motion
                entry = _entries.get(_key(window.scene, motion))
                if entry is None or not settings.live_bake or not settings.inputs:
                    continue
                if entry.status.solved is None:
                    continue
                changed = entry.tried != entry.digests and entry.status.out_of_date
                if changed or _to_adapt(motion, entry):
                    found.append((window, motion, entry))
    return found


def _live_bake() -> bool:
    """Bake what changed, once for each state of the settings: a refusal is not repeated.

    Returns:
        Whether instead something was adapted to its footprints first.
    """
    adapted = False
    for window, motion, entry in _live_wanted():
        error = ""
        with bpy.context.temp_override(window=window), _deaf():
            adapting = _to_adapt(motion, entry)
            entry.left = entry.touched
            if not adapting:
                entry.tried = entry.digests
            try:
                (adapt if adapting else bake)()
            except RuntimeError as refused:
                error = str(refused).strip().removeprefix("Error: ")
            else:
                bpy.ops.ed.undo_push(message="Adapt" if adapting else "Live Bake")
                entry.stale = entry.stale or adapting
                adapted = adapted or adapting
            out_of_date = baking.changed_since(motion, entry.job)
        entry.status = replace(entry.status, live_error=error, out_of_date=out_of_date)
    _redraw()
    return adapted
