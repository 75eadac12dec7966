"""The notebooks, and what they are made of."""
