"""One connection to a broker: requests out, answers in, one after the other as a broker wants it."""

from __future__ import annotations

import asyncio
import struct
from random import Random
from typing import Any

from tests.support.chaos import epoch_messages, messages
from tests.support.record_writer import body_bytes
from transforms.wire.walk import walk

Body = dict[str, Any]
Versions = dict[str, tuple[int, int]]
"""Name of an API to the lowest and the highest version that broker and clients share."""

APIS = messages.APIS | epoch_messages.APIS

_SIZE = struct.Struct(">i")
_NO_TAGS = b"\x00"


class Connection:
    """A connection that is opened with its first request.

    Attributes:
        server: where the broker listens.
    """

    def __init__(self, server: str, client_id: str) -> None:
        self.server = server
        self._client_id = client_id.encode()
        self._correlation_id = 0
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        self._turn = asyncio.Lock()

    @property
    def is_waiting(self) -> bool:
        """Whether an answer is outstanding."""
        return self._turn.locked()

    async def ask(self, name: str, version: int, body: Body) -> Body:
        """Send a request and wait for its answer, which may take as long as the broker likes.

        Raises:
            OSError: the broker is gone.
        """
        api = APIS[name]
        flexible = version >= api.flexible
        async with self._turn:
            reader, writer = await self._open()
            self._correlation_id += 1
            header = struct.pack(">hhih", api.key, version, self._correlation_id, len(self._client_id))
            request = header + self._client_id + (_NO_TAGS if flexible else b"")
            request += body_bytes(api.request, body, version, flexible=flexible)
            try:
                writer.write(_SIZE.pack(len(request)) + request)
                await writer.drain()
                answer = await self._read_answer(reader)
            except (asyncio.IncompleteReadError, ConnectionError) as problem:
                self.close()
                raise ConnectionError(f"{name} v{version}: the broker closed the connection") from problem
        header_size = _SIZE.size + (flexible and not api.has_plain_header)
        values, _ = walk(api.answer, answer, header_size, version, flexible=flexible)
        return values

    async def _read_answer(self, reader: asyncio.StreamReader) -> bytes:
        """Read the answer to the last request; a broker that failed may have answered an earlier one twice."""
        while True:
            (size,) = _SIZE.unpack(await reader.readexactly(_SIZE.size))
            answer = await reader.readexactly(size)
            if _SIZE.unpack_from(answer) == (self._correlation_id,):
                return answer

    def close(self) -> None:
        """Close the connection; what was asked on it stays without an answer."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        if self._streams is None:
            host, _, port = self.server.rpartition(":")
            self._streams = await asyncio.open_connection(host, int(port))
        return self._streams


async def shared_versions(server: str) -> Versions:
    """Ask a broker which versions it serves; return those that are declared here too."""
    connection = Connection(server, "versions")
    served = (await connection.ask("ApiVersions", 0, {}))["apiKeys"]
    connection.close()
    by_key = {each["apiKey"]: (each["minVersion"], each["maxVersion"]) for each in served}
    shared = {}
    for name, api in APIS.items():
        if api.key not in by_key:
            continue  # an earlier release
        low, high = by_key[api.key]
        shared[name] = (max(low, api.versions[0]), min(high, api.versions[1]))
    return shared


def some_version(versions: Versions, name: str, chance: Random, low: int = 0) -> int:
    """Choose a version of an API, from a lowest one on where the broker has it; the highest one most of the time."""
    lowest, highest = versions[name]
    lowest = min(max(lowest, low), highest)
    return highest if chance.random() < 0.5 else chance.randint(lowest, highest)
