"""Craw4LLM: every link is rated by its own page, before it is fetched. An oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from lycosa.estimators.oracle import Oracle


@dataclass
class Craw4Llm(Oracle):
    """A link is worth what the judge says of its own page: priority(u) = M(page(u)).

    That takes the page before it is fetched, so it is an oracle, and grouped with those that know the truth. It differs
    from `oracle` in what it knows: not what is relevant, but what the judge will say of each page. How far it stays
    behind `oracle` is the judge's fault, how far others stay behind it theirs.

    In the lab it knows what the guide says of all pages; if that is a judge which learns as it goes, what it says when
    it has seen them all. Elsewhere it reads that from a file, `craw4llm,scores=FILE`, with a node, a tab and its rating
    on each line.

    Paper: Yu, Liu, Xiong 2025, Craw4LLM: Efficient Web Crawling for LLM Pretraining, algorithm 1, and the authors' code
    (cxcscmu/Craw4LLM), a simulation on ClueWeb22 in which pages are rated when a link to them is found. We depart:
    their rater M is a fastText classifier of what is good to train a language model with, ours is the judge; they take
    the 10,000 best at a time, which is `batch=10000` here, and we rank after every page unless told so; seeds come
    first without being rated. With another rater it is QOracle of Pezzuti, MacAvaney, Tonellotto 2025.

    >>> from lycosa.core.table import Table
    >>> import numpy as np
    >>> table = Table(); rows = np.array([table.add(name, 0) for name in "ab"], np.int32)
    >>> Craw4Llm({"a": .25, "b": .75}).score(rows, table).tolist()
    [0.25, 0.75]
    """

    called: ClassVar[str] = "craw4llm"
    knows: ClassVar[str] = "what the judge says of its page"
