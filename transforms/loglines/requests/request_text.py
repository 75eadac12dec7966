"""Lines of `kafka.request.logger` before 2.8, which are text, as the JSON that later brokers log.

`Completed request:RequestHeader(apiKey=.., apiVersion=.., clientId=.., correlationId=..) -- {request},response:{answer}
from connection ..;totalTime:..,requestQueueTime:..` (RequestChannel.updateRequestMetrics, 1.0 to 2.7).
"""

from __future__ import annotations

import re

from transforms.loglines.requests.apis import APIS, Api, Json
from transforms.loglines.requests.struct_text import read_struct

KEYS: dict[str, int] = {re.sub("(?<!^)(?=[A-Z])", "_", api.name).upper(): key for key, api in APIS.items()}
"""Kafka's name of the API in these lines to its key."""

_HEADER = re.compile(
    r"RequestHeader\(apiKey=(\w+), apiVersion=(\d+), clientId=(.*?), correlationId=(-?\d+)\) -- ", re.DOTALL
)
_ANSWER = ",response:"
_CONNECTION = " from connection "
_ENVELOPE = re.compile(
    r" from connection (\S+);totalTime:([^,]+),requestQueueTime:([^,]+),localTime:[^,]+,remoteTime:([^,]+),"
    r".*?(?:,clientInformation:ClientInformation\(softwareName=(.*?), softwareVersion=(.*?)\))?"
    r"(?:,temporaryMemoryBytes:\d+)?(?:,messageConversionsTime:[^, ]+)?(?= \([\w.]+\)|\Z)",
    re.DOTALL,
)
_TOPICS = ",topics=["


def is_text_request(line: str, begin: int) -> bool:
    """Tell whether the request at `begin`, behind the marker, is written as text."""
    return line.startswith("RequestHeader(", begin)


def read_text_request(line: str, begin: int) -> Json:
    """Read a line into the form that it would have as JSON.

    Args:
        line: the entry.
        begin: where the header begins.

    Returns:
        What `kafka.network.RequestConvertToJson` gives of such a request, without bytes and without what is not read.
        The answer is "" where the line has none.

    Raises:
        ValueError: the line does not hold what it should.
    """
    header = _HEADER.match(line, begin)
    behind = line.rfind(_CONNECTION)
    envelope = _ENVELOPE.match(line, behind) if behind > 0 else None
    if header is None or envelope is None:
        raise ValueError("no header or no connection in the line")
    key, version, client_id, correlation_id = header.groups()
    connection, total, queued, parked, software, software_version = envelope.groups()
    middle = line.rfind(_ANSWER, header.end(), behind)
    request = line[header.end() : middle if middle >= 0 else behind]
    logged: Json = {
        "requestHeader": {
            "requestApiKey": KEYS[key],
            "requestApiVersion": int(version),
            "correlationId": int(correlation_id),
            "clientId": None if client_id == "null" else client_id,
        },
        "request": read_struct(_needed(APIS[KEYS[key]], request)),
        "response": read_struct(line[middle + len(_ANSWER) : behind]) if middle + len(_ANSWER) < behind else "",
        "connection": connection,
        "totalTimeMs": total,
        "requestQueueTimeMs": queued,
        "remoteTimeMs": parked,
    }
    if software is not None:
        logged["clientInformation"] = {"softwareName": software, "softwareVersion": software_version}
    return logged


def _needed(api: Api, request: str) -> str:
    """Return a request without the offsets that it commits: nobody reads them here, and they may hold any text."""
    end = request.find(_TOPICS)
    return f"{request[:end]}}}" if api.is_counted and end >= 0 else request
