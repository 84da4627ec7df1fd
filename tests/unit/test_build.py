# SPDX-License-Identifier: GPL-3.0-or-later
"""What is packaged: a zip per platform and Python, its manifest, and the manual as web pages.

blender.org builds 4.5 and 5.0 with Python 3.11, 5.1 to 5.3 with 3.13; a manifest's
`blender_version_max` is the first version that is refused.
"""

import re
import tomllib
from html.parser import HTMLParser
from pathlib import Path

import build
import manual_pages
import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = [(python, target) for python, line in build.LINES.items() for target in line.platforms]
# Blender -> the Python that blender.org builds it with.
BLENDERS = {
    (4, 5): "3.11", (5, 0): "3.11", (5, 1): "3.13", (5, 2): "3.13", (5, 3): "3.13",
}


def made(python, target):
    """A package's manifest, with a wheel of that Python and platform."""
    tag = "cp" + python.replace(".", "")
    wheel = f"scipy-1.0-{tag}-{tag}-{build.PLATFORMS[target]}.whl"
    return wheel, tomllib.loads(build.full_manifest(python, target, wheel))


def test_a_publisher_may_name_the_website():
    text = build.full_manifest("3.13", "linux-x64", "x.whl", "https://example.org/poise")
    assert tomllib.loads(text)["website"] == "https://example.org/poise"


def version(text):
    return tuple(int(part) for part in text.split("."))


@pytest.mark.parametrize("python, target", PACKAGES)
def test_a_manifest_is_for_one_platform_and_one_python(python, target):
    wheel, found = made(python, target)
    assert found["platforms"] == [target]
    assert found["wheels"] == [f"./wheels/{wheel}"]
    whole = tomllib.loads((ROOT / "blender_manifest.toml").read_text(encoding="utf-8"))
    apart = ("platforms", "wheels", "blender_version_min", "blender_version_max")
    assert {k: v for k, v in found.items() if k not in apart} == {
        k: v for k, v in whole.items() if k not in apart
    }


@pytest.mark.parametrize("target", build.PLATFORMS)
def test_each_blender_takes_the_one_zip_that_has_its_python(target):
    for blender, python in BLENDERS.items():
        # A patch release late in its series counts to it, too.
        for patch in (0, 99):
            takes = []
            for other in ("3.11", "3.13"):
                _wheel, found = made(other, target)
                least, below = (version(found[f"blender_version_{e}"]) for e in ("min", "max"))
                if least <= (*blender, patch) < below:
                    takes.append(other)
            assert takes == [python], (blender, patch)
    assert {"3.11", "3.13"} <= set(build.LINES)


def test_a_blender_of_a_distribution_takes_the_third():
    _wheel, found = made("3.14", "linux-x64")
    least, below = (version(found[f"blender_version_{end}"]) for end in ("min", "max"))
    assert all(least <= (*blender, 0) < below for blender in BLENDERS)
    assert build.LINES["3.14"].platforms == ("linux-x64",)


def test_names_say_what_a_zip_is_for():
    names = {build.zip_name(*package) for package in PACKAGES}
    assert len(names) == len(PACKAGES) == 9
    about = build.manifest()["version"]
    assert f"poise-{about}-blender-4.5-windows_x64.zip" in names
    assert f"poise-{about}-blender-5.1-macos_arm64.zip" in names
    assert f"poise-{about}-python-3.14-linux_x64.zip" in names
    for page in ("README.md", "docs/quick-start.md"):
        said = (ROOT / page).read_text(encoding="utf-8")
        for line in build.LINES.values():
            assert f"poise-…-{line.name}-" in said, page
        for target in build.PLATFORMS:
            assert target.replace("-", "_") in said, page


class Page(HTMLParser):
    """A web page: its anchors, links, pictures and text."""

    VOID = {"meta", "link", "img", "br"}

    def __init__(self, text):
        super().__init__()
        self.anchors, self.links, self.pictures, self.said, self.open = set(), [], [], [], []
        self.feed(text)
        assert self.open == [], self.open

    def handle_starttag(self, tag, attributes):
        found = dict(attributes)
        if "id" in found:
            self.anchors.add(found["id"])
        if tag == "a":
            self.links.append(found["href"])
        if tag == "img":
            self.pictures.append(found["src"])
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        if not {"pre", "code"} & set(self.open):
            self.said.append(data)


PAGES = {name: Page(text) for name, text in manual_pages.pages().items()}


def test_the_manual_has_a_page_for_each_of_docs_but_those_for_developers():
    stems = {path.stem for path in manual_pages.DOCS.glob("*.md")} - {"README", "house"}
    assert set(PAGES) == {f"{stem}.html" for stem in stems} | {"index.html"}


@pytest.mark.parametrize("name", PAGES)
def test_links_and_pictures_of_the_manual_lead_somewhere(name):
    page = PAGES[name]
    pictures = {f"images/{path.stem}.webp" for path in (ROOT / "docs/images").glob("*.png")}
    assert set(page.pictures) <= pictures
    for link in page.links:
        if link.startswith("https://"):
            continue
        file, _, anchor = link.partition("#")
        assert file in PAGES or not file, link
        if anchor:
            assert anchor in PAGES[file or name].anchors, link


@pytest.mark.parametrize("name", PAGES)
def test_no_markdown_is_left_in_the_manual(name):
    said = "".join(PAGES[name].said)
    found = re.findall(r"\*\*|`|\]\(|^#+ |^\||<!--|<br>|^- ", said, re.MULTILINE)
    assert found == [], said
    # As many words as the page that it was made from, but for marks, code and the list of pages.
    source = "README" if name == "index.html" else name.removesuffix(".html")
    text = (manual_pages.DOCS / f"{source}.md").read_text(encoding="utf-8")
    for word in re.findall(r"(?<![\w/.`])[a-z]{4,}(?![\w/.`])", re.sub(
        r"```.*?```|<!--.*?-->|`[^`]*`|\]\([^)]*\)|!\[[^\]]*\]|<br>", " ", text, flags=re.DOTALL
    )):
        assert word in said, word
