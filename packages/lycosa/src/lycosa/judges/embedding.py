"""Relevance by pretrained word vectors of pages, links and topic."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from lycosa.core.errors import InputError
from lycosa.core.types import Judgement, Page, Visit
from lycosa.judges.base import StatelessJudge, facet_texts
from lycosa.text.embeddings import DIMENSIONS, unit, vectors, vectors_digest
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.vocabulary import PageWords

# Thresholds for words alone, and with ten examples. Precision and recall there: encyclopaedia 46 and 57 %, 40 and 68 %;
# test web 97 and 98 %, 64 and 100 %; universities 51 and 8 %, 71 and 10 %.
THRESHOLD, EXAMPLES_THRESHOLD = 0.35, 0.5
PRIOR = 30  # number of pages that COMMON counts for
STEPS = 320  # vectors are stored as int8 multiples of 1 / STEPS, clipped to ±127
# mean page of an encyclopaedia, of university pages and of the test web, equally weighted
COMMON = base64.b85decode(
    "_YV^50R{dL2Ob#n1N!&){RRv0{R;fq6btV9{qy|%0R#051^5XC6YTlw3HJQ{2JRQ~2Hy7-_W|z$4D<i=6#x1W3;qZL3IPia1qJ{C{1)*F4E+"
    "NJ2@LfH{Pze40Ra8~?g;n_{}%}V{r(UJ_W=6?{Qdv)0Sx>I^7Zrd_y_+70ssT@^aA?-^a}g;`}_F(00{mM`SJY%|NH#`1pWE+_yYL~1OWZ=`"
    "3DLE0tWa1{|NT*`uhn6{{j2>0sH;^0tNg92>$W?3kCoV{1E#I`vmp-2>t%_{RjX7`27F*@d6b80}b>8`}g?)4*~rH0Sp590|@~A{{{5@"
)

Vector = NDArray[np.float32]


class EmbeddingJudge(StatelessJudge):
    """Cosine of word vectors, page against topic (beta) and anchor against topic (alpha), 0 where it is negative.

    The vector of a text is the sum of its word vectors, with early words counting more (text/embeddings.py). All pages
    share a common component, so the mean page is subtracted:

        p' = unit(p - m),   m = (30 c + sum of p over the pages so far) / (30 + their number),   beta = max(0, p' . t)

    with c the mean page of three collections, the prior of every crawl. t is unit(sum of the word vectors) for a topic
    in words, unit(e - m) for example pages with mean vector e, and the sum of both if both are given. The weights of a
    file of terms apply. Links are too short to have a common component: alpha = max(0, a . t).

    Related words match without sharing a stem: "lagoon" is near "coral reef". Rare names are cut into pieces with
    little meaning; `vector` is better for those. The vectors know English best. The log stores each page's vector (256
    bytes), from which a resumed crawl learns the mean again.

    threshold: 0 means .35 for words alone, .5 with examples.
    link: Source of alpha: the `anchor`, or the `context` of 20 words around and including it.

    Mean average precision over 85 classes of an encyclopaedia, 7 of university pages and 36 of the embedded web; m is
    learned from 300 pages of which a fifth are of the class (benchmarks/embedding.py):

                                   name and four words    ten example pages
        embedding                  .49  .27  1.00         .55  .45  1.00
        embedding, m = c           .48  .26  1.00         .53  .35  1.00
        embedding, m = 0           .47  .27  1.00         .51  .31  1.00
        vector                     .44  .29   .98         .48  .39  1.00
        embedding + 2 vector       .52  .29  1.00         .57  .46  1.00

    It ranks better than `vector` in two of three collections for words, and wherever there is room for examples. A page
    of 3,500 words and 40 links takes 2.1 ms, 1.4 ms if all of its words are cached.

    >>> judge = EmbeddingJudge("doctor hospital medicine")
    >>> page, other = Page("ok", marked="A physician's patients, at a clinic"), Page("ok", marked="Trains run on rails")
    >>> [judge.judge(each, None).relevance >= judge.threshold for each in (page, other)]
    [True, False]
    """

    def __init__(
        self,
        words: str | Mapping[str, float] = "",
        threshold: float = 0.0,
        *,
        examples: Mapping[str, Any] | None = None,
        link: Literal["anchor", "context"] = "anchor",
    ) -> None:
        self.threshold = threshold or (EXAMPLES_THRESHOLD if examples else THRESHOLD)
        self.link = link
        self.weights = dict(words) if isinstance(words, Mapping) else {words: 1.0} if words.strip() else {}
        self._words = _words_vector(self.weights) if self.weights else None
        self._examples = _examples_vector(examples) if examples else None
        if self._words is None and self._examples is None:
            raise InputError("empty-topic", "the topic is empty: describe it in a few words, or give an --example PAGE")
        self.total_ = PRIOR * np.frombuffer(COMMON, np.int8).astype(np.int64)
        self.pages_ = PRIOR
        self._current: tuple[int, Vector, Vector] | None = None

    @property
    def fingerprint(self) -> object:
        return self.weights, None if self._examples is None else self._examples.tolist(), self.link, vectors_digest()

    @staticmethod
    def from_examples(pages: Iterable[Page]) -> dict[str, Any]:
        """Return the mean vector of the example pages and the digest of the word vectors, to be stored in the log."""
        rows = [vectors([_text(page)], code_of(page.language, ENGLISH))[0] for page in pages]
        rows = [vector for vector in rows if vector.any()]
        if not rows:
            raise InputError("empty-file", "no example page has any text: give pages with text")
        return {"vector": [round(float(x), 4) for x in np.mean(rows, axis=0)], "vectors": vectors_digest()}

    def judge(self, page: Page, reading: Any) -> Judgement:
        language = reading.language if isinstance(reading, PageWords) else code_of(page.language, ENGLISH)
        mean, topic = self._mean_and_topic()
        vector, links = vectors([_text(page)], language)[0], page.links
        relevance = max(0.0, float(unit(vector - mean) @ topic)) if vector.any() else 0.0
        judgement = Judgement(min(1.0, relevance), np.zeros(len(links), np.float32), {"embedding": pack_vector(vector)})
        texts_of = {"anchor": links.anchors, "context": links.contexts}
        judgement.link_relevances = _cosines(texts_of[self.link], language, topic)
        for name in self.facets:
            is_computed = name == self.link
            judgement.facets[name] = (
                judgement.link_relevances if is_computed else _cosines(facet_texts(links, name), language, topic)
            )
        return judgement

    def learn(self, visit: Visit) -> None:
        packed = visit.data.get("embedding")
        if visit.is_page and isinstance(packed, bytes) and len(packed) == DIMENSIONS:
            self.total_ += np.frombuffer(packed, np.int8)
            self.pages_ += 1

    def _mean_and_topic(self) -> tuple[Vector, Vector]:
        """Return the mean page and the topic vector; cached until another page is learned."""
        if self._current is None or self._current[0] != self.pages_:
            mean = (self.total_ / (self.pages_ * STEPS)).astype(np.float32)
            topic = np.zeros(DIMENSIONS, np.float32)
            if self._words is not None:
                topic += self._words
            if self._examples is not None:
                topic += unit(self._examples - mean)
            self._current = self.pages_, mean, unit(topic)
        return self._current[1:]


def _text(page: Page) -> str:
    return f"{page.title} {page.marked}"


def pack_vector(vector: Vector) -> bytes:
    return np.minimum(np.maximum(np.rint(vector * STEPS), -127), 127).astype(np.int8).tobytes()


def _cosines(texts: list[str], language: str, topic: Vector) -> Vector:
    distinct = {text: number for number, text in enumerate(dict.fromkeys(texts))}
    if not distinct:
        return np.zeros(0, np.float32)
    cosines = np.clip(vectors(list(distinct), language) @ topic, 0.0, 1.0)
    column: Vector = cosines[[distinct[text] for text in texts]].astype(np.float32)
    return column


def _words_vector(weights: Mapping[str, float]) -> Vector:
    rows = vectors(list(weights)) * np.array(list(weights.values()), np.float32)[:, None]
    vector: Vector = unit(rows.sum(0))
    if not vector.any():
        raise InputError(
            "empty-topic",
            f"the topic {' '.join(weights)!r} has no words to search for: use nouns, not only short or common words",
        )
    return vector


def _examples_vector(examples: Mapping[str, Any]) -> Vector:
    vector = np.array(examples.get("vector", ()), np.float32)
    if vector.shape != (DIMENSIONS,) or not np.isfinite(vector).all() or examples.get("vectors") != vectors_digest():
        advice = "start a new crawl, or resume with the version that started it"
        message = "the example pages were read with the word vectors of another version of Lycosa"
        raise InputError("bad-version", f"{message}: {advice}")
    return vector
