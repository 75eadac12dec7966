"""The group coordinator, replayed: pure state machines of groups of every type, and what drives them.

`classic` is the machine of classic groups and how evidence is taken to it; `consumer`, `share` and `streams` are those
of the modern ones, each a `machine` whose docstring begins the tour, a `group` (what the records make), a `heartbeat`
and its `records`; `modern` is what these three share. `assignors` compute assignments, `kafka` holds what is Kafka's
own: hashes, orders, settings, answers. `evidence` puts what is known in one order, `driver` feeds it, `fold` and
`batch` do so piece by piece, `timeline` and `rows` say as table rows what came of it; `replay` is the door.
Nothing in here knows Spark, pandas or files.
"""
