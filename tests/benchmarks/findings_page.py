"""The page of the docs about the accuracy of findings: what was played, and what the figures do not say."""

PAGE = """# How accurate the findings are

Storms and bursts are judgements. These are the figures of a play of {planted} incidents of ten kinds ({beside} more of \
an eleventh) among {calm} calm groups: {date}, {machine}, {took}, seed {seed}. The detector was mended on other seeds. \
The same play again:

    python -m tests.benchmarks.bench_findings --seed {seed} --incidents {incidents} --calm {calm} \
--page docs/findings-accuracy.md

Groups have one to ten members with one of three assignors, session timeouts from 10 to 45 s, numbered, unnamed (Java's \
default client.id), stateful and pod names, clients that give reasons and clients that give none. What happens to them \
is a cause: a process is killed and started again every so often, a batch takes longer than max.poll.interval.ms, a \
broker dies. A simulated coordinator and simulated clients do the rest and write the records, lines and requests that \
brokers and clients would have written; half of the groups ran long before the data begins. The calm groups are not \
idle: a quarter of them is deployed, most have up to two of a restart, a crash, a pause, a slow batch, a further member, \
new partitions.

The ten kinds are those patterns of storms that somebody causes, and the zombie, which makes the bursts that cost most. \
A lost session is beside them, because only a request log or a client's log tells it from a crash loop. An incident \
counts as planted if its brokers rebalanced, or refused ({bursts}), as often as the default settings ask of a storm or \
a burst. Below that were: {small}. A finding is right if it is what was planted; a rolling restart also if a calm group \
was deployed. In a calm group everything else is a false finding, and so is a deploy that is more than 'info'.

{tables}
## What less evidence cannot tell

* **Without the request log** a client that left without a reason (librdkafka, Java before 3.2) and came back is told \
as slow only if it stayed, each of three times or more, for longer than its max.poll.interval.ms; a member that leaves \
and comes back on purpose at such a pace would be called slow.
* **Without the request log and clients' logs** nothing shows refused requests: a zombie leaves no trace, and a fencing \
war only members that were replaced, without a storm or a burst to tell of it. A process that paused looks like one that \
died: both are called a crash loop, and the advice says that the data does not decide.
* **Records alone** say who was a member in which generation, and when it was stored; not why anybody went, nor who \
coordinated. So they tell rolling restarts, scalings, conflicts of subscriptions and changes of metadata, while a client \
that comes and goes (flapping, crashing, pausing, polling too late) is an 'unknown' storm that names it. Members that \
lose their sessions to a coordinator that moves, one after the other, look as if they had been restarted: there a \
'rolling_restart' may be trouble with brokers. Refused requests are not in the records at all.

These groups are simulated, by people who know the detector. Incidents of real clients on real brokers are judged in the \
tests; the figures above say how well the reasoning carries over names, timings and mixtures that no capture has.
"""
