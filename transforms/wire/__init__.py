"""Reading `__consumer_offsets`: record batches of segment files, and keys and values of records."""
