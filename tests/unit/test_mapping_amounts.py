# SPDX-License-Identifier: GPL-3.0-or-later
"""Styles beyond what a body can do: kept in range, named, and the contacts hold."""

import importlib.util
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest
from poise.addon.mapping import cyclist, legged, skateboarder, skier, snowboarder, telemark
from poise.addon.mapping.rows import rows_of, sections_of
from poise.addon.mapping.tracks import SIDES
from poise.solvers import rotations as rot

_spec = importlib.util.spec_from_file_location(
    "mapping_cases", Path(__file__).with_name("mapping_cases.py"))
cases = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(cases)

KINDS = {
    "skier": (cases.SKIER, skier.SkierStyle, skier.map_skier),
    "telemark": (cases.TELEMARK, telemark.TelemarkStyle, telemark.map_telemark),
    "snowboarder": (cases.SNOWBOARDER, snowboarder.SnowboarderStyle, snowboarder.map_snowboarder),
    "skateboarder": (cases.SKATEBOARDER, skateboarder.SkateboarderStyle,
                     skateboarder.map_skateboarder),
    "cyclist": (cases.CYCLIST, cyclist.CyclistStyle, cyclist.map_cyclist),
}


def ranges_of(style):
    """Amount -> least and most that a body can be asked for."""
    return {row.name: row.within for row in rows_of(style) if row.within}



# Two amounts of each, and the most in degrees that the first can be.
WILD = {
    "skier": ("knee_flexion", "twist", 120.0),
    "telemark": ("knee_flexion", "twist", 120.0),
    "snowboarder": ("knee_flexion", "twist", 120.0),
    "skateboarder": ("knee_flexion", "twist", 120.0),
    "cyclist": ("trunk_pitch", "body_lean", 70.0),
}


def random_style(style, rng, count):
    """Any amounts, one in ten of them up to a third beyond its range, some keyed."""
    chosen = {}
    for name, (low, high) in ranges_of(style).items():
        if rng.random() < 0.5:
            continue
        high = min(high, 1e5)
        beyond = 0.3 * (high - low) * (rng.random() < 0.1)
        value = rng.uniform(low - beyond, high + beyond)
        if rng.random() < 0.2:
            value = value + 0.1 * value * np.sin(np.arange(count) / 48.0)
        chosen[name] = value
    for name, words in (("edge_law", ("LINEAR", "SIDECUT")), ("unweighting", ("UP", "DOWN"))):
        if name in style.__dataclass_fields__:
            chosen[name] = str(rng.choice(words))
    return style(**chosen)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_whatever_the_amounts_contacts_lengths_and_numbers_hold(kind):
    build, style_class, mapping = KINDS[kind]
    rng = np.random.default_rng(20)
    for _ in range(60):
        body = cases.figure(build, size=rng.uniform(1.0, 2.2), regular=rng.random() < 0.5)
        motion = cases.solve(
            body, n_frames=int(rng.integers(2, 90)), speed=rng.uniform(2.0, 25.0),
            frequency=rng.uniform(0.1, 1.2), sharpness=rng.uniform(0.0, 0.9))
        style = random_style(style_class, rng, len(motion.time))
        with np.errstate(divide="raise", invalid="raise", over="raise"):
            tracks = mapping(motion, body, style)
        for values in (tracks.position, tracks.rotation, tracks.attributes):
            assert all(np.all(np.isfinite(array)) for array in values.values())
        for leg in cases.legs(body, tracks).values():
            assert leg.shortfall.max() < 2e-3
        if kind == "cyclist":
            for wheel in ("front_wheel", "rear_wheel"):
                assert np.abs(cases.tyre_height(body, motion, tracks, wheel)).max() < 1e-8
        skis = kind in ("skier", "telemark")
        edged = {"snowboarder": ["board"], "skateboarder": [], "cyclist": []}.get(
            kind, [f"ski.{s}" for s in SIDES])
        half = 0.5 * body.equipment.get("ski_width" if skis else "board_width", 0.0)
        for role in edged:
            heights = [cases.to_ground(motion, tracks.position[role] + rot.rotate(
                tracks.rotation[role], np.array((x, 0.0, 0.0))))[:, 2] for x in (-half, half)]
            assert np.abs(np.minimum(*heights)).max() < 1e-9
        if skis:
            for side in SIDES:
                rod = tracks.position[f"pole.{side}"] - tracks.position[f"pole_tip.{side}"]
                length = np.linalg.norm(rod, axis=1)
                assert np.abs(length - body.equipment["pole_length"]).max() < 1e-9
                tip = cases.to_ground(motion, tracks.position[f"pole_tip.{side}"])
                assert tip[:, 2].min() > -1e-9
            for contact in tracks.contacts:
                rows = (motion.time >= contact.start) & (motion.time <= contact.end)
                off = tracks.position[contact.role][rows] - contact.position
                assert np.abs(off).max(initial=0.0) < 1e-9
        short = [p for p in tracks.problems if p.code == "ARM_REACH"]
        if not short:
            for arm in cases.arms(body, tracks).values():
                assert arm.shortfall.max() < 1e-6


@pytest.mark.parametrize("style", [*(row[1] for row in KINDS.values()), legged.LeggedStyle])
def test_every_amount_has_its_words_and_its_place_in_the_panel(style):
    for row in rows_of(style):
        assert row.label and row.text and "{" not in row.text + row.section, row.name
    assert [title for title, _names in sections_of(style)] == list(style.SECTIONS)
    placed = [name for _title, names in sections_of(style) for name in names]
    assert sorted(placed) == sorted(field.name for field in fields(style))


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_an_amount_out_of_range_is_named_and_the_nearest_used(kind):
    build, style_class, mapping = KINDS[kind]
    body = cases.figure(build)
    motion = cases.solve(body, cases.TURNS["cruising"], seconds=2.0)
    first, second, most = WILD[kind]
    wild = mapping(motion, body, style_class(**{first: 9.0, second: float("nan")}))
    named = [p for p in wild.problems if p.code == "STYLE_LIMITED"]
    assert len(named) == 2
    words = [{row.name: row.label for row in rows_of(style_class)}[name]
             for name in (first, second)]
    assert f"{words[0]} is 9" in named[0].message and f"{words[1]} is nan" in named[1].message
    assert named[0].fix == ((first, pytest.approx(np.radians(most))),)
    tame = mapping(motion, body, style_class(**{first: np.radians(most)}))
    for role, position in tame.position.items():
        assert np.abs(position - wild.position[role]).max() < 1e-12


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_every_number_of_a_style_has_a_range_that_holds_the_named_styles(kind):
    style_class = KINDS[kind][1]
    ranges = ranges_of(style_class)
    named = {"skier": skier, "telemark": telemark, "snowboarder": snowboarder,
             "skateboarder": skateboarder, "cyclist": cyclist}[kind].STYLES
    for item in fields(style_class):
        if isinstance(item.default, float):
            assert item.name in ranges, item.name
    for name in ranges:
        low, high = ranges[name]
        for style in named.values():
            value = getattr(style, name)
            assert value is None or low <= value <= high, (name, value)
