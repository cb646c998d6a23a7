"""One crawl on many shards, each an engine with its own log, and a coordinator that distributes the budget.

`running` starts the shards of a crawl and merges their logs (`splitting`). `hosting` runs shards in processes, which
`hosts_on_ray` starts as Ray actors. A shard fetches the hosts that it owns (`owning`), sends links to other hosts to
their shards (`outbox`) and leases IP addresses that several shards use (`leasing`).

Shards and coordinator do not depend on the transport of messages: Ray in production, plain calls in tests.
"""
