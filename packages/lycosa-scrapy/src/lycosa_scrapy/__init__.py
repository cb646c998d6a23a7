"""A focused, crash-safe frontier for Scrapy: any spider, five lines of settings.

    SCHEDULER = "lycosa_scrapy.scheduler.Scheduler"
    SPIDER_MIDDLEWARES = {"lycosa_scrapy.relevance.Relevance": 20}
    JOBDIR = "reefs"
    LYCOSA_TOPIC = "coral reef bleaching"
    LYCOSA_STRATEGY = "scent"

`scheduler` adapts Scrapy's engine to ours, `space` has the waiting requests, `relevance` is the spider middleware.
"""
