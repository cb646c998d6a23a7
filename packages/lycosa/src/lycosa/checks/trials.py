"""Sample graph for checks: small, with every property that links and pages may have or lack."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core.protocols import NEVER, VisitScheduler
from lycosa.core.table import Table
from lycosa.core.types import Judgement, Links, Page, Step, Task, Terms, Visit
from lycosa.judges.space_judge import SpaceJudge
from lycosa.spaces.graph import GraphSpace

START = "n0"

# Anchors of links, with contexts.
ANCHORS = (
    ("", ""),  # an image
    ("coral reefs", "the bleaching of coral reefs in warm seas"),
    ("サンゴ礁の白化", "海水温の上昇によるサンゴ礁の白化"),
    ("Korallenbleiche in der Südsee", ""),
    ("الشعاب المرجانية", "تبيض الشعاب المرجانية"),
    (" ", "read more about it here " * 20),
    ("обесцвечивание", "обесцвечивание кораллов"),
)


def name(number: int) -> str:
    """Return a node name; some are URLs."""
    if number % 3 == 0:
        return f"n{number}"
    return f"http://site{number % 5}.example/{'reef/' * (number % 4)}{number}.html{'?q=café' * (number % 2)}"


@cache
def graph(nodes: int = 120) -> GraphSpace:
    """Return a small, deterministic random graph with relevances."""
    chance = random.Random(7)
    names = [name(n) for n in range(nodes)]
    links = {node: chance.sample(names, chance.randrange(1, 8)) for node in names}
    relevance = {node: round(chance.random(), 3) for node in names if chance.random() < 0.6}
    alpha = {(a, b): round(chance.random(), 3) for a in names for b in links[a]}
    return GraphSpace(links, relevance, alpha)


def classifier_data(node: str, relevance: float) -> dict[str, Any]:
    """Return the data that a classifier stores with a page: nothing, an empty list, or its best classes."""
    turn = sum(node.encode()) % 4
    if turn == 0:
        return {}
    if turn == 1:
        return {"classes": [], "target": False}
    classes = [
        ["science/marine biology", relevance],
        ["sport", (1 - relevance) / 2],
        ["news/the rest", (1 - relevance) / 2],
    ]
    return {"classes": sorted(classes, key=lambda pair: -float(pair[1])), "target": relevance >= 0.5}


def written(targets: Iterable[str]) -> Links:
    """Return links with anchors and contexts of all kinds."""
    links = Links.to(*targets)
    texts = [ANCHORS[sum(url.encode()) % len(ANCHORS)] for url in links.urls]
    links.anchors, links.contexts = [anchor for anchor, _ in texts], [context for _, context in texts]
    return links


def facets(node: str, link_relevances: NDArray[np.float32]) -> dict[str, NDArray[np.float32]]:
    """Return facets of a page's links: none, one or two columns."""
    columns = {"context": link_relevances[::-1].copy(), "url": link_relevances * np.float32(0.5)}
    return {facet: columns[facet] for facet in ("context", "url")[: sum(node.encode()) % 3]}


def page_visit(
    node: str, targets: Iterable[str], relevance: float, link_relevances: Iterable[float], pick: int = 1
) -> Visit:
    links = written(targets)
    links.link_relevances = np.array(list(link_relevances), np.float32)
    links.facets = facets(node, links.link_relevances)
    return Visit(node, "page", "ok", pick, relevance=relevance, links=links, data=classifier_data(node, relevance))


def visits() -> Iterator[Visit]:
    """Yield sixty visits of the graph, breadth first, including a failure, a retry and a redirect."""
    space = graph()
    queue, seen = [START], {START}
    for pick in range(1, 61):
        node = queue.pop(0)
        if pick == 20:
            yield Visit(node, "page", "unreachable", pick, retry_at=1.0)
        if pick == 10:
            yield Visit(node, "page", "gone", pick, status=404)
        elif pick == 30:
            yield Visit(node, "redirect", "redirect", pick, status=301, links=Links.to("moved"))
        else:
            targets = space.links[node]
            link_relevances = [space.alpha[node, target] for target in targets]
            yield page_visit(node, targets, space.relevance.get(node, 0.0), link_relevances, pick)
            queue += [target for target in dict.fromkeys(targets) if target not in seen]
            seen.update(targets)


def steps(table: Table) -> Iterator[Step]:
    """Yield the same visits as steps while filling the table; a probe only adds words to `table.stems`."""
    table.add_seed(START)
    id_of: dict[str, int] = {}
    for visit in visits():
        if visit.pick == 15 and PROBED not in id_of:
            table.absorb(Visit(PROBED, "probe", "ok", 15, terms=_terms_of(id_of, [PROBED, *map(str, range(5000))])))
        if visit.is_page:
            visit.terms = _terms_of(id_of, ["coral", "reef", visit.node])
        step = table.absorb(visit)
        assert step is not None
        yield step


def revisits(table: Table) -> Iterator[Visit]:
    """Yield revisits of the graph: with more links, the same, or none; moved, and moved back."""
    space, gone = graph(), next(visit for visit in visits() if visit.outcome == "gone").node
    known = [table.nodes[row] for row in table.closed]
    relevance = [0.7, 0.0, 0.2]
    for number, node in enumerate(known[:3]):
        links = [f"new on {node}", *space.links[node], known[-1], f"also new on {node}"]
        yield _again(page_visit(node, links, relevance[number], [0.9, *[0.5] * (len(links) - 1)], 70 + number), table)
        yield _again(page_visit(node, links[::-1], 0.4, [0.25] * len(links), 80 + number), table)
        yield _again(page_visit(node, [], 0.0, [], 90 + number), table)
    back = ["back with this", *space.links[gone]]
    yield _again(page_visit(gone, back, 0.6, [0.5] * len(back), 100), table)
    for number, node in enumerate((known[1], known[1], START)):
        yield _again(Visit(node, "page", "redirect", 101 + number, links=Links.to(f"where {node} is now")), table)
    yield _again(page_visit(known[1], ["after all"], 0.5, [0.5], 110), table)  # moved back


def _again(visit: Visit, table: Table) -> Visit:
    visit.kind, visit.data = "revisit", {**visit.data, "follows": 1.0}
    if visit.outcome == "ok":
        id_of = {stem: number for number, stem in enumerate(table.stems)}
        visit.terms = _terms_of(id_of, ["coral", visit.node, f"word {visit.pick}"])
    return visit


def _terms_of(id_of: dict[str, int], stems: list[str]) -> Terms:
    """Return the words of a page, numbered by a vocabulary that knows those in `id_of`."""
    known = len(id_of)
    ids = sorted(id_of.setdefault(stem, len(id_of)) for stem in stems)
    return Terms(np.array(ids, np.uint32), np.ones(len(ids), np.uint16), list(id_of)[known:])


PROBED = "no-such-page"  # requested to learn how the host responds for missing pages


class Shuffled(GraphSpace):
    """A graph whose responses arrive out of order; some fail, some redirect."""

    def __init__(self, nodes: int = 400, host_keys: int = 1, trouble: bool = False) -> None:
        space = graph(nodes)
        super().__init__(space.links, space.relevance, space.alpha)
        self.host_keys = host_keys
        self.trouble = trouble
        self.chance = random.Random(11)

    def host_key(self, node: str) -> str:
        return f"lane {sum(node.encode()) % self.host_keys}"

    async def visit(self, task: Task) -> Page:
        for _ in range(self.chance.randrange(12)):
            await asyncio.sleep(0)
        turn = sum(task.node.encode()) % 13 if self.trouble and task.node != START else 0
        if turn == 5 or (turn == 7 and task.attempt == 2):
            return Page("gone", 404)
        if turn == 7:  # fails at the second attempt
            return Page("unreachable", retry_at=1e-9)
        if turn == 9 and task.attempt < 3:
            return Page("busy", 503, retry_at=1e-9)
        if turn == 11:
            return Page("redirect", 301, "redirect", links=Links.to(self.links[task.node][0]))
        page = await super().visit(task)
        page.links = written(page.links.urls)
        page.data.update(classifier_data(task.node, min(1.0, page.data["beta"])))
        return page


class Aging(Shuffled):
    """The graph at a later time: revisited pages have gained a link, have moved, or are unchanged.

    The change depends on the name alone, so crawls are repeatable.
    """

    async def visit(self, task: Task) -> Page:
        page = await super().visit(task)
        turn = sum(task.node.encode()) % 4
        if not task.follows or page.outcome != "ok" or turn == 0:
            return page
        if turn == 1:
            return Page("unchanged", 304)
        if turn == 2:
            return Page("redirect", 301, links=Links.to(f"{task.node}/moved"))
        page.links = written([f"{task.node}/new", *page.links.urls])
        page.data["alpha"] = [0.5, *page.data["alpha"]]
        return page


class EveryThirdVisit(VisitScheduler):
    """Scheduler that revisits every page once, in the order of the log, by every third visit."""

    refreshes = True

    def __init__(self) -> None:
        self.due: list[Task] = []
        self.done: set[str] = set()
        self.visits = 0

    def wants_turn(self) -> bool:
        return self.visits % 3 == 2

    def pick(self, number: int, now: float) -> Task | None:
        return replace(self.due.pop(0), pick=number) if self.due else None

    def give_back(self, task: Task, until: float = 0.0) -> None:
        if task.node not in self.done:
            self.due.insert(0, task)

    def next_due(self, now: float) -> float:
        return 0.0 if self.due else NEVER

    def learn(self, visit: Visit, table: Table) -> None:
        self.visits += 1
        if visit.is_page:
            self.due.append(Task(visit.node, "revisit", table.row_of[visit.node], follows=1.0, due=True))
        elif visit.follows:
            self.done.add(visit.node)


class SampleJudge(SpaceJudge):
    """Judge of these graphs that adds facets to the link relevances of some pages."""

    def judge(self, page: Page, reading: object) -> Judgement:
        judgement = super().judge(page, reading)
        judgement.facets = facets("x" * len(page.links), judgement.link_relevances)
        return judgement
