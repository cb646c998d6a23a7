"""Lycosa hunts a topic through the web: a focused crawler.

    import lycosa

    async for visit in lycosa.crawl("coral reef bleaching", ["https://example.org/"], budget=500, out="reefs"):
        print(visit.url, visit.beta)

The same object works with a plain `for`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lycosa.version import __version__

if TYPE_CHECKING:
    from lycosa.collection.judging import judge as judge
    from lycosa.crawling import Crawl as Crawl
    from lycosa.crawling import crawl as crawl
    from lycosa.crawling import resume as resume
    from lycosa.crawling import revisit as revisit
    from lycosa.crawling import watch as watch
    from lycosa.explaining import why as why

__all__ = ["Crawl", "__version__", "crawl", "judge", "resume", "revisit", "watch", "why"]


def __getattr__(name: str) -> Any:
    # `import lycosa` stays quick: what needs numpy and aiohttp is loaded when it is used.
    if name in ("crawl", "resume", "revisit", "watch", "Crawl"):
        from lycosa import crawling

        return getattr(crawling, name)
    if name == "judge":
        from lycosa.collection import judging

        return judging.judge
    if name == "why":
        from lycosa import explaining

        return explaining.why
    raise AttributeError(f"module 'lycosa' has no attribute {name!r}")
