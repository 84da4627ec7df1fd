# SPDX-License-Identifier: GPL-3.0-or-later
"""Diagrams as geometry, as SVG and as pixels."""

import io
from math import radians
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from poise.addon.drawing import diagrams
from poise.solvers.legged import FootprintEdit, GaitItem, GaitSettings, solve_gait
from poise.solvers.turning.settings import TurningSettings
from poise.solvers.turning.solve import solve_turning


@pytest.fixture(scope="module")
def motion():
    """Phase ellipse 1 of van de Panne et al. 1993, Fig. 6, for six seconds."""
    return solve_turning(TurningSettings(n_frames=145, sharpness=radians(23.0)))


def courses(diagram):
    return [line for line in diagram.lines if line.colour == diagrams.ACTUAL]


def test_axes_place_numbers():
    axes = diagrams.Axes(10.0, 110.0, 20.0, 70.0, (-1.0, 1.0), (0.0, 5.0))
    assert axes.place(np.array((-1.0, 1.0)), np.array((0.0, 5.0))) == pytest.approx(
        np.array(((10.0, 20.0), (110.0, 70.0)))
    )
    assert axes.place(0.0, 2.5)[0] == pytest.approx((60.0, 45.0))


def luminance(colour):
    """Relative luminance of sRGB (WCAG 2.2)."""
    rgb = np.asarray(colour[:3])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


@pytest.mark.parametrize("behind", [(0.95, 0.96, 1.0), (0.24, 0.24, 0.24)], ids=["snow", "grey"])
def test_lines_in_the_viewport_are_seen_on_snow_too(motion, behind):
    """Graphics contrast with what they lie on by 3 to 1 (WCAG 2.2, 1.4.11)."""
    paper = np.array((0.04, 0.04, 0.05, 0.85))  # of the overlay
    ground = paper[3] * paper[:3] + (1.0 - paper[3]) * np.array(behind)
    drawn = diagrams.on_dark(diagrams.phase_diagram(motion, 150, 120, labelled=False))
    colours = {line.colour for line in drawn.lines}
    assert len(colours) > 2
    legs = [f"{end}.{side}" for side in "LR" for end in ("hind", "middle", "fore")]
    colours |= {diagrams.leg_colour(legs, leg) for leg in legs}
    for red, green, blue, alpha in colours | set(diagrams.ON_DARK.values()):
        seen = alpha * np.array((red, green, blue)) + (1.0 - alpha) * ground
        ratio = (luminance(seen) + 0.05) / (luminance(ground) + 0.05)
        assert ratio > 3.0, (red, green, blue, ratio)


def test_the_phase_runs_clockwise_on_its_ellipse(motion):
    diagram = diagrams.phase_diagram(motion)
    axes = diagram.axes[0]
    state = courses(diagram)[0].points
    middle = axes.place(0.0, 0.0)[0]
    arm = state - middle
    turns = arm[:-1, 0] * arm[1:, 1] - arm[:-1, 1] * arm[1:, 0]
    assert (turns < 0.0).all(), "clockwise (1993, Fig. 3)"
    # (x / a)^2 + (y / b)^2 = 1 with a = 23 degrees and b = omega_0 a.
    a = axes.place(23.0, 0.0)[0, 0] - middle[0]
    b = axes.place(0.0, 23.0 * np.pi)[0, 1] - middle[1]
    assert (arm[:, 0] / a) ** 2 + (arm[:, 1] / b) ** 2 == pytest.approx(1.0, abs=1e-3)


def test_the_time_diagram_shows_five_courses_and_the_edge_changes(motion):
    diagram = diagrams.time_diagram(motion)
    assert len(courses(diagram)) == 5
    lean = diagram.axes[-1]
    # Crossings of the vertical at whole seconds: upright lines over the plot's height.
    upright = [line.points for line in diagram.lines
               if len(line.points) == 2 and line.points[0, 0] == line.points[1, 0]
               and line.points[:, 1] == pytest.approx((lean.bottom, lean.top))]
    places = sorted(points[0, 0] for points in upright)
    assert places[:5] == pytest.approx([lean.place(float(t), 0.0)[0, 0] for t in range(1, 6)])
    for line in diagram.lines:
        assert (line.points >= 0.0).all()
        assert (line.points <= (diagram.width, diagram.height)).all()


def test_clipped_stretches_stand_out():
    points = np.arange(20.0).reshape(10, 2)
    mask = np.array((1, 1, 0, 0, 1, 0, 1, 1, 1, 1), bool)
    runs = diagrams._runs(points, mask)
    assert [len(run) for run in runs] == [2, 4]
    assert runs[1] == pytest.approx(points[6:])


def test_svg_holds_every_line_and_label(motion):
    diagram = diagrams.time_diagram(motion)
    root = ElementTree.fromstring(diagrams.to_svg(diagram))
    kinds = [child.tag.rpartition("}")[2] for child in root]
    assert kinds.count("polyline") == len(diagram.lines)
    assert kinds.count("text") == len(diagram.labels)
    texts = {child.text for child in root if child.tag.endswith("text")}
    assert {"Lean, degrees", "Leg force, g", "Time, s"} <= texts


def test_pixels_lie_on_the_line_and_nowhere_else():
    line = diagrams.Line(np.array(((10.0, 30.0), (90.0, 30.0))), (1.0, 0.0, 0.0, 1.0), 4.0)
    picture = diagrams.rasterise(diagrams.Diagram(100, 50, (line,), (), ()), scale=1.0)
    assert picture.shape == (50, 100, 4)
    column = picture[:, 50]
    # 30 pixels up is row 20 from the top; 4 pixels wide: rows 18 to 21.
    assert column[18:22, :3] == pytest.approx(np.tile((1.0, 0.0, 0.0), (4, 1)))
    assert np.delete(column, slice(17, 23), axis=0)[:, :3] == pytest.approx(1.0)
    red = (picture[..., 1] < 0.5).sum()
    assert red == pytest.approx(80 * 4 + np.pi * 2**2, abs=8)


def test_png_is_what_was_drawn(motion):
    picture = diagrams.rasterise(diagrams.phase_diagram(motion, 120, 100), scale=1.0)
    read = np.asarray(Image.open(io.BytesIO(diagrams.png(picture))))
    assert read.shape == (100, 120, 4)
    assert np.abs(read / 255.0 - picture).max() < 0.003


def test_every_letter_that_is_used_can_be_drawn(motion):
    for diagram in (diagrams.phase_diagram(motion), diagrams.time_diagram(motion)):
        for label in diagram.labels:
            drawn = diagrams._letters(label)
            assert drawn, label.text
            for letter in label.text.replace(" ", ""):
                glyph = diagrams._STROKES.get(letter) or diagrams._LETTERS.get(letter.upper())
                assert glyph, letter


def test_glyphs_are_whole_strokes():
    for letter, grid in (diagrams._STROKES | diagrams._LETTERS).items():
        for stroke in grid.split():
            assert len(stroke) % 2 == 0 and len(stroke) >= 4, letter
            assert all(x in "01234" for x in stroke[::2]), letter
            assert all(y in "0123456" for y in stroke[1::2]), letter


def test_only_svg_and_png_are_written(motion, tmp_path):
    diagram = diagrams.phase_diagram(motion, 60, 50)
    for name in ("a.svg", "a.PNG"):
        diagrams.save(diagram, tmp_path / name)
        assert (tmp_path / name).stat().st_size > 100
    with pytest.raises(ValueError, match="must be .svg or .png"):
        diagrams.save(diagram, tmp_path / "a.gif")


@pytest.fixture(scope="module")
def gaits():
    """A horse that walks, then trots (Girard 1986, Fig. 4), with one edited footprint."""
    return solve_gait(
        GaitSettings(
            sequence=(GaitItem("WALK"), GaitItem("TROT", 2.0)), n_frames=121, speed=2.6,
            edits=(FootprintEdit("hind.L", 2, yaw=0.3),),
        )
    )


def test_the_gait_diagram_has_a_bar_for_each_support(gaits):
    diagram = diagrams.gait_diagram(gaits)
    upper, lower = diagram.axes
    bars = diagrams.gait_bars(gaits, upper)
    assert len(bars) == len(gaits.footprints)
    for bar, mark in zip(bars, gaits.footprints, strict=True):
        assert bar.area in diagram.areas
        ends = upper.place(np.clip((mark.on, mark.off), 0.0, 5.0), 0.0)[:, 0]
        assert (bar.area.left, bar.area.right) == pytest.approx(tuple(ends))
    # Rows do not overlap; left and right legs can be told apart.
    rows = {bar.leg: (bar.area.bottom, bar.area.top) for bar in bars}
    heights = sorted(rows.values())
    assert all(a[1] < b[0] for a, b in zip(heights[:-1], heights[1:], strict=True))
    assert len({bar.area.colour for bar in bars}) == 4
    # In the air where no bar is: bands over all rows, none in the walk.
    bands = [area for area in diagram.areas if area.colour == diagrams.AIR]
    change = upper.place(gaits.gaits[1][1], 0.0)[0, 0]
    assert bands and min(band.left for band in bands) >= change - 1e-9
    for band in bands:
        assert band.bottom == lower.bottom and band.top == upper.top
        assert not any(bar.area.left < band.right - 1e-6 and bar.area.right > band.left + 1e-6
                       for bar in bars)
    texts = [label.text for label in diagram.labels]
    assert {"Walk", "Trot", "Left hind", "Right fore", "Any Fore", "Time, s"} <= set(texts)
    # The edited one is framed; a profile of each girdle lies below.
    framed = next(bar.area for bar in bars if (bar.leg, bar.index) == ("hind.L", 2))
    assert any(np.allclose(line.points[0], (framed.left, framed.bottom)) for line in diagram.lines)
    assert sum(area.top < lower.top for area in diagram.areas) >= len(gaits.supports)
    for label in diagram.labels:
        assert diagrams._letters(label), label.text


def test_bars_are_grabbed_at_their_ends_and_in_the_middle(gaits):
    upper, _lower = diagrams.gait_axes(gaits, 860, 320, True)
    bars = diagrams.gait_bars(gaits, upper)
    bar = next(b for b in bars if b.leg == "fore.L" and b.on > 1.0)
    y, area = 0.5 * (bar.area.bottom + bar.area.top), bar.area
    assert diagrams.bar_at(bars, area.left - 3.0, y, 6.0) == (bar, "ON")
    assert diagrams.bar_at(bars, area.right + 3.0, y, 6.0) == (bar, "OFF")
    assert diagrams.bar_at(bars, 0.5 * (area.left + area.right), y, 6.0) == (bar, "BAR")
    assert diagrams.bar_at(bars, area.right + 8.0, y, 6.0) is None
    assert diagrams.bar_at(bars, area.left, area.top + 3.0, 6.0) is None


def test_areas_are_filled_to_parts_of_pixels(gaits):
    area = diagrams.Area(10.25, 20.5, 5.0, 9.0, (0.0, 0.0, 0.0, 1.0))
    picture = diagrams.rasterise(diagrams.Diagram(40, 20, (), (), (), (area,)), scale=1.0)
    assert (1.0 - picture[..., 0]).sum() == pytest.approx(10.25 * 4.0)
    assert picture[12, 10, 0] == pytest.approx(0.25) and picture[12, 20, 0] == pytest.approx(0.5)
    part = diagrams.gait_diagram(gaits, 300, 120, False, (1.0, 2.5))
    root = ElementTree.fromstring(diagrams.to_svg(part))
    kinds = [child.tag.rpartition("}")[2] for child in root]
    assert kinds.count("rect") == len(part.areas) + 1
    assert all(0.0 <= area.left <= area.right <= 300.0 for area in part.areas)
