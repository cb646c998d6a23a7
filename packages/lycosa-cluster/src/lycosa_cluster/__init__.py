"""One crawl on many shards, each an engine with its own log, and a coordinator that distributes the budget.

owning.py       the shard that a host belongs to messages.py     messages between shards and coordinator outbox.py
links to other shards' hosts, until they are confirmed shard.py        an engine, its outbox, its allowance and its
lease leasing.py      leases of addresses that hosts of several shards share coordinator.py  distribution of the budget,
and the end of the crawl splitting.py    merging the shards' logs, and splitting them for another number of shards
driving.py      a shard's background tasks: reports and sending links asking.py       requests before shards start:
examples, search engines hosting.py      processes that host shards of one or many crawls; hosts_on_ray.py runs them as
Ray actors running.py      a crawl, seen from the process that started it runner.py       the runner for `--cluster`, as
the entry point names it reaching.py     the address of a cluster, and whether it can be reached; ray_process.py joins
or starts it

Shards and coordinator do not depend on the transport of messages: Ray in production, plain calls in tests.
"""
