"""A corpus of three pages that link to each other."""

from lycosa.training.sources import page_of
from lycosa.web.html import extract
from lycosa_lab.index_writer import RecordedPage

A, B, C, GONE, OLD = (f"http://a.test/{name}" for name in ("a", "b", "c", "gone", "old"))


def page(url: str, *links: str, text: str = "coral reefs") -> RecordedPage:
    """Return a page with links, whose anchors are their numbers."""
    html = f"<title>{url}</title><p>{text} " + " ".join(f"<a href={to}>link {n}</a>" for n, to in enumerate(links))
    return RecordedPage(url, page_of(extract(html.encode(), url)))


def web() -> list[RecordedPage]:
    """Return a web of three pages; b can also be reached through a redirect."""
    return [
        page(A, GONE, B, A, OLD, C, B),
        RecordedPage(OLD, target=B),
        page(B, text="bleached corals of the reef"),
        page(C, OLD),
        page(A, C),
    ]
