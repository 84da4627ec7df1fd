# SPDX-License-Identifier: GPL-3.0-or-later
"""Role maps as JSON: what is written is read again, and nothing else is believed."""

import json
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from poise.addon.rigs.recognise import exchange, recognise
from poise.addon.rigs.recognise.rolemap import is_role
from rig_cases import human, insect, quadruped, skeleton
from rig_names import RIGS, mixamo


@pytest.mark.parametrize("joints", [human("A"), quadruped(), insect(4)])
def test_written_and_read(joints):
    found = recognise(skeleton(joints))
    again = exchange.from_json(exchange.to_json(found))
    assert (again.kind, again.body, again.roles) == (found.kind, found.body, found.roles)
    assert again.turn == pytest.approx(found.turn, abs=1e-8)
    assert all(is_role(role) for role in found.roles)


def test_fits_a_rig_with_another_prefix():
    found = recognise(skeleton(human("A"), RIGS["mixamo"]))
    other = mixamo("mixamorig7:")
    fits, lost = exchange.fitted(found, other.values())
    assert fits == other
    assert not lost


def test_bones_that_are_not_there_are_named():
    found = recognise(skeleton(human("A"), RIGS["unreal"]))
    names = set(RIGS["unreal"].values()) - {"ball_l"}
    fits, lost = exchange.fitted(found, names)
    assert lost == ["toe.L"]
    assert len(fits) == len(found.roles) - 1


def broken(**changes):
    """A good map's text with some values changed; None leaves one out."""
    data = json.loads(exchange.to_json(recognise(skeleton(human("A")))))
    data.update(changes)
    return json.dumps({key: value for key, value in data.items() if value is not None})


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no JSON"),
        ("[1, 2", "no JSON"),
        ("[" * 100_000, "no JSON"),
        ("[]", "no role map"),
        ("null", "no role map"),
        (broken(schema="poise.gait"), "no role map"),
        (broken(version=None), "version"),
        (broken(version=True), "version"),
        (broken(version=2), "of version 2"),
        (broken(body="CENTAUR"), "body"),
        (broken(roles=None), "missing"),
        (broken(roles={}), "missing"),
        (broken(roles={"__class__": "Hips"}), "no role"),
        (broken(roles={"thigh.X": "Hips"}), "no role"),
        (broken(roles={"pelvis": 5}), "no name"),
        (broken(roles={"pelvis": "x" * 64}), "no name"),
        (broken(roles={"pelvis": "a", "chest": "a"}), "two roles"),
        (broken(turn=[1, 0, 0]), "quaternion"),
        (broken(turn=[0, 0, 0, 0]), "rotation"),
        (broken(turn=["1", 0, 0, 0]), "quaternion"),
        (broken(turn=[float("nan"), 0, 0, 0]), "quaternion"),
        ("x" * (exchange.LARGEST + 1), "too large"),
    ],
)
def test_what_is_no_role_map_is_refused_in_a_sentence(text, says):
    with pytest.raises(ValueError, match=says):
        exchange.from_json(text)


@pytest.mark.parametrize("role", ["", "thigh", "thigh.l", "hind.0.L", "spine", "eye", "leg1.L",
                                  "pelvis.L", "tail.1.L", "thigh.L\n"])
def test_no_roles(role):
    assert not is_role(role)
