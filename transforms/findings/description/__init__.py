"""A group as it was at one moment, in full: as a broker would have described it, and what it would not have said."""
