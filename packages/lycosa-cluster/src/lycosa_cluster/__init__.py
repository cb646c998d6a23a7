"""One crawl, many hands: shards, each an engine with a log of its own, and a coordinator that hands out the budget.

owning.py       which shard a host belongs to
messages.py     what shards and coordinator say to each other
outbox.py       links to other shards' hosts, until they are confirmed
shard.py        an engine, its outbox, its allowance and its lease
leasing.py      turns of addresses that hosts of several shards share
coordinator.py  who may fetch how much, and when it is over
splitting.py    the shards' logs as one, and that shared out among another number of them
driving.py      what a shard does beside crawling: reports and sends; over any carrier
asking.py       what is asked of the web before shards begin: examples, search engines
hosting.py      processes that host shards of one crawl, or of many; hosts_on_ray.py has them as actors of Ray
running.py      a crawl, seen from where it was started
runner.py       what `--cluster` gets: a runner, as the entry point names it
reaching.py     where a cluster is, and whether it is there; ray_process.py joins or starts it

Nothing of shards and coordinator knows how messages travel: Ray carries them, and in tests plain calls.
"""
