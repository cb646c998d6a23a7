"""What document loaders have in common: a collection's pages as text and metadata."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from lycosa.collection.opened import CollectedPage, Collection
from lycosa.core.errors import InputError

Form = Literal["text", "markdown"]


class Documents:
    """The relevant pages of a crawl, or with `everything` all, as text or as Markdown, as far as they have text."""

    def __init__(
        self,
        directory: str | Path,
        *,
        everything: bool = False,
        copies: bool = False,
        threshold: float | None = None,
        form: Form = "text",
    ) -> None:
        if form not in ("text", "markdown"):
            raise InputError(f"form is {form!r}: it is 'text' or 'markdown'")
        self.collection = Collection(Path(directory), threshold=threshold)
        self.everything, self.copies, self.form = everything, copies, form

    def texts(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The text of each page, as it is read, and its metadata."""
        for page in self.collection.pages(everything=self.everything, copies=self.copies):
            text = self.collection.read(page.url) if self.form == "markdown" and page.text else page.text
            if text:
                yield text, metadata(page)


def metadata(page: CollectedPage) -> dict[str, Any]:
    """What is told of a page beside its text: plain values, which every store takes."""
    return {
        "source": page.url,
        "title": page.title,
        "language": page.language,
        "score": page.score,
        "relevant": page.relevant,
        "fetched": page.fetched.isoformat(timespec="seconds") if page.fetched else "",
        "changed": page.changed.isoformat(timespec="seconds") if page.changed else "",
        "digest": page.digest,
        "depth": page.depth,
    }
