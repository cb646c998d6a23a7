"""A collection as documents of LangChain.

from lycosa.integrations.langchain import LycosaLoader

for document in LycosaLoader("reefs").lazy_load():
    print(document.metadata["source"], len(document.page_content))
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from lycosa.core.errors import InputError
from lycosa.integrations.documents import Documents, Form

try:
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import Document
except ImportError as error:
    raise InputError("this loader is one of LangChain's: pip install langchain-core") from error


class LycosaLoader(BaseLoader):
    """The relevant pages of a crawl, or with `everything` all, as plain text or as Markdown."""

    def __init__(
        self,
        directory: str | Path,
        *,
        everything: bool = False,
        copies: bool = False,
        threshold: float | None = None,
        form: Form = "text",
    ) -> None:
        self.documents = Documents(directory, everything=everything, copies=copies, threshold=threshold, form=form)

    def lazy_load(self) -> Iterator[Document]:
        """One document for each page, as it is read; its id is its address."""
        for text, about in self.documents:
            yield Document(page_content=text, metadata=about, id=about["source"])
