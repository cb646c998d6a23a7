"""What the thesis says of its crawlers, and when that holds here. The criteria are those of weighing.py."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lycosa.lab.findings import Claim, Verdict
from lycosa.lab.papers.weighing import ENOUGH, Measured, alike, all_of, better, told, weighed

THESIS = "Batsakis 2007"

CLASSIC = {
    "breadth-first": "Breadth First",
    "best-first-page": "Best First, page content",
    "best-first-anchor": "Best First, anchor text",
    "best-first": "Best First, page content and anchor text",
}
SEMANTIC = {
    "best-first-anchor": "Best First, anchor text",
    "best-first": "Best First, page content and anchor text",
    "ehrig": "Semantic, Ehrig",
    "ssrm,idf=background": "Semantic, SSRM",
    "synset-expansion,idf=background": "Semantic, synset expansion",
}
LEARNING = {
    "hmm": "HMM, K-Means",
    "hmm-xmeans": "HMM, X-Means",
    "hybrid": "Hybrid HMM, page content",
    "hybrid-anchor": "Hybrid HMM, page content and anchor text",
}
CRAWLERS = {**CLASSIC, **SEMANTIC, **LEARNING}
"""As the thesis names them."""


@dataclass
class Judgements:
    """The same crawls, judged three times."""

    counts: Measured
    """Pages above the threshold of similarity: the thesis's harvest ratio."""
    similar: Measured
    """Average similarity."""
    labels: Measured
    """Relevant pages by labels."""


def claims_of(classic: Judgements, semantic: Judgements, learning: Judgements) -> list[Claim]:
    """All claims, each with its verdict."""
    return [
        improves(
            "Breadth-first, which is not focused, finds less than any best-first crawler.", "4.4, fig. 12", classic,
            [(name, "breadth-first") for name in ("best-first-page", "best-first-anchor", "best-first")],
        ),
        improves(
            "Anchor text alone guides better than page content alone.", "4.4, fig. 12", classic,
            [("best-first-anchor", "best-first-page")],
        ),
        improves(
            "Page content and anchor text together guide better than either alone.", "4.4, 4.7, fig. 12, 13", classic,
            [("best-first", "best-first-page"), ("best-first", "best-first-anchor")],
        ),
        same_order("Average similarity ranks the classic crawlers as harvest ratio does.", "4.4, fig. 13", classic),
        improves_not(
            "Likeness of meaning in WordNet (Ehrig, SSRM) does not improve on best-first.", "4.7, 5", semantic,
            [("ehrig", "best-first"), ("ssrm,idf=background", "best-first")],
        ),
        improves(
            "Synonyms alone improve on best-first a little.", "4.5, 4.7, fig. 14, 15", semantic,
            [("synset-expansion,idf=background", "best-first")],
        ),
        no_difference(
            "HMM crawlers with K-Means and with X-Means perform alike.", "4.6", learning, "hmm-xmeans", "hmm"
        ),
        improves(
            "Both hybrids find more than the HMM crawler.", "4.6, fig. 16, 17", learning,
            [("hybrid", "hmm"), ("hybrid-anchor", "hmm")],
        ),
        improves(
            "With anchor text the hybrid is more focused than without.", "3.4.2, fig. 16", learning,
            [("hybrid-anchor", "hybrid")],
        ),
    ]  # fmt: skip


Pairs = Sequence[tuple[str, str]]


def improves(text: str, where: str, made: Judgements, pairs: Pairs) -> Claim:
    """Each first one is better than its second, by labels."""
    if absent := _absent(text, where, made, pairs):
        return absent
    verdicts = [better(made.labels.difference(*pair), made.labels.mean(pair[1])) for pair in pairs]
    return weighed(text, f"{THESIS}, {where}", all_of(verdicts), _topics(made), _evidence(made, pairs))


def improves_not(text: str, where: str, made: Judgements, pairs: Pairs) -> Claim:
    """None of the first ones is better than its second, by labels."""
    if absent := _absent(text, where, made, pairs):
        return absent
    opposite: dict[Verdict, Verdict] = {"holds": "does not hold", "does not hold": "holds"}
    verdicts = [better(made.labels.difference(*pair), made.labels.mean(pair[1])) for pair in pairs]
    return weighed(
        text, f"{THESIS}, {where}", all_of([opposite.get(verdict, verdict) for verdict in verdicts]), _topics(made),
        _evidence(made, pairs),
    )  # fmt: skip


def no_difference(text: str, where: str, made: Judgements, one: str, other: str) -> Claim:
    """The two are as good as each other, by labels."""
    if absent := _absent(text, where, made, [(one, other)]):
        return absent
    verdict = alike(made.labels.difference(one, other), made.labels.mean(other))
    return weighed(text, f"{THESIS}, {where}", verdict, _topics(made), _evidence(made, [(one, other)]))


def same_order(text: str, where: str, made: Judgements) -> Claim:
    """Mean average similarity and mean number of pages above the threshold put all crawlers in the same order."""
    if not made.counts.values:
        return _nothing(text, where, "no crawl of them has a result")
    by_count = sorted(made.counts.values, key=lambda name: -made.counts.mean(name))
    by_mean = sorted(made.similar.values, key=lambda name: -made.similar.mean(name))
    first, second = ("; ".join(CRAWLERS.get(name, name) for name in order) for order in (by_count, by_mean))
    evidence = f"By harvest ratio: {first}. By average similarity: {second}."
    if not any(made.counts.mean(name) for name in by_count):
        return _nothing(text, where, f"no page was above the threshold. {evidence}")
    verdict: Verdict = "holds" if by_count == by_mean else "does not hold"
    if _topics(made) < ENOUGH:
        verdict = "cannot be tested here"
    return weighed(text, f"{THESIS}, {where}", verdict, _topics(made), [evidence])


def _topics(made: Judgements) -> int:
    return len(set(made.counts.groups))


def _absent(text: str, where: str, made: Judgements, pairs: Pairs) -> Claim | None:
    missing = sorted({name for pair in pairs for name in pair if name not in made.labels})
    return _nothing(text, where, f"without results of {', '.join(missing)}: see the remarks") if missing else None


def _nothing(text: str, where: str, why: str) -> Claim:
    return Claim(text, f"{THESIS}, {where}", "cannot be tested here", f"{why[0].upper()}{why[1:]}")


def _evidence(made: Judgements, pairs: Pairs) -> list[str]:
    """The differences by all three; the first decides."""
    return [
        f"{CRAWLERS.get(one, one)} less {CRAWLERS.get(other, other)}, relevant pages by labels: "
        f"{told(made.labels.difference(one, other), 1)}; above the threshold: "
        f"{told(made.counts.difference(one, other), 1)}; average similarity: "
        f"{told(made.similar.difference(one, other))}."
        for one, other in pairs
    ]
