# SPDX-License-Identifier: GPL-3.0-or-later
"""What a legged motion could not do as asked: one sentence each, with leg, step and time."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence

import numpy as np

from ..motion import Problem, told_apart
from .body import Rise
from .edits import FootprintEdit
from .footholds import MOVED, NO_GROUND, TOO_HIGH, Footholds
from .gait import spoken_gait, spoken_leg
from .steps import GaitChange, GaitPlan, Steps, spans_of
from .support import share_down, support_profile

WAY_OFF = 0.5  # hip heights off the path that are worth a line
PUSHED_ALOFT = 0.02  # s for which a body is pushed with no foot down that are
HIGH_JUMP = 0.4  # hip heights of a jump that are
DEEP_CROUCH = 0.1  # hip heights by which hips sink that are
HURRIES, DAWDLES = 1.2, 2.0  # beyond the usual speeds of a gait by which factors it is told
TURN_SHOWS = 0.5  # of what a body turns in a stride: shorter turns beyond it are spread out unseen
UNUSUAL_FOR = 1.0  # s for which it has to be
CREEPS = 0.05  # sqrt(g hip height): slower than that it comes to a stand, or starts from one


def changes_of_gait(
    plans: Sequence[GaitPlan], changes: Sequence[GaitChange], end: float
) -> list[Problem]:
    """Gaits that begin late, or never.

    Args:
        plans: the gaits.
        changes: how they were changed.
        end: of the motion, s.

    Returns:
        The problems.
    """
    found = []
    for before, change in zip((None, *changes), changes, strict=False):
        late = change.start - change.wanted
        begins, wanted = told_apart(change.start, change.wanted, 2, " s")
        stride = 1.0 / max(float(plans[change.gait - 1].clock.rate(change.wanted)), 1e-9)
        busy = before is not None and before.end > change.wanted
        if late > 1.5 * stride:
            found.append(Problem(
                code="GAIT_DELAYED",
                message=f"Gait {change.gait + 1} ({spoken_gait(plans[change.gait].gait.name)}) "
                f"begins at {begins} instead of {wanted}: until then the "
                + ("legs are still changing into " if busy else "legs have not come around in ")
                + spoken_gait(plans[change.gait - 1].gait.name),
                severity="INFO", time=change.wanted, amount=late,
                remedy="Let gaits begin further apart" if busy
                else "Let the gait begin earlier, or go faster there",
            ))
    for number in range(len(changes) + 1, len(plans)):
        start = plans[number].start
        name = spoken_gait(plans[number].gait.name)
        if start < end:
            found.append(Problem(
                code="GAIT_LOST",
                message=f"Gait {number + 1} ({name}) never begins: "
                "the motion ends, or the animal stands, before its legs have come around",
                time=max(start, 0.0), remedy="Begin it earlier, or keep the animal moving",
            ))
        else:
            found.append(Problem(
                code="GAIT_LOST",
                message=f"Gait {number + 1} ({name}) never begins: the motion ends before",
                severity="INFO", time=end, remedy="Set a longer Range, or begin it earlier",
            ))
    return found


def unusual_speeds(
    plans: Sequence[GaitPlan],
    changes: Sequence[GaitChange],
    time: np.ndarray,
    speed: np.ndarray,
    hip: float,
    gravity: float,
) -> list[Problem]:
    """Gaits that go on much slower or faster than animals of that size use them.

    Args:
        plans: the gaits.
        changes: the changes that came about.
        time: (n,) s.
        speed: (n,) along the path, m/s.
        hip: height of the hips, m.
        gravity: m/s^2.

    Returns:
        The problems, one for each gait.
    """
    found = []
    for number, start, end in spans_of(changes, math.inf):
        gait = plans[number].gait
        low, high = gait.usual_speeds(hip, gravity)
        here = (time >= start) & (time <= end)
        least, most = low / DAWDLES, high * HURRIES
        creeps = CREEPS * math.sqrt(gravity * hip)
        for bad, worst in (
            (here & (speed > most), np.argmax),
            (here & (speed < least) & (speed > creeps), np.argmin),
        ):
            runs = np.flatnonzero(np.diff(np.concatenate(([False], bad, [False]))))
            lasts = [
                (float(time[last - 1] - time[first]), first, last)
                for first, last in zip(runs[::2], runs[1::2], strict=True)
            ]
            longest, first, last = max(lasts, default=(0.0, 0, 0))
            if longest < UNUSUAL_FOR:
                continue
            k = first + int(worst(speed[first:last]))
            usual = f"{low:.1f} to {high:.1f}" if high < math.inf else f"{low:.1f} and more"
            found.append(Problem(
                code="GAIT_SPEED",
                message=f"Gait {number + 1} ({spoken_gait(gait.name)}) goes at {speed[k]:.1f} m/s "
                f"at {time[k]:.2f} s: animals of this size use it at {usual} m/s",
                severity="INFO", time=float(time[first]), end_time=float(time[last - 1]),
                amount=float(speed[k]),
                remedy="Another gait from there on, another speed, or gaits By Speed",
            ))
    return found


def stroke_limited(gait: str, leg: str, time: float, stroke: float, room: float) -> Problem:
    """A stroke that is longer than a leg reaches.

    Args:
        gait: its name.
        leg: name of the leg.
        time: from when on, s.
        stroke: m.
        room: what it is shortened to, m.

    Returns:
        The problem.
    """
    return Problem(
        code="STROKE_LIMITED",
        message=f"Gait {spoken_gait(gait)} is too long for the {spoken_leg(leg)} from {time:.2f} s "
        f"on: its stroke of {stroke:.2f} m is shortened to {room:.2f} m, and its steps come "
        "quicker",
        time=time,
        amount=room,
        remedy="Go slower, or use a gait with a smaller duty factor or stroke",
    )


def strides_shortened(
    start: float,
    end: float,
    time: float,
    stride: float,
    share: float,
    hurry: float,
    speed: float,
    wanted: float,
    stairs: bool,
) -> Problem:
    """Strides that are shorter than the gait has them, so that legs reach, or to match stairs.

    Args:
        start: from when, s.
        end: until when, s.
        time: when they are shortest, s.
        stride: how long they are then, m.
        share: that this is of the usual one.
        hurry: how much more often than usual they come.
        speed: of the body then, m/s.
        wanted: what it should be, m/s.
        stairs: whether there are stairs.

    Returns:
        The problem.
    """
    slower = wanted - speed > 0.01 * wanted
    goes, usual = told_apart(speed, wanted, 2, " m/s")
    return Problem(
        code="STRIDES_SHORTENED",
        message=f"Strides are shorter from {start:.2f} to {end:.2f} s, "
        + ("to match the stairs and to reach" if stairs else "so that legs reach") + f": at "
        f"{time:.2f} s they are {stride:.2f} m, {100.0 * share:.0f} % of the gait's, and come "
        f"{hurry:.1f} times as often"
        + (f"; the body goes at {goes} instead of {usual}" if slower else ""),
        severity="WARNING" if slower else "INFO", time=start, end_time=end, amount=share,
        remedy="Go slower there, or turn Match Stairs off" if stairs else
        "Go slower there, choose more even ground or a wider bend, or allow more Crouch",
    )


def slowed_by_steps(start: float, end: float, time: float, rise: float, hurry: float) -> Problem:
    """Strides that come more slowly, so that the body is not thrown up or down a high step.

    Args:
        start: from when, s.
        end: until when, s.
        time: when they are slowest, s.
        rise: height of the step between two feet on the ground, m.
        hurry: how often they come then, against the gait's.

    Returns:
        The problem.
    """
    return Problem(
        code="STEP_SLOWED",
        message=f"The body goes more slowly from {start:.2f} to {end:.2f} s, to get over steps of "
        f"up to {rise:.2f} m: at {time:.2f} s strides come {hurry:.1f} times as often as usual",
        severity="INFO", time=start, end_time=end, amount=hurry,
        remedy="Lower steps, or less speed",
    )


def short_transfers(
    steps: Steps, plans: Sequence[GaitPlan], names: Sequence[str], end: float
) -> list[Problem]:
    """Legs that swing quicker than they can: one line for each gait.

    Args:
        steps: the steps.
        plans: the gaits.
        names: of the legs.
        end: of the motion, s.

    Returns:
        The problems.
    """
    found: dict[int, Problem] = {}
    for leg, name in enumerate(names):
        own = steps.of(leg)
        off, on = steps.off[own][:-1], steps.on[own][1:]
        least = np.array([plan.least for plan in plans])[steps.gait[own][1:]]
        short = (on - off < least - 1e-9) & (on > 0.0) & (off < end)
        for k in np.flatnonzero(short):
            number = int(steps.gait[own][k + 1])
            gait = spoken_gait(plans[number].gait.name)
            if number in found:
                continue
            found[number] = Problem(
                code="TRANSFER_SHORT",
                message=f"Step {steps.index[own][k + 1]} of the {spoken_leg(name)} at {on[k]:.2f} "
                f"s swings for {on[k] - off[k]:.3f} s in gait {gait}, less than "
                f"the {least[k]:.3f} s that a leg of its size needs",
                time=float(off[k]), end_time=float(on[k]), amount=float(on[k] - off[k]),
                remedy="Go slower, lengthen the stroke, or lower the duty factor",
            )
    return list(found.values())


def edit_lost(edit: FootprintEdit) -> Problem:
    """An edit of a step that is no more.

    Args:
        edit: the edit.

    Returns:
        The problem.
    """
    return Problem(
        code="EDIT_LOST",
        message=f"The edit of step {edit.index} of the {spoken_leg(edit.leg)} is lost: there is no "
        "such step any more",
        amount=float(edit.index),
        remedy="Delete the edit, or go on for longer",
    )


def edit_time(
    leg: str,
    index: int,
    wanted: tuple[float, float],
    given: tuple[float, float],
    left_out: Collection[str] = (),
) -> Problem:
    """An edit of times that the steps before and after it do not allow.

    Args:
        leg: name of the leg.
        index: number of its step.
        wanted: touchdown and liftoff, s.
        given: what they are, s.
        left_out: "on" or "off" if just the touchdown, or the liftoff, is not taken.

    Returns:
        The problem.
    """
    step = f"Step {index} of the {spoken_leg(leg)}"
    if "on" in left_out:
        late = wanted[0] >= given[1]
        message = f"{step} cannot touch down at {wanted[0]:.2f} s" + (
            f", when it lifts off at {given[1]:.2f} s" if late
            else ": the step before it leaves no time"
        ) + f"; its touchdown stays at {given[0]:.2f} s"
    elif "off" in left_out:
        early = wanted[1] <= given[0]
        message = f"{step} cannot lift off at {wanted[1]:.2f} s" + (
            f", when it touches down at {given[0]:.2f} s" if early
            else ": the step after it leaves no time"
        ) + f"; its liftoff stays at {given[1]:.2f} s"
    else:
        message = (
            f"{step} cannot be on the ground from {wanted[0]:.2f} to {wanted[1]:.2f} s: with the "
            f"steps before and after it, it is from {given[0]:.2f} to {given[1]:.2f} s"
        )
    return Problem(
        code="EDIT_TIME",
        message=message,
        time=given[0],
        remedy="Move the steps before and after it too",
    )


def times_kept(count: int) -> Problem:
    """Edits of times that are not made because the timing is locked.

    Args:
        count: how many.

    Returns:
        The problem.
    """
    return Problem(
        code="EDIT_LOCKED",
        message=f"The times of {count} edited footprints stay as they are: Keep Timing is on",
        severity="INFO",
        amount=float(count),
        remedy="Turn Keep Timing off",
    )


def edits_reattached(count: int, time: float | None = None) -> Problem:
    """Edits that go with steps that are elsewhere, or at other times, than they were.

    Args:
        count: how many.
        time: when the body is elsewhere, s; None if it is not known.

    Returns:
        The problem.
    """
    return Problem(
        code="EDITS_MOVED",
        message=f"The motion has changed since its footprints were edited: {count} edits are "
        "attached to the same steps of the same legs as they are now",
        severity="INFO",
        time=time,
        amount=float(count),
        remedy="Look at the edited footprints, and reset those that are no longer wanted",
    )


def hard_push(leg: str, index: int, time: float, push: float, limit: float) -> Problem:
    """A footprint that a body follows harder than legs can push it.

    Args:
        leg: name of the leg of the nearest edited step.
        index: its number.
        time: s.
        push: acceleration, m/s^2.
        limit: what the legs give, m/s^2.

    Returns:
        The problem.
    """
    pushed, give = told_apart(push, limit, 1, " m/s^2")
    return Problem(
        code="PUSH_HARD",
        message=f"To follow step {index} of the {spoken_leg(leg)}, the body is pushed with "
        f"{pushed} at {time:.2f} s, more than the {give} that its legs give",
        time=time,
        amount=push,
        remedy="Move the footprints less, move those around them too, or turn Keep Body on",
    )


def way_of_body(
    time: np.ndarray,
    off: np.ndarray,
    along: np.ndarray,
    wanted: np.ndarray,
    length: float,
    hip: float,
    impulse: float,
) -> list[Problem]:
    """A body that leaves its path, comes out elsewhere, or goes beyond the end.

    Args:
        time: (n,) s.
        off: (n,) distance from the path, m.
        along: (n,) arc length of its nearest point, m.
        wanted: (n,) where the speed should take it, m.
        length: of the path, m; infinite if it has no end.
        hip: hip height, m.
        impulse: of a leg, m/s^2.

    Returns:
        The problems.
    """
    found = []
    worst = int(np.argmax(off))
    if off[worst] > WAY_OFF * hip:
        first = float(time[np.argmax(off > WAY_OFF * hip)])
        found.append(Problem(
            code="PATH_LEFT",
            message=f"The body leaves the path at {first:.2f} s, by up to {off[worst]:.2f} m: its "
            "legs cannot turn it so quickly",
            time=first, end_time=float(time[worst]), amount=float(off[worst]),
            remedy="Go slower, widen the bend, or give the legs more Impulse",
            fix=(("impulse", 2.0 * impulse),),
        ))
    missed = abs(float(wanted[-1] - along[-1]))
    if missed > max(hip, 0.1 * float(wanted[-1] - wanted[0])):
        found.append(Problem(
            code="SPEED_MISSED",
            message=f"The body comes out {missed:.2f} m from where its speed should take it: its "
            "legs cannot speed it up or brake it so quickly",
            amount=missed, remedy="Change the speed more slowly, or give the legs more Impulse",
            fix=(("impulse", 2.0 * impulse),),
        ))
    if along[-1] > length * (1.0 + 1e-9):
        at = float(time[np.argmax(along > length)])
        found.append(Problem(
            code="PATH_ENDS",
            message=f"The path ends at {at:.2f} s: the body goes straight on from there",
            severity="INFO", time=at, amount=float(along[-1] - length),
            remedy="Lengthen the path, slow down, or end the motion earlier",
        ))
    return found


def sharp_bend(time: float, speed: float, curvature: float, lean: float) -> Problem:
    """A bend that asks for more lean than is allowed.

    Args:
        time: s.
        speed: m/s.
        curvature: 1/m.
        lean: rad.

    Returns:
        The problem.
    """
    return Problem(
        code="BEND_SHARP",
        message=f"The bend at {time:.2f} s is too sharp: a radius of {1.0 / abs(curvature):.2f} m "
        f"at {speed:.1f} m/s asks for a lean of {math.degrees(abs(lean)):.0f} degrees",
        time=time,
        amount=abs(lean),
        remedy="Go slower, widen the bend, or raise Bank Limit",
    )


def sharp_turn(
    time: np.ndarray, excess: np.ndarray, heading: np.ndarray, most: float, strides: np.ndarray
) -> list[Problem]:
    """A path that turns quicker than an animal can turn on its feet.

    Args:
        time: (n,) s.
        excess: (n,) how much quicker it turns, rad/s; below 0 where it does not.
        heading: (n,) along it, rad.
        most: turn of a body in a stride, rad.
        strides: (n,) a second.

    Returns:
        The problem, or none.
    """
    edges = np.flatnonzero(np.diff(np.concatenate(([False], excess > 0.0, [False]))))
    runs = [
        (abs(float(heading[last] - heading[first])), first, last)
        for first, last in zip(edges[::2], np.minimum(edges[1::2], len(time) - 1), strict=True)
    ]
    turn, first, last = max(runs, default=(0.0, 0, 0))
    lasts = float(time[last] - time[first])
    can = most * max(1.0, float(strides[first]) * lasts)
    if turn <= TURN_SHOWS * can:
        return []
    return [Problem(
        code="TURN_SHARP",
        message=f"The path turns by {math.degrees(turn):.0f} degrees in {lasts:.2f} s at "
        f"{time[first]:.2f} s, sharper than legs can turn the body, which is "
        f"{math.degrees(most):.0f} degrees in a stride: it begins to turn earlier, goes on for "
        "longer, and walks sideways in between",
        time=float(time[first]), end_time=float(time[last]), amount=turn,
        remedy="Widen the bend, go slower through it, or shorten the strides",
    )]


def _first(steps: Steps, flags: np.ndarray, end: float) -> tuple[int, float, int] | None:
    """Earliest of the steps that are flagged and seen, when it is, and how many there are."""
    found = np.flatnonzero(flags & (steps.on < end) & (steps.off > 0.0))
    if not len(found):
        return None
    moment = np.maximum(steps.on[found], 0.0)
    k = int(np.argmin(moment))
    return int(found[k]), float(moment[k]), len(found)


def bad_footholds(
    steps: Steps, holds: Footholds, names: Sequence[str], end: float
) -> list[Problem]:
    """Holes, steps too high, and feet that are set down elsewhere.

    Args:
        steps: the steps.
        holds: where they are.
        names: of the legs.
        end: of the motion, s.

    Returns:
        The problems.
    """
    who = [spoken_leg(name) for name in names]
    problems = []
    found = _first(steps, holds.state == NO_GROUND, end)
    if found:
        k, time, count = found
        problems.append(Problem(
            code="NO_GROUND",
            message=f"Step {steps.index[k]} of the {who[steps.leg[k]]} at {time:.2f} s finds no "
            f"ground that carries ({count} in all): it stands as high as the leg's last one",
            severity="ERROR", time=time, amount=float(count),
            remedy="Close the hole, move the path, or raise Search",
        ))
    found = _first(steps, holds.state == TOO_HIGH, end)
    if found:
        k, time, count = found
        own = steps.of(int(steps.leg[k]))
        before = own[max(int(np.searchsorted(own, k)) - 1, 0)]
        rise = float(holds.position[k, 2] - holds.position[before, 2])
        name, index = who[steps.leg[k]], steps.index[k]
        problems.append(Problem(
            code="STEP_HIGH",
            message=f"Step {index} of the {name} at {time:.2f} s is {rise:.2f} m up, more than "
            f"Step Height ({count} in all)" if rise > 0.0 else
            f"Step {index} of the {name} at {time:.2f} s is {-rise:.2f} m down, more than "
            f"Step Height ({count} in all)",
            time=time, amount=abs(rise),
            remedy="Shorten the strides by the gait's Stroke, raise Step Height, or lead the path "
            "around",
        ))
    found = _first(steps, holds.state == MOVED, end)
    if found:
        k, time, count = found
        problems.append(Problem(
            code="FOOTHOLD_MOVED",
            message=f"Step {steps.index[k]} of the {who[steps.leg[k]]} at {time:.2f} s is set down "
            f"{holds.moved[k]:.2f} m from its place, where the ground carries ({count} in all)",
            severity="INFO", time=time, amount=float(holds.moved[k]),
        ))
    return problems


def short_legs(
    steps: Steps, left_out: np.ndarray, shortened: np.ndarray, names: Sequence[str], end: float
) -> list[Problem]:
    """Steps that are left out or shortened because legs do not reach.

    Args:
        steps: the steps.
        left_out: (m,) bool.
        shortened: (m,) bool.
        names: of the legs.
        end: of the motion, s.

    Returns:
        The problems.
    """
    who = [spoken_leg(name) for name in names]
    problems = []
    found = _first(steps, left_out, end)
    if found:
        k, time, count = found
        problems.append(Problem(
            code="STEP_LEFT_OUT",
            message=f"Step {steps.index[k]} of the {who[steps.leg[k]]} at {time:.2f} s is left out "
            f"({count} in all): the leg does not reach its foothold",
            time=time, amount=float(count),
            remedy="Go slower, widen the bend, choose more even ground, or allow more Crouch",
        ))
    found = _first(steps, shortened & ~left_out, end)
    if found:
        k, time, count = found
        problems.append(Problem(
            code="STEP_SHORTENED",
            message=f"Step {steps.index[k]} of the {who[steps.leg[k]]} at {time:.2f} s is on the "
            f"ground for less time than its gait has it ({count} in all): the leg does not "
            "reach its foothold for longer, or folds no further",
            time=time, amount=float(count),
            remedy="Go slower, shorten the stroke, widen the bend, or allow more Crouch",
        ))
    return problems


def pushed_aloft(plan: Steps, steps: Steps, kept: np.ndarray, end: float) -> list[Problem]:
    """A body that is carried by steps that were cut.

    Args:
        plan: the steps by which the body is pushed.
        steps: the same steps as they are.
        kept: (m,) bool, which of these there are.
        end: of the motion, s.

    Returns:
        The problem, or none.
    """
    pushes = support_profile(plan.on, plan.off)
    off, on = support_profile(steps.on[kept], steps.off[kept]).flights()
    off, on = np.clip(off, 0.0, end), np.clip(on, 0.0, end)
    off, on = off[on > off], on[on > off]
    if not len(off):
        return []
    edges = np.stack((off, on), axis=1).ravel()
    # Touchdowns and liftoffs in turn: every other interval is a flight.
    pushed = share_down(pushes.start, pushes.end, edges)[::2] * (on - off)
    k = int(np.argmax(pushed))
    if pushed[k] <= PUSHED_ALOFT:
        return []
    count = int(np.count_nonzero(pushed > PUSHED_ALOFT))
    return [Problem(
        code="PUSHED_ALOFT",
        message=f"No foot is on the ground from {off[k]:.2f} to {on[k]:.2f} s, for {pushed[k]:.2f} "
        f"s of which the body goes on as if one were ({count} in all): steps were cut there",
        time=float(off[k]), end_time=float(on[k]), amount=float(pushed[k]),
        remedy="Give those steps back their time on the ground, turn Keep Body off, or see why "
        "legs do not reach",
    )]


def hips_lowered(leg: str, time: float, depth: float) -> Problem:
    """Hips that sink far.

    Args:
        leg: name of a leg of the girdle.
        time: when they are lowest, s.
        depth: m.

    Returns:
        The problem.
    """
    return Problem(
        code="HIPS_LOWERED",
        message=f"The hips of the {spoken_leg(leg)} are lowered by up to {depth:.2f} m, most at "
        f"{time:.2f} s, so that the legs reach their footholds",
        severity="INFO",
        time=time,
        amount=depth,
        remedy="Shorten the stroke or go slower",
    )


def high_jumps(
    girdles: Sequence[Rise], hip: float, gravity: float, end: float
) -> list[Problem]:
    """Flights that are higher than animals jump in a gait.

    Args:
        girdles: their motion.
        hip: hip height, m.
        gravity: m/s^2.
        end: of the motion, s.

    Returns:
        The problem, or none.
    """
    highest: tuple[float, float, float] = (HIGH_JUMP * hip, 0.0, 0.0)
    for girdle in girdles:
        liftoff, touchdown = girdle.profile.flights()
        rise = np.maximum(girdle.up, 0.0) ** 2 / (2.0 * gravity)
        rise = np.where((touchdown > 0.0) & (liftoff < end), rise, 0.0)
        k = int(np.argmax(rise)) if len(rise) else 0
        if len(rise) and rise[k] > highest[0]:
            highest = (float(rise[k]), float(liftoff[k]), float(touchdown[k] - liftoff[k]))
    jump, time, aloft = highest
    if aloft == 0.0:
        return []
    return [Problem(
        code="JUMP_HIGH",
        message=f"The body jumps {jump:.2f} m high at {max(time, 0.0):.2f} s: for {aloft:.2f} s no "
        "foot that could carry it is on the ground",
        time=max(time, 0.0), end_time=time + aloft, amount=jump,
        remedy="Raise the duty factor, shorten the stride, or change gait at another speed",
    )]


def foot_low(leg: str, index: int, start: float, end: float, low: float) -> Problem:
    """A foot that does not clear the ground, because its leg folds no further.

    Args:
        leg: name of the leg.
        index: number of the step that it swings to.
        start: when it leaves the ground, s.
        end: when it comes down, s.
        low: how much too low it passes, m.

    Returns:
        The problem.
    """
    return Problem(
        code="LEG_FOLDED",
        message=f"On its way to step {index} at {end:.2f} s the foot of the {spoken_leg(leg)} "
        f"passes {low:.2f} m too low: the leg folds no further",
        time=max(start, 0.0), end_time=end, amount=low,
        remedy="Lower steps, shorter strides, or a slower speed",
    )


def out_of_reach(leg: str, index: int, time: float, beyond: float) -> Problem:
    """A foot that is where its leg does not reach.

    Args:
        leg: name of the leg.
        index: number of its step.
        time: s.
        beyond: how far, m.

    Returns:
        The problem.
    """
    return Problem(
        code="OUT_OF_REACH",
        message=f"Step {index} of the {spoken_leg(leg)} at {time:.2f} s is out of reach: the hip "
        f"is {beyond:.3f} m farther from the foothold than the leg is long",
        severity="ERROR",
        time=time,
        amount=beyond,
        remedy="Move the footprint nearer, go slower, or allow more Crouch",
    )
