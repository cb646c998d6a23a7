"""Lycosa for teams: REST API, web pages, and one process that runs everyone's crawls.

    lycosa serve ── supervisor ─┬─ web process    FastAPI: api/ (JSON), pages.py (HTML), live events
                                └─ crawl process  crawler/: all crawls in one event loop, with shared politeness

The processes share the database and the crawl directories, which the web process only reads. Either can be killed at
any time: its state is on disk, and its successor continues from there.
"""
