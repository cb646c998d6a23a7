"""What the owners of a site don't want done with its pages, as far as it was read, and what a crawl heeds of that."""

from __future__ import annotations

from collections.abc import Mapping

from lycosa.core.state import State
from lycosa.core.types import Outcome, Page, Task, Visit
from lycosa.web.optouts import FILES, AiTxt, RobotsSignals, TdmRep, heeded, told_by_page, told_by_site
from lycosa.web.robots import Rules
from lycosa.web.urls import origin


class Policies:
    """The files of each origin that speak of the use of pages, and which opt-outs are heeded."""

    def __init__(self, respect: str, agent: str) -> None:
        self.respect = respect
        """Which opt-outs are heeded: training, all, or none."""
        self.agent = agent
        self._files: dict[str, dict[str, bytes]] = {}  # of each origin, by path
        self._read: dict[str, tuple[TdmRep, AiTxt]] = {}  # the same, read

    def errand(self, node: str, rules: Rules, signals: RobotsSignals | None) -> Task | tuple[Outcome, str] | None:
        """Where opt-outs are heeded: what has to be read first, or what is said against the node."""
        if not self.respect:
            return None
        base = origin(node)
        known = self._files.get(base, {})
        for path in FILES:
            if path not in known and rules.allowed(base + path):
                return Task(base + path, "policy", origin=node)
        told = heeded(self._told(node, signals), self.respect)
        return ("denied", f"opted out: {', '.join(told)}") if told else None

    def heed(
        self,
        node: str,
        fields: Mapping[str, str],
        directives: frozenset[str],
        signals: RobotsSignals | None,
        page: Page,
    ) -> bool:
        """Note the opt-outs of a page; whether it has to be left out for one of them."""
        told = told_by_page(fields, directives, self._told(node, signals))
        if not told:
            return False
        page.data["opt_outs"] = told
        left_out = heeded(told, self.respect)
        if left_out:
            page.outcome, page.exchange, page.note = "unwanted", None, f"opted out: {', '.join(left_out)}"[:300]
        return bool(left_out)

    def _told(self, node: str, signals: RobotsSignals | None) -> list[str]:
        """The opt-outs of a node that are known before it is fetched."""
        base = origin(node)
        files = self._files.get(base)
        tdmrep, ai_txt = None, None
        if files:
            if base not in self._read:
                bodies = [files.get(path, b"") for path in FILES]
                self._read[base] = TdmRep(bodies[0]), AiTxt(bodies[1], self.agent)
            tdmrep, ai_txt = self._read[base]
        return told_by_site(node, signals, tdmrep, ai_txt)

    def learn(self, visit: Visit) -> None:
        """See one of these files; one that did not come is none."""
        base = origin(visit.origin)
        self._files.setdefault(base, {})[visit.node[len(origin(visit.node)) :]] = visit.data.get("body", b"")
        self._read.pop(base, None)

    def state(self) -> State:
        """The files."""
        return {base: dict(files) for base, files in self._files.items()}

    def restore(self, state: State) -> None:
        """Have them."""
        self._files = {base: dict(files) for base, files in state.items()}
