"""Corpus statistics, as printed by `lycosa lab index`: size, links and topics."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa_lab.corpus_index import CorpusIndex

MAX_TOPICS_SHOWN = 12  # maximum number of topics printed


def corpus_statistics(index: CorpusIndex) -> dict[str, Any]:
    facts = index.facts
    return {
        "source": facts.get("source", ""),
        "fingerprint": index.fingerprint,
        "pages": len(index),
        "links": facts.get("links", len(index.child)),
        "dead": facts.get("dead", 0),
        "to_itself": facts.get("to_itself", 0),
        "children": len(index.child),  # links within the corpus, each pair of pages once
        "out": _degree(np.diff(index.child_start)),
        "into": _degree(np.bincount(index.child, minlength=len(index))),
        "labelled": int(np.count_nonzero(np.diff(index.class_start))),
        "topics": _topics(index),
        "scored": int(np.count_nonzero(index.score)),
        "left_out": dict(facts.get("left_out", {})),
        "notes": list(facts.get("notes", [])),
    }


def statistics_lines(found: dict[str, Any]) -> Iterator[str]:
    pages = found["pages"]
    some = max(pages, 1)
    yield f"{pages:,} pages of {found['source']}"
    yield (
        f"{found['links']:,} links: {found['dead']:,} lead out of the corpus (dead), {found['to_itself']:,} to their "
        f"own page; {found['children']:,} pairs of pages are linked"
    )
    for what, degree in (("links out", found["out"]), ("links in", found["into"])):
        yield f"{what}: mean {degree['mean']:.1f}, median {degree['median']:g}, most {degree['most']:,}"
    if found["scored"]:
        yield f"scores: {found['scored']:,} nodes are not 0 ({found['scored'] / some:.1%})"
    if found["labelled"]:
        part = found["labelled"] / some
        yield f"topics: {found['labelled']:,} pages have a class ({part:.0%}); same-topic links (by chance):"
        top = [topic for topic in found["topics"] if "/" not in topic["name"]][:MAX_TOPICS_SHOWN]
        for topic in top:
            yield f"  {topic['name']}: {topic['pages']:,} pages, {topic['share']:.3f} ({topic['base']:.3f})"
        if more := len(found["topics"]) - len(top):
            yield f"  and {more:,} more topics or branches of these (--json has them all)"
    for reason, count in sorted(found["left_out"].items(), key=lambda item: (-item[1], item[0])):
        yield f"left out: {count:,} {reason}"
    yield from (f"note: {note}" for note in found["notes"])


def _degree(counts: NDArray[Any]) -> dict[str, float]:
    return {"mean": float(counts.mean()), "median": float(np.median(counts)), "most": int(counts.max())}


def _topics(index: CorpusIndex) -> list[dict[str, Any]]:
    """Return for each class the share of its links that stay in it, and `base`, the share expected of random links."""
    sizes = index.sizes()
    largest = sorted(sizes, key=lambda name: (-sizes[name], name))[:200]  # each class costs a pass over all links
    source = np.repeat(np.arange(len(index), dtype=np.int32), np.diff(index.child_start))
    topics = []
    for name in largest:
        of = index.of_class(name)
        to = of[index.child[of[source]]]
        share = float(to.mean()) if len(to) else 0.0
        topics.append({"name": name, "pages": sizes[name], "share": share, "base": sizes[name] / len(index)})
    return topics
