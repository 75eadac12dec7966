"""What is left out of a log is what no reader makes anything of; what is kept tells all that the whole log tells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.captures import ALL, MODERN, MODERN_EARLIER
from transforms.loglines.broker.broker_lines import read_broker_line
from transforms.loglines.broker.coordinator_lines import read_coordinator_line
from transforms.loglines.broker.dialects import COMMIT_DETAILS, LOGGERS
from transforms.loglines.broker.tables import TEMPLATES as OF_COORDINATORS
from transforms.loglines.clients import applications
from transforms.loglines.clients.client_lines import is_client_line, is_of_old_client, read_client_line
from transforms.loglines.clients.libraries import LIBRARIES
from transforms.loglines.clients.library_lines import read_library_line
from transforms.loglines.clients.tables import TEMPLATES as OF_CLIENTS
from transforms.loglines.entries.entries import entries
from transforms.loglines.entries.entry import Entry
from transforms.loglines.entries.layouts import head_length, take_apart
from transforms.loglines.facts import Fact
from transforms.loglines.parse import may_tell, parse_entry
from transforms.loglines.relevant import Selection
from transforms.loglines.requests.apis import APIS
from transforms.loglines.requests.request_log import begin_of_request

DATA = Path(__file__).resolve().parents[2] / "data" / "loglines"
AT = 1718452800000
STAMP = "[2024-06-15 12:00:00,000]"

FETCH = (
    STAMP
    + ' DEBUG Completed request:{{"isForwarded":false,"requestHeader":{{"requestApiKey":{key},"requestApiVersion":'
    '17,"correlationId":5,"clientId":"{client}","requestApiKeyName":"FETCH"}},"request":{{"x":1}},"response":{{}},'
    '"connection":"10.0.0.1:9092-10.0.0.7:50312-4","totalTimeMs":1.0}} (kafka.request.logger)'
)
CALM = STAMP + " INFO [Log partition=orders-0, dir=/data] Rolled new log segment at offset 5 (kafka.log.UnifiedLog)"
TELLING = (
    STAMP + " INFO [GroupCoordinator 1]: Group g1 with generation 5 is now empty (__consumer_offsets-13) "
    "(kafka.coordinator.group.GroupCoordinator)"
)

SAMPLES = {
    "coordinator": [each for table in OF_COORDINATORS.values() for each in table],
    "client": list(OF_CLIENTS),
    "library": [each for library in LIBRARIES for each in library.templates] + list(applications.APPLICATIONS),
}
LINES = sorted(
    {line for path in DATA.rglob("*.*") for line in path.read_text("utf-8").splitlines() if line}
    | {sample for table in SAMPLES.values() for template in table for sample in template.samples}
)
"""Every line of our data about lines, and every sample of the tables."""

LEVELS = ("INFO", "DEBUG", "WARN ", "ERROR", "TRACE")
KNOWN_LOGGERS = (*LOGGERS, "kafka.request.logger", "org.apache.kafka.common.utils.AppInfoParser")
OTHER_LOGGERS = (
    "kafka.log.LogCleaner", "x", "org.apache.kafka.clients.consumer.internals.ConsumerCoordinator", "kafka.coordinator",
    "aiokafka.consumer.group_coordinator",
)  # fmt: skip


def facts(found: Iterable[Entry]) -> list[tuple[int, Sequence[Fact]]]:
    read = ((entry.line_number, parse_entry(entry.text, entry.logged_at)) for entry in found)
    return [(number, told) for number, told in read if told]


def kept(found: Iterable[Entry], counted_to: int = 0, shown_to: float | None = None) -> tuple[list[Entry], int]:
    """Entries that are kept of a log, in their order, and how many are left out."""
    selection = Selection(counted_to, shown_to=shown_to)
    chosen = [entry for entry in found if selection.takes(entry)]
    newest = selection.end()
    return sorted([*chosen, *([] if newest is None else [newest])]), selection.left_out


def readers_say_nothing(text: str) -> None:
    """Ask all readers of lines, without the quick look that is had at each line before."""
    head = head_length(text)
    is_detail = text.startswith("DEBUG", max(head, 0)) and any(map(text.__contains__, COMMIT_DETAILS))
    if head < 0 or is_detail or begin_of_request(text) >= 0:
        assert not parse_entry(text, AT)
        return
    parts = take_apart(text, head)
    if is_client_line(text) or is_of_old_client(parts):
        assert read_client_line(parts) is None
    assert read_broker_line(parts) is None
    assert not read_coordinator_line(parts)
    assert read_library_line(text[head:], parts) is None


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_line_of_the_tables_is_kept_wherever_its_reader_would_read_it(kind: str) -> None:
    found = 0
    for template, level in product(SAMPLES[kind], LEVELS):
        for sample, logger in product(template.samples, KNOWN_LOGGERS + OTHER_LOGGERS):
            for prefix in ("", "[Consumer clientId=c, groupId=g] "):
                text = f"{STAMP} {level} {prefix}{sample} ({logger})"
                if may_tell(text, AT):
                    found += 1
                else:
                    readers_say_nothing(text)
    assert found > 1000


def test_every_request_that_is_read_is_kept_and_no_other() -> None:
    kinds = {key: may_tell(FETCH.format(key=key, client="[Consumer clientId=Coordinator"), AT) for key in range(100)}
    assert {key for key, is_kept in kinds.items() if is_kept} == set(APIS)


@pytest.mark.parametrize("name", [*ALL, *MODERN, *MODERN_EARLIER])
def test_what_is_kept_of_a_real_log_tells_all_that_it_tells(name: str, capture_dir: Callable[[str], Path]) -> None:
    left_out = 0
    for path in sorted((capture_dir(name) / "broker_logs").rglob("*.log")):
        with path.open(encoding="utf-8", newline="\n") as lines:
            found = list(entries(lines))
        chosen, without = kept(found)
        assert facts(chosen) == facts(found), path
        assert len(chosen) + without == len(found)
        assert max(entry.logged_at or 0 for entry in chosen) == max(entry.logged_at or 0 for entry in found)
        left_out += without
    assert left_out > 100


HEADS = st.sampled_from(
    ["", "\t", "  ", STAMP + " ", "[2024-06-15 12:00:01,000] ", "2024-06-15 12:00:02.500 ", "%3|1718452800.000|"]
)
TEXTS = (
    st.sampled_from(LINES) | st.text(max_size=20) | st.sampled_from([CALM, TELLING, FETCH.format(key=1, client="c")])
)
LOGGED = st.sampled_from(["", *(f" ({logger})" for logger in (*KNOWN_LOGGERS, *OTHER_LOGGERS))])


@st.composite
def lines_of_a_log(draw: st.DrawFn) -> list[str]:
    """Lines of all kinds, some cut short, some within others, each as an entry or as the rest of one."""
    found = []
    for _ in range(draw(st.integers(1, 8))):
        text = draw(TEXTS)
        begin, end = sorted((draw(st.integers(0, len(text))), len(text)) if draw(st.booleans()) else (0, len(text)))
        level = draw(st.sampled_from(["", *(f"{level} " for level in LEVELS)]))
        found.append(draw(HEADS) + level + text[begin:end] + draw(LOGGED))
    return found


@given(lines_of_a_log())
def test_what_is_kept_of_any_log_tells_all_that_it_tells(lines: list[str]) -> None:
    found = list(entries(lines))
    chosen, left_out = kept(found)
    assert facts(chosen) == facts(found)
    assert len(chosen) + left_out == len(found)
    for entry in found:
        if not (entry.logged_at is None or may_tell(entry.text, entry.logged_at)):
            readers_say_nothing(entry.text)


def test_the_newest_entry_is_kept_whatever_it_is() -> None:
    calm = [Entry(number, AT + number, CALM) for number in range(1, 9)]
    assert kept(calm) == (calm[-1:], 7)
    assert kept([*calm, Entry(9, AT + 9, TELLING)]) == ([Entry(9, AT + 9, TELLING)], 8)
    late = Entry(9, AT, TELLING)
    assert kept([*calm, late]) == ([calm[-1], late], 7)


def test_what_was_read_to_its_end_before_is_not_kept_for_being_read_again() -> None:
    told, last = Entry(7, AT, TELLING), Entry(8, AT, CALM)
    assert kept([told, last]) == ([told], 1)
    assert kept([last], counted_to=8, shown_to=AT) == ([], 0)
    newer = Entry(9, AT + 1, CALM)
    assert kept([last, newer], counted_to=8, shown_to=AT) == ([newer], 0)


def test_the_pieces_of_an_overlong_entry_stay_together() -> None:
    trace = [f"\tat x.y.Z({number})" for number in range(30)]
    lines = [TELLING, *trace, CALM, *trace, TELLING]
    chosen, left_out = kept(entries(lines, max_lines=10))
    text = "\n".join(entry.text for entry in chosen)
    assert text == "\n".join([TELLING, *trace, TELLING])
    assert left_out == 4


@pytest.mark.parametrize("seed", range(5))
def test_an_entry_of_a_log_that_grows_is_counted_once(seed: int) -> None:
    random = Random(seed)
    found = [Entry(number, AT + random.randrange(100), random.choice([CALM, CALM, TELLING])) for number in range(1, 60)]
    bronze: set[Entry] = set()
    counted = counted_to = 0
    for length in sorted(random.sample(range(1, 60), 5)):
        chosen, left_out = kept(found[:length], counted_to)
        bronze.update(chosen)
        counted, counted_to = counted + left_out, length
        assert len(bronze) + counted == length
        assert max(entry.logged_at or 0 for entry in bronze) == max(entry.logged_at or 0 for entry in found[:length])
