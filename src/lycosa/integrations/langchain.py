"""A collection as documents of LangChain.

from lycosa.integrations.langchain import LycosaLoader

for document in LycosaLoader("reefs").lazy_load():
    print(document.metadata["source"], len(document.page_content))
"""

from __future__ import annotations

from collections.abc import Iterator

from lycosa.core.errors import InputError
from lycosa.integrations.documents import Documents

try:
    from langchain_core.document_loaders import BaseLoader
    from langchain_core.documents import Document
except ImportError as error:
    raise InputError("this loader is one of LangChain's: pip install langchain-core") from error


class LycosaLoader(Documents, BaseLoader):
    """The relevant pages of a crawl, or with `everything` all, as plain text or as Markdown."""

    def lazy_load(self) -> Iterator[Document]:
        """One document for each page, as it is read; its id is its address."""
        for text, about in self.texts():
            yield Document(page_content=text, metadata=about, id=about["source"])
