"""What a commit of ours notes about itself."""

from __future__ import annotations

import json

from jobs.jvm.delta_log import Commit


def signature(cluster: str, write: str) -> str:
    """Return what a commit of ours notes about itself: whose rows it changes, and which write it was."""
    return json.dumps({"cluster": cluster, "write": write}, sort_keys=True)


def cluster_of(commit: Commit) -> str | None:
    """Return the cluster whose rows a commit of ours changes; None for a commit of anybody else."""
    try:
        return str(json.loads(commit.note)["cluster"])
    except (ValueError, TypeError, KeyError):
        return None
