"""What a crawl has got so far, in numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields

from lycosa.core.budget import RESOURCES, spent_on
from lycosa.core.state import State
from lycosa.core.types import Setting, Step, Visit


@dataclass(slots=True)
class Tally:
    """What a crawl has got so far; a fold over the log like everything else."""

    picks: int = 0
    requests: int = 0
    """All that were sent: for pages, robots.txt, sources, and whatever else."""
    spent: Counter[str] = field(default_factory=Counter)
    """What they were spent on."""
    pages: int = 0
    relevant: int = 0
    bytes: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    sources: int = 0
    """Sitemaps, feeds and lists that were read, and how many addresses they named."""
    sourced: int = 0
    revisits: int = 0
    changes: Counter[str] = field(default_factory=Counter)
    """What has become of pages that were visited again: changed, moved, vanished, ..."""
    complaint: str = ""
    """The last failure, in words."""
    settings: dict[str, object] = field(default_factory=dict)
    recorded: int = 0
    """The picks that the log knows of: those in flight are not among them."""

    @property
    def harvest(self) -> float:
        """Share of the pages fetched that are relevant."""
        return self.relevant / self.pages if self.pages else 0.0

    @property
    def wasted(self) -> int:
        """Requests that gave no page: dead links, hops of redirects, unwanted types, attempts that failed, errands."""
        return self.requests - self.pages

    def learn(self, visit: Visit, step: Step | None, threshold: float) -> None:
        """Count a visit; `step` is what the table made of it."""
        self.recorded = max(self.recorded, visit.pick)
        self.picks = max(self.picks, self.recorded)
        self.bytes += visit.size
        if visit.kind in ("page", "redirect", "sitemap"):
            self.outcomes[visit.outcome] += 1
        if what := spent_on(visit):
            self.requests += 1
            self.spent[what] += 1
        if rendering := visit.data.get("render"):  # what the browser asked for
            self.requests += rendering.get("requests", 0)
            self.spent[RESOURCES] += rendering.get("requests", 0)
            self.bytes += rendering.get("bytes", 0)
        if visit.outcome not in ("ok", "redirect"):
            self.complaint = f"{visit.node}: {visit.outcome} {visit.complaint}"
        if visit.is_page:
            self.pages += 1
            self.relevant += visit.is_find(threshold)
        again = visit.follows > 0
        self.revisits += again
        if change := visit.data.get("change"):
            self.changes[change["what"]] += 1
        if visit.kind == "sitemap":
            self.sources += not again
            self.sourced += len(visit.links) if not again else 0 if step is None else len(step.children)

    def state(self) -> State:
        """All numbers, as the log tells them."""
        state = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: dict(value) if isinstance(value, dict) else value for name, value in state.items()} | {
            "picks": self.recorded
        }

    def restore(self, state: State) -> None:
        """Have those numbers."""
        for name, value in state.items():
            setattr(self, name, Counter(value) if isinstance(getattr(self, name), Counter) else value)

    def note(self, setting: Setting) -> None:
        """Remember a setting; one that ends a run also counts what was received and given up."""
        self.settings[setting.key] = setting.value
        if setting.key == "end":
            self.bytes = max(self.bytes, int(setting.value.get("bytes", 0)))
