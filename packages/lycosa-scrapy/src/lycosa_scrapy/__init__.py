"""A focused, crash-safe frontier for Scrapy: any spider, five lines of settings.

    SCHEDULER = "lycosa_scrapy.scheduler.Scheduler"
    SPIDER_MIDDLEWARES = {"lycosa_scrapy.relevance.Relevance": 20}
    JOBDIR = "reefs"
    LYCOSA_TOPIC = "coral reef bleaching"
    LYCOSA_STRATEGY = "scent"

space.py      what the engine is told: requests that wait, slots that are busy
requests.py   Scrapy's requests as the log keeps them, and back
answers.py    what came back of a request, as a page with its links
scheduler.py  the scheduler: an adapter between Scrapy's engine and ours
relevance.py  the spider middleware: which page a request comes from, and what the page was worth
"""
