"""Groups that go by epochs (consumer, share, streams): what their records tell, as rows of the tables.

    protocol        what is asked of the protocol that a group speaks
    operations      the records of one moment, operation by operation
    state           what is known of a group beside its machine: the epoch that is open, holds, waits, orphans
    told            what lines tell beside: why a member went, by whose rules targets were computed
    course          takes a group's records in order, and notes what each operation changed
    members         who comes and goes, and what each has; `before`: the group as it was before an operation
    requests, asked requests as the machines take them, and what surrounds each
    audit           whether the machines answer as the broker did
    teller          whose the rows are, and where they go
    generations     epochs and their members as rows
    holds, waits    who has which partition; who is to give up or waits for what
    orphans         what targets give to members, and nobody has

A protocol is taken to this frame by its own room `taking`.
"""
