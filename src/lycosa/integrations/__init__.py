"""Lycosa as a part of other frameworks. Each module but the first needs a package of theirs.

documents.py      what loaders have in common: a collection's pages as text and metadata
langchain.py      documents for LangChain
llama_index.py    documents for LlamaIndex
telemetry.py      spans for OpenTelemetry
"""
