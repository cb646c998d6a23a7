"""A small ontology and shortcuts, for tests of judges that use meaning."""

from pathlib import Path
from typing import Any

from lycosa.core.types import Judgement, Links, Page
from lycosa.text.vocabulary import Vocabulary

REEFS = str(Path(__file__).with_name("reefs.tsv"))
"""land > reef > coral reef > atoll, land > island; coral is related to coral reef."""


def judge(topic: Any, text: str = "", *anchors: str, **more: Any) -> Judgement:
    """Judge a page with links."""
    page = Page("ok", marked=text, links=Links.to(*map(str, range(len(anchors))), anchors=anchors), **more)
    said: Judgement = topic.judge(page, Vocabulary().read(page))
    return said
