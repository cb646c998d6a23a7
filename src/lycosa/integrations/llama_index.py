"""A collection as documents of LlamaIndex.

from lycosa.integrations.llama_index import LycosaReader

documents = LycosaReader("reefs").load_data()
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from lycosa.core.errors import InputError
from lycosa.integrations.documents import Documents

try:
    from llama_index.core.readers.base import BaseReader
    from llama_index.core.schema import Document
except ImportError as error:
    raise InputError("this reader is one of LlamaIndex's: pip install llama-index-core") from error

UNREAD = ["digest", "score", "relevant", "depth", "fetched", "changed"]
"""What is kept of a page, but no part of the text that a model or an embedding reads."""


class LycosaReader(Documents, BaseReader):
    """The relevant pages of a crawl, or with `everything` all, as plain text or as Markdown."""

    def lazy_load_data(self, *args: Any, **load_kwargs: Any) -> Iterator[Document]:
        """One document for each page, as it is read; its id is its address."""
        for text, about in self.texts():
            yield Document(
                text=text,
                id_=about["source"],
                metadata=about,
                excluded_llm_metadata_keys=UNREAD,
                excluded_embed_metadata_keys=UNREAD,
            )
