"""GraphML: pages are nodes, and the links between them edges.

An edge is a pair of pages: of several links from one to the other, the one that looked most promising. A link to a
redirect leads to where that leads. Links of a page to itself are left out, as the crawl leaves them out. Memory:
8 bytes a page and 16 a redirect.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO
from xml.sax.saxutils import escape

from lycosa.collection.export.cleaning import clean, count, iso, line, moment
from lycosa.collection.export.nodes import Detours, Nodes
from lycosa.collection.export.selection import Selection, Written
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
    nodes = Nodes(pages.names())
    detours = Detours(_redirects(pages))
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
        number = nodes.find([visit.node])[0]
        out.write(f'    <node id="n{number}">{_about(visit, pages)}</node>\n'.encode())
    edges = 0
    for _, visit in pages.pages("writing links"):
        number = nodes.find([visit.node])[0]
        for target, (alpha, anchor) in _edges(visit, nodes, detours).items():
            edges += 1
            told = _data("anchor", line(anchor)) + _data("alpha", f"{alpha:.9g}")
            out.write(f'    <edge source="n{number}" target="n{target}">{told}</edge>\n'.encode())
    out.write(b"  </graph>\n</graphml>\n")
    return Written(pages.total, [f"{count(edges, 'link')} between them"])


def _redirects(pages: Selection) -> Iterator[tuple[str, str]]:
    again = "kind = 'revisit' AND outcome = 'redirect'"
    for event in pages.log.events(f"(kind = 'redirect' OR ({again})) AND seq <= ?", given=(pages.last,)):
        if isinstance(event, Visit) and event.links.urls:
            yield event.node, event.links.urls[0]


def _about(visit: Visit, pages: Selection) -> str:
    """What is known of a page."""
    standing = pages.standing(visit)
    values = {
        "url": clean(visit.node),
        "title": line(visit.title),
        "score": repr(visit.worth),
        "relevant": "true" if visit.worth >= pages.collection.threshold else "false",
        "language": line(visit.language),
        "fetched": iso(moment(visit.started)) or "",
        "versions": str(standing.versions) if pages.looked_again else "",
        "changed": iso(moment(standing.changed)) or "",
        "standing": standing.state if pages.looked_again else "",
    }
    return "".join(_data(name, value) for name, value in values.items())


def _data(name: str, value: str) -> str:
    return f'<data key="{name}">{escape(value)}</data>' if value else ""


def _edges(visit: Visit, nodes: Nodes, detours: Detours) -> dict[int, tuple[float, str]]:
    """The pages that a page links to, each with the largest alpha and the words of that link."""
    links = visit.links
    alphas = links.alphas.tolist() or [0.0] * len(links)
    source = int(nodes.find([visit.node])[0])
    best: dict[int, tuple[float, str]] = {}
    for target, alpha, anchor in zip(detours.find(links.urls, nodes).tolist(), alphas, links.anchors, strict=True):
        if target < 0 or target == source:
            continue
        known = best.get(target)
        if known is None or alpha > known[0] or (alpha == known[0] and not known[1]):
            best[target] = (alpha, anchor)
    return best
