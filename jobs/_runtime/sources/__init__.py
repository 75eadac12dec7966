"""Where records and lines come from; each module has a `read` that gives one DataFrame."""
