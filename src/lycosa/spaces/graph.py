"""A graph in memory: nodes, links and true scores. For experiments, and for testing what runs on any space."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lycosa.core.protocols import Space
from lycosa.core.types import Links, Page, Task


class GraphSpace(Space):
    """Visit a dictionary of links; `beta` are the nodes' true scores, given to whoever asks as page data.

    >>> import asyncio
    >>> space = GraphSpace({"a": ["b", "c"]}, beta={"b": 1.0})
    >>> asyncio.run(space.visit(Task("a"))).links.urls
    ['b', 'c']
    """

    def __init__(
        self,
        links: Mapping[str, Sequence[str]],
        beta: Mapping[str, float] | None = None,
        alpha: Mapping[tuple[str, str], float] | None = None,
    ) -> None:
        self.links = links
        self.beta = beta or {}
        self.alpha = alpha or {}

    async def visit(self, task: Task) -> Page:
        """The node's links; a node that is only linked to has none."""
        node = task.node
        targets = self.links.get(node, ())
        return Page(
            "ok",
            links=Links.to(*targets),
            data={
                "beta": float(self.beta.get(node, 0.0)),
                "alpha": [float(self.alpha.get((node, target), 0.0)) for target in targets],
            },
        )
