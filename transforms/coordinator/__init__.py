"""The classic group coordinator, replayed: a pure state machine and what drives it.

The way through the folder, in the order in which data takes it: `evidence` (what is known, in one order), `replay`
(feeds it to the machine), `machine` (one group), `transitions` (THE table), `effects` (what a cell does), `group`
(the machine's state, a plain value), `timeline` and its neighbours (what the machine's steps say as table rows).
Nothing in here knows Spark, pandas or files.
"""
