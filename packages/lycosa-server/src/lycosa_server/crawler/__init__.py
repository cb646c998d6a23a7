"""The crawl process: everybody's crawls, in one loop, with one politeness.

process.py    what is to run, by the database: starts, pauses, ends
running.py    one crawl, from its directory to how it ended; its pages judged again
clustered.py  the same for one whose shards run on a cluster
live.py       what it does just now, for those who watch
"""
