"""What strategies that go by the meaning of anchors have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from lycosa.core.columns import learned
from lycosa.core.errors import InputError
from lycosa.core.table import Table
from lycosa.core.types import Rows, Scores, Step
from lycosa.estimators.parents import Merge, Parents, SaidByParents
from lycosa.text.glossary import Glossary
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.meanings import ontology as ontology_at
from lycosa.text.ontology import Ontology
from lycosa.text.similarity import Measure
from lycosa.text.vocabulary import Vocabulary


@dataclass(kw_only=True)
class ByMeaning(SaidByParents):
    """Base of strategies that go by what words mean: by words of their own, whoever judges the pages.

    The topic has to be in words. A URL found on several pages takes the `max` over them, or what `merge` says.
    """

    merge: Merge = "max"
    words: str | Mapping[str, float] = ""
    ontology: str | Ontology = field(default="", repr=False)
    priority_: Parents = learned()
    glossary_: Glossary = learned()
    vocabulary_: Vocabulary = learned(Vocabulary)
    """The words of the pages so far, for idf that is learned."""

    @property
    def notes(self) -> list[str]:
        """What a person should know before the crawl starts."""
        return self.glossary_.notes

    def set_up(self, name: str, measure: Measure, floor: float = 0.0, **parameters: float) -> None:
        """Read the topic; an InputError that names the strategy if it has no words."""
        if not self.words:
            raise InputError(
                f"the strategy {name} goes by what words mean, and this topic has none: say what to hunt in a few "
                "words, or with --terms FILE"
            )
        source = self.ontology if isinstance(self.ontology, Ontology) else ontology_at(self.ontology)
        self.glossary_ = Glossary(source, self.words, measure, floor, **parameters)
        self.priority_ = Parents(self.merge)

    def learn_words(self, step: Step, table: Table) -> None:
        """Count the page's words, for idf."""
        self.vocabulary_.follow(table.stems)  # probes, which it does not see, number words too
        self.vocabulary_.learn(step.visit)

    def tell(self, step: Step, table: Table, anchors: Scores, page: float | None = None) -> Rows:
        """Merge what the anchors of this page say, or its mean with what the page says, into what others said.

        For each child the most that an anchor of a link to it says counts; 0 where there are no anchors, as in a
        redirect.
        """
        of_children = step.strongest(anchors) if len(step.of_link) else np.zeros(len(step.children))
        return self.priority_.tell(step, table, of_children if page is None else (page + of_children) / 2)


def language_of(step: Step) -> str:
    """The language of the page that was visited; English unless it says otherwise."""
    return code_of(step.visit.language, ENGLISH)
