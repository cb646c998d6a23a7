"""Many people, one Lycosa: the REST API, the pages that use it, and the process that crawls for everyone.

    lycosa serve ── supervisor ─┬─ web process    FastAPI: api/ (JSON), pages.py (HTML), live events
                                └─ crawl process  crawler/: all crawls in one loop, one politeness for all

The two share the database (what is wanted, what is done) and the crawls' directories (what was found): the web process
only reads the latter. Either may be killed at any moment; what it did is on disk, and the next one goes on.
"""
