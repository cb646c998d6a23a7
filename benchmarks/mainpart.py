"""Quality and cost of main content extraction, compared with trafilatura, resiliparse and the whole text.

    python benchmarks/mainpart.py CORPORA [--errors]

100 pages of ten kinds. The pages in `mainpart.tsv` are in the corpora (WARC files in the directory CORPORA): their main
content was marked by hand, from one phrase to another; without the corpora they are skipped. The others are generated
in common page styles, so that their main content is known exactly: semantic elements, nested div elements with or
without meaningful classes, table layout, upper-case tags of the nineties.

Printed are precision, recall and F1 of the words, as means over the pages of a kind, and milliseconds of CPU per page.
The other tools run with their defaults, without comments, if they are installed (`pip install trafilatura
resiliparse`).
"""

from __future__ import annotations

import argparse
import csv
import random
import re
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from turbohtml import PlainText, parse

from lycosa.replay.captures import RESPONSE
from lycosa.replay.records import ArchiveIterator
from lycosa.web.html import extract

ANNOTATED = Path(__file__).with_suffix(".tsv")
_WORD = re.compile(r"\w+")

NOUNS = (
    "harbour council reef engine teacher market river bridge forest paper museum winter island doctor farmer station "
    "garden library captain storm valley factory letter painter village orchestra mountain ticket window kettle"
).split()
VERBS = (
    "opened repaired described measured painted followed counted closed visited moved ordered lost found kept".split()
)
REST = (
    "after before while because although slowly again never often yesterday together without many three several old "
    "new quiet northern famous careful empty heavy bright"
).split()
MENU = "Home News Sport Weather Culture Travel Shop Contact About Jobs Archive Help Login Video".split()


@dataclass
class Sample:
    """A page, and its main content."""

    kind: str
    name: str
    body: bytes
    truth: str


@dataclass
class Writer:
    """Generator of pages of one kind, which records their main content."""

    chance: random.Random
    main_texts: list[str] = field(default_factory=list)

    def words(self, count: int) -> str:
        """Return a sentence of `count` words."""
        pools = (NOUNS, VERBS, REST)
        text = " ".join(self.chance.choice(pools[(at + self.chance.randrange(2)) % 3]) for at in range(count))
        return text.capitalize()

    def prose(self, sentences: int) -> str:
        """Return a paragraph, sometimes with a link."""
        parts = [self.words(self.chance.randint(6, 18)) + "." for _ in range(sentences)]
        return " ".join(parts)

    def keep(self, text: str) -> str:
        """Add a text to the main content."""
        self.main_texts.append(text)
        return text

    def linked(self, text: str) -> str:
        """Return the text with a link around one of its words."""
        words = text.split(" ")
        at = self.chance.randrange(len(words))
        words[at] = f'<a href="/{at}">{words[at]}</a>'
        return " ".join(words)

    def menu(self, count: int, item: str = "li") -> str:
        chosen = self.chance.sample(MENU, count)
        return "".join(f'<{item}><a href="/{word.lower()}">{word}</a></{item}>\n' for word in chosen)

    def teasers(self, count: int, tag: str = "div") -> str:
        """Return links to other pages with a line of text each."""
        return "".join(
            f'<{tag}><a href="/t{n}">{self.words(self.chance.randint(4, 9))}</a> <span>{self.words(8)}</span></{tag}>\n'
            for n in range(count)
        )

    def paragraphs(self, count: int, tag: str = "p") -> str:
        """Return paragraphs, and add them to the main content."""
        texts = [self.keep(self.prose(self.chance.randint(2, 5))) for _ in range(count)]
        return "".join(f"<{tag}>{self.linked(text) if n % 2 else text}</{tag}>\n" for n, text in enumerate(texts))


def semantic(write: Writer, title: str, main: str, after: str = "") -> str:
    """Return a page with HTML 5 elements."""
    return f"""<!DOCTYPE html><html lang=en><head><title>{title}</title></head><body>
<header><a href=/>The Daily {write.words(1)}</a><nav><ul>{write.menu(8)}</ul></nav></header>
<main><article><h1>{title}</h1>{main}</article>{after}</main>
<aside><h2>Most read</h2>{write.teasers(4)}</aside>
<footer><p>Copyright 2024. {write.words(9)}. All rights reserved.</p><ul>{write.menu(5)}</ul></footer></body></html>"""


def telling(write: Writer, title: str, main: str, after: str = "") -> str:
    """Return a page of div elements with meaningful classes."""
    return f"""<html><head><title>{title} | Site</title><style>p {{ margin: 0 }}</style></head><body>
<div id="cookie-notice"><p>We use cookies to {write.prose(1).lower()} <button>Accept all</button></p></div>
<div id="header"><div class="logo">Site</div><ul class="main-menu">{write.menu(9)}</ul></div>
<div class="breadcrumbs"><a href=/>Home</a> &raquo; <a href=/x>{write.words(1)}</a></div>
<div id="content"><div class="post"><h1 class="entry-title">{title}</h1><div class="entry-content">{main}</div>
<div class="share-buttons"><a href=#>Tweet</a><a href=#>Share on Facebook</a></div></div>{after}</div>
<div id="sidebar"><div class="widget"><h3>Recent posts</h3><ul>{write.teasers(5, "li")}</ul></div>
<div class="widget newsletter"><p>{write.prose(1)}</p><form><input><button>Subscribe</button></form></div>
</div><div id="footer"><p>{write.words(12)}.</p>{write.menu(4, "span")}</div></body></html>"""


def nameless(write: Writer, title: str, main: str, after: str = "") -> str:
    """Return a page of div elements with generated class names."""
    return f"""<html><head><title>{title}</title></head><body><div class="c1"><div class="c2 x9">
<div class="c3">{write.menu(7, "div")}</div></div><div class="c4"><div class="c5"><div class="c6"><h1>{title}</h1></div>
<div class="c7">{main}</div></div>{after}<div class="c8"><div>{write.teasers(5)}</div></div></div>
<div class="c9"><div>{write.menu(6, "span")}</div><div>(c) {write.words(5)}</div></div></div></body></html>"""


def tabled(write: Writer, title: str, main: str, after: str = "") -> str:
    """Return a page with a table layout."""
    return f"""<html><head><title>{title}</title></head><body bgcolor="#ffffff"><table width="100%"><tr><td colspan=3>
<font size=5>Welcome to {write.words(2)}</font></td></tr><tr><td width=120 valign=top>{write.menu(9, "font")}</td>
<td valign=top><h2>{title}</h2>{main}{after}</td><td width=100><b>Links</b><br>{write.menu(6, "font")}</td></tr>
<tr><td colspan=3><center><font size=1>Last changed 3 May 2004. {write.words(6)}</font></center></td></tr>
</table></body></html>"""


def nineties(write: Writer, title: str, main: str, after: str = "") -> str:
    """Return a page with upper-case tags and a rule before and after the content."""
    return f"""<HTML><HEAD><TITLE>{title}</TITLE></HEAD><BODY BGCOLOR=#C0C0C0>
<CENTER>[ {" | ".join(f'<A HREF="{word}.html">{word}</A>' for word in write.chance.sample(MENU, 6))} ]</CENTER><HR>
<H1>{title}</H1>{main}{after}<HR><CENTER>[ <A HREF=index.html>Home</A> | <A HREF=up.html>Up</A> ]</CENTER>
</BODY></HTML>"""


WAYS: list[Callable[..., str]] = [semantic, telling, nameless, tabled, nineties]


def news(write: Writer) -> tuple[str, str]:
    """Return a news story with a lead, a picture, teasers and comments."""
    lead = f"<p><b>{write.keep(write.prose(2))}</b></p>"
    caption = write.keep(write.words(9))
    figure = f'<figure><img src=a.jpg alt="{write.words(4)}"><figcaption>{caption}</figcaption></figure>'
    between = f'<div class="related"><a href=/r>{write.words(7)}</a></div>'
    body = (
        lead + figure + write.paragraphs(3) + between + f"<h2>{write.keep(write.words(4))}</h2>" + write.paragraphs(4)
    )
    talk = "".join(f"<div class=comment><b>user{n}</b><p>{write.prose(2)}</p></div>" for n in range(4))
    return body, f'<section id="comments" class="comments"><h2>4 comments</h2>{talk}</section>'


def forum(write: Writer) -> tuple[str, str]:
    """Return a question and answers, with names and buttons around each."""
    posts = []
    for number in range(write.chance.randint(4, 8)):
        text = write.paragraphs(write.chance.randint(1, 2))
        posts.append(
            f'<div class="post" id="p{number}"><div class="post-head"><a href=/u{number}>user{number}</a></div>'
            f'<div class="post-body">{text}</div>'
            '<div class="post-tools"><a href=#>Reply</a> <a href=#>Report</a></div></div>'
        )
    return "\n".join(posts), f'<div class="pagination">{write.menu(3, "span")}</div>'


def shop(write: Writer) -> tuple[str, str]:
    """Return a product with a description, properties and recommendations."""
    price = f"<div class=price><span>{write.keep(f'{write.chance.randint(5, 99)},90 EUR')}</span></div>"
    facts = "".join(
        f"<li>{write.keep(write.words(write.chance.randint(3, 7)))}</li>" for _ in range(write.chance.randint(4, 7))
    )
    body = price + write.paragraphs(2) + f"<h2>{write.keep('Details')}</h2><ul>{facts}</ul>" + write.paragraphs(1)
    others = "".join(
        f"<div class=card><a href=/p{n}>{write.words(4)}</a> <span>{n}9,90 EUR</span></div>" for n in range(6)
    )
    return body, f'<div class="recommendations"><h3>Others bought</h3>{others}</div>'


def blog(write: Writer) -> tuple[str, str]:
    """Return a personal text with a list, a quotation and code."""
    items = "".join(f"<li>{write.keep(write.words(8))}</li>" for _ in range(4))
    quoted = f"<blockquote>{write.paragraphs(1)}</blockquote>"
    code = write.keep("for reef in reefs:\n    print(reef.name)")
    body = write.paragraphs(3) + f"<ol>{items}</ol>" + quoted + f"<pre><code>{code}</code></pre>" + write.paragraphs(2)
    tags = "".join(f"<a rel=tag href=/t{n}>{write.words(1)}</a> " for n in range(4))
    return body, f'<div class="tags">Tags: {tags}</div><div class="author-bio"><p>{write.prose(1)}</p></div>'


def table(write: Writer) -> tuple[str, str]:
    """Return a short text with a long table."""
    head = "".join(f"<th>{write.keep(word)}</th>" for word in ("Place", "Year", "Visitors", "Remark"))
    rows = "".join(
        f"<tr><td>{write.keep(write.words(2))}</td><td>{write.keep(str(1900 + n))}</td>"
        f"<td>{write.keep(str(write.chance.randint(100, 99_999)))}</td><td>{write.keep(write.words(3))}</td></tr>\n"
        for n in range(write.chance.randint(15, 50))
    )
    return write.paragraphs(1) + f"<table border=1><tr>{head}</tr>\n{rows}</table>", ""


def listing(write: Writer) -> tuple[str, str]:
    """Return links with a line of text each, as in a category or a list of results."""
    entries = "".join(
        f"<li><a href=/e{n}>{write.keep(write.words(2 + n % 5))}</a> {write.keep(write.words(9))}</li>\n"
        for n in range(write.chance.randint(12, 30))
    )
    return f"<ul>{entries}</ul>", f'<div class="pager">{write.menu(3, "span")}</div>'


def government(write: Writer) -> tuple[str, str]:
    """Return guidance with headings, steps, addresses and offices."""
    sections = "".join(
        f"<h2>{write.keep(write.words(4))}</h2>{write.paragraphs(1)}<ul>"
        + "".join(f"<li>{write.keep(write.words(7))}</li>" for _ in range(3))
        + "</ul>"
        for _ in range(4)
    )
    facts = "".join(f"<dt>{write.keep(name)}</dt><dd>{write.keep(write.words(4))}</dd>" for name in ("Fee", "Office"))
    return write.paragraphs(1) + sections + f"<dl>{facts}</dl>", f"<div class=feedback><p>{write.prose(1)}</p></div>"


MADE: dict[str, tuple[Callable[[Writer], tuple[str, str]], int]] = {
    "news": (news, 10),
    "forum": (forum, 10),
    "shop": (shop, 10),
    "blog": (blog, 10),
    "table": (table, 10),
    "listing": (listing, 2),
    "government": (government, 10),
}


def generated() -> Iterator[Sample]:
    """Yield the generated pages."""
    for kind, (fill, count) in MADE.items():
        for number in range(count):
            write = Writer(random.Random(f"{kind} {number}"))
            way = WAYS[number % len(WAYS)]
            title = write.keep(write.words(5))
            body, after = fill(write)
            page = way(write, title, body, after)
            yield Sample(kind, f"{kind} {number} ({way.__name__})", page.encode(), "\n".join(write.main_texts))


def annotated(corpora: Path) -> Iterator[Sample]:
    """Yield the annotated pages of the corpora."""
    with open(ANNOTATED, encoding="utf-8", newline="") as file:
        rows = {row["url"]: row for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)}
    for path in sorted(corpora.glob("*.warc.gz")):
        with open(path, "rb") as stream:
            for record in ArchiveIterator(stream, parse_http=True):
                url = record.headers.get("WARC-Target-URI") or ""
                if url not in rows or int(record.record_type) != RESPONSE:
                    continue
                row, body = rows.pop(url), record.reader.read()
                root = parse(body, detect_encoding=True).find("body")
                text = " ".join(root.to_text(PlainText(bullet="")).split()) if root is not None else ""
                start = text.find(row["from"])
                end = text.rfind(row["until"]) if row["until"] else len(text)
                assert start >= 0 <= end, url
                yield Sample(row["kind"], url, body, text[start:end])


def _ours(body: bytes) -> str:
    return extract(body, "http://example.invalid/").main


def _whole(body: bytes) -> str:
    return extract(body, "http://example.invalid/").text


def contestants() -> dict[str, Callable[[bytes], str]]:
    """Return the extractors that are installed."""
    found: dict[str, Callable[[bytes], str]] = {"Lycosa": _ours, "whole text": _whole}
    try:
        import trafilatura

        found["trafilatura"] = lambda body: trafilatura.extract(body, include_comments=False) or ""
    except ImportError:
        print("trafilatura is not installed")
    try:
        from resiliparse.extract.html2text import extract_plain_text
        from resiliparse.parse.encoding import bytes_to_str, detect_encoding

        def resiliparse(body: bytes) -> str:
            text = bytes_to_str(body, detect_encoding(body, from_html_meta=True))
            return str(extract_plain_text(text, main_content=True, links=False, list_bullets=False))

        found["resiliparse"] = resiliparse
    except ImportError:
        print("resiliparse is not installed")
    return found


def marks(truth: str, got: str) -> tuple[float, float, float]:
    """Return precision, recall and F1 of the words.

    >>> marks("a b c d", "a b x")
    (0.6666666666666666, 0.5, 0.5714285714285715)
    """
    wanted, found = (Counter(_WORD.findall(text.lower())) for text in (truth, got))
    common = (wanted & found).total()
    precision, recall = common / max(1, found.total()), common / max(1, wanted.total())
    return precision, recall, 2 * precision * recall / (precision + recall) if common else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path, nargs="?", help="a directory with WARC files")
    parser.add_argument("--errors", action="store_true", help="list pages with an F1 below .9")
    given = parser.parse_args()
    samples = [*generated(), *(annotated(given.corpora) if given.corpora else ())]
    kinds = list(dict.fromkeys(sample.kind for sample in samples))
    print(f"{len(samples)} pages\n\n|  | " + " | ".join([*kinds, "all", "precision", "recall", "ms"]) + " |")
    print("|---" * (len(kinds) + 5) + "|")
    for name, read in contestants().items():
        read(samples[0].body)
        found = defaultdict(list)
        started = time.process_time()
        texts = [read(sample.body) for sample in samples]
        spent = (time.process_time() - started) / len(samples) * 1000
        for sample, text in zip(samples, texts, strict=True):
            found[sample.kind].append(marks(sample.truth, text))
            if given.errors and found[sample.kind][-1][2] < 0.9:
                print(f"  {name}: {sample.name}: {', '.join(f'{mark:.2f}' for mark in found[sample.kind][-1])}")
        every = [mark for each in found.values() for mark in each]
        precision, recall, f1 = (sum(column) / len(every) for column in zip(*every, strict=True))
        shown = [sum(mark[2] for mark in found[kind]) / len(found[kind]) for kind in kinds]
        print(f"| {name} | " + " | ".join(f"{x:.2f}" for x in [*shown, f1, precision, recall, spent]) + " |")


if __name__ == "__main__":
    main()
