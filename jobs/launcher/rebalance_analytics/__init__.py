"""Where the installed command begins: under a name of our own, so that it can tell whether `jobs` is ours at all."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path


def main() -> int:
    """Hand on to the jobs beside this package; if those that Python finds are another's, say so."""
    here = Path(__file__).resolve()
    ours = here.parents[2] if here.parents[2].name == "jobs" else here.parents[1] / "jobs"  # a checkout, or installed
    spec = importlib.util.find_spec("jobs")
    places = list(spec.submodule_search_locations or [spec.origin or ""]) if spec else ["(nowhere)"]
    if ours not in [Path(place).resolve() for place in places]:
        sys.stderr.write(
            f"error: the package jobs in {places[0]} is not that of Rebalance Analytics; install it in an environment "
            "of its own, or take the other out of PYTHONPATH\n"
        )
        return 2
    from jobs.frame import commands

    return commands.main()
