"""The generic crawl engine: types, protocols, the crawl loop and the frontier. It does not depend on the web."""
