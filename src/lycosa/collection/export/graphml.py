"""GraphML: pages are nodes, and the links between them edges.

An edge is a pair of pages: of several links from one to the other, the one that looked most promising. A link to a
redirect leads to where that leads. Links of a page to itself are left out, as the crawl leaves them out.
"""

from __future__ import annotations

from datetime import datetime
from typing import IO, Any
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.export.cleaning import iso, line
from lycosa.collection.export.selection import ExportedPage, Selection, Written
from lycosa.collection.export.tables import COLUMNS
from lycosa.collection.graph import Addresses
from lycosa.core.types import Visit
from lycosa.drawing.formats import many

_NODE = ("url", "title", "score", "relevant", "language", "fetched", "versions", "changed", "standing")
"""Columns of the table of pages that nodes have."""

_TYPES = {str: "string", float: "double", bool: "boolean", datetime: "string", int: "int"}


def write(pages: Selection, out: IO[bytes]) -> Written:
    """Write first all nodes, then all edges."""
    addresses = pages.view.graph.addresses
    landing = pages.view.graph.landing(pages.names())
    described = [(name, "node", _TYPES[COLUMNS[name][0]]) for name in _NODE]
    described += [("anchor", "edge", "string"), ("alpha", "edge", "double")]
    keys = "".join(
        f'  <key id="{name}" for="{where}" attr.name="{name}" attr.type="{kind}"/>\n' for name, where, kind in described
    )
    out.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        f'{keys}  <graph id="crawl" edgedefault="directed">\n'.encode()
    )
    for seq, visit in pages.pages("writing pages"):
        about = _about(ExportedPage(pages, seq, visit))
        out.write(f'    <node id="n{addresses.number(visit.node)}">{about}</node>\n'.encode())
    edges = 0
    for _, visit in pages.pages("writing links"):
        number = addresses.number(visit.node)
        for target, (alpha, anchor) in _edges(visit, number, addresses, landing).items():
            edges += 1
            data = _data("anchor", line(anchor)) + _data("alpha", f"{alpha:.9g}")
            out.write(f'    <edge source="n{number}" target="n{target}">{data}</edge>\n'.encode())
    out.write(b"  </graph>\n</graphml>\n")
    return Written(pages.total, [f"{many(edges, 'link')} between them"])


def _about(page: ExportedPage) -> str:
    """What is known of a page; of how it fared, only if anybody has looked again."""
    again = page.pages.looked_again
    shown = [name for name in _NODE if again or name not in ("versions", "standing")]
    return "".join(_data(name, _text(COLUMNS[name][1](page))) for name in shown)


def _text(value: Any) -> str:
    """A value as XML Schema writes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime):
        return iso(value) or ""
    return "" if value is None else str(value)


def _data(name: str, value: str) -> str:
    return f'<data key="{name}">{escape(value)}</data>' if value else ""


def _edges(visit: Visit, source: int, addresses: Addresses, landing: NDArray[np.int32]) -> dict[int, tuple[float, str]]:
    """The pages that a page links to, each with the largest alpha and the words of that link."""
    links = visit.links
    alphas = links.alphas.tolist() or [0.0] * len(links)
    best: dict[int, tuple[float, str]] = {}
    for url, alpha, anchor in zip(links.urls, alphas, links.anchors, strict=True):
        number = addresses.number(url)
        target = landing.item(number) if number >= 0 else -1
        if target < 0 or target == source:
            continue
        before = best.get(target)
        if before is None or alpha > before[0] or (alpha == before[0] and not before[1]):
            best[target] = (alpha, anchor)
    return best
