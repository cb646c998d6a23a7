"""Markdown files with optional front matter."""

from __future__ import annotations

import re

from lycosa.web.documents.sheet import describe, one_line
from lycosa.web.html import ParsedPage, extract
from lycosa.web.inflate import decode

MAX_SOURCE = 1_000_000  # characters
_FIELDS = re.compile(r"\A\ufeff?---[ \t]*\r?\n(.{0,20000}?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FIELD = re.compile(r"^(title|author|date|lang|language)\s*:\s*(.{0,1000})$", re.MULTILINE | re.IGNORECASE)
_BARE = re.compile(r"(?<![\w(<\[\"'=/`:])https?://[^\s<>\"'`)\]]{3,2000}(?<![.,;:!?*_])")


def read_markdown(body: bytes, url: str, charset: str = "") -> ParsedPage:
    from markdown_it import MarkdownIt

    text = decode(body, charset, markup=False)
    is_truncated, text = len(text) > MAX_SOURCE, text[:MAX_SOURCE]
    metadata: dict[str, str] = {}
    if match := _FIELDS.match(text):
        text = text[match.end() :]
        for name, value in _FIELD.findall(match[1]):
            metadata.setdefault(name.lower(), one_line(value.strip().strip("\"'[]")))
    text = _BARE.sub(r"<\g<0>>", text)
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 20}).enable("table")
    markup = parser.render(text)
    document = extract(f"<meta charset=utf-8><body>{markup}".encode("utf-8", "replace"), url)
    document.main = document.text  # Markdown files have no menus
    metadata["language"] = metadata.get("lang") or metadata.get("language", "")
    describe(
        document, metadata, is_truncated=is_truncated, author=metadata.get("author"), published=metadata.get("date")
    )
    return document
