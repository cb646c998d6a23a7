"""Pages, topics and links of the embedded web.

Pages are numbered 0 to N-1, host by host and section by section. A section is a run of pages on one topic, so a table
of sections, whose size depends on the number of hosts only, maps pages to topics and back.

Three kinds of host: *portals* (the first few) cover many topics in sections that begin with a directory page;
*specialists* have a home subject; and each specialist has one *island*, a section that only a few off-topic pages link
to, the bridges. All other pages, the mainland, are reachable from every front page.

With *tunnels*, all pages on the first topic of each subject are on islands. Every path to them leads from a page on the
*gateway* topic over a page on the *ferry* topic; both belong to other subjects and are the same in every web. A
strategy that learns from paths can discover them; to one that looks for relevant pages they all look alike.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from random import Random

from lycosa.testweb.chance import dice, pick, roll, stir
from lycosa.testweb.prose import NOWHERE, SITE_WORDS, SUBJECTS, TOPICS, siblings, subject_of

_PORTAL_NAMES = ("open-directory", "town-portal", "index-of-everything", "good-links", "start-page")
_BRANCHING = 4  # links of each page to later pages of its section, which make it a tree
_HOST_BRANCHING = 12
_NAV_SECTIONS = 7
_PER_SUBJECT = len(TOPICS) // len(SUBJECTS)


@dataclass(frozen=True, slots=True)
class Section:
    """A run of consecutive pages of one host on one topic."""

    host: int
    topic: int
    start: int
    length: int
    island: bool = False
    directory: bool = False  # true if the first page only lists links


def _portion(total: int, weights: list[float]) -> list[int]:
    """Split a whole number by weights; each part gets at least one."""
    spare = total - len(weights)
    scale = spare / sum(weights)
    marks = [round(mark * scale) for mark in accumulate(weights)]
    return [1 + b - a for a, b in zip([0, *marks], marks, strict=False)]


class SiteGraph:
    """Tables of hosts, sections and bridges, and the links they imply."""

    def __init__(self, seed: int, pages: int, hosts: int, tunnels: bool = False) -> None:
        if pages < 20 or hosts < 2:
            raise ValueError("a web needs at least 20 pages and 2 hosts")
        self.seed = seed
        self.pages = pages
        self.tunnels = tunnels
        self.host_count = min(hosts, pages // 10)
        self.portals = max(1, self.host_count // 10)
        specialists = range(self.host_count - self.portals)
        self.subject: list[int] = [NOWHERE] * self.portals + [number % len(SUBJECTS) for number in specialists]
        self.sections: list[Section] = []
        self.of_host: list[list[Section]] = []
        self._lay_out()
        self._starts = [section.start for section in self.sections]
        self._pools = self._gather()
        self._filled = [t for t in range(len(TOPICS)) if self._pools[t][1]]
        self.names = self._name_hosts()
        self.bridges: dict[int, list[int]] = {}
        for section in self.sections:
            if section.island:
                self._build_bridges(section)

    def _lay_out(self) -> None:
        sizes = _portion(self.pages - 7 * self.host_count, [self._weight(h) for h in range(self.host_count)])
        start = 0
        for host, size in enumerate(size + 7 for size in sizes):
            plan = self._plan(host, size)
            lengths = [1, *_portion(size - 1, [share for share, *_ in plan])]
            mine = [Section(host, NOWHERE, start, 1)]
            at = start + 1
            for (_, topic, island), length in zip(plan, lengths[1:], strict=True):
                island = island or self.is_hidden(topic)
                mine.append(Section(host, topic, at, length, island, host < self.portals))
                at += length
            self.of_host.append(mine)
            self.sections.extend(mine)
            start += size

    def _weight(self, host: int) -> float:
        """Return a host's relative size; every subject gets a large, a medium and a small one."""
        if host < self.portals:
            return 1.4
        rank = (host - self.portals) // len(SUBJECTS)
        return (1.3, 1.0, 0.7)[(rank + stir(self.seed, "size", self.subject[host])) % 3]

    def _plan(self, host: int, size: int) -> list[tuple[float, int, bool]]:
        """Return the sections of a host as (share, topic, is_island)."""
        if host < self.portals:
            topics = [t for t in range(len(TOPICS)) if (t + host) % 2 == 0]
            # The first topic is present in the smallest of webs; the order is otherwise arbitrary.
            topics.sort(key=lambda t: (t > 0 and size < 4 * len(topics), stir(self.seed, "order", host, t)))
            return [(1.0, topic, False) for topic in topics[: max(1, size // 4)]]
        number = host - self.portals
        rank = number // len(SUBJECTS)
        home = [self.subject[host] * _PER_SUBJECT + (rank + i) % _PER_SUBJECT for i in range(_PER_SUBJECT)]
        plan = [(share, topic, False) for share, topic in zip((0.23, 0.19, 0.15), home, strict=True)]
        for i in range(2):
            topic = (7 * (2 * number + i) + stir(self.seed, "guest")) % len(TOPICS)
            if subject_of(topic) == self.subject[host]:
                topic = (topic + _PER_SUBJECT) % len(TOPICS)
            plan.append((0.1, topic, False))
        # Every other round of hosts puts its island on a foreign subject.
        island = home[0] if rank % 2 == 0 else (home[0] + 5 * _PER_SUBJECT) % len(TOPICS)
        plan.append((0.23, island, True))
        return plan

    def _gather(self) -> list[tuple[list[int], list[int]]]:
        """Return the first pages and cumulative lengths of the mainland sections by topic."""
        pools: list[tuple[list[int], list[int]]] = [([], []) for _ in TOPICS]
        for section in self.sections:
            skip = int(section.directory)
            if section.topic != NOWHERE and not section.island and section.length > skip:
                starts, sums = pools[section.topic]
                starts.append(section.start + skip)
                sums.append((sums[-1] if sums else 0) + section.length - skip)
        return pools

    def _name_hosts(self) -> list[str]:
        names: dict[str, None] = {}
        for host in range(self.host_count):
            if host < self.portals:
                name = _PORTAL_NAMES[host % len(_PORTAL_NAMES)]
            else:
                nouns = SUBJECTS[self.subject[host]].words.nouns
                words = tuple(word for word in nouns if re.fullmatch("[a-z]{3,9}", word))
                parts = (self.seed, "name", host)
                name = f"{pick(words, *parts, 'a')}-{pick(SITE_WORDS, *parts, 'b')}"
            if name in names:
                name = f"{name}-{host}"
            names[name] = None
        return [f"{name}.localhost" for name in names]

    def _build_bridges(self, island: Section) -> None:
        """Link some on-topic mainland pages to the island, over one or two off-topic pages."""
        if self.is_hidden(island.topic):
            return self._build_tunnels(island)
        if not self._pools[island.topic][1]:
            return self._link(self.of_host[0][0].start, island.start)
        for number in range(min(64, 1 + island.length // 40)):
            rng = dice(self.seed, "bridge", island.start, number)
            way = [self.stray(rng, island.topic) for _ in range(1 + int(rng.random() < 0.6))]
            landing = island.start + (int(rng.random() * island.length) if number else 0)
            for _ in range(2):
                self._link(self._of_topic(rng, island.topic), way[0])
            for here, there in zip(way, [*way[1:], landing], strict=True):
                self._link(here, there)
        return None

    def _build_tunnels(self, island: Section) -> None:
        """Link gateway pages to ferry pages and those to the island, which is reachable only by this path."""
        for number in range(max(2, island.length // 2)):
            rng = dice(self.seed, "tunnel", island.start, number)
            gateway, ferry = (self.mainland(rng, topic) for topic in self.way_to(island.topic))
            self._link(gateway, ferry)
            self._link(ferry, island.start + (int(rng.random() * island.length) if number else 0))

    def is_hidden(self, topic: int) -> bool:
        """Return whether all pages on a topic are behind tunnels."""
        return self.tunnels and topic % _PER_SUBJECT == 0

    @staticmethod
    def way_to(topic: int) -> tuple[int, int]:
        """Return the gateway and ferry topics of a hidden topic; neither is hidden."""
        return (topic + 7 * _PER_SUBJECT + 2) % len(TOPICS), (topic + 4 * _PER_SUBJECT + 1) % len(TOPICS)

    def _link(self, source: int, target: int) -> None:
        targets = self.bridges.setdefault(source, [])
        if target not in targets and target != source:
            targets.append(target)

    def section(self, page: int) -> Section:
        return self.sections[bisect_right(self._starts, page) - 1]

    def topic(self, page: int) -> int:
        """Return a page's topic; NOWHERE for front pages and directories."""
        section = self.section(page)
        return NOWHERE if section.directory and page == section.start else section.topic

    def front(self, host: int) -> int:
        return self.of_host[host][0].start

    def size(self, host: int) -> int:
        last = self.of_host[host][-1]
        return last.start + last.length - self.front(host)

    def is_hub(self, page: int) -> bool:
        section = self.section(page)
        first = page == section.start and not section.directory and section.topic != NOWHERE
        return first or roll(self.seed, "hub", page) < 0.04

    def on_topic(self, topic: int) -> Iterator[int]:
        for section in self.sections:
            if section.topic == topic:
                yield from range(section.start + int(section.directory), section.start + section.length)

    def mainland(self, rng: Random, topic: int) -> int:
        """Draw a mainland page on a topic, or a front page if there is none."""
        return self._of_topic(rng, topic) if self._pools[topic][1] else self.front(0)

    def navigation(self, host: int) -> list[int]:
        """Return the links of a host's navigation bar, the same on all its pages."""
        if host < self.portals:
            # A portal has too many sections for a bar; it shows other sites instead.
            others = [stir(self.seed, "bar", host, i) % self.host_count for i in range(_NAV_SECTIONS)]
            return list(dict.fromkeys(self.front(h) for h in [host, *others]))
        sections = [section.start for section in self.of_host[host][1:] if not section.island]
        return [self.front(host), *sections[:_NAV_SECTIONS]]

    def links(self, page: int) -> list[int]:
        """Return the links in the body of a page, without navigation."""
        section = self.section(page)
        rng = dice(self.seed, "links", page)
        if section.topic == NOWHERE:
            targets = self._front_links(section.host, rng)
        else:
            targets = self._tree_links(section, page) + self._topical_links(section, page, rng)
        targets += self.bridges.get(page, [])
        return [target for target in dict.fromkeys(targets) if target != page]

    def _of_topic(self, rng: Random, topic: int) -> int:
        starts, sums = self._pools[topic]
        at = int(rng.random() * sums[-1])
        which = bisect_right(sums, at)
        return starts[which] + at - (sums[which - 1] if which else 0)

    def _anything(self, rng: Random) -> int:
        return self._of_topic(rng, self._filled[int(rng.random() * len(self._filled))])

    def stray(self, rng: Random, topic: int) -> int:
        others = [t for t in self._filled if subject_of(t) != subject_of(topic)] or self._filled
        return self._of_topic(rng, others[int(rng.random() * len(others))])

    def _front_links(self, host: int, rng: Random) -> list[int]:
        # The tree of hosts is rooted in the first portal, and every front page links back to it.
        first = host * _HOST_BRANCHING + 1
        targets = [self.front(h) for h in range(first, min(first + _HOST_BRANCHING, self.host_count))]
        targets += [self.front(int(rng.random() * self.host_count)) for _ in range(4)]
        targets.append(self.front(0))
        sections = [section for section in self.of_host[host][1:] if not section.island]
        if host < self.portals:
            targets += [self._anything(rng) for _ in range(20)]
        else:
            targets += [section.start + int(rng.random() * section.length) for section in sections * 2]
        return targets + [section.start for section in sections]

    def _tree_links(self, section: Section, page: int) -> list[int]:
        at = page - section.start
        first = at * _BRANCHING + 1
        return [section.start + i for i in range(first, min(first + _BRANCHING, section.length))]

    def _topical_links(self, section: Section, page: int, rng: Random) -> list[int]:
        draw = rng.random
        topic = section.topic
        listing = section.directory and page == section.start
        hub = not listing and self.is_hub(page)
        count = 28 + int(draw() * 16) if hub or listing else 8 + int(draw() ** 1.6 * 28)
        same, sibling = (0.78, 0.1) if hub else (0.5, 0.12) if listing else (0.58, 0.15)
        near = siblings(topic)
        targets = []
        for _ in range(count):
            kind = draw()
            if kind < same:
                if draw() < (0.7 if section.island else 0.3):
                    # Squaring makes the first pages of a section the popular ones.
                    targets.append(section.start + int(draw() ** 2 * section.length))
                else:
                    targets.append(self.mainland(rng, topic))
            elif kind < same + sibling:
                targets.append(self.mainland(rng, near[int(draw() * len(near))]))
            elif draw() < 0.1:
                targets.append(self.front(int(draw() * self.host_count)))
            else:
                targets.append(self._anything(rng))
        return targets
