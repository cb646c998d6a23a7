"""Lycosa as a part of other frameworks. Each module needs the package that it is named after.

langchain.py      documents for LangChain
llama_index.py    documents for LlamaIndex
telemetry.py      spans for OpenTelemetry
"""
