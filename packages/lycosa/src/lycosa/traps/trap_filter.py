"""The warden sees every visit and says which addresses to hold back: fetched last, not never.

What it learns, it learns by *section*: all addresses of a host that look alike. A page counts against its section when
it repeats another page, is a soft 404, or fails; for it when it is a find of its own. Held back are

- repeated paths, as soon as one page has shown that most of its links lead on into the same maze; endless lists
  (sorted, filtered, paged), if nearly all do;
- calendars, and lists otherwise, when a page of the maze was worthless, too: archives by date lead to articles;
- any section that gives little but copies, soft 404s and failures;
- hosts whose pages have been copies (mirrors), or that have yielded nothing for long: their allowance grows with what
  they give and with the crawl, so that it is never used up for good; the same for hosts of one registered domain;
- hosts whose pages are stuffed with words, by the quality of their texts, and what only such pages link to;
- addresses that repeat a segment three times, or are monstrous.

A host that yields nothing is held only if the judge has shown that it can tell: it has found pages elsewhere, and found
them far more often. A judge that finds nothing anywhere says nothing about hosts. The host of a start page is never
held for what it did not yield.

A maze found on several hosts is recognised on the next one by its name. Sections that look endless and go on giving
nothing after they were held back are shut. Seeds are never held, nor is what the user trusts.

A page that is visited again counts neither for its section nor against it: it has been judged. Its new links are
addresses like any.

It is a fold over the log, like the rest of the crawl. The ingredients are known (soft-404 probes, Bar-Yossef et al.
2004; near-duplicates by simhash, Manku et al. 2007; allowances of hosts, Lee et al. 2008, there by in-links, here by
yield), the mixture is ours.
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
from lycosa.core.state import State, Texts, put_back
from lycosa.core.table import OPEN, Table
from lycosa.core.types import Held, Rows, Step, Visit
from lycosa.text.readability import quality, repeats
from lycosa.traps.copies import DuplicateIndex, Soft404Detector
from lycosa.traps.url_patterns import FEWEST_LINKS, LISTS, LOOP, MAZE, WALLED, Address, Suspicion, is_maze
from lycosa.web.urls import site

POOR = 3  # worthless pages that hold a section if it gives more of them than of others
HOSTS = 2  # a maze on so many hosts is known by its name on the others
PATIENCE = 30  # pages that a section which looks endless may waste before it is shut
# pages without a relevant one per host, as many more for each relevant one and for each thousand pages crawled
ALLOWANCE = 25
PROOF = 10  # relevant pages needed elsewhere before a host without any counts as fruitless
STUFFED_BELOW = 0.5  # quality of the text below which a page is stuffed with words
STUFFED_PAGES = 2  # stuffed pages that hold a host, if most of its pages are stuffed
_MARKS = re.compile(r"[*#?]")

FRUITLESS_SITE = "fruitless site"
POOR_SECTION, MIRROR, FRUITLESS = "copies, soft 404s, failures", "mirror", "fruitless host"
_LEAVING = ("section", "own", "trusted", "suspect", "smells")  # columns of a row that is put aside
_COLUMNS = ("_section", "_own", "_trusted", "_suspect", "_smells", "_known", "pages", "relevant")
_OF_SECTION = ("pages", "relevant", "waste", "lies", "mazes", "walls", "level")
_OF_HOST = ("pages", "relevant", "copies", "stuffed", "started", "level")
_OF_SITE = ("pages", "relevant", "copies", "level")  # in a state
STUFFED, SUSPECT = "stuffed pages", "linked by stuffed pages only"


@dataclass(slots=True)
class SectionRecord:
    """Addresses of one host that look alike, and what came of those that were fetched."""

    host: str
    kind: str
    stem: str
    rows: array[int] = field(default_factory=lambda: array("i"))
    pages: int = 0
    relevant: int = 0
    waste: int = 0
    lies: int = 0  # soft 404s
    mazes: int = 0
    walls: int = 0  # pages nearly all of whose links led here
    level: int = FREE
    reason: str = ""

    @property
    def name(self) -> str:
        """What it would be called on another host; empty where that says nothing."""
        first = self.stem.split("/")[1] if "/" in self.stem else ""
        return f"{self.kind} {first}" if self.kind and first else ""


@dataclass(slots=True)
class SiteRecord:
    """What all hosts of a registered domain have given: some sites make up new hosts without end."""

    hosts: list[str] = field(default_factory=list)
    pages: int = 0
    relevant: int = 0
    copies: int = 0  # pages that repeat one of another host
    level: int = FREE


@dataclass(slots=True)
class HostRecord:
    site: SiteRecord
    sections: list[int] = field(default_factory=list)
    pages: int = 0
    relevant: int = 0
    copies: int = 0
    stuffed: int = 0  # stuffed pages; the first counts as two if there is no doubt
    started: bool = False  # has a start page
    level: int = FREE
    reason: str = ""


class SectionTrapFilter(protocols.TrapFilter):
    """Says of each row whether it's free, held (fetched when nothing else is left) or shut (not fetched)."""

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
        self._suspect = np.zeros(1024, np.bool_)  # rows that only stuffed pages link to
        self._smells = np.zeros(1024, np.bool_)
        self._known = 0
        self._joined: set[int] = set()  # rows beyond the known ones that were put aside and are back: not new
        # of each page that first led to other hosts: pages fetched there, stuffed ones
        self._led: dict[int, list[int]] = {}
        self._fruitless: set[str] = set()
        self._mazes: defaultdict[str, set[str]] = defaultdict(set)
        self._named: defaultdict[str, list[int]] = defaultdict(list)

    # -- before a visit is recorded ----------------------------------------------------------------------------

    def recognise(self, visit: Visit, reading: Any) -> None:
        """Mark the visit as a copy, a soft 404 or part of a maze, if it is one; also a page that has become one.

        The quality of its text is noted where it is poor, unless the judge has said something of it.
        """
        if reading is not None:
            self.soft404.recognise(visit, reading)
            suspect = visit.is_version and "quality" not in visit.data and repeats(reading.terms.counts)
            if suspect and (said := quality(reading.ids)) < STUFFED_BELOW:
                visit.data = {**visit.data, "quality": round(said, 3)}
        if visit.is_version:
            if "soft-404" in visit.flags:
                visit.relevance = 0.0
                visit.links.link_relevances = np.zeros(len(visit.links), np.float32)
                return
            visit.same_as = self.copies.original(visit)
            if is_maze(visit):
                visit.flags.append("maze")
                visit.relevance = 0.0

    # -- after: learn ------------------------------------------------------------------------------------------

    def learn(self, visit: Visit, step: Step | None, table: Table) -> tuple[Rows, NDArray[np.uint8]]:
        """See a visit; returns the rows whose level may have changed, and their levels."""
        new = self._admit(table)
        changed: set[int] = set()
        heard: Rows = new[:0]
        self.copies.learn(visit)
        self.soft404.learn(visit)
        asked = visit.outcome not in ("denied", "refused")  # else nothing was sent, and nothing wasted
        if step is not None and visit.kind == "page" and asked and not visit.retry_at:
            number = int(self._section[step.row])
            self.hosts[self.sections[number].host].started |= bool(table.is_seed[step.row])
            self._judge_page(visit, number, changed)
            self._judge_links(step, changed)
            heard = np.concatenate([self._suspects(step, new, visit), self._blame(step.row, visit, table)])
        touched = self._sentence(changed)
        rows = np.concatenate([new, heard, *(np.frombuffer(self.sections[i].rows, np.int32) for i in sorted(touched))])
        return rows, self.levels(rows)

    def meet(self, table: Table) -> tuple[Rows, NDArray[np.uint8]]:
        """See rows that are new although nothing was visited here."""
        new = self._admit(table)
        return new, self.levels(new)

    def levels(self, rows: Rows) -> NDArray[np.uint8]:
        numbers = self._section[rows]
        by_section = np.fromiter((self._level(number) for number in numbers.tolist()), np.uint8, len(rows))
        held = np.maximum(np.maximum(by_section, self._own[rows]), np.where(self._suspect[rows], HELD, FREE))
        return np.where(self._trusted[rows], np.uint8(FREE), held.astype(np.uint8))

    def held_back(self, table: Table) -> list[Held]:
        """What waits or is shut, the largest groups first."""
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

    # -- as a state --------------------------------------------------------------------------------------------

    def state(self) -> State:
        return {
            "copies": self.copies.state(),
            "soft404": self.soft404.state(),
            "columns": {name: getattr(self, name) for name in _COLUMNS},
            "names": Texts(self.sections, lambda part: f"{part.host}\t{part.kind}\t{part.stem}"),
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
        if "copies" in state:  # whoever only looks does without
            self.copies.restore(state["copies"])
        self.soft404.restore(state["soft404"])
        put_back(self, state["columns"])
        for name in state["names"]:
            host, kind, stem = name.split("\t")
            self._found(host, Suspicion(kind, stem))
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

    # -- how ---------------------------------------------------------------------------------------------------

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
        self._smells[row] = bool(self.sections[number].kind)
        self._own[row] = HELD if address.monstrous() else FREE
        self._trusted[row] = bool(self.trust) and self._trusts(address)
        if table.is_seed[row]:
            self.hosts[address.host].started = True

    def tags(self, rows: Rows) -> tuple[NDArray[np.int32], NDArray[np.uint8]]:
        """The sections of rows, and whether they are held for what they are themselves."""
        trusted = self._trusted[rows]
        own = np.maximum(self._own[rows], np.where(self._suspect[rows], HELD, FREE)).astype(np.uint8)
        return np.where(trusted, -1, self._section[rows]).astype(np.int32), np.where(trusted, FREE, own).astype(
            np.uint8
        )

    def tag_levels(self) -> NDArray[np.uint8]:
        """The level of each section, its host's and its site's among them."""
        return np.fromiter(map(self._level, range(len(self.sections))), np.uint8, len(self.sections))

    def leave(self, rows: Rows, table: Table) -> dict[str, NDArray[Any]]:
        """Rows are put aside: their sections do without them."""
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
        """Rows are back, in the sections where they were."""
        self._fit(len(table))
        for name in _LEAVING:
            getattr(self, f"_{name}")[rows] = known[name]
        for row, number in zip(rows.tolist(), known["section"].tolist(), strict=True):
            self.sections[number].rows.append(row)
            if row >= self._known:
                self._joined.add(row)

    def _section_of(self, address: Address) -> int:
        """The number of an address's section: by what it looks suspicious of, or else by its folder."""
        smell = address.suspicion() or Suspicion("", address.section())
        number = self._number.get((address.host, smell))
        if number is None:
            number = len(self.sections)
            part = self._found(address.host, smell)
            if part.name:
                self._hold(part)
        return number

    def _found(self, name: str, smell: Suspicion) -> SectionRecord:
        """A section that is new, of a host that may be, too."""
        number = self._number[name, smell] = len(self.sections)
        part = SectionRecord(name, *smell)
        self.sections.append(part)
        host = self.hosts.get(name)
        if host is None:
            home = self.sites.setdefault(site(name.partition(":")[0]), SiteRecord())
            home.hosts.append(name)
            host = self.hosts[name] = HostRecord(home)
        host.sections.append(number)
        if part.name:
            self._named[part.name].append(number)
        return part

    def _judge_page(self, visit: Visit, number: int, changed: set[int]) -> None:
        """Count a page for or against its section and its host."""
        part = self.sections[number]
        host = self.hosts[part.host]
        found = visit.was_relevant(self.threshold)
        stuffed = is_stuffed(visit)
        wasted = visit.outcome != "ok" or bool(visit.same_as) or visit.is_hollow or stuffed
        self.pages += 1
        self.relevant += found
        # one page is enough, if it is the host's first
        host.stuffed += 0 if not stuffed else 1 if _quality(visit) >= 0.2 or host.pages else STUFFED_PAGES
        for each in (part, host, host.site):
            each.pages += 1
            each.relevant += found
        part.waste += wasted
        part.lies += "soft-404" in visit.flags
        if visit.same_as and Address(visit.same_as).host != part.host:
            host.copies += 1
            host.site.copies += 1
        changed.add(number)

    def _judge_links(self, step: Step, changed: set[int]) -> None:
        """A page most of whose links lead on into one suspicious section of its host is part of a maze."""
        if len(step.children) < FEWEST_LINKS or not self._smells[step.children].any():
            return
        host = self.sections[self._section[step.row]].host
        numbers, counts = np.unique(self._section[step.children], return_counts=True)
        for number, count in zip(numbers.tolist(), counts.tolist(), strict=True):
            if count < MAZE * len(step.children):
                continue
            part = self.sections[number]
            if part.kind and part.host == host:
                part.mazes += 1
                part.walls += bool(count >= WALLED * len(step.children))
                changed.add(number)

    def _suspects(self, step: Step, new: Rows, visit: Visit) -> Rows:
        """What is new on a stuffed page is suspect until another page links to it; returned are the rows set free.

        A page may be misjudged: where most pages of a host are not stuffed, or a start page lies, its links are free.
        """
        host = self._host(step.row)
        if is_stuffed(visit) and 2 * host.stuffed > host.pages and not host.started:
            self._suspect[step.children[np.isin(step.children, new)]] = True
            return new[:0]
        freed = step.children[self._suspect[step.children]]
        self._suspect[freed] = False
        return freed

    def _blame(self, row: int, visit: Visit, table: Table) -> Rows:
        """A page that leads to stuffed pages mostly is one of a farm, however it reads.

        What it alone links to is suspect, and what pages link to that it alone led to. Returned are these rows.
        """
        parent = int(table.parent[row])
        nowhere = np.zeros(0, np.int32)
        if parent < 0 or self._host(parent) is self._host(row):
            return nowhere
        led = self._led.setdefault(parent, [0, 0])
        led[0] += 1
        led[1] += is_stuffed(visit)
        # stuffed pages of other hosts that it leads to
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

    def _sentence(self, changed: set[int]) -> set[int]:
        """Decide anew on sections, and on their hosts; returns the sections whose rows have another level now."""
        touched: set[int] = set()
        for number in sorted(changed):
            part = self.sections[number]
            before = part.level
            self._hold(part)
            if part.level != before:
                touched.add(number)
                if part.level and part.name:
                    touched |= self._warn(part)
        names = {self.sections[number].host for number in changed}
        if names and self.pages % 100 == 0:  # time to look again at hosts held for yielding nothing
            names |= self._fruitless
        for name in sorted(names):
            host = self.hosts[name]
            before = host.level
            self._hold_host(host)
            home, was = host.site, host.site.level
            guilty = _repeats(home) or self._yields_nothing(home)
            home.level = HELD if guilty and len(home.hosts) > HOSTS else FREE
            if host.reason == FRUITLESS or home.level:
                self._fruitless.add(name)
            else:
                self._fruitless.discard(name)
            if home.level != was:
                touched.update(number for other in home.hosts for number in self.hosts[other].sections)
            elif host.level != before or (home.level and host.relevant == 1):  # its first find sets a host free
                touched.update(host.sections)
        return touched

    def _hold(self, part: SectionRecord) -> None:
        guilty = part.waste >= POOR and part.waste > 2 * (part.pages - part.waste)
        guilty = guilty or part.lies > 1 or (part.mazes > 0 and part.waste > 0)
        guilty = guilty or (bool(part.kind) and part.waste > 1 and 2 * part.waste > part.pages)
        guilty = guilty or (part.kind == LOOP and part.mazes > 0) or (part.kind == LISTS and part.walls > 0)
        fruitful = part.relevant > max(2, part.waste)
        known = len(self._mazes.get(part.name, ())) >= HOSTS
        if fruitful or not (guilty or known):
            part.level, part.reason = FREE, ""
        else:
            spent = bool(part.kind) and part.waste >= PATIENCE
            part.level, part.reason = SHUT if spent else HELD, part.kind or POOR_SECTION

    def _warn(self, part: SectionRecord) -> set[int]:
        """Remember a maze by its name; once it is known, sections of that name on all hosts are held."""
        hosts = self._mazes[part.name]
        hosts.add(part.host)
        if len(hosts) != HOSTS:
            return set()
        for number in self._named[part.name]:
            self._hold(self.sections[number])
        return set(self._named[part.name])

    def _hold_host(self, host: HostRecord) -> None:
        if _repeats(host):
            host.level, host.reason = HELD, MIRROR
        elif host.stuffed >= STUFFED_PAGES and 2 * host.stuffed > host.pages:
            host.level, host.reason = HELD, STUFFED
        elif not host.started and self._yields_nothing(host):
            host.level, host.reason = HELD, FRUITLESS
        else:
            host.level, host.reason = FREE, ""

    def _yields_nothing(self, one: HostRecord | SiteRecord) -> bool:
        """Whether it has given too little for too long, by a judge that has found enough elsewhere."""
        relevant, pages = self.relevant - one.relevant, self.pages - one.pages
        if relevant < PROOF or one.pages - one.relevant <= ALLOWANCE * (1 + one.relevant + self.pages / 1000):
            return False
        # fruitless: even one more would be less than a quarter of others' rate
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
        for at in column.nonzero()[0].tolist():  # of most nothing was fetched
            setattr(each[at], name, type(getattr(each[at], name))(column[at]))
    for at, reason in state["reasons"].items():
        each[at].reason = reason


def is_stuffed(visit: Visit) -> bool:
    """Whether a page is stuffed with words, by the quality of its text; where nothing is said, it reads well."""
    return visit.is_page and _quality(visit) < STUFFED_BELOW


def _quality(visit: Visit) -> float:
    return float(visit.data.get("quality", 1.0))


def _repeats(one: HostRecord | SiteRecord) -> bool:
    """Whether it gives mostly what others have given before."""
    return one.copies >= POOR and 2 * one.copies > one.pages
