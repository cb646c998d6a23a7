"""Context graph: follow links by the estimated distance of their page from a relevant one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from lycosa.core.columns import learned
from lycosa.core.table import Table
from lycosa.core.types import Rows, Step, Visit
from lycosa.strategies.parents import MaxOrLast, MergedPriorities, PriorityFromParents
from lycosa.text.bags import Bags
from lycosa.text.browsing import Browsing
from lycosa.text.model_words import ModelWords
from lycosa.text.naive_bayes import NaiveBayes

OTHER = -1


@dataclass
class ContextGraph(PriorityFromParents):
    """Context graph: priority = layers + 1 - layer of the page + confidence; below 1 for links of pages in no layer.

    Layer j holds the training pages (`file`, from `lycosa train browse`) that are j links from a relevant one. Naive
    Bayes learns the words of each layer. A page is assigned to its likeliest layer, and all links of pages in layer j
    come before those of layer j + 1. A page is in no layer ("other") if the probability of its likeliest layer is below
    `least`, if it is likelier to be beyond the last layer, or if it shares no word with the training pages; its links
    come last.

    `layers` is the number of the last layer, with 0 the last one that the file distinguishes: its state of largest
    distance means "that far or farther". Pages beyond the last layer are a class of their own. A layer with fewer than
    `fewest` pages joins the next one out. `merge` combines the priorities of a link found on several pages.

    Paper: Diligenti et al. 2000; Batsakis 2007, section 2.5. Departures: the in-links come from a browsing record and
    not from a search engine; one classifier gives the probabilities of all layers, where the paper has one for each and
    picks the winner; pages beyond the last layer are learned as well, instead of being recognised by low confidence
    alone.
    """

    proportional: ClassVar[bool] = False

    file: str | Browsing = ""
    layers: int = 0
    least: float = 0.5
    fewest: int = 3
    merge: MaxOrLast = "max"
    notes: list[str] = learned(list)
    words_: ModelWords = learned()
    layer_: list[int] = learned()  # layer of each class of the classifier; OTHER means beyond the last layer
    last_: int = learned()
    model_: NaiveBayes = learned()
    priority_: MergedPriorities = learned()

    def __post_init__(self) -> None:
        if not 0 <= self.least <= 1:
            raise ValueError(f"'least' is {self.least:g}: it must be a probability from 0 to 1")
        if self.layers < 0 or self.fewest < 1:
            raise ValueError("'layers' must be 0 (all of the model) or more, and 'fewest' 1 or more")
        browsing = Browsing.of(self.file)
        self.last_ = min(self.layers or browsing.states, browsing.states - 2)
        if self.layers > self.last_:
            found = f"{self.last_ + 1} layers, not {self.layers + 1}"
            self.notes.append(f"the browsing model has {found}: train one with more states")
        nonempty = np.flatnonzero(np.diff(browsing.pages.starts))
        layer = np.minimum(browsing.state[nonempty], self.last_ + 1)
        for near in range(1, self.last_ + 1):
            if np.count_nonzero(layer == near) < self.fewest:
                layer[layer == near] = near + 1
        layers, labels = np.unique(layer, return_inverse=True)
        self.layer_ = [int(number) if number <= self.last_ else OTHER for number in layers]
        if len(layers) == 1:
            self.notes.append("all pages of the browsing model are in one layer, so all links get the same priority")
        self.words_ = ModelWords(browsing.column_of)
        pages = browsing.pages.take(nonempty)
        self.model_ = NaiveBayes.fit(pages, labels.astype(np.intp), len(layers), len(browsing.terms))
        self.priority_ = MergedPriorities(self.merge)

    def learn(self, step: Step, table: Table) -> Rows:
        self.words_.follow(table.stems)
        priority = self._link_priority(step.visit) if step.visit.outcome != "redirect" and len(step.children) else 0.0
        return self.priority_.update(step, table, priority)

    def layer(self, visit: Visit) -> tuple[int, float]:
        """Return the layer of a page and its probability; for OTHER, the probability of the likeliest layer."""
        columns, counts, _ = self.words_.of(visit.terms)
        if not len(columns):
            return OTHER, 0.0
        probabilities = self.model_.probabilities(Bags.of([(columns, counts)]))[0]
        best = int(np.argmax(probabilities))
        if self.layer_[best] != OTHER and probabilities[best] >= self.least:
            return self.layer_[best], float(probabilities[best])
        known = zip(probabilities.tolist(), self.layer_, strict=True)
        return OTHER, max(chance for chance, layer in known if layer != OTHER)

    def _link_priority(self, visit: Visit) -> float:
        layer, confidence = self.layer(visit)
        # A confidence of at most 1 keeps the pages of a layer from exceeding those of the next nearer one.
        return min(confidence, 1.0) if layer == OTHER else self.last_ + 1 - layer + min(confidence, 1.0)
