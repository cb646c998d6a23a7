"""The crawl process: everyone's crawls in one event loop, with shared politeness.

process.py    the main loop, which starts, pauses and ends crawls as set in the database
running.py    one crawl from opening to its end, and judging its pages again
clustered.py  the same for a crawl whose shards run on a cluster
live.py       current state of a crawl, for the web process
"""
