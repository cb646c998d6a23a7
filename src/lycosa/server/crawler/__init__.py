"""The crawl process: everybody's crawls, in one loop, with one politeness.

process.py    what is to run, by the database: starts, pauses, ends
running.py    one crawl, from its directory to how it ended
clustered.py  the same for one whose shards run on a cluster
judging.py    feedback into the log of a crawl, and its pages judged again
live.py       what it does just now, for those who watch
"""
