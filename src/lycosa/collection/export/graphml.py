"""GraphML: pages are nodes, and the links between them edges.

An edge is a pair of pages: of several links from one to the other, the one that looked most promising. A link to a
redirect leads to where that leads. Links of a page to itself are left out, as the crawl leaves them out.
"""

from __future__ import annotations

from typing import IO
from xml.sax.saxutils import escape

import numpy as np
from numpy.typing import NDArray

from lycosa.collection.export.cleaning import clean, count, iso, line, moment
from lycosa.collection.export.selection import Selection, Written
from lycosa.collection.graph import Addresses
from lycosa.core.types import Visit

_KEYS = {
    "url": ("node", "string"),
    "title": ("node", "string"),
    "score": ("node", "double"),
    "relevant": ("node", "boolean"),
    "language": ("node", "string"),
    "fetched": ("node", "string"),
    "versions": ("node", "int"),
    "changed": ("node", "string"),
    "standing": ("node", "string"),
    "anchor": ("edge", "string"),
    "alpha": ("edge", "double"),
}


def write(pages: Selection, out: IO[bytes]) -> Written:
    """Write first all nodes, then all edges."""
    addresses = pages.view.graph.addresses
    landing = pages.view.graph.landing(pages.names())
    keys = "".join(
        f'  <key id="{name}" for="{where}" attr.name="{name}" attr.type="{kind}"/>\n'
        for name, (where, kind) in _KEYS.items()
    )
    out.write(
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
        f'{keys}  <graph id="crawl" edgedefault="directed">\n'.encode()
    )
    for _, visit in pages.pages("writing pages"):
        out.write(f'    <node id="n{addresses.number(visit.node)}">{_about(visit, pages)}</node>\n'.encode())
    edges = 0
    for _, visit in pages.pages("writing links"):
        number = addresses.number(visit.node)
        for target, (alpha, anchor) in _edges(visit, number, addresses, landing).items():
            edges += 1
            data = _data("anchor", line(anchor)) + _data("alpha", f"{alpha:.9g}")
            out.write(f'    <edge source="n{number}" target="n{target}">{data}</edge>\n'.encode())
    out.write(b"  </graph>\n</graphml>\n")
    return Written(pages.total, [f"{count(edges, 'link')} between them"])


def _about(visit: Visit, pages: Selection) -> str:
    """What is known of a page."""
    fate = pages.fate(visit)
    values = {
        "url": clean(visit.node),
        "title": line(visit.title),
        "score": repr(visit.worth),
        "relevant": "true" if visit.worth >= pages.collection.threshold else "false",
        "language": line(visit.language),
        "fetched": iso(moment(visit.started)) or "",
        "versions": str(fate.versions) if pages.looked_again else "",
        "changed": iso(moment(fate.changed)) or "",
        "standing": fate.state if pages.looked_again else "",
    }
    return "".join(_data(name, value) for name, value in values.items())


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
