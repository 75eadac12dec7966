"""The page of figures says how to play the same groups again."""

from __future__ import annotations

import pytest

from tests.benchmarks.bench_findings import page


@pytest.mark.parametrize(("is_in_sight", "option"), [(True, " --in-sight"), (False, "")])
def test_the_command_on_the_page_makes_the_same_page_again(is_in_sight: bool, option: str) -> None:
    commands = [line.strip() for line in page([], 5, 60.0, is_in_sight).splitlines() if line.startswith("    ")]
    given = f"--seed 5 --incidents 0 --calm 0{option} --page docs/findings-accuracy.md"
    assert commands == [f"python -m tests.benchmarks.bench_findings {given}"]
