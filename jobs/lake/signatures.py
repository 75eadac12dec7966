"""What a commit of ours notes about itself."""

from __future__ import annotations

import json
from typing import Any

from jobs.jvm.delta_log import Commit

JOINED = "files joined"
"""A write that changes no row."""


def signature(cluster: str, write: str) -> str:
    """Return what a commit of ours notes about itself: whose rows it changes, and which write it was."""
    return json.dumps({"cluster": cluster, "write": write}, sort_keys=True)


def is_joining(commit: Commit) -> bool:
    """Tell whether a commit is one of ours that only joined files."""
    return bool(_told(commit).get("write") == JOINED)


def cluster_of(commit: Commit) -> str | None:
    """Return the cluster whose rows a commit of ours changes; None for a commit of anybody else."""
    cluster = _told(commit).get("cluster")
    return None if cluster is None else str(cluster)


def _told(commit: Commit) -> dict[str, Any]:
    try:
        told = json.loads(commit.note)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}
