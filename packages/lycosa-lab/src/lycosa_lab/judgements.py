"""Precomputed judgements of every page and link of a corpus, cached in a file and looked up by simulated visits.

The judge is a production judge, given words, examples or a model. Judges that learn during a crawl (for example idf
from its pages) can't be precomputed: see learning_judges.py.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import msgpack
import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.progress import ProgressCallback, no_progress
from lycosa.core.protocols import Judge
from lycosa.core.spec import parse_spec
from lycosa.core.types import Visit, as_stored
from lycosa.judges import JUDGES as JUDGE_REGISTRY
from lycosa.judges import describe
from lycosa.judges.base import CONTEXT_SCORE, FACETS, offered_facets, set_facets
from lycosa.judges.examples import centroid
from lycosa.judges.factory import make_judge
from lycosa.judges.vector_judge import VectorJudge
from lycosa.text.vocabulary import Vocabulary
from lycosa_lab.cache import Columns, code_digest, corpus_digest, digest, load, save
from lycosa_lab.corpus_index import CorpusIndex
from lycosa_lab.experiments import DESCRIPTIONS, one_of
from lycosa_lab.subjects import HuntSubject

JUDGES = {"words": "vector,idf=background", "examples": "vector,idf=none", "model": "model"}
WANTS = (*FACETS, CONTEXT_SCORE)  # everything that strategies may request from a judge, except anchors


@dataclass
class Judgements:
    """Relevance of every node, alpha of every child (in the order of `index.child`), and other outputs of a judge.

    `links` are the alphas link by link where pages link to a child repeatedly, `facets` further numbers per link,
    `data` the packed data of each page.
    """

    index: CorpusIndex
    relevance: NDArray[np.floating[Any]]
    alpha: NDArray[np.float32]
    threshold: float = 1e-9
    links: NDArray[np.float32] | None = None
    facets: dict[str, NDArray[np.float32]] = field(default_factory=dict)
    data: list[bytes] = field(default_factory=list)
    stems: dict[str, float] = field(default_factory=dict)  # terms of the judge's example pages
    probability: ClassVar[bool] = False  # whether relevance is a probability
    exact: bool = False  # the judgement is the ground truth, not an estimate of it
    seconds: ClassVar[float] = 0.0  # CPU spent judging during a crawl

    @classmethod
    def given(cls, index: CorpusIndex) -> Judgements:
        n, e = len(index), len(index.child)
        relevance = index.score if len(index.score) else np.zeros(n, np.float32)
        alpha = index.alpha if len(index.alpha) else np.zeros(e, np.float32)
        return cls(index, relevance, alpha, exact=True)

    @classmethod
    def judged(
        cls,
        index: CorpusIndex,
        judge: Judge,
        wants: tuple[str, ...] = (),
        path: Path | None = None,
        progress: ProgressCallback = no_progress,
    ) -> Judgements:
        """Judge all pages, or load cached judgements; `wants` are the facets that strategies need."""
        kept = load(path)
        (facets, data), columns = kept or _judge_all(index, judge, wants, progress)
        if path is not None and kept is None:
            save(path, [facets, data], **columns)
        return cls(
            index, columns["relevance"], strongest(index, columns["links"]), judge.threshold,
            links=columns["links"] if len(index.link_slot) else None, data=data,
            facets={name: columns[f"facet {number}"] for number, name in enumerate(facets)},
            exact=bool(getattr(judge, "exact", False)),
        )  # fmt: skip

    def begin(self, seeds: Iterable[int], wants: Sequence[str] = ()) -> Judgements:
        return self

    @property
    def words(self) -> list[str]:
        return self.index.stems

    def visit(self, node: int, pick: int, arm: str = "", score: float = 0.0) -> Visit:
        """Return the visit of a node as the engine would create it, with expensive fields loaded on demand."""
        return RecordedVisit(self, node, pick, arm, score)

    def link_relevances(self, node: int) -> NDArray[np.float32]:
        start = self.index.columns["child_start"]
        return self.alpha[start.item(node) : start.item(node + 1)]


def _judge_all(
    index: CorpusIndex, judge: Judge, wants: tuple[str, ...], progress: ProgressCallback
) -> tuple[Any, Columns]:
    """Judge every page; return the facet names and page data, and columns of relevance, alpha and facets."""
    set_facets(judge, wants)
    reader = Vocabulary()
    relevance = np.zeros(len(index))  # double precision as in the engine, because small differences decide ties
    links = np.zeros(int(index.link_start[-1]), np.float32)
    facets: dict[str, NDArray[np.float32]] = {}
    data: list[bytes] = []
    for node in range(len(index)):
        page = index.page(node)
        judgement = judge.judge(page, reader.read(page))
        here = slice(index.link_start[node], index.link_start[node + 1])
        relevance[node] = judgement.relevance if np.isfinite(judgement.relevance) else 0.0
        links[here] = np.nan_to_num(judgement.link_relevances)
        for facet, column in judgement.facets.items():
            facets.setdefault(facet, np.zeros(len(links), np.float32))[here] = np.nan_to_num(column)
        data.append(msgpack.packb(as_stored(judgement.data)) if judgement.data else b"")
        progress("judging pages", node + 1, len(index))
    columns = {f"facet {number}": column for number, column in enumerate(facets.values())}
    return (list(facets), data if any(data) else []), {"relevance": relevance, "links": links, **columns}


def strongest(index: CorpusIndex, links: NDArray[np.float32]) -> NDArray[np.float32]:
    if not len(index.link_slot):
        return links
    first = np.repeat(index.child_start[:-1], np.diff(index.link_start))
    largest = np.full(len(index.child), -np.inf, np.float32)
    np.maximum.at(largest, first + index.link_slot, links)
    return largest


class RecordedVisit(Visit):
    """A visit that loads its fields from the index on demand."""

    __slots__ = ("_at", "_guide")

    def __init__(self, guide: Judgements, node: int, pick: int, arm: str, priority: float) -> None:
        self._guide, self._at = guide, node
        self.kind, self.outcome = "page", "ok"
        self.pick, self.arm, self.priority = pick, arm, priority
        self.relevance = guide.relevance.item(node)
        self.retry_at, self.same_as, self.attempt, self.hops = 0.0, "", 1, 0

    def __getattr__(self, name: str) -> Any:
        """Load a missing slot; fields that corpora do not record are those of an empty visit."""
        guide, node = self._guide, self._at
        value: Any
        if name == "node":
            value = str(guide.index.names[node])
        elif name in ("language", "title"):
            value = getattr(guide.index.page(node), name)
        elif name == "terms":
            value = guide.index.terms(node)
        elif name == "links":
            value = guide.index.page(node).links
            here = slice(guide.index.link_start[node], guide.index.link_start[node + 1])
            value.link_relevances = np.array((guide.alpha if guide.links is None else guide.links)[here])
            value.facets = {name: np.array(column[here]) for name, column in guide.facets.items()}
        elif name == "data":
            packed = guide.data[node] if guide.data else b""
            value = msgpack.unpackb(packed) if packed else {}
        else:
            return getattr(_PLAIN, name)
        setattr(self, name, value)
        return value


_PLAIN = Visit("", "page", "ok", 0, status=200)


def judgements_for(
    index: CorpusIndex,
    subject: HuntSubject,
    description: str,
    judge: str = "",
    wants: Sequence[str] = WANTS,
    out: Path | None = None,
    progress: ProgressCallback = no_progress,
) -> Judgements:
    """Return judgements by the subject's words, examples or model, cached under `out`, or a graph's own scores."""
    one_of("description", description, DESCRIPTIONS)
    if description == "score":
        if judge:
            raise InputError("conflicting-options", f"description = score needs no judge: omit {judge}")
        if not len(index.score):
            raise InputError("no-scores", "the corpus has no scores: set description to words, examples or model")
        return Judgements.given(index)
    if not index.has_text:
        raise InputError("no-text", "the corpus has no text to judge: use its scores (description = score)")
    judge = judge or JUDGES[description]
    if reason := learning_reason(judge):
        raise InputError("learning-judge", f"{reason}, so its judgements can't be precomputed")
    built = judge_maker(index, subject, description, judge)()
    kinds = tuple(sorted(set(offered_facets(built, wants)) & set(WANTS))) if hasattr(built, "facets") else ()
    stems = dict(built.weights) if description == "examples" and isinstance(built, VectorJudge) else {}
    path = None
    if out is not None:
        learned = {"words": subject.words, "examples": subject.examples, "model": subject.model}[description]
        key = digest(
            corpus_digest(index), description, code_digest(judge), kinds, learned, subject.targets, built.threshold
        )
        path = Path(out) / "guides" / f"{key}.npz"
    guide = Judgements.judged(index, built, kinds, path, progress)
    guide.stems = stems
    return guide


def judge_maker(index: CorpusIndex, subject: HuntSubject, description: str, judge: str) -> Callable[[], Judge]:
    learned: dict[str, Any] = {}
    if description == "words":
        if not subject.words:
            raise InputError("missing-topic", f"{subject.name!r} has no words: set description to examples or model")
        options = Options(topic=subject.words, judge=judge)
    elif description == "model":
        if subject.model is None:
            raise InputError("missing-model", f"subject {subject.name!r} has no model: prepare it (needs 'model')")
        options = Options(model=str(subject.model), targets=list(subject.targets), judge=judge)
    else:
        if not subject.examples:
            raise InputError("missing-examples", f"{subject.name!r} has no examples: set description to words or model")
        options = Options(examples=[index.names[node] for node in subject.examples], judge=judge)
        pages = (index.page(node) for node in subject.examples)
        judge_class = JUDGE_REGISTRY.maker(parse_spec(judge)[0])
        learned = judge_class.from_examples(pages) if hasattr(judge_class, "from_examples") else centroid(pages)
    return lambda: make_judge(options, learned)


def learning_reason(judge: str) -> str:
    """Return why a judge's judgements change during a crawl; empty if they do not."""
    name, given = parse_spec(judge)
    judge_class = JUDGE_REGISTRY.maker(name)
    idf = describe(name).get("idf") if name in JUDGE_REGISTRY else None
    if idf is not None and given.get("idf", idf[1]) == "learned":
        return f"the judge {name} learns idf as it goes (write {name},idf=background or idf=none)"
    code = getattr(inspect.getattr_static(judge_class, "learn", None), "__code__", None)
    if code is not None and code.co_names:  # learn() has a body
        return f"the judge {name} learns from the pages it sees"
    return ""
