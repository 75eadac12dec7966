"""Lines of `kafka.request.logger` (JSON from 2.8 on, KIP-673, text before) to facts of `silver.group_requests`."""

from __future__ import annotations

import re

from transforms.loglines.facts import GroupRequest
from transforms.loglines.requests.apis import APIS
from transforms.loglines.requests.careful import read_carefully
from transforms.loglines.requests.columns import requests_of
from transforms.loglines.requests.offsets import COMMITS, sent_offsets
from transforms.loglines.requests.request_text import KEYS
from transforms.loglines.requests.shapes import decode

_MARKER = "Completed request:"
"""How the message of every request begins."""

_MARKER_WITHIN = 80
"""The marker ends this near to the beginning of an entry: behind a time stamp and a level."""

_HEADER_LENGTH = 200
"""The API ends this near to the marker, before anything that a client can choose."""

_KEY = '"requestApiKey":'
_API_IN_TEXT = re.compile(rf"\(apiKey=({'|'.join(KEYS)}),")  # before 2.8
_APIS = {str(key): key for key in APIS}

_SECOND = r"[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12][0-9]|3[01]) (?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_OTHER_API = (
    rf'\{{(?:"isForwarded":(?:true|false),)?"requestHeader":\{{{_KEY}(?!(?:{"|".join(_APIS)}),)[0-9]+,|'
    rf"RequestHeader\(apiKey=(?!(?:{'|'.join(KEYS)}),)\w+,"
)
OTHER_REQUEST = re.compile(rf"\[{_SECOND}(?=,[0-9]{{3}}\] DEBUG {_MARKER}(?:{_OTHER_API}))".encode())
"""Head of a line, up to its second, as Kafka's own layout prints it: a request that is not for a group coordinator."""


def begin_of_request(entry: str) -> int:
    """Return where the message begins in an entry of the request log, -1 in any other; cheap."""
    return entry.find(_MARKER, 0, _MARKER_WITHIN)


def api_of_request(line: str, begin: int) -> int | None:
    """Return the key of the API of the message at `begin`, None if it is not for a group coordinator; cheap."""
    at = line.find(_KEY, begin, begin + _HEADER_LENGTH)
    if at >= 0:
        at += len(_KEY)
        return _APIS.get(line[at : line.find(",", at)].strip())
    found = _API_IN_TEXT.search(line, begin, begin + _HEADER_LENGTH)
    return None if found is None else KEYS[found[1]]


def read_request_line(line: str, begin: int, key: int, logged_at: int) -> list[GroupRequest]:
    """Read a line of the request log.

    Args:
        line: the entry; its message begins at `begin`.
        begin: position of the message.
        key: of the API, as `api_of_request` gives it.
        logged_at: time of the entry in epoch milliseconds.

    Returns:
        The request, or one for each group of a DeleteGroups.

    Raises:
        LineError: the line is broken, or holds no request or no answer.
    """
    begin += len(_MARKER)
    logged = decode(line, begin, key)
    requests = requests_of(read_carefully(line, begin) if logged is None else logged, logged_at)
    if key in COMMITS and requests[0].error_code:
        requests[0].sent_offsets = sent_offsets(line, begin)
    return requests
