"""Wire layouts of the records in `__consumer_offsets`, as tables of fields and versions."""
