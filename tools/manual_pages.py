# SPDX-License-Identifier: GPL-3.0-or-later
"""The manual as web pages, for the zip: docs/*.md with its pictures shrunk.

    python tools/manual_pages.py FOLDER

Reads the Markdown that docs/ is written in and no more: headings, paragraphs,
tables, lists, code, links, pictures. Shrunk pictures are kept under build/.
"""

from __future__ import annotations

import html
import re
import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from environments import ROOT, locked

DOCS = ROOT / "docs"
APART = ("house.md",)
"""Pages for whoever changes the code."""

WIDTH = 1120
"""Pictures are no wider than this, in pixels."""

QUALITY = 78

STYLE = """\
:root { color-scheme: light dark; --line: #8884; --link: #2a6fb0; --side: 12rem; }
@media (prefers-color-scheme: dark) { :root { --link: #7db8f0; } }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; }
nav { position: fixed; top: 0; bottom: 0; width: var(--side); overflow: auto;
      padding: 1rem; border-right: 1px solid var(--line); box-sizing: border-box; }
nav a { display: block; padding: .15rem 0; }
nav a.here { font-weight: bold; }
main { margin-left: var(--side); padding: 1rem 2rem 50vh; max-width: 56rem; }
a { color: var(--link); text-decoration: none; }
a:hover { text-decoration: underline; }
img { max-width: 100%; height: auto; }
table { border-collapse: collapse; margin: 1rem 0; }
td, th { border: 1px solid var(--line); padding: .3rem .6rem; text-align: left;
         vertical-align: top; }
code, pre { font-family: ui-monospace, monospace; font-size: .9em; overflow-wrap: anywhere; }
pre { border: 1px solid var(--line); padding: .8rem; overflow: auto; }
:target { background: #fc03; }
@media (max-width: 50rem) {
  nav { position: static; width: auto; border: 0; } main { margin: 0; } }
"""

PAGE = """\
<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title} - Poise</title>
<link rel="stylesheet" href="style.css">
<nav>
{links}
</nav>
<main>
{body}
</main>
</html>
"""


def anchor_of(heading: str) -> str:
    """A heading's anchor, as GitHub makes it.

    Args:
        heading: its text in Markdown.
    """
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def address_of(target: str) -> str:
    """Where a link or picture of docs/ is among the web pages.

    Args:
        target: as the Markdown has it.
    """
    if target.startswith(("http://", "https://")):
        return target
    file, hash_, anchor = target.partition("#")
    if file == "README.md":
        file = "index.html"
    return re.sub(r"\.png$", ".webp", re.sub(r"\.md$", ".html", file)) + hash_ + anchor


def inline(text: str) -> str:
    """A line's Markdown as HTML.

    Args:
        text: within a paragraph, a heading or a cell.
    """
    kept: list[str] = []

    def keep(made: str) -> str:
        kept.append(made)
        return f"\0{len(kept) - 1}\0"

    text = re.sub(r"`([^`]+)`", lambda m: keep(f"<code>{html.escape(m[1])}</code>"), text)
    text = html.escape(text, quote=False).replace("&lt;br&gt;", "<br>")
    text = re.sub(
        r"!\[([^\]]*)\]\(([^)\s]+)\)",
        lambda m: keep(f'<img src="{address_of(m[2])}" alt="{html.escape(m[1])}">'), text,
    )
    text = re.sub(
        r"\[([^\]]*)\]\(([^)\s]+)\)",
        lambda m: m[1] if m[2] in APART else keep(f'<a href="{address_of(m[2])}">') + m[1] + "</a>",
        text,
    )
    text = re.sub(r"\*\*(.+?)\*\*", r"<strong>\1</strong>", text)
    text = re.sub(r"(?<!\w)\*([^*\s](?:[^*]*[^*\s])?)\*(?!\w)", r"<em>\1</em>", text)
    return re.sub(r"\0(\d+)\0", lambda m: kept[int(m[1])], text)


def cells_of(row: str) -> list[str]:
    """Cells of a table's row.

    Args:
        row: "| a | b |".
    """
    # A bar within code separates nothing.
    parts = re.split(r"\|(?=(?:[^`]*`[^`]*`)*[^`]*$)", row.strip().strip("|"))
    return [inline(part.strip().replace("\\|", "|")) for part in parts]


def table(rows: list[str]) -> str:
    """A table as HTML.

    Args:
        rows: its lines; the second one rules.
    """
    head, *body = (cells_of(row) for row in (rows[0], *rows[2:]))
    lines = ["<table>"]
    if any(head):
        lines.append("<tr>" + "".join(f"<th>{cell}</th>" for cell in head) + "</tr>")
    lines += ["<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in body]
    return "\n".join([*lines, "</table>"])


ITEM = re.compile(r"(-|\d+\.) +")


def items(lines: list[str]) -> str:
    """A list as HTML.

    Args:
        lines: its items, with the lines on which they go on.
    """
    kind = "ul" if lines[0].startswith("-") else "ol"
    texts: list[str] = []
    for line in lines:
        mark = ITEM.match(line)
        if mark:
            texts.append(line[mark.end():])
        else:
            texts[-1] += " " + line.strip()
    return f"<{kind}>\n" + "\n".join(f"<li>{inline(t)}</li>" for t in texts) + f"\n</{kind}>"


def body_of(text: str) -> str:
    """A page's Markdown as HTML.

    Args:
        text: the page.
    """
    text = re.sub(r"<!--.*?-->\n?", "", text, flags=re.DOTALL)
    made: list[str] = []
    # Code is a block of its own, whatever lines are empty in it.
    for number, part in enumerate(re.split(r"^```.*\n", text, flags=re.MULTILINE)):
        if number % 2:
            made.append(f"<pre>{html.escape(part)}</pre>")
            continue
        for block in re.split(r"\n\s*\n", part.strip("\n")):
            if block.strip():
                made.append(block_of(block.split("\n")))
    return "\n".join(made)


def block_of(lines: list[str]) -> str:
    """Lines without an empty one between them as HTML.

    Args:
        lines: heading, table, list or paragraph.
    """
    heading = re.match(r"(#+) (.*)", lines[0])
    if heading:
        level, words = len(heading[1]), heading[2]
        first = f'<h{level} id="{anchor_of(words)}">{inline(words)}</h{level}>'
        return first if len(lines) == 1 else f"{first}\n{block_of(lines[1:])}"
    if lines[0].startswith("|"):
        return table(lines)
    if ITEM.match(lines[0]):
        return items(lines)
    begins = next((i for i, line in enumerate(lines) if line.startswith(("|", "- "))), len(lines))
    first = f"<p>{inline(' '.join(lines[:begins]))}</p>"
    return first if begins == len(lines) else f"{first}\n{block_of(lines[begins:])}"


def pages() -> dict[str, str]:
    """File name -> text of each web page."""
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted(DOCS.glob("*.md")) if path.name not in APART
    }
    order = re.findall(r"^\| \[([^\]]+)\]\(([\w-]+\.md)\)", texts["README.md"], re.MULTILINE)
    named = [("Contents", "README.md"), *order]
    made = {}
    for name, text in texts.items():
        links = "\n".join(
            f'<a href="{address_of(file)}"{" class=here" * (file == name)}>{words}</a>'
            for words, file in named
        )
        title = html.escape(text.partition("\n")[0].removeprefix("# "))
        made[address_of(name)] = PAGE.format(title=title, links=links, body=body_of(text))
    return made


def shrunk() -> Path:
    """Shrink the pictures that have changed since.

    Returns:
        Folder with all of them.
    """
    from PIL import Image

    folder = ROOT / "build" / "manual" / f"{WIDTH}-{QUALITY}"
    folder.mkdir(parents=True, exist_ok=True)
    with locked(folder.parent / "lock"):
        sources = {path.stem: path for path in (DOCS / "images").glob("*.png")}
        for name, path in sources.items():
            small = folder / f"{name}.webp"
            if small.is_file() and small.stat().st_mtime > path.stat().st_mtime:
                continue
            with Image.open(path) as picture:
                picture = picture.convert("RGB")
                picture.thumbnail((WIDTH, 4 * WIDTH))
                picture.save(folder / "new", "WEBP", quality=QUALITY)
            (folder / "new").replace(small)
        for old in folder.glob("*.webp"):
            if old.stem not in sources:
                old.unlink()
    return folder


def write(folder: Path) -> None:
    """Write the manual into a folder.

    Args:
        folder: made; what is in it is overwritten.
    """
    shutil.copytree(shrunk(), folder / "images", dirs_exist_ok=True)
    (folder / "style.css").write_text(STYLE, encoding="utf-8")
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    write(Path(sys.argv[1]))
