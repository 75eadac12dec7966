"""The careful way into a logged request: for text, for JSON that no broker prints, and for broken lines."""

from __future__ import annotations

import json
from typing import Any

from transforms.errors import BadRequestLine, LineError, RequestWithoutAnswer, RequestWithoutBody
from transforms.loglines.requests.apis import Json, integer, milliseconds, text
from transforms.loglines.requests.request_text import is_text_request, read_text_request
from transforms.loglines.requests.shapes import ANSWERS, REQUESTS, Header, Logged, Software

_DECODER = json.JSONDecoder()


def read_carefully(line: str, begin: int) -> Logged[Any, Any]:
    """Read the request that begins at `begin`, in either form.

    Raises:
        LineError: it is broken, or holds no request or no answer.
    """
    try:
        if is_text_request(line, begin):
            return _logged(read_text_request(line, begin))
        return _logged(_DECODER.raw_decode(line, begin)[0])
    except LineError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as problem:
        raise BadRequestLine(f"{type(problem).__name__}: {problem}"[:500]) from problem


def _logged(given: Json) -> Logged[Any, Any]:
    header, request, answer = given["requestHeader"], given["request"], given["response"]
    if request == "":
        raise RequestWithoutBody("the log was not on yet when the request came")
    if answer == "" or answer is None:
        raise RequestWithoutAnswer("the broker closed the connection instead of answering")
    key = header["requestApiKey"]
    return Logged(
        Header(
            key,
            integer(header["requestApiVersion"]),
            integer(header["correlationId"]),
            text(header.get("clientId")),
        ),
        REQUESTS[key].read(request),
        ANSWERS[key].read(answer),
        text(given["connection"]),
        milliseconds(given["totalTimeMs"]),
        milliseconds(given["requestQueueTimeMs"]),
        milliseconds(given["remoteTimeMs"]),
        _software(given.get("clientInformation")),
    )


def _software(given: Json | None) -> Software | None:
    if not given:
        return None
    name, version = given["softwareName"], given["softwareVersion"]
    return Software(text(f"{name}") or "", text(f"{version}") or "")
