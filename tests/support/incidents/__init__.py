"""Groups in which something happens: processes that die, pause, dawdle and are deployed, and what Kafka writes of it.

`clock` runs a world of one group, `broker` coordinates it with the classic state machine, `consumer` behaves as clients
do, `paper` writes down what brokers and clients would have written (`wording`, `client_wording`) and reads it back as
the product does. `plots` and `ordinary` say what happens to a group (`service`) and why, in the terms of whoever
operates it; they know nothing of how findings are made. `play` finds what there is to find, `score` counts.
"""
