"""One version of a page as the detectors see it. What is costly is computed when it is first asked for."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from lycosa.refresh.mainpart import MainPart, main_part
from lycosa.text.fingerprint import Signs
from lycosa.text.tokens import stems
from lycosa.web.html import HTML, charset_of
from lycosa.web.reading import read_again
from lycosa.web.tree import Tree, base_of, decode, images, tree_of
from lycosa.web.urls import resolve


@dataclass
class Picture:
    """An image, as far as two of them can be compared."""

    digest: bytes
    print: int = -1
    """Its perceptual hash, 64 bits; -1 where none could be made."""


@dataclass
class Snapshot:
    """A version. Equal `body` means equal in every way but the headers."""

    url: str
    body: bytes = b""
    """Inflated; empty where nothing is archived, and then the detectors that read it have nothing to say."""
    content_type: str = ""
    title: str = ""
    text: str = ""
    """As a reader sees it."""
    links: list[str] = field(default_factory=list)
    simhash: int = 0
    beta: float = 0.0
    threshold: float = 0.0
    """What a page has to score to count as found."""
    pictures: dict[str, Picture] = field(default_factory=dict)
    """Its images that were fetched, by address."""

    @classmethod
    def of(
        cls,
        url: str,
        body: bytes,
        content_type: str = "",
        *,
        beta: float = 0.0,
        threshold: float = 0.0,
        simhash: int = 0,
        pictures: dict[str, Picture] | None = None,
    ) -> Snapshot:
        """A version from its inflated body: title, text and links are read from it.

        >>> page = Snapshot.of("http://a.test/", b"<title>Reefs</title><nav>Home</nav><p>On <a href=/b>coral</a>")
        >>> page.title, page.main_text, page.links
        ('Reefs', 'Reefs\\nOn coral', ['http://a.test/b'])
        """
        document = read_again(body, url, content_type)
        title, text, links = document.title, document.text, document.links.urls
        return cls(url, body, content_type, title, text, links, simhash, beta, threshold, pictures or {})

    @cached_property
    def is_html(self) -> bool:
        """Whether the body is a page of markup."""
        kind = self.content_type.partition(";")[0].strip().lower()
        return bool(self.body) and (kind in HTML if kind else self.body.lstrip()[:1] == b"<")

    @cached_property
    def is_read(self) -> bool:
        """Whether anything is known of what it says."""
        return self.is_html or bool(self.text)

    @cached_property
    def source(self) -> str:
        """The body, decoded."""
        return decode(self.body, charset_of(self.content_type))

    @cached_property
    def tree(self) -> Tree:
        """The page's document tree; an empty one for what is no HTML."""
        return tree_of(self.source) if self.is_html else Tree()

    @cached_property
    def main(self) -> MainPart:
        """What a reader came for; of a text without markup every line, and nothing is furniture."""
        if self.is_html:
            return main_part(self.tree, read_again(self.body, self.url, self.content_type).main)
        lines = (" ".join(line.split()) for line in self.text.splitlines())
        return MainPart([line for line in lines if line])

    @property
    def main_text(self) -> str:
        """The text of the main part, without dates and counters, a line for each block."""
        return "\n".join(self.main.blocks)

    @cached_property
    def main_links(self) -> list[str]:
        """Where the main part links to, each once; all links where there is no tree to tell."""
        if not self.is_html:
            return list(dict.fromkeys(self.links))
        found = resolve(base_of(self.tree, self.url), self.main.hrefs)
        return list(dict.fromkeys(url for url in found if url))

    @cached_property
    def images(self) -> list[str]:
        """The addresses of the page's images."""
        return images(self.tree, self.url)

    @cached_property
    def text_print(self) -> int:
        """The fingerprint of the text, by English stems: for two versions of which one has no stored `simhash`."""
        counts = Counter(stems(self.text))
        signs = Signs()
        signs.extend(list(counts))
        return signs.simhash(
            np.arange(len(counts), dtype=np.uint32),
            np.fromiter((min(n, 65_535) for n in counts.values()), np.uint16, len(counts)),
        )
