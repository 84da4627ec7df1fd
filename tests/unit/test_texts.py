# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of languages: complete, with all that is put in, and found again from what is said."""

import json
from pathlib import Path

import pytest
import texts as tool
from poise.addon import texts

TABLES = sorted(tool.LOCALE.glob("*.json"))


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_sentence_of_the_code_is_translated(path):
    lacks = tool.missing(tool.of_code(), tool.read(path))
    assert lacks == {}, "python tools/texts.py says which, and where they stand"


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_translations_put_in_what_the_english_does(path):
    assert tool.wrong(tool.read(path)) == []


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_a_table_is_in_order_and_says_something_of_its_own(path):
    table = tool.read(path)
    text = json.dumps(table, ensure_ascii=False, indent=0, sort_keys=True) + "\n"
    assert path.read_text(encoding="utf-8") == text
    # Names, units and words that both languages have stay.
    same = [words for words, own in table.items() if words == own]
    assert len(same) < 0.03 * len(table), same


@pytest.mark.parametrize("path", TABLES, ids=lambda path: path.stem)
def test_every_sentence_is_known_again_with_what_was_put_in(path):
    """Numbers and names for its blanks come out in the translation, at their places."""
    wrong = []
    for text, own in texts.table(path.stem).items():
        count = text.count(tool.BLANK)
        if not count or sum(map(str.isalpha, text.replace(tool.BLANK, ""))) < texts.SURE:
            continue
        said, wanted = text, own
        for number in range(count):
            said = said.replace(tool.BLANK, f"Q{number}.5", 1)
            wanted = wanted.replace(tool.BLANK, f"Q{number}.5", 1)
        found = texts.translated(said, path.stem)
        if found != wanted:
            wrong.append((said, found, wanted))
    assert wrong == []


def test_what_is_put_in_is_translated_but_for_names():
    said = "Trail has no motion: click Add Motion"
    named = {"Trail"}.__contains__
    assert texts.translated(said, "de_DE").startswith("Fahrspur hat keine Bewegung")
    assert texts.translated(said, "de_DE", named).startswith("Trail hat keine Bewegung")
    # A requirement of a solver within its sentence, and a list.
    said = "Speed is 0.0: it must be between 0 and 1000 m/s"
    assert texts.translated(said, "de_DE") == (
        "Tempo ist 0.0: Es muss zwischen 0 und 1000 m/s sein"
    )
    said = "Changed since the bake: frame rate, body style"
    assert texts.translated(said, "de_DE") == "Seit dem Backen geändert: Framerate, Körperstil"
    # Two sentences that code puts behind each other.
    said = "Max Lean of 14.9° just fits; the lean asked for needs a Speed of 7.0 m/s"
    assert texts.translated(said, "de_DE") == (
        "Max. Neigung von 14.9° passt gerade; die verlangte Neigung braucht ein Tempo von 7.0 m/s"
    )


@pytest.mark.parametrize(("said", "german"), [
    ("Path is Cube, which is no curve: choose a curve",
     "Pfad ist Cube, aber nicht vom Typ Kurve: etwas vom Typ Kurve wählen"),
    ("Own Timing of Trot is without the left fore: it must be switched off and on again, which "
     "fills in the legs", "Eigene Zeitgebung von Trab ist ohne Vorderbein links: Es muss neu"),
    ("The motion has no rotation for head at frame 7: its settings are beyond what can be computed",
     "Der Bewegung fehlt die Drehung von head bei Frame 7: "),
    ("The active motion has no gaits: set Motion to Gait",
     "Die aktive Bewegung hat keine Gangarten: "),
    ("Changed since the bake: Frequency, Path, Gates, terrain",
     "Seit dem Backen geändert: Frequenz, Pfad, Tore, Gelände"),
])
def test_what_is_put_in_reads_right_whatever_its_gender(said, german):
    assert texts.translated(said, "de_DE").startswith(german)


@pytest.mark.parametrize("said", ["", "12.5", "what others say", "前足の骨" * 60, "{}", "\n"])
def test_what_no_table_has_stays_as_it_is(said):
    assert texts.translated(said, "de_DE") == said
    assert texts.translated("Max Lean", "xx_XX") == texts.translated("Max Lean", "") == "Max Lean"
    assert texts.table("de") == texts.table("de_DE") != {}


def test_texts_are_read_off_the_source():
    found = tool.of_code()
    assert len(found) > 2000
    assert "{} has no motion: click Add Motion" in found
    assert "a Max Lean of {}°" in found  # filled in by format()
    assert not any("bpy." in text or "<svg" in text for text in found)
    apart = Path(tool.APART).read_text(encoding="utf-8").splitlines()
    assert apart == sorted(set(apart))
