"""From what a user asked for to a keeper: `lycosa refresh` and `lycosa watch`."""

from __future__ import annotations

from dataclasses import dataclass, field

from lycosa.core.errors import InputError
from lycosa.core.options import Options
from lycosa.core.protocols import Space
from lycosa.refresh.behaviours import Behaviours
from lycosa.refresh.comparing import Comparison
from lycosa.refresh.judging import DEFAULT, parse_detectors
from lycosa.refresh.keeper import Keeper
from lycosa.refresh.schedules import make_schedule
from lycosa.store.versions import Versions


@dataclass(slots=True)
class Keeping:
    """How a run goes that keeps a collection fresh."""

    once: bool = False
    """End when nothing more is due: a refresh; else a watch, which goes on."""
    everything: bool = False
    """All pages are due."""
    now: list[str] = field(default_factory=list)
    """Addresses that match one of these patterns are due, and come first."""
    requests: int = 0
    """Requests at most, in this run; 0: no limit."""
    began: float = 0.0
    """When the run began that is gone on with: what was looked at since then is not looked at twice. 0: now."""

    def behaviours(self, options: Options) -> Behaviours:
        """How often what is looked at, as far as the user said."""
        return Behaviours(
            now=self.now,
            always=options.always,
            frequently=options.frequently,
            infrequently=options.infrequently,
            frequent=options.frequent,
            infrequent=options.infrequent,
        )

    def check(self, options: Options) -> None:
        """Refuse what can't work before anything is opened."""
        if self.requests < 0:
            raise InputError(f"--requests is {self.requests}: it has to be 0 or more; 0 means no limit")
        self.behaviours(options)
        parse_detectors(options.detect or DEFAULT)
        make_schedule(options.schedule, per_second=options.per_hour / 3600)

    def keeper(self, options: Options, versions: Versions, space: Space, threshold: float, now: float) -> Keeper:
        """The keeper of a run that begins now."""
        detectors = parse_detectors(options.detect or DEFAULT)
        share = 1.0 - options.explore
        return Keeper(
            Comparison(versions, [name for name in detectors if name != "images"] or DEFAULT, threshold),
            space.ready,
            space.lane,
            schedule=make_schedule(options.schedule, per_second=share * options.per_hour / 3600),
            behaviours=self.behaviours(options),
            threshold=threshold,
            explore=options.explore,
            once=self.once,
            everything=self.everything,
            irrelevant=options.watch_all,
            images="images" in detectors,
            attempts=options.attempts,
            began=self.began or now,
        )
