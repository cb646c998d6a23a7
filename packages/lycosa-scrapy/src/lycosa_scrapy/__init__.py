"""A focused, crash-safe frontier for Scrapy: any spider, five lines of settings.

    SCHEDULER = "lycosa_scrapy.scheduler.Scheduler"
    SPIDER_MIDDLEWARES = {"lycosa_scrapy.relevance.Relevance": 20}
    JOBDIR = "reefs"
    LYCOSA_TOPIC = "coral reef bleaching"
    LYCOSA_STRATEGY = "scent"

space.py      the space as the engine sees it: waiting requests, busy slots requests.py   Scrapy's requests in the log,
and back answers.py    the result of a request, as a page with its links scheduler.py  the scheduler: an adapter between
Scrapy's engine and ours relevance.py  the spider middleware: the page of each request, and relevances set by the spider
"""
