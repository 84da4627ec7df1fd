# SPDX-License-Identifier: GPL-3.0-or-later
"""The paper's text forms of controllers and scripts: its Figures 12 and 15."""

import numpy as np
import pytest
from poise.solvers.control import pendulum
from poise.solvers.control.texts import (
    Line,
    Range,
    read_controller,
    read_script,
    write_controller,
    write_script,
)
from poise.solvers.errors import SettingError

FIGURE_12 = """
# controller for a single link
dyn link1          # dynamics equations

ssid omega -500.0 500.0 21
ssid angle -180 170 36
wrap angle
torq torque -10.0 10.0 11 0.1
dest angle=0 omega=0
"""

FIGURE_15 = """
state link -135,350           # starting state
swapcon link conB.ctab       # invoke controller B
sim 0.4                       # simulate 0.4 seconds
swapcon link conA.ctab
sim 0.7
swapcon link conD.ctab
sim 0.6
swapcon link conE.ctab
sim 0.4
swapcon link conC.ctab
sim 0.4
swapcon link conF.ctab
sim 0.7
"""


def test_figure_12_is_the_literal_table():
    made = read_controller(FIGURE_12)
    assert made.dynamics == "link1"
    omega, angle = made.coordinates
    assert omega == Range("omega", -500.0, 500.0, 21)
    assert angle == Range("angle", -180.0, 170.0, 36, wraps=True)
    assert made.controls == (Range("torque", -10.0, 10.0, 11, effort=0.1),)
    assert made.destinations == ({"angle": 0.0, "omega": 0.0},)
    angles, speeds = (axis.nodes for axis in pendulum.literal_grid().axes)
    for nodes, said in ((angles, angle), (speeds, omega)):
        np.testing.assert_allclose(
            np.degrees(nodes), np.linspace(said.low, said.high, said.count), atol=1e-9
        )


def test_figure_15_is_a_start_and_six_stretches():
    script = read_script(FIGURE_15)
    assert script.states == {"link": (-135.0, 350.0)}
    assert [line.controller for line in script.lines] == [f"con{x}.ctab" for x in "BADECF"]
    assert [line.seconds for line in script.lines] == [0.4, 0.7, 0.6, 0.4, 0.4, 0.7]


def test_what_is_written_is_read_again():
    made, script = read_controller(FIGURE_12), read_script(FIGURE_15)
    assert read_controller(write_controller(made)) == made
    assert read_script(write_script(script)) == script


FORMS = """state link 0.0,0.0
seed 7
swapcon link conA.ctab conB.ctab
sim 1.0 until reached
sim 4.0 until angle=170.0,-170.0 omega=-50.0,50.0
whenever link conC.ctab conD.ctab angle=-10.0,10.0
sim 2.0
"""


def test_ends_regions_and_draws_are_written_and_read():
    made = read_script(FORMS)
    assert made.seed == 7 and [x.until for x in made.lines] == [
        "REACHED", "REGION", "WHENEVER", "TIME"
    ]
    assert made.lines[0].others == ("conB.ctab",) == made.lines[3].others
    assert made.lines[1].region == {"angle": (170.0, -170.0), "omega": (-50.0, 50.0)}
    assert made.lines[2] == Line(
        "link", "conC.ctab", 1.0, ("conD.ctab",), "WHENEVER", {"angle": (-10.0, 10.0)}
    )
    assert write_script(made) == FORMS and read_script(write_script(made)) == made


@pytest.mark.parametrize("line", [
    "sim 1 until", "sim 1 until late", "sim 1 until angle", "sim 1 until angle=1",
    "sim 1 until angle=1,x", "sim 1 until =1,2", "sim 1 for angle=1,2", "sim 1 until angle=1,2,3",
    "whenever link conA.ctab", "whenever link angle=1,2 omega=1,2", "seed -1", "seed a",
])
def test_a_line_of_another_form_is_named(line):
    with pytest.raises(SettingError, match="Line 2"):
        read_script(f"swapcon link conA.ctab\n{line}\n")


def test_destinations_may_be_several_and_leave_coordinates_free():
    made = read_controller(FIGURE_12 + "dest angle=120\n")
    assert made.destinations[1] == {"angle": 120.0}
    assert read_controller(write_controller(made)) == made


def test_a_motor_program_holds_controls():
    made = read_controller("dyn arm\nhold torque1=2.5 torque3=-1\n")
    assert made.held == {"torque1": 2.5, "torque3": -1.0} and not made.coordinates
    assert read_controller(write_controller(made)) == made


def test_a_controller_may_stay_for_several_stretches():
    script = read_script("swapcon a x\nsim 1\nsim 2\n")
    assert script.lines == (Line("a", "x", 1.0), Line("a", "x", 2.0))
    assert write_script(script) == "swapcon a x\nsim 1.0\nsim 2.0\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ssid omega -500 500", "Line 1 is ssid omega -500 500: it must be ssid NAME LEAST"),
        ("\nssid omega 5 -5 21", "Line 2 .* LEAST below LARGEST"),
        ("ssid omega 0 nan 21", "Line 1"),
        ("import os", "Line 1 is import os: it must be dyn, ssid, wrap, torq or dest"),
        (FIGURE_12.replace("dest angle=0 omega=0", ""), "Controller is incomplete"),
        (FIGURE_12 + "wrap speed", "Coordinate is speed: it must be one of omega, angle"),
        (FIGURE_12 + "dest angle", "dest NAME=VALUE"),
        ("hold 2.5", "Line 1 is hold 2.5: it must be hold NAME=VALUE"),
        ("hold torque=nan", "Line 1"),
        (FIGURE_12 + "hold torque=1", "Controller is a motor program, too: it must be one of both"),
    ],
)
def test_controllers_that_are_none_are_refused_by_their_line(text, words):
    with pytest.raises(SettingError, match=words):
        read_controller(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("sim 0.4", "Line 1 is sim 0.4: .* nobody is in control"),
        ("swapcon a x\nsim -1", "Line 2 is sim -1"),
        ("swapcon a x\nsim forever", "Line 2 is sim forever"),
        ("state link a,b", "Line 1"),
        ("exec('x')", "Line 1 is exec"),
    ],
)
def test_scripts_that_are_none_are_refused_by_their_line(text, words):
    with pytest.raises(SettingError, match=words):
        read_script(text)
