"""Storage of a crawl: event log, WARC archive, search index and checkpoints."""
