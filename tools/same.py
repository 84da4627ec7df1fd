# SPDX-License-Identifier: GPL-3.0-or-later
"""Record the keys of many bakes, and tell whether another build bakes the same.

    python tools/same.py record [FILE] [--only PART ...]
    python tools/same.py compare [FILE] [--only PART ...]

The file is out/same-<version of Blender>.npz unless it is named. Without a word it compares
where that is there, and records where it is not. Of each case of tools/same_cases.py it holds
every key of every action, where the bones of all armatures are in the world at a few instants
between frames, and lines of text: strips, problems, what set-up and removal changed. Cases
of other people's rigs are left out where tools/rig_files.py does not find them.

`compare` ends with exit status 1 where a case is missing, is off by more than 0.1 mm or
0.01 degree, has a twentieth more keys, or says something else.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "tools"), str(ROOT / "tests" / "blender")]

import installed

FAR, WIDE, MORE = 0.1, 0.01, 1.05  # mm, degrees, times as many keys
INSTANTS = 12
NEAR = 0.5  # frames that a key has moved at most; farther off it is another one
SHOWN = 4  # lines of a case that differ
LONGEST = 300  # characters of a line, of longer ones the digest counts
AT_ONCE = 1e-4  # frames

Record = dict[str, np.ndarray]
"""What is known of one case: "names" of curves, "counts" of their keys and "keys" as rows;
"bones" by name, "instants" in frames, "places" (instants, bones, 3, 4); "lines" of text.
Texts are JSON as bytes."""


def as_bytes(value) -> np.ndarray:
    """Text and lists of it as an array.

    Args:
        value: what JSON holds.
    """
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


def from_bytes(array: np.ndarray):
    """What `as_bytes` was given.

    Args:
        array: what it returned.
    """
    return json.loads(array.tobytes())


def _short(line: str) -> str:
    if len(line) <= LONGEST:
        return line
    digest = hashlib.sha1(line.encode(), usedforsecurity=False).hexdigest()
    return f"{line[:LONGEST]} ... {digest}"


# -- record --------------------------------------------------------------------------


def curves():
    """(name, F-curve) of all actions in the file; a name is action, slot, path and index."""
    import bpy

    for action in sorted(bpy.data.actions, key=lambda a: a.name):
        for layer in action.layers:
            for strip in layer.strips:
                for bag in strip.channelbags:
                    for curve in bag.fcurves:
                        slot = bag.slot.identifier
                        yield [action.name, slot, curve.data_path, curve.array_index], curve


def keys_of(curve) -> np.ndarray:
    """(k, n) keys of a curve: frame and value first, then handles and the kinds of all."""
    from snapshot import KEY_ARRAYS

    points, columns = curve.keyframe_points, []
    for name, width in KEY_ARRAYS:
        flat = np.empty(len(points) * width, np.float32 if width == 2 else np.int32)
        points.foreach_get(name, flat)
        columns.append(flat.reshape(-1, width).astype(np.float32))
    return np.concatenate(columns, axis=1)


def said() -> list[str]:
    """What else there is to a bake: curves that go on, actions, strips, problems."""
    import bpy

    lines = []
    for name, curve in curves():
        more = [modifier.type for modifier in curve.modifiers]
        if more or curve.extrapolation != "CONSTANT" or curve.mute:
            lines.append(f"{name}: {curve.extrapolation} {more} {'muted' if curve.mute else ''}")
    for obj in bpy.data.objects:
        data = obj.animation_data
        if data is not None:
            lines.append(f"{obj.name} plays {data.action and data.action.name}")
            lines += [
                f"{obj.name}, {track.name}: {strip.name} {strip.action and strip.action.name} "
                f"{strip.frame_start} to {strip.frame_end} {strip.blend_type} {strip.mute}"
                for track in data.nla_tracks for strip in track.strips
            ]
        if obj.poise_motion.character is not None:
            lines += [f"{obj.name}: {problem.code}" for problem in obj.poise_motion.problems]
    return lines


def instants() -> np.ndarray:
    """Instants within the motions, each another eighth of its frame."""
    import bpy

    ranges = [
        (obj.poise_motion.frame_start, obj.poise_motion.frame_end)
        for obj in bpy.data.objects if obj.poise_motion.character is not None
    ]
    if not ranges:
        return np.empty(0)
    first, last = min(start for start, _ in ranges), max(end for _, end in ranges)
    number = np.arange(INSTANTS)
    frames = np.floor(first + (last - first) * number / (INSTANTS - 1))
    return np.minimum(frames + 3 * number % 8 / 8, last)


def take(lines: list[str]) -> Record:
    """Record what is in the file.

    Args:
        lines: of the case itself.
    """
    import bpy
    from bake_rigs import skins_off

    found = list(curves())
    keys = [keys_of(curve) for _name, curve in found]
    rigs = [obj for obj in bpy.context.scene.objects if obj.type == "ARMATURE"]
    rigs.sort(key=lambda obj: obj.name)
    scene, frames, places = bpy.context.scene, instants(), []
    before = scene.frame_current
    with skins_off():
        for frame in frames:
            scene.frame_set(int(frame), subframe=float(frame % 1.0))
            graph = bpy.context.evaluated_depsgraph_get()
            row = []
            for rig in rigs:
                posed = rig.evaluated_get(graph)
                flat = np.empty(16 * len(posed.pose.bones), np.float32)
                posed.pose.bones.foreach_get("matrix", flat)
                # Blender holds matrices column by column.
                bones = flat.reshape(-1, 4, 4).transpose(0, 2, 1)
                row.append((np.array(posed.matrix_world) @ bones)[:, :3])
            places.append(np.concatenate(row))
    # What comes next in the case finds the file as it was.
    scene.frame_set(before)
    return {
        "names": as_bytes([name for name, _curve in found]),
        "counts": np.array([len(rows) for rows in keys]),
        "keys": np.concatenate(keys) if keys else np.empty((0, 11), np.float32),
        "bones": as_bytes([[rig.name, bone.name] for rig in rigs for bone in rig.pose.bones]),
        "instants": frames,
        "places": np.array(places, np.float32) * scene.unit_settings.scale_length,
        "lines": as_bytes(sorted(_short(line) for line in (*lines, *said()))),
    }


def run(only: list[str]) -> tuple[dict[str, Record], list[str]]:
    """Go through the cases.

    Args:
        only: parts of their names; none for all.

    Returns:
        Name of a case, with that of the record where it makes several -> record; and what
        Poise refused.
    """
    from same_cases import CASES

    records: dict[str, Record] = {}
    refused: list[str] = []
    for name, case in CASES.items():
        if only and not any(part in name for part in only):
            continue
        start = time.perf_counter()
        installed.new_file()
        try:
            for taken in case():
                label, lines = taken if isinstance(taken, tuple) else (taken or "", [])
                records[f"{name}: {label}" if label else name] = take(lines)
        except RuntimeError as error:
            refused.append(f"{name}: {str(error).strip()}")
        print(f"{name} ... {time.perf_counter() - start:.1f} s", file=sys.stderr, flush=True)
    return records, refused


def digest(record: Record) -> str:
    """A few digits that stand for all keys of a record.

    Args:
        record: see `Record`.
    """
    told = hashlib.sha1(usedforsecurity=False)
    for part in ("names", "counts", "keys"):
        told.update(record[part].tobytes())
    return told.hexdigest()[:12]


def write(file: Path, records: dict[str, Record]) -> None:
    """Keep records.

    Args:
        file: path of the file, written anew.
        records: name -> record.
    """
    file.parent.mkdir(parents=True, exist_ok=True)
    arrays = {f"{name}|{part}": a for name, record in records.items() for part, a in record.items()}
    with open(file, "wb") as out:
        np.savez_compressed(out, **arrays)


def read(file: Path) -> dict[str, Record]:
    """Records that `write` kept.

    Args:
        file: path of the file.
    """
    records: dict[str, Record] = {}
    with np.load(file) as kept:
        for key in kept.files:
            name, _, part = key.rpartition("|")
            records.setdefault(name, {})[part] = kept[key]
    return records


# -- compare -------------------------------------------------------------------------


@dataclass
class Change:
    """What became of the keys of the actions that are not as they were.

    Attributes:
        before: how many there were.
        after: how many there are.
        added: keys that there were none of.
        removed: keys that there are none of now.
        moved: keys that stand at another time, by half a frame at most.
        value: largest change of a value, of keys that stand where they did.
        other: keys whose handles or kinds alone changed.
    """

    before: int = 0
    after: int = 0
    added: int = 0
    removed: int = 0
    moved: int = 0
    value: float = 0.0
    other: int = 0

    def add(self, old: np.ndarray, new: np.ndarray) -> None:
        """Count one curve.

        Args:
            old: (k, n) its keys, see `keys_of`.
            new: its keys now.
        """
        gone, come = set(range(len(old))), set(range(len(new)))
        for near in (AT_ONCE, NEAR):
            for i in sorted(gone):
                there = [j for j in come if abs(new[j, 0] - old[i, 0]) <= near]
                if not there:
                    continue
                j = min(there, key=lambda j: abs(new[j, 0] - old[i, 0]))
                gone.remove(i)
                come.remove(j)
                if near == NEAR:
                    self.moved += 1
                elif new[j, 1] != old[i, 1]:
                    self.value = max(self.value, abs(float(new[j, 1]) - float(old[i, 1])))
                elif not np.array_equal(new[j], old[i]):
                    self.other += 1
        self.removed += len(gone)
        self.added += len(come)


def changed_keys(old: Record, new: Record) -> Change:
    """What became of the keys of a case.

    Args:
        old: its record.
        new: that of now.
    """
    curves = []
    for record in (old, new):
        parts = np.split(record["keys"], np.cumsum(record["counts"])[:-1])
        names = [tuple(name) for name in from_bytes(record["names"])]
        curves.append(dict(zip(names, parts, strict=False)))
    none = np.empty((0, old["keys"].shape[1]), np.float32)
    pairs = {
        name: tuple(found.get(name, none) for found in curves)
        for name in curves[0].keys() | curves[1].keys()
    }
    others = {name for name, (was, now) in pairs.items() if was.tobytes() != now.tobytes()}
    # Clips that came with a rig are as they were: a bake has few keys beside them.
    touched = {action for action, *_rest in others}
    count = [
        sum(len(rows) for name, rows in found.items() if name[0] in touched) for found in curves
    ]
    change = Change(*count)
    for name in others:
        change.add(*pairs[name])
    return change


def apart(old: np.ndarray, new: np.ndarray) -> tuple[float, float]:
    """Largest distance in millimetres and largest angle in degrees of bones.

    The angle phi between two rotations follows from the distance of their matrices, which is
    2 sqrt(2) sin(phi / 2).

    Args:
        old: (instants, bones, 3, 4) metres.
        new: the same bones now.
    """
    if not old.size:
        return 0.0, 0.0
    old, new = old.astype(float), new.astype(float)
    far = np.linalg.norm(new[..., 3] - old[..., 3], axis=-1).max()
    axes = []
    for places in (old, new):
        size = np.linalg.norm(places[..., :3], axis=-2, keepdims=True)
        axes.append(places[..., :3] / np.where(size > 0.0, size, 1.0))
    chord = np.linalg.norm(axes[1] - axes[0], axis=(-2, -1)).max() / np.sqrt(8.0)
    return 1e3 * float(far), float(np.degrees(2.0 * np.arcsin(min(chord, 1.0))))


def compared(old: Record, new: Record | None) -> tuple[bool, list[str]]:
    """Whether a case is as it was, within the limits, and what is to be said of it.

    Args:
        old: its record.
        new: that of now; None where there is none.
    """
    if new is None:
        return False, ["missing"]
    if all(old[part].tobytes() == new[part].tobytes() for part in old):
        return True, ["the same bit for bit"]
    change, texts, fine = changed_keys(old, new), [], True
    counts = {part: vars(change)[part] for part in ("added", "removed", "moved", "other")}
    if any(counts.values()):
        told = ", ".join(f"{n} {part}" for part, n in counts.items() if n)
        texts.append(f"of {change.before} keys {told}")
        fine &= change.after <= MORE * change.before
    if change.value:
        texts.append(f"values off by {change.value:.2g}")
    if not np.array_equal(old["instants"], new["instants"]):
        texts.append(f"ends at frame {new['instants'][-1]:g}, not {old['instants'][-1]:g}")
        fine = False
    elif old["bones"].tobytes() != new["bones"].tobytes():
        texts.append("other bones")
        fine = False
    else:
        far, wide = apart(old["places"], new["places"])
        texts.append(f"bones off by {far:.2g} mm, {wide:.2g} degrees")
        fine &= far <= FAR and wide <= WIDE
    lines = [set(from_bytes(record["lines"])) for record in (old, new)]
    gone, come = sorted(lines[0] - lines[1]), sorted(lines[1] - lines[0])
    if gone or come:
        texts.append(f"{len(gone)} lines gone, {len(come)} new")
        texts += [f"  - {line}" for line in gone[:SHOWN]] + [f"  + {line}" for line in come[:SHOWN]]
        fine = False
    return fine, texts


def main() -> None:
    """Record or compare, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", nargs="?", choices=("record", "compare"))
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", help="of cases' names")
    arguments = parser.parse_args()
    only = arguments.only
    installed.start()
    import bpy

    version = "{}.{}".format(*bpy.app.version)
    file = arguments.file or ROOT / "out" / f"same-{version}.npz"
    what = arguments.what or ("compare" if file.is_file() else "record")
    if what == "compare" and not file.is_file():
        sys.exit(f"{file} is not there: record it with the build to compare with")
    start = time.perf_counter()
    records, failed = run(only)
    seconds = time.perf_counter() - start
    from same_cases import LEFT_OUT

    if what == "record":
        write(file, records)
        print("| case | keys | digest |\n|---|---|---|")
        for name, record in records.items():
            print(f"| {name} | {len(record['keys'])} | {digest(record)} |")
    else:
        known = read(file)
        print("| case | |\n|---|---|")
        for name, old in known.items():
            if only and not any(part in name for part in only):
                continue
            fine, (first, *more) = compared(old, records.get(name))
            lines = [text for text in more if text.startswith(" ")]
            first = "; ".join([first, *(text for text in more if text not in lines)])
            print(f"| {name} | {first}{'' if fine else ' OVER'} |", *lines, sep="\n")
            failed += [] if fine else [name]
        print(*(f"| {name} | new |" for name in records if name not in known), sep="\n")
    for name in LEFT_OUT:
        print(f"left out, since its rig is not there: {name}")
    print(f"{len(records)} records in {seconds:.0f} s, Blender {bpy.app.version_string}; {file}")
    if failed:
        sys.exit("\n".join([f"{len(failed)} refused or over the limits:", *failed]))


if __name__ == "__main__":
    main()
