"""Build the documentation site offline: `python tools/site.py [DIRECTORY]`, by default site/.

The pages are written for code hosts. For the site the files of the project's root become pages, links to sources become
plain names, and lists get the blank line that Markdown requires. mkdocs.yml defines the structure. zensical builds
strictly, and then every link and anchor of the result is checked.
"""

from __future__ import annotations

import os
import posixpath
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parent.parent
PAGES = {"CHANGELOG.md": "changelog.md", "SECURITY.md": "security.md", "CONTRIBUTING.md": "contributing.md"}
"""Root files that become pages of the site, with their names there."""

ICON = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><circle cx="8" cy="8" r="3.5" fill="#00796b"/>
<path d="M8 8L1 2M8 8L15 2M8 8L0 8M8 8L16 8M8 8L1 14M8 8L15 14" stroke="#00796b"/></svg>
"""

_FENCE = re.compile(r"^( *```.*?^ *```)$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_ITEM = re.compile(r"^(?P<before>(?! *(?:[-*]|\d+\.) |#|\||>)\S.*)\n(?=(?:[-*]|\d+\.) )", re.MULTILINE)


def build(out: Path) -> None:
    """Build the site; exit with a list of its problems."""
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        shutil.copy(ROOT / "mkdocs.yml", work)
        _write(work / "docs")
        command = [sys.executable, "-m", "zensical", "build", "--strict", "-f", str(work / "mkdocs.yml")]
        plain = {**os.environ, "NO_COLOR": "1"}
        done = subprocess.run(command, cwd=work, env=plain, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"the site can't be built:\n{done.stdout}{done.stderr}")
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(work / "site", out)
    wrong = list(problems(out))
    if wrong:
        raise SystemExit("\n".join(wrong))


def _write(into: Path) -> None:
    """Write the adapted pages and all files that they show."""
    shutil.copytree(ROOT / "docs", into)
    for name, uri in PAGES.items():
        shutil.copy(ROOT / name, into / uri)
    (into / "favicon.svg").write_text(ICON, encoding="utf-8")
    for page in into.rglob("*.md"):
        uri = page.relative_to(into).as_posix()
        came_from = next((name for name, made in PAGES.items() if made == uri), f"docs/{uri}")
        page.write_text(adapted(page.read_text("utf-8"), came_from, uri), encoding="utf-8")


def adapted(markdown: str, came_from: str, uri: str) -> str:
    """Return the text of a page adapted for the site; code blocks are unchanged."""
    parts = _FENCE.split(markdown)
    parts[::2] = [
        _LINK.sub(lambda link: _linked(link, came_from, uri), _ITEM.sub(r"\g<before>\n\n", part)) for part in parts[::2]
    ]
    parts[1::2] = [part.replace("```python runnable\n", "```python\n") for part in parts[1::2]]
    return "".join(parts)


def _linked(link: re.Match[str], came_from: str, uri: str) -> str:
    """Return a link adapted for a page of the site, or only its text if it leads to a source."""
    mark, shown, target = link.groups()
    path, sharp, anchor = target.partition("#")
    if ":" in path or not path:
        return link[0]
    place = posixpath.normpath(posixpath.join(posixpath.dirname(came_from), path))
    if place == "README.md":
        place = "docs/index.md"
    inside = PAGES.get(place) or (place.removeprefix("docs/") if place.startswith("docs/") else "")
    if not inside:
        return shown if shown.startswith("`") else f"{shown} (`{place}`)"
    return f"{mark}[{shown}]({posixpath.relpath(inside, posixpath.dirname(uri) or '.')}{sharp}{anchor})"


class _Page(HTMLParser):
    """Links, resources and anchors of a page of the site."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.names: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.names |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif tag != "meta":
            self.loads += [
                values[name] for name in ("src", "href") if name in values and values.get("rel") != "canonical"
            ]


def problems(site: Path) -> Iterator[str]:
    """Yield broken links and external resources."""
    pages = {path: _Page(path.read_text("utf-8")) for path in site.rglob("*.html")}
    for path, page in pages.items():
        if path.name == "404.html":  # shown at any URL
            continue
        where = path.relative_to(site)
        for link in page.loads:
            if re.match(r"(?:https?:)?//", link):
                yield f"{where} loads {link}"
        for link in (*page.links, *page.loads):
            target, _, anchor = link.partition("#")
            if re.match(r"[a-z]+:|//", link):
                continue
            file = (path.parent / unquote(target.partition("?")[0])).resolve() if target else path.resolve()
            file = file / "index.html" if file.is_dir() else file
            if not file.exists():
                yield f"{where}: {link} leads nowhere"
            elif anchor and anchor != "__skip" and file in pages and unquote(anchor) not in pages[file].names:
                yield f"{where}: {link} names nothing on that page"


if __name__ == "__main__":
    build(Path(sys.argv[1] if len(sys.argv) > 1 else "site").resolve())
