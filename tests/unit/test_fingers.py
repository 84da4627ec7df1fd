# SPDX-License-Identifier: GPL-3.0-or-later
"""Fingers of hands in a T-pose, flat and half closed, and the fists that they make."""

from dataclasses import replace

import numpy as np
import pytest
from poise.addon.rigs.controls import fingers
from poise.addon.rigs.recognise.skeleton import BoneRest, Skeleton
from poise.solvers import rotations

AHEAD = np.array([0.0, -1.0, 0.0])
FINGERS = ("Index", "Middle", "Ring", "Pinky")


def axes_along(way, seed):
    """Axes of a bone: y along it, any roll."""
    rng = np.random.default_rng(seed)
    across = np.cross(way, rng.normal(size=3))
    x = across / np.linalg.norm(across)
    return np.stack([x, way, np.cross(x, way)], axis=1)


def hand(side="L", bent=0.0, bones=3, names=True, palm=False):
    """A hand along X, palm down, the thumb ahead; `bent` radians at each joint of a finger."""
    sign = 1.0 if side == "L" else -1.0
    made = [("Hand", "", np.zeros(3), np.array([0.08, 0.0, 0.0]))]
    for i, finger in enumerate(FINGERS):
        at, parent = np.array([0.09, -0.03 + 0.02 * i, 0.0]), "Hand"
        if palm:
            made.append((f"Palm{i}", "Hand", np.array([0.02, -0.01 + 0.006 * i, 0.0]), at))
            parent = f"Palm{i}"
        for k in range(bones):
            angle = bent * (k + 1)
            tail = at + 0.03 * np.array([np.cos(angle), 0.0, -np.sin(angle)])
            name = f"{finger}{k + 1}" if names else f"b{i}_{k}"
            made.append((name, parent, at, tail))
            at, parent = tail, name
    at, parent = np.array([0.03, -0.04, -0.01]), "Hand"
    for k in range(2):
        tail = at + 0.03 * np.array([0.7, -0.7, -0.1])
        made.append((f"Thumb{k + 1}" if names else f"t{k}", parent, at, tail))
        at, parent = tail, made[-1][0]
    flip = np.array([sign, 1.0, 1.0])
    found = []
    for number, (name, parent, head, tail) in enumerate(made):
        head, tail = head * flip, tail * flip
        way = (tail - head) / np.linalg.norm(tail - head)
        found.append(BoneRest(name, parent, head, tail, axes_along(way, number)))
    return Skeleton.of(found)


def posed(rest, turned):
    """Bone -> (head, tail), with poses applied as Blender composes them."""
    frames, found = {}, {}
    for bone in rest.bones:
        own = np.asarray(bone.axes)
        basis = np.eye(3)
        if bone.name in turned:
            basis = rotations.to_matrix(turned[bone.name][None])[0]
        if bone.parent:
            turn, place = frames[bone.parent]
            above = rest.by_name[bone.parent]
            head = place + turn @ np.asarray(above.axes).T @ (bone.head - above.head)
            axes = turn @ np.asarray(above.axes).T @ own @ basis
        else:
            head, axes = bone.head, own @ basis
        frames[bone.name] = axes, head
        found[bone.name] = head, head + axes[:, 1] * bone.length
    return found


def fist(rest, side):
    paths = fingers.chains(rest, "Hand", side)
    return paths, fingers.fist(rest, "Hand", paths, side, AHEAD)


@pytest.mark.parametrize("side", ["L", "R"])
@pytest.mark.parametrize("bent", [0.0, 0.3, 0.9])
def test_fingers_close_to_the_same_fist(side, bent):
    """Whatever the rest pose and the rolls of the bones: each finger's bones end at FIST."""
    rest = hand(side, bent)
    paths, turned = fist(rest, side)
    assert len(paths) == 5
    there = posed(rest, turned)
    for finger in FINGERS:
        for k, goal in enumerate(fingers.FIST[3]):
            head, tail = there[f"{finger}{k + 1}"]
            way = (tail - head) / np.linalg.norm(tail - head)
            angle = np.degrees(np.arctan2(-way[2], way[0] * (1.0 if side == "L" else -1.0)))
            assert (angle - goal + 180.0) % 360.0 - 180.0 == pytest.approx(0.0, abs=3.0)
    # The thumb comes across, under the palm and towards the little finger.
    tip, base = there["Thumb2"][1], there["Thumb1"][0]
    assert tip[2] < base[2] and tip[1] > rest.by_name["Thumb2"].tail[1] + 0.01


def test_both_hands_are_mirror_images():
    left, right = hand("L", 0.2), hand("R", 0.2)
    a, b = (posed(rest, fist(rest, s)[1]) for rest, s in ((left, "L"), (right, "R")))
    for name in a:
        assert np.allclose(np.array(a[name]) * (-1.0, 1.0, 1.0), b[name], atol=1e-9), name


@pytest.mark.parametrize("bones", [1, 2, 4])
def test_fingers_of_other_numbers_of_bones(bones):
    rest = hand("L", bones=bones)
    _, turned = fist(rest, "L")
    there = posed(rest, turned)
    for k, goal in enumerate(fingers.FIST[min(bones, 3)]):
        head, tail = there[f"Middle{k + 1}"]
        assert np.degrees(np.arctan2(head[2] - tail[2], tail[0] - head[0])) % 360.0 == (
            pytest.approx(goal, abs=3.0)
        )
    assert "Middle4" not in turned, "what only shows the end of a finger goes along"


def test_bones_of_the_palm_keep_still():
    rest = hand("L", palm=True)
    _, turned = fist(rest, "L")
    assert not any(name.startswith("Palm") for name in turned)
    assert "Index1" in turned


@pytest.mark.parametrize(
    "form", ["LeftHand{}{}", "{}_0{}_l", "f_{}.0{}.L", "hand_{}{}", "Left {} Finger {}"]
)
def test_names_of_fingers(form):
    """A middle or a ring is one beside the others, whatever else such words may mean."""
    rest = hand("L")
    known = {b.name: form.format(b.name[:-1], b.name[-1]) for b in rest.bones if b.parent}
    prop = BoneRest("Weapon", "Hand", np.array([0.1, 0.0, 0.0]), np.array([0.2, 0.0, 0.0]))
    bones = [replace(b, name=known.get(b.name, b.name), parent=known.get(b.parent, b.parent))
             for b in rest.bones]
    paths = fingers.chains(Skeleton.of([*bones, prop]), "Hand", "L")
    assert sorted(n for path in paths for n in path) == sorted(known.values())


def test_chains_that_no_name_tells():
    rest = hand("L", names=False)
    paths, turned = fist(rest, "L")
    assert len(paths) == 5 and len(turned) == 14
    assert fingers.knuckles(rest, "Hand", paths) == pytest.approx(0.0925, abs=0.003)
    two = Skeleton.of([b for b in rest.bones if b.name[:2] in ("Ha", "b0", "b1")])
    assert fingers.chains(two, "Hand", "L") == [], "two chains may be anything"


def test_hands_without_fingers_and_without_length():
    bare = Skeleton.of([BoneRest("Hand", "", np.zeros(3), np.array([0.1, 0.0, 0.0]))])
    assert fist(bare, "L") == ([], {})
    still = Skeleton.of([BoneRest("Hand", "", np.zeros(3), np.zeros(3)), *(
        BoneRest(f"{finger}1", "Hand", np.zeros(3), np.zeros(3)) for finger in FINGERS)])
    _, turned = fist(still, "L")
    assert all(np.isfinite(value).all() for value in turned.values())
