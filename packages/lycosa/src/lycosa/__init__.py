"""Lycosa, a focused web crawler.

    import lycosa

    async for visit in lycosa.crawl("coral reef bleaching", ["https://example.org/"], budget=500, out="reefs"):
        print(visit.url, visit.relevance)

    for page in lycosa.open("reefs").pages():
        print(page.relevance, page.title, page.text[:80])

A crawl is also a plain iterator, for code without asyncio.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from lycosa.version import __version__

if TYPE_CHECKING:
    from lycosa.api import crawl as crawl
    from lycosa.api import judge as judge
    from lycosa.api import open as open
    from lycosa.api import refresh as refresh
    from lycosa.api import resume as resume
    from lycosa.api import watch as watch
    from lycosa.api import why as why
    from lycosa.collection.opened import CollectedPage as CollectedPage
    from lycosa.collection.opened import Collection as Collection
    from lycosa.core.errors import InputError as InputError
    from lycosa.core.errors import LycosaError as LycosaError
    from lycosa.core.protocols import Estimator as Estimator
    from lycosa.core.protocols import Judge as Judge
    from lycosa.core.protocols import Space as Space
    from lycosa.core.types import Judgement as Judgement
    from lycosa.core.types import Links as Links
    from lycosa.core.types import Page as Page
    from lycosa.core.types import Task as Task
    from lycosa.core.types import Visit as Visit
    from lycosa.crawling import Crawl as Crawl
    from lycosa.crawling.functions import Link as Link
    from lycosa.revisit.change import Change as Change
    from lycosa.revisit.change import change_of as change_of

_PLACES = {
    "api": "crawl judge open resume refresh watch why",
    "collection.opened": "CollectedPage Collection",
    "core.errors": "InputError LycosaError",
    "core.protocols": "Estimator Judge Space",
    "core.types": "Judgement Links Page Task Visit",
    "crawling": "Crawl",
    "crawling.functions": "Link",
    "revisit.change": "Change change_of",
}
_MODULES = {name: f"lycosa.{module}" for module, names in _PLACES.items() for name in names.split()}

# Without `open`: `from lycosa import *` must not shadow the builtin.
__all__ = [  # noqa: RUF022 - functions first, then classes
    "__version__", "change_of", "crawl", "judge", "refresh", "resume", "watch", "why",
    "Change", "CollectedPage", "Collection", "Crawl", "Estimator", "InputError", "Judge", "Judgement", "Link", "Links",
    "LycosaError", "Page", "Space", "Task", "Visit",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    # Modules that need numpy or aiohttp are imported on first use, so that `import lycosa` stays fast.
    if name not in _MODULES:
        raise AttributeError(f"module 'lycosa' has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
