"""A focused, crash-safe frontier for Scrapy: any spider, five lines of settings.

    SCHEDULER = "lycosa.scrapy.Scheduler"
    SPIDER_MIDDLEWARES = {"lycosa.scrapy.Relevance": 20}
    JOBDIR = "reefs"
    LYCOSA_TOPIC = "coral reef bleaching"
    LYCOSA_STRATEGY = "scent"

space.py      what the engine is told: requests that wait, slots that are busy
requests.py   Scrapy's requests as the log keeps them, and back
answers.py    what came back of a request, as a page with its links
scheduler.py  the scheduler: an adapter between Scrapy's engine and ours
relevance.py  the spider middleware: which page a request comes from, and what the page was worth

Scrapy itself is an extra, and imported when one of the two classes is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lycosa.scrapy.relevance import Relevance
    from lycosa.scrapy.scheduler import Scheduler

__all__ = ["Relevance", "Scheduler"]

_PLACES = {"Relevance": "relevance", "Scheduler": "scheduler"}


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        import_module("scrapy")
    except ModuleNotFoundError as error:
        raise ImportError("Scrapy is not installed: pip install 'lycosa[scrapy]'") from error
    return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
