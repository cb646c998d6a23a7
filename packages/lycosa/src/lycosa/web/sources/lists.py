"""Lists of URLs in plain text and Markdown: one per line, or links under headings as in `llms.txt`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lycosa.web.sources.source import Source, brief

MAX_LINE = 10_000
MAX_LINES = 200_000
_BULLET = re.compile(r"\s*(?:[-*+>]\s+|\d{1,4}[.)]\s+)*")
_LINK = re.compile(r"(!?)\[([^\[\]]*+)\]\(\s*+<?([^\s<>()]++(?:\([^\s<>()]*+\)[^\s<>()]*+)*+)>?[^()]*+\)")
_REFERENCE = re.compile(r"\s{0,3}\[([^\[\]]+)\]:\s*<?([^\s<>]+)>?(.*)")
_BARE = re.compile(r"<?(https?://[^\s<>\"]+)>?", re.IGNORECASE)
_HEADING = re.compile(r"\s{0,3}(#{1,6})\s+")
_NAMES = (".md", ".markdown", "/llms.txt", "/llms-full.txt")


def is_markdown(url: str, content_type: str) -> bool:
    return "markdown" in content_type.lower() or f"/{url}".lower().partition("?")[0].endswith(_NAMES)


def starts_with_link(line: str) -> bool:
    """Return True if a line begins with a Markdown link, after optional bullets."""
    match = _LINK.match(line[:MAX_LINE], _start(line))
    return match is not None and not match[1]


def read_list(text: str, source: Source, *, markdown: bool) -> bool:
    """Add every link; False if fewer than half of the lines begin with one, or with `markdown` if there is none."""
    lines = starting = 0
    heading = ""
    for line in text.split("\n", MAX_LINES)[:MAX_LINES]:
        line = line[:MAX_LINE].rstrip()
        if titled := _HEADING.match(line):
            heading = brief(line[titled.end() :].strip("# \t"))
            if titled[1] == "#" and not source.title:
                source.title, heading = heading, ""
        if not line or line.lstrip().startswith("#"):
            continue
        lines += 1
        for number, (begins, href, label, rest) in enumerate(_links(line)):
            starting += begins and not number
            source.add(href, label, f"{heading} {rest}")
        if source.is_full:
            break
    return 2 * starting >= max(1, lines) or (markdown and len(source.links) > 0)


def _links(line: str) -> Iterator[tuple[bool, str, str, str]]:
    """Yield (is at the beginning, URL, label, description) for each link of a line."""
    start = _start(line)
    if reference := _REFERENCE.fullmatch(line):
        yield True, reference[2], reference[1], reference[3].strip(" \"'()")
        return
    links = [link for link in _LINK.finditer(line) if not link[1]]
    ends = [link.start() for link in links[1:]] + [len(line)]
    for link, after in zip(links, ends, strict=False):
        yield link.start() == start, link[3], link[2], line[link.end() : after].strip(" :-–—|,;")
    if not links and (bare := _BARE.match(line, start)):
        yield True, bare[1], line[bare.end() :].strip(" :-–—|,;#\t"), ""


def _start(line: str) -> int:
    match = _BULLET.match(line)
    return match.end() if match else 0


def seed_lines(text: str) -> list[tuple[int, str]]:
    """Return the lines of a seed file with their numbers, without comments and blank lines.

    A `#` begins a comment at the start of a line or after a space. In a table the first tab-separated column counts.

    >>> seed_lines("# reefs\\n\\nexample.org/reefs # mine\\nhttps://example.org/#top\\tReefs\\n")
    [(3, 'example.org/reefs'), (4, 'https://example.org/#top')]
    """
    lines = (line.split(" #")[0].strip().split("\t")[0].strip() for line in text.split("\n"))
    return [(number, line) for number, line in enumerate(lines, 1) if line and not line.startswith("#")]
