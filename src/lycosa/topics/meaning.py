"""What judges that go by meaning have in common: which texts they read, and by which ontology."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.types import Judgement, Page
from lycosa.text.glossary import Glossary
from lycosa.text.meanings import ontology as ontology_at
from lycosa.text.ontology import Ontology
from lycosa.text.similarity import Measure
from lycosa.text.vocabulary import Reading
from lycosa.topics.base import Judge, facet_texts


class Meaning(Judge):
    """Judges the page as a whole, and each link by its anchor; contexts and addresses where a strategy wants them.

    Subclasses say how near texts are (`_near`), and what that means for a page (`_said`). On pages in other languages
    than English, WordNet knows no word, and only words that are the same count.
    """

    def __init__(
        self,
        words: str | Mapping[str, float],
        threshold: float,
        ontology: str | Ontology,
        measure: Measure,
        floor: float = 0.0,
        **parameters: float,
    ) -> None:
        self.floor = floor
        self.words, self.threshold = words, threshold
        self.ontology = ontology if isinstance(ontology, Ontology) else ontology_at(ontology)
        self.glossary = Glossary(self.ontology, words, measure, floor, **parameters)

    @property
    def notes(self) -> list[str]:
        """What a person should know before the crawl starts."""
        return self.glossary.notes

    @property
    def weights(self) -> dict[str, float]:
        """The terms of the topic."""
        return dict(zip(self.glossary.topic, self.glossary.weights.tolist(), strict=True))

    @property
    def fingerprint(self) -> object:
        """What a judgement depends on, for the log."""
        like = self.glossary.likeness
        return self.weights, like.measure, like.parameters, self.floor, self.ontology.digest

    def judge(self, page: Page, reading: Any) -> Judgement:
        """Score the page, its anchors, and what else is wanted of links."""
        assert isinstance(reading, Reading), (
            "a judge of meanings needs a reader; pass reader=Vocabulary() to the engine"
        )
        judgement = Judgement(*self._said(page, reading))
        for name in self.facets:
            judgement.facets[name] = self._near(facet_texts(page.links, name), reading).astype(np.float32)
        return judgement

    def _said(self, page: Page, reading: Reading) -> tuple[float, NDArray[np.float32]]:
        """beta and alphas; page and anchors are read at once, which takes little longer than one of them."""
        near = self._near(texts_of(page), reading)
        return float(near[0]), near[1:].astype(np.float32)

    def _near(self, texts: Sequence[str], reading: Reading) -> NDArray[np.float64]:
        raise NotImplementedError


def texts_of(page: Page) -> list[str]:
    """All words of a page, and then its anchors."""
    return [f"{page.title}\n{page.text}", *page.links.anchors]
