"""The group coordinator, replayed: a fold over what is known of a group, and the rows that come of it.

The doors are `replay` (one group at one go), `batch` (what is new of it, from where it stood) and `fold` (`advance`,
`finish`, over a state that can be put down and taken up again); `state` is that value and its bytes. Behind them, each
room knowing only those that come after it:

    walk        hands each piece of evidence to the protocol that it is of; `driver` takes them in order
    classic     one protocol: `machine`, the table of states and what its cells do; `taking`, what each kind of evidence
                says to the machine, and what is noted of its steps
    consumer, share, streams
                the machines of the other protocols, each with its `group` (what its records make), `heartbeat` and
                `records`; `modern` is what the three share, and `taking` in each what it says of itself to `epochs`
    epochs      groups that go by epochs: their records, operation by operation, and rows of what those changed
    shared      what all protocols know of a group: its lives, its brokers, its waiting evidence
    rows        what is known as rows of the tables, and when they are settled
    assignors   the clients' and the servers' assignors, to tell by whose rules an assignment was made
    timeline    generations, stays and lives, each fact with its best witness
    evidence    what is known, in one order: records, lines, requests; and the tolerances by which they are joined
    kafka       words, answers, states and settings of the broker

Nothing in here knows Spark, pandas or files.
"""
