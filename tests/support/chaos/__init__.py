"""Clients that do what well-behaved clients do not, on real brokers of any release, and captures of what came of it.

    python -m tests.support.chaos --version 2.8.2 --seed 7 --seconds 60 FOLDER

They speak the protocol themselves, in the versions that the broker serves, and note what they send and are answered.
"""
