"""Trap filter: decides after every visit which URLs are held back, that is, fetched last.

It learns by *section*: all similar URLs of one host. Copies, soft 404s and failures count against their section,
relevant pages for it. The filter holds back

- repeated paths, once a page has shown that most of its links lead further into the same section; endless lists
  (sorted, filtered, paged) if nearly all links do;
- calendars and other lists, if moreover a page of the section was worthless: archives by date lead to articles;
- any section that yields mostly copies, soft 404s and failures;
- mirrors, and hosts without relevant pages for long: their allowance grows with the relevant pages and the size of the
  crawl, so it is never used up for good. The same holds for all hosts of one registered domain;
- hosts with keyword-stuffed pages, by the quality of their texts, and pages linked only from those;
- URLs that repeat a path segment three times, or are extremely long.

A host without relevant pages is held only if the judge has found enough relevant pages elsewhere, at a much higher
rate, and never if it is the host of a start page. A section held on several hosts is recognised on further hosts by its
name. Sections that look endless and keep yielding nothing after they were held back are shut. Seeds and trusted
URLs are never held. Revisited pages don't count again, but their new links do.

The methods are known (soft-404 probes, Bar-Yossef et al. 2004; near-duplicates by simhash, Manku et al. 2007; host
allowances, Lee et al. 2008, there by in-links, here by relevant pages); their combination is ours.
"""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lycosa.core import protocols
from lycosa.core.columns import fit
from lycosa.core.frontier import FREE, HELD, SHUT
from lycosa.core.state import State, TextLines, restore_attributes
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Held, Rows, Step, Visit
from lycosa.text.readability import may_be_stuffed, quality
from lycosa.traps.copies import DuplicateIndex, Soft404Detector
from lycosa.traps.url_patterns import LISTS, LOOP, MAZE_SHARE, MIN_LINKS, WALLED_SHARE, Address, Suspicion, is_maze
from lycosa.web.urls import site

MIN_WASTE = 3  # worthless pages after which a section is held, if they are the majority
MIN_HOSTS = 2  # hosts on which a section has to be held before its name is enough on other hosts
MAX_WASTE = 30  # pages that an endless-looking section may waste before it is shut
# pages that a host may have without a relevant one; as many again per relevant page and per thousand pages crawled
ALLOWANCE = 25
MIN_RELEVANT_ELSEWHERE = 10  # relevant pages needed elsewhere before a host without any counts as fruitless
STUFFED_BELOW = 0.5  # text quality below which a page counts as stuffed with keywords
STUFFED_PAGES = 2  # stuffed pages after which a host is held, if they are the majority
_MARKS = re.compile(r"[*#?]")

FRUITLESS_SITE = "fruitless site"
POOR_SECTION, MIRROR, FRUITLESS = "copies, soft 404s, failures", "mirror", "fruitless host"
_LEAVING = ("section", "own", "trusted", "suspect", "has_pattern")  # columns of a spilled row
_COLUMNS = ("_section", "_own", "_trusted", "_suspect", "_has_pattern", "_known", "pages", "relevant")
_OF_SECTION = ("pages", "relevant", "waste", "soft_404s", "mazes", "walled_pages", "level")
_OF_HOST = ("pages", "relevant", "copies", "stuffed", "started", "level")
_OF_SITE = ("pages", "relevant", "copies", "level")  # fields stored in a state
STUFFED, SUSPECT = "stuffed pages", "linked by stuffed pages only"


@dataclass(slots=True)
class SectionRecord:
    """Similar URLs of one host, with counts of the fetched pages by result."""

    host: str
    kind: str
    stem: str
    rows: array[int] = field(default_factory=lambda: array("i"))
    pages: int = 0
    relevant: int = 0
    waste: int = 0
    soft_404s: int = 0  # soft 404s
    mazes: int = 0
    walled_pages: int = 0  # pages with nearly all links leading into this section
    level: int = FREE
    reason: str = ""

    @property
    def name(self) -> str:
        """Name of the section across hosts; empty if too unspecific."""
        first = self.stem.split("/")[1] if "/" in self.stem else ""
        return f"{self.kind} {first}" if self.kind and first else ""


@dataclass(slots=True)
class SiteRecord:
    """Counts of all hosts of a registered domain together, because some sites generate hosts endlessly."""

    hosts: list[str] = field(default_factory=list)
    pages: int = 0
    relevant: int = 0
    copies: int = 0  # copies of another host's pages
    level: int = FREE


@dataclass(slots=True)
class HostRecord:
    site: SiteRecord
    sections: list[int] = field(default_factory=list)
    pages: int = 0
    relevant: int = 0
    copies: int = 0
    stuffed: int = 0  # stuffed pages; an extreme first page counts twice
    started: bool = False  # true if a start page is on this host
    level: int = FREE
    reason: str = ""


class SectionTrapFilter(protocols.TrapFilter):
    """Trap filter that learns by section which rows are free, held (fetched last) or shut (never fetched)."""

    def __init__(self, threshold: float, trust: Iterable[str] = ()) -> None:
        self.threshold = threshold
        self.trust = [(name.partition("//")[2] or name).partition("/")[::2] for name in trust]
        self.copies = DuplicateIndex()
        self.soft404 = Soft404Detector()
        self.sections: list[SectionRecord] = []
        self.hosts: dict[str, HostRecord] = {}
        self.sites: dict[str, SiteRecord] = {}
        self.pages = 0
        self.relevant = 0
        self._number: dict[tuple[str, Suspicion], int] = {}
        self._section = np.zeros(1024, np.int32)
        self._own = np.zeros(1024, np.uint8)
        self._trusted = np.zeros(1024, np.bool_)
        self._suspect = np.zeros(1024, np.bool_)  # rows linked from stuffed pages only
        self._has_pattern = np.zeros(1024, np.bool_)
        self._known = 0
        self._joined: set[int] = set()  # reloaded rows beyond `_known`, which are not new
        # per page with links to other hosts: number of pages fetched there, and of stuffed ones
        self._led: dict[int, list[int]] = {}
        self._fruitless: set[str] = set()
        self._mazes: defaultdict[str, set[str]] = defaultdict(set)
        self._named: defaultdict[str, list[int]] = defaultdict(list)

    def recognise(self, visit: Visit, reading: Any) -> None:
        """Mark a visit as a copy, a soft 404 or part of a maze, and note poor text quality."""
        if reading is not None:
            self.soft404.recognise(visit, reading)
            suspect = visit.is_version and "quality" not in visit.data and may_be_stuffed(reading.terms.counts)
            if suspect and (text_quality := quality(reading.ids)) < STUFFED_BELOW:
                visit.data = {**visit.data, "quality": round(text_quality, 3)}
        if visit.is_version:
            if "soft-404" in visit.flags:
                visit.relevance = 0.0
                visit.links.link_relevances = np.zeros(len(visit.links), np.float32)
                return
            visit.same_as = self.copies.original(visit)
            if is_maze(visit):
                visit.flags.append("maze")
                visit.relevance = 0.0

    def learn(self, visit: Visit, step: Step | None, table: Table) -> tuple[Rows, NDArray[np.uint8]]:
        new = self._admit(table)
        changed: set[int] = set()
        suspects: list[Rows] = []
        self.copies.learn(visit)
        self.soft404.learn(visit)
        was_sent = visit.outcome not in ("denied", "refused")  # a request was sent
        if step is not None and visit.kind == "page" and was_sent and not visit.retry_at:
            number = int(self._section[step.row])
            self.hosts[self.sections[number].host].started |= bool(table.is_seed[step.row])
            self._judge_page(visit, number, changed)
            self._judge_links(step, changed)
            suspects = [self._suspect_new_links(step, new, visit), self._suspect_link_farm(step.row, visit, table)]
        touched = self._update_levels(changed)
        of_sections = (np.frombuffer(self.sections[number].rows, np.int32) for number in sorted(touched))
        rows = np.concatenate([new, *suspects, *of_sections])
        return rows, self.levels(rows)

    def meet(self, table: Table) -> tuple[Rows, NDArray[np.uint8]]:
        new = self._admit(table)
        return new, self.levels(new)

    def levels(self, rows: Rows) -> NDArray[np.uint8]:
        numbers = self._section[rows]
        by_section = np.fromiter((self._level(number) for number in numbers.tolist()), np.uint8, len(rows))
        held = np.maximum(np.maximum(by_section, self._own[rows]), np.where(self._suspect[rows], HELD, FREE))
        return np.where(self._trusted[rows], np.uint8(FREE), held.astype(np.uint8))

    def held_back(self, table: Table) -> list[Held]:
        groups: dict[tuple[str, str], Held] = {}
        rows = table.rows()
        rows = rows[(rows < self._known) & ~table.is_seed[rows]]
        rows = rows[self.levels(rows) > FREE]
        for row in rows.tolist():
            part = self.sections[self._section[row]]
            host = self.hosts[part.host]
            if part.level:
                reason, where, fetched = part.reason, part.host + _MARKS.split(part.stem, 1)[0], part.pages
            elif host.level:
                reason, where, fetched = host.reason, part.host, host.pages
            elif host.site.level and not host.relevant and not host.started:
                name = site(part.host.partition(":")[0])
                reason, where, fetched = FRUITLESS_SITE, name, host.site.pages
            else:
                reason, where, fetched = Address(table.nodes[row]).monstrous() or SUSPECT, part.host, part.pages
            held = groups.setdefault((reason, where), Held(reason, where, 0, fetched, table.nodes[row]))
            held.addresses += 1
        return sorted(groups.values(), key=lambda held: (-held.addresses, held.where))

    def state(self) -> State:
        return {
            "copies": self.copies.state(),
            "soft404": self.soft404.state(),
            "columns": {name: getattr(self, name) for name in _COLUMNS},
            "names": TextLines(self.sections, lambda part: f"{part.host}\t{part.kind}\t{part.stem}"),
            "sections": _table(self.sections, _OF_SECTION),
            "hosts": _table(self.hosts.values(), _OF_HOST),
            "sites": _table(self.sites.values(), _OF_SITE),
            "parents": np.fromiter(self._led, np.int32, len(self._led)),
            "led": np.array(list(self._led.values()), np.int32).reshape(-1, 2),
            "joined": sorted(self._joined),
            "fruitless": sorted(self._fruitless),
            "mazes": {name: sorted(hosts) for name, hosts in self._mazes.items()},
        }

    def restore(self, state: State) -> None:
        if "copies" in state:  # left out if the crawl was opened for reading
            self.copies.restore(state["copies"])
        self.soft404.restore(state["soft404"])
        restore_attributes(self, state["columns"])
        for name in state["names"]:
            host, kind, stem = name.split("\t")
            self._add_section(host, Suspicion(kind, stem))
        joined = np.array(state["joined"], np.intp)
        rows = np.concatenate([np.flatnonzero(self._section[: self._known] >= 0), joined])
        order = rows[np.argsort(self._section[rows], kind="stable")].astype(np.int32)
        ends = np.cumsum(np.bincount(self._section[rows], minlength=len(self.sections))).tolist()
        for part, begin, end in zip(self.sections, [0, *ends], ends, strict=False):
            part.rows = array("i", order[begin:end].tobytes())
        _fill(self.sections, _OF_SECTION, state["sections"])
        _fill(self.hosts.values(), _OF_HOST, state["hosts"])
        _fill(self.sites.values(), _OF_SITE, state["sites"])
        self._led = dict(zip(state["parents"].tolist(), state["led"].tolist(), strict=True))
        self._joined, self._fruitless = set(state["joined"]), set(state["fruitless"])
        for name, hosts in state["mazes"].items():
            self._mazes[name] = set(hosts)

    def _admit(self, table: Table) -> Rows:
        first, last = self._known, len(table)
        self._fit(last)
        new = np.arange(first, last, dtype=np.int32)
        if table.renewed or self._joined:
            rows = [*table.renewed, *(row for row in range(first, last) if row not in self._joined)]
            new, table.renewed, self._joined = np.array(rows, np.int32), [], set()
        for row in new.tolist():
            self._place(row, table)
        self._known = last
        return new

    def _fit(self, rows: int) -> None:
        if rows > len(self._section):
            for name in _LEAVING:
                setattr(self, f"_{name}", fit(getattr(self, f"_{name}"), rows))

    def _place(self, row: int, table: Table) -> None:
        address = Address(table.nodes[row])
        number = self._section_of(address)
        self.sections[number].rows.append(row)
        self._section[row] = number
        self._has_pattern[row] = bool(self.sections[number].kind)
        self._own[row] = HELD if address.monstrous() else FREE
        self._trusted[row] = bool(self.trust) and self._trusts(address)
        if table.is_seed[row]:
            self.hosts[address.host].started = True

    def tags(self, rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        trusted = self._trusted[rows]
        own = np.maximum(self._own[rows], np.where(self._suspect[rows], HELD, FREE)).astype(np.uint8)
        sections = np.where(trusted, -1, self._section[rows]).astype(np.int32)
        return sections, np.where(trusted, FREE, own).astype(np.uint8)

    def tag_levels(self) -> NDArray[np.uint8]:
        return np.fromiter(map(self._level, range(len(self.sections))), np.uint8, len(self.sections))

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        known: dict[str, NDArray[Any]] = {name: getattr(self, f"_{name}")[rows] for name in _LEAVING}
        self._suspect[rows] = False
        away = np.zeros(len(self._section), np.bool_)
        away[rows] = True
        for number in np.unique(self._section[rows]).tolist():
            of_section = np.frombuffer(self.sections[number].rows, np.int32)
            self.sections[number].rows = array("i", of_section[~away[of_section]].tobytes())
        self._section[rows] = -1
        return known

    def join(self, rows: Rows, known: Mapping[str, NDArray[Any]], table: Table) -> None:
        self._fit(len(table))
        for name in _LEAVING:
            getattr(self, f"_{name}")[rows] = known[name]
        for row, number in zip(rows.tolist(), known["section"].tolist(), strict=True):
            self.sections[number].rows.append(row)
            if row >= self._known:
                self._joined.add(row)

    def _section_of(self, address: Address) -> int:
        """Return the number of a URL's section: that of its endless pattern, or else that of its folder."""
        pattern = address.suspicion() or Suspicion("", address.section())
        number = self._number.get((address.host, pattern))
        if number is None:
            number = len(self.sections)
            part = self._add_section(address.host, pattern)
            if part.name:
                self._update_section(part)
        return number

    def _add_section(self, name: str, pattern: Suspicion) -> SectionRecord:
        number = self._number[name, pattern] = len(self.sections)
        part = SectionRecord(name, *pattern)
        self.sections.append(part)
        host = self.hosts.get(name)
        if host is None:
            domain = self.sites.setdefault(site(name.partition(":")[0]), SiteRecord())
            domain.hosts.append(name)
            host = self.hosts[name] = HostRecord(domain)
        host.sections.append(number)
        if part.name:
            self._named[part.name].append(number)
        return part

    def _judge_page(self, visit: Visit, number: int, changed: set[int]) -> None:
        """Count a page for or against its section and host."""
        part = self.sections[number]
        host = self.hosts[part.host]
        found = visit.was_relevant(self.threshold)
        stuffed = is_stuffed(visit)
        wasted = visit.outcome != "ok" or bool(visit.same_as) or visit.is_hollow or stuffed
        self.pages += 1
        self.relevant += found
        # a single page is enough if it is the first of its host and its quality is extremely low
        host.stuffed += 0 if not stuffed else 1 if _quality(visit) >= 0.2 or host.pages else STUFFED_PAGES
        for each in (part, host, host.site):
            each.pages += 1
            each.relevant += found
        part.waste += wasted
        part.soft_404s += "soft-404" in visit.flags
        if visit.same_as and Address(visit.same_as).host != part.host:
            host.copies += 1
            host.site.copies += 1
        changed.add(number)

    def _judge_links(self, step: Step, changed: set[int]) -> None:
        """Count a page as part of a maze if most of its links lead into one suspicious section of its host."""
        if len(step.children) < MIN_LINKS or not self._has_pattern[step.children].any():
            return
        host = self.sections[self._section[step.row]].host
        numbers, counts = np.unique(self._section[step.children], return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            if count < MAZE_SHARE * len(step.children):
                continue
            part = self.sections[number]
            if part.kind and part.host == host:
                part.mazes += 1
                part.walled_pages += bool(count >= WALLED_SHARE * len(step.children))
                changed.add(number)

    def _suspect_new_links(self, step: Step, new: Rows, visit: Visit) -> Rows:
        """Mark new links of a stuffed page as suspect until another page links to them; return the rows cleared.

        Pages may be misjudged, so links stay free if most pages of the host are not stuffed, or if it has a start page.
        """
        host = self._host(step.row)
        if is_stuffed(visit) and 2 * host.stuffed > host.pages and not host.started:
            self._suspect[step.children[np.isin(step.children, new)]] = True
            return new[:0]
        freed = step.children[self._suspect[step.children]]
        self._suspect[freed] = False
        return freed

    def _suspect_link_farm(self, row: int, visit: Visit, table: Table) -> Rows:
        """Mark the links of a page as suspect if it leads mostly to stuffed pages, as in link farms.

        Return the suspect rows: those linked only from this page, and those linked only from the first.
        """
        parent = int(table.parent[row])
        nowhere = np.zeros(0, np.int32)
        if parent < 0 or self._host(parent) is self._host(row):
            return nowhere
        led = self._led.setdefault(parent, [0, 0])
        led[0] += 1
        led[1] += is_stuffed(visit)
        # at least three stuffed pages on other hosts, and more than half of those fetched
        if not is_stuffed(visit) or led[1] < 3 or 2 * led[1] <= led[0] or self._host(parent).started:
            return nowhere
        children = table.edges.children(parent)
        alone = children[table.in_degree[children] == 1]
        if 2 * sum(self._host(child) is not self._host(parent) for child in children.tolist()) < len(children):
            return nowhere
        farther = [table.edges.children(child) for child in alone[table.state[alone] != OPEN].tolist()]
        suspects = np.concatenate([alone, *(rows[table.in_degree[rows] == 1] for rows in farther)]).astype(np.int32)
        self._suspect[suspects] = True
        return suspects

    def _host(self, row: int) -> HostRecord:
        return self.hosts[self.sections[self._section[row]].host]

    def _update_levels(self, changed: set[int]) -> set[int]:
        """Update the levels of changed sections and their hosts; return the sections with another level."""
        touched: set[int] = set()
        for number in sorted(changed):
            part = self.sections[number]
            before = part.level
            self._update_section(part)
            if part.level != before:
                touched.add(number)
                if part.level and part.name:
                    touched |= self._hold_by_name(part)
        names = {self.sections[number].host for number in changed}
        if names and self.pages % 100 == 0:  # time to check hosts without relevant pages again
            names |= self._fruitless
        for name in sorted(names):
            host = self.hosts[name]
            before = host.level
            self._hold_host(host)
            domain, was = host.site, host.site.level
            guilty = _repeats(domain) or self._is_fruitless(domain)
            domain.level = HELD if guilty and len(domain.hosts) > MIN_HOSTS else FREE
            if host.reason == FRUITLESS or domain.level:
                self._fruitless.add(name)
            else:
                self._fruitless.discard(name)
            if domain.level != was:
                touched.update(number for other in domain.hosts for number in self.hosts[other].sections)
            elif host.level != before or (domain.level and host.relevant == 1):  # the first relevant page frees it
                touched.update(host.sections)
        return touched

    def _update_section(self, part: SectionRecord) -> None:
        guilty = part.waste >= MIN_WASTE and part.waste > 2 * (part.pages - part.waste)
        guilty = guilty or part.soft_404s > 1 or (part.mazes > 0 and part.waste > 0)
        guilty = guilty or (bool(part.kind) and part.waste > 1 and 2 * part.waste > part.pages)
        guilty = guilty or (part.kind == LOOP and part.mazes > 0) or (part.kind == LISTS and part.walled_pages > 0)
        fruitful = part.relevant > max(2, part.waste)
        known = len(self._mazes.get(part.name, ())) >= MIN_HOSTS
        if fruitful or not (guilty or known):
            part.level, part.reason = FREE, ""
        else:
            spent = bool(part.kind) and part.waste >= MAX_WASTE
            part.level, part.reason = SHUT if spent else HELD, part.kind or POOR_SECTION

    def _hold_by_name(self, part: SectionRecord) -> set[int]:
        hosts = self._mazes[part.name]
        hosts.add(part.host)
        if len(hosts) != MIN_HOSTS:
            return set()
        for number in self._named[part.name]:
            self._update_section(self.sections[number])
        return set(self._named[part.name])

    def _hold_host(self, host: HostRecord) -> None:
        if _repeats(host):
            host.level, host.reason = HELD, MIRROR
        elif host.stuffed >= STUFFED_PAGES and 2 * host.stuffed > host.pages:
            host.level, host.reason = HELD, STUFFED
        elif not host.started and self._is_fruitless(host):
            host.level, host.reason = HELD, FRUITLESS
        else:
            host.level, host.reason = FREE, ""

    def _is_fruitless(self, one: HostRecord | SiteRecord) -> bool:
        relevant, pages = self.relevant - one.relevant, self.pages - one.pages
        allowance = ALLOWANCE * (1 + one.relevant + self.pages / 1000)
        if relevant < MIN_RELEVANT_ELSEWHERE or one.pages - one.relevant <= allowance:
            return False
        # with one more it would still be below a quarter of the others' rate
        return one.relevant + 1 <= 0.25 * one.pages * relevant / pages

    def _level(self, number: int) -> int:
        part = self.sections[number]
        host = self.hosts[part.host]
        return max(part.level, host.level, FREE if host.relevant or host.started else host.site.level)

    def _trusts(self, address: Address) -> bool:
        here = f"{address.path}?{address.query}"[1:]
        bare = address.host.rpartition(":")[0] or address.host
        return any(
            here.startswith(path) and any(name == host or name.endswith("." + host) for name in (address.host, bare))
            for host, path in self.trust
        )


def _table(some: Collection[Any], names: Sequence[str]) -> State:
    counted: State = {name: np.fromiter(map(attrgetter(name), some), np.int32, len(some)) for name in names}
    reasons = {at: one.reason for at, one in enumerate(some) if getattr(one, "reason", "")}
    return counted | {"reasons": reasons}


def _fill(some: Collection[Any], names: Sequence[str], state: State) -> None:
    each = list(some)
    for name in names:
        column = state[name]
        for at in column.nonzero()[0].tolist():  # most sections and hosts have no fetched pages
            setattr(each[at], name, type(getattr(each[at], name))(column[at]))
    for at, reason in state["reasons"].items():
        each[at].reason = reason


def is_stuffed(visit: Visit) -> bool:
    """Return whether a page is stuffed with keywords; false for pages without a measured quality."""
    return visit.is_page and _quality(visit) < STUFFED_BELOW


def _quality(visit: Visit) -> float:
    return float(visit.data.get("quality", 1.0))


def _repeats(one: HostRecord | SiteRecord) -> bool:
    return one.copies >= MIN_WASTE and 2 * one.copies > one.pages
