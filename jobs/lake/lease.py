"""A lock among processes on any machine, for any storage: nothing but files that appear, are listed and go.

Locks of files do not exist on HDFS or S3; to create a file only if it is not there is no promise of a local disk behind
Hadoop, nor of S3; and a rename is a copy on S3. What every storage does is to list a file once it has been written. So
whoever wants the lock announces itself first, by a file of its own name, and looks afterwards: it has the lock if it
sees nobody else. Of two that look at the same time each has announced itself before, so at least one sees the other;
the one that came first stays, and the other takes its announcement back.

A holder writes its file again and again. One whose file is too old is dead, and so is one of this machine whose process
is gone, which is seen at once. Whoever finds a dead one removes it. A holder that could not write its file for long, as
its machine slept or the storage was away, takes itself for dead before others do, unless it finds its file where it
left it and nobody else: who took it for dead would have removed the one and have announced itself. All ages are
differences on one clock: the storage's for others, its own for itself.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime, timezone

from jobs.jvm.files import File, Files
from jobs.lake.processes import is_alive, machine, process_start
from jobs.lake.storage_errors import storage_errors
from transforms.errors import LakeError

log = logging.getLogger(__name__)

BEAT_S = 10
"""Seconds between two signs of life."""

SILENCE_S = 90
"""Age of the last sign of life from which on a process of another machine counts as dead."""

_GIVE_UP_S = 60
"""Seconds without having given a sign of life after which a holder has to look for others: well before they look."""

_POLL_S = 0.5
_TIE_S = 0.05

_BOOT_CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""Where there is one, a clock that goes on while the machine sleeps."""


@dataclass(frozen=True)
class Claim:
    """What a process says of itself.

    Attributes:
        claim_id: its own name; the first one to come has the least.
        since: when it came, ISO 8601 in UTC.
        host: name of its machine, for people.
        machine: the machine, its present boot and the process namespace; empty = cannot be told.
        process_id: its process.
        process_start: when that began, in the machine's own count.
        is_held: it has the lock, and does not only want it.
    """

    claim_id: str
    since: str
    host: str
    machine: str
    process_id: int
    process_start: int
    is_held: bool = False

    def __str__(self) -> str:
        return f"process {self.process_id} on {self.host}, since {self.since}"


class Lease:
    """The lock that a folder stands for.

    Args:
        files: files of the lake.
        folder: where claims are written; nothing else may lie there.
        what: what is locked, for messages.
    """

    def __init__(self, files: Files, folder: str, what: str) -> None:
        self._files = files
        self._folder = folder
        self._what = what
        self._claim: Claim | None = None
        self._beaten_at = 0.0
        self._is_lost = False
        self._released = threading.Event()
        self._returning = threading.Lock()

    @contextmanager
    def held(self, wait_s: float) -> Iterator[None]:
        """Hold the lock.

        Args:
            wait_s: seconds to wait for whoever has it; 0 = not at all.

        Raises:
            LakeError: somebody else has it.
        """
        with storage_errors(self._what):
            self._acquire(wait_s)
        beating = threading.Thread(target=self._beat, daemon=True, name="lease")
        beating.start()
        try:
            yield
        finally:
            self._released.set()
            beating.join()
            self._withdraw()

    def check(self) -> None:
        """Make sure that the lock is still ours.

        Raises:
            LakeError: it may not be: no sign of life could be given for too long, and somebody else may have come.
        """
        if self._is_lost or not self._is_alive_or_returns():
            raise LakeError(
                f"{self._what} could not be reached for more than {_GIVE_UP_S} s, so that another run may have begun: "
                "run it again"
            )

    def _is_alive_or_returns(self) -> bool:
        with self._returning:  # by the run and by what gives the signs of life
            if time.clock_gettime(_BOOT_CLOCK) - self._beaten_at <= _GIVE_UP_S:
                return True
            try:
                return self._returns()
            except Exception as error:  # noqa: BLE001 (whatever it is: that nobody else has come cannot be told)
                log.debug("%s could not be looked at: %s", self._what, error)
                return False

    def _returns(self) -> bool:
        """After a long silence, take up the claim again if nobody else has; tell whether that is so.

        Raises:
            LakeError: the claim is gone: somebody has taken us for dead.
        """
        assert self._claim is not None
        self._others()
        self._write(self._claim)
        deadline = time.monotonic() + BEAT_S
        while others := self._others():
            if any(other.is_held for other in others) or time.monotonic() >= deadline:
                return False
            time.sleep(_TIE_S)  # they are about to find that we are back, or to remove us
        return True

    def _acquire(self, wait_s: float) -> None:
        self._released.clear()
        self._is_lost = False
        patience_until = time.monotonic() + wait_s
        while True:
            self._claim = _own_claim()
            try:
                other = self._announced()
            except BaseException:
                self._withdraw()
                raise
            if other is None:
                return
            if time.monotonic() >= patience_until:
                raise LakeError(
                    f"{self._what} is being written by another run ({other}): wait for its end, or let this one wait "
                    "with lake.lock_wait_s"
                )
            time.sleep(min(_POLL_S, max(0.0, patience_until - time.monotonic())))

    def _announced(self) -> Claim | None:
        """Announce the claim, and look; return None if the lock is ours, else who has it."""
        assert self._claim is not None
        self._write(self._claim)
        while True:
            others = self._others()
            if not others:
                self._write(Claim(**{**asdict(self._claim), "is_held": True}))
                return None
            before = [each for each in others if each.is_held or each.claim_id < self._claim.claim_id]
            if before:
                self._withdraw()
                return before[0]
            time.sleep(_TIE_S)  # they came later, and are about to see it

    def _others(self) -> list[Claim]:
        """Return the claims of others that are alive, and remove the dead ones."""
        assert self._claim is not None
        found = self._files.list(self._folder)
        own = next((each for each in found if each.name == _file_name(self._claim)), None)
        if own is None:
            raise LakeError(f"{self._what}: the storage does not list a file that was just written")
        now_ms = own.modified_ms + 1000 * (time.clock_gettime(_BOOT_CLOCK) - self._beaten_at)
        others = []
        for file in found:
            if file == own or not file.name.endswith(".json") or file.name.startswith((".", "_")):
                continue
            claim = self._read(file)
            if claim is None:
                continue
            if _is_dead(claim, (now_ms - file.modified_ms) / 1000):
                self._files.delete(f"{self._folder}/{file.name}")
            else:
                others.append(claim)
        return others

    def _read(self, file: File) -> Claim | None:
        """Read a claim; None if it is gone by now. One that cannot be read is somebody, as long as it is young."""
        text = self._files.read(f"{self._folder}/{file.name}")
        if text is None:
            return None
        try:
            return Claim(**json.loads(text))
        except (ValueError, TypeError):
            return Claim(file.name.removesuffix(".json"), "?", "?", "", 0, 0, is_held=True)

    def _write(self, claim: Claim) -> None:
        begun_at = time.clock_gettime(_BOOT_CLOCK)
        self._files.write(f"{self._folder}/{_file_name(claim)}", json.dumps(asdict(claim)))
        self._claim = claim
        self._beaten_at = begun_at

    def _beat(self) -> None:
        while not self._released.wait(BEAT_S):
            try:
                self.check()
                assert self._claim is not None
                self._write(self._claim)
                # A sign of life that took very long may have come when we were dead already for somebody else.
                self._is_lost = any(other.is_held and other.claim_id > self._claim.claim_id for other in self._others())
            except LakeError:
                return
            except Exception as error:  # noqa: BLE001 (of whatever kind: it is tried again until it has been too long)
                log.debug("no sign of life could be given: %s", error)

    def _withdraw(self) -> None:
        if self._claim is None:
            return
        try:
            self._files.delete(f"{self._folder}/{_file_name(self._claim)}")
        except Exception as error:  # noqa: BLE001 (what the run ends with matters more; the file grows old by itself)
            log.debug("a lock's file stays behind: %s", error)
        self._claim = None


def _own_claim() -> Claim:
    now = datetime.now(timezone.utc)
    return Claim(
        claim_id=f"{now:%Y%m%dT%H%M%S%f}-{secrets.token_hex(4)}",
        since=now.isoformat(timespec="seconds"),
        host=os.uname().nodename,
        machine=machine(),
        process_id=os.getpid(),
        process_start=process_start(os.getpid()) or 0,
    )


def _file_name(claim: Claim) -> str:
    return f"{claim.claim_id}.json"


def _is_dead(claim: Claim, silent_s: float) -> bool:
    if claim.machine and claim.machine == machine():
        return not is_alive(claim.process_id, claim.process_start)
    return silent_s > SILENCE_S
