"""Learning from labelled pages: classifiers, and what else is learned before a crawl."""
