"""The web side of a crawl: URLs, HTTP requests, robots.txt and response bodies."""
