"""The text that Prometheus reads: whatever groups are called, each sample comes out as it went in."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from transforms.findings.handover import metrics as m
from transforms.findings.handover.exposition import exposition, merged
from transforms.foreign_text import distinct

# Any character at all, halves of surrogate pairs among them, and those that mean something to somebody.
FOREIGN = st.text(st.characters(), max_size=20) | st.text(
    st.sampled_from('\\n"\n\r\t\0\x1b{},= \u202e\ud800é#'), max_size=8
)

_SAMPLE = re.compile(r'^([a-z_]+)\{((?:[a-z_]+="(?:[^"\\\n]|\\[\\n"])*",?)*)\} (\S+)$')
_LABEL = re.compile(r'([a-z_]+)="((?:[^"\\\n]|\\[\\n"])*)"')
_ESCAPED = {r"\\": "\\", r"\"": '"', r"\n": "\n"}


def parsed(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """Read the text format as its specification has it; anything else fails."""
    found = {}
    for line in text.split("\n")[:-1]:
        if line.startswith("# "):
            assert re.match(r"^# (HELP|TYPE) [a-z_]+ \S", line), line
            continue
        sample = _SAMPLE.match(line)
        assert sample, line
        labels = tuple(
            (name, re.sub(r'\\[\\"n]', lambda escape: _ESCAPED[escape[0]], value))
            for name, value in _LABEL.findall(sample[2])
        )
        assert (sample[1], labels) not in found, line
        found[sample[1], labels] = float(sample[3])
    return found


@given(st.dictionaries(FOREIGN, st.floats(0, 1e12), max_size=8), FOREIGN)
@example({"a\\nb": 1.0, "a\nb": 2.0}, "c")
@example({'"} 1\nevil{x="': 1.0}, "c")
def test_each_group_comes_out_as_one_sample_whatever_it_is_called(groups: dict[str, float], cluster: str) -> None:
    text = exposition(cluster, {m.GROUP_STORM_STARTED: {(group,): value for group, value in groups.items()}})
    labels = {(("cluster", distinct(cluster)), ("group", distinct(group))): value for group, value in groups.items()}
    assert parsed(text) == {(m.GROUP_STORM_STARTED.name, key): value for key, value in labels.items()}


@given(FOREIGN, FOREIGN)
def test_two_texts_never_look_the_same_and_none_does_anything_to_a_terminal(one: str, other: str) -> None:
    assert (distinct(one) == distinct(other)) == (one == other)
    assert distinct(one).isprintable()
    assert distinct(one).encode("latin-1", "backslashreplace").decode("unicode_escape") == one


@given(st.dictionaries(st.tuples(FOREIGN), st.integers(0, 9), max_size=4), FOREIGN, st.integers(0, 4))
def test_what_a_run_says_anew_replaces_what_stood_there_and_nothing_else(
    groups: dict[tuple[str, ...], int], cluster: str, code: int
) -> None:
    findings = {m.GROUP_STORM_REBALANCES: groups, m.GROUPS_NOT_NAMED: {(): 0}}
    before = merged("", cluster, {**findings, m.LAST_RUN_EXIT_CODE: {(): 7}, m.LAST_SUCCESS: {(): 1.5}})
    after = merged(before, cluster, {m.LAST_RUN_EXIT_CODE: {(): code}})
    expected = {**findings, m.LAST_RUN_EXIT_CODE: {(): code}, m.LAST_SUCCESS: {(): 1.5}}
    assert after == exposition(cluster, expected)


def test_a_file_of_somebody_else_or_one_that_was_cut_off_does_no_harm() -> None:
    told = {m.LAST_RUN: {(): 5.0}}
    own = exposition("c", told)
    for strange in ("", "\n", "garbage", "# HELP up Up.\n# TYPE up gauge\nup 1\n", "# HELP rebalance_old gone\n"):
        assert merged(strange, "c", told) == own


def test_moments_keep_their_milliseconds_and_counts_have_no_fraction() -> None:
    text = exposition("c", {m.LAST_RUN: {(): 1763636311.123}, m.GROUPS_NOT_NAMED: {(): 3}})
    assert 'rebalance_last_run_timestamp_seconds{cluster="c"} 1763636311.123\n' in text
    assert 'rebalance_groups_not_named{cluster="c"} 3\n' in text


def test_names_follow_the_conventions_of_prometheus() -> None:
    names = [metric.name for metric in m.METRICS]
    assert len(set(names)) == len(names)
    for metric in m.METRICS:
        assert re.fullmatch(r"rebalance_[a-z]+(_[a-z]+)*", metric.name)
        assert not metric.name.endswith(("_total", "_count", "_sum", "_bucket", "_ms", "_milliseconds"))
        assert metric.name.endswith("_seconds") == bool(re.search(r"[Tt]ime|[Mm]oment|Begin|long|When", metric.meaning))
        assert all(re.fullmatch(r"[a-z_]+", label) and label != "cluster" for label in metric.labels)
        assert "\n" not in metric.meaning


def test_as_prometheus_own_parser_reads_it() -> None:
    """Where Prometheus' Python client is at hand, it is asked; the specification is held to in any case."""
    parser = pytest.importorskip("prometheus_client.parser")

    @given(st.dictionaries(FOREIGN.filter(lambda text: "\r" not in text), st.floats(0, 1e12), max_size=5))
    def agrees(groups: dict[str, float]) -> None:
        text = exposition("c", {m.GROUP_STORM_STARTED: {(group,): value for group, value in groups.items()}})
        read = {
            sample.labels["group"]: sample.value
            for family in parser.text_string_to_metric_families(text)
            for sample in family.samples
        }
        assert read == {distinct(group): value for group, value in groups.items()}

    agrees()
