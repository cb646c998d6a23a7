"""What strategies that go by the meaning of anchors have in common."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lycosa.core.errors import InputError
from lycosa.core.types import Scores, Step
from lycosa.text.glossary import Glossary
from lycosa.text.languages import ENGLISH, code_of
from lycosa.text.meanings import ontology as ontology_at
from lycosa.text.ontology import Ontology
from lycosa.text.similarity import Measure


def glossary_of(
    name: str, words: str | Mapping[str, float], ontology: str | Ontology, measure: Measure, **parameters: float
) -> Glossary:
    """The glossary of a topic; an InputError if it has no words."""
    if not words:
        raise InputError(
            f"the strategy {name} goes by what words mean, and this topic has none: say what to hunt in a few words, "
            "or with --terms FILE"
        )
    source = ontology if isinstance(ontology, Ontology) else ontology_at(ontology)
    return Glossary(source, words, measure, **parameters)


def language_of(step: Step) -> str:
    """The language of the page that was visited; English unless it says otherwise."""
    return code_of(step.visit.language, ENGLISH)


def of_children(step: Step, said: Scores) -> Scores:
    """For each child the most that an anchor of a link to it says; 0 where there are no anchors, as in a redirect."""
    return step.strongest(said) if len(step.of_link) else np.zeros(len(step.children))
