"""Training before a crawl: classifiers, rules and browsing models from labelled pages."""
