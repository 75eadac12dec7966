"""What `transforms` raise on purpose, with codes that stay the same from release to release.

Errors of jobs, each with an exit code of its own, stand with those codes and have the same root.

A code is what lands in `silver.rejected.reason_code`: an exception's type does not survive the way out of a Spark
worker, and a quality check counts by name. Data never raises beyond the decoder that read it; a source or a
programmer's mistake does.
"""

from __future__ import annotations

from typing import ClassVar


class RebalanceError(Exception):
    """Root of the project's errors."""

    code: ClassVar[str] = "error"


class SourceError(RebalanceError):
    """A source cannot be read; the message says in one sentence what to do about it."""

    code: ClassVar[str] = "source_error"


class LayoutError(RebalanceError, ValueError):
    """A log4j pattern that lines cannot be read by; the text says why."""

    code: ClassVar[str] = "bad_layout"


class LineError(RebalanceError):
    """An entry of a log that does not hold what it should."""

    code: ClassVar[str] = "bad_line"


class NoTimestamp(LineError):
    """Text before the first time stamp of a file."""

    code: ClassVar[str] = "no_timestamp"


class BadRequestLine(LineError):
    """A line of the request log that is broken."""

    code: ClassVar[str] = "bad_request_line"


class RequestWithoutBody(LineError):
    """The request log was not on yet when the request came."""

    code: ClassVar[str] = "request_without_body"


class RequestWithoutAnswer(LineError):
    """The broker closed the connection instead of answering."""

    code: ClassVar[str] = "request_without_answer"


class SettingsError(RebalanceError):
    """A setting, an argument or the ground a job runs on is not as it must be."""

    code: ClassVar[str] = "settings_error"


class QualityError(RebalanceError):
    """A critical check of the quality gate failed."""

    code: ClassVar[str] = "quality_error"


class LakeError(RebalanceError):
    """The lake cannot be read or written."""

    code: ClassVar[str] = "lake_error"


class DecodeError(RebalanceError):
    """Bytes that are not what their layout says.

    Attributes:
        path: names of the fields that lead to the place, outermost first.
    """

    code: ClassVar[str] = "undecodable"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path: list[str] = []

    def within(self, name: str) -> DecodeError:
        """Note one more enclosing field, and return the error itself."""
        self.path.insert(0, name)
        return self

    def __str__(self) -> str:
        place = ".".join(self.path)
        return f"{place}: {self.args[0]}" if place else str(self.args[0])


class BufferUnderflow(DecodeError):
    """The bytes end before the field does."""

    code: ClassVar[str] = "buffer_underflow"


class TrailingBytes(DecodeError):
    """Bytes are left after the last field."""

    code: ClassVar[str] = "trailing_bytes"


class NegativeLength(DecodeError):
    """A length below -1, or a count below 0 where null is not a count."""

    code: ClassVar[str] = "negative_length"


class UnexpectedNull(DecodeError):
    """Null in a field that cannot be null."""

    code: ClassVar[str] = "unexpected_null"


class InvalidUtf8(DecodeError):
    """A string that is not UTF-8; brokers only write valid text, so the bytes are damaged."""

    code: ClassVar[str] = "invalid_utf8"


class MalformedVarint(DecodeError):
    """A variable-length integer of more than five bytes, or of more than 32 bits."""

    code: ClassVar[str] = "malformed_varint"


class UnsupportedVersion(DecodeError):
    """A value version that cannot be read, not even as the highest known one (KIP-915)."""

    code: ClassVar[str] = "unsupported_version"


class AmbiguousLayout(DecodeError):
    """A value that two releases could have written, each in its own layout, under one version."""

    code: ClassVar[str] = "ambiguous_layout"


class UnknownRecordType(DecodeError):
    """A key that begins with a number no known release uses; coordinators skip such records (KIP-915)."""

    code: ClassVar[str] = "unknown_record_type"


class NullKey(DecodeError):
    """A record without a key."""

    code: ClassVar[str] = "null_key"


class MarkerKey(DecodeError):
    """The key of a transaction marker in what came as plain data."""

    code: ClassVar[str] = "marker_key"


class BatchError(DecodeError):
    """A record batch of a segment file that cannot be read."""

    code: ClassVar[str] = "corrupt_batch"


class TruncatedBatch(BatchError):
    """The file ends before the batch does."""

    code: ClassVar[str] = "truncated_batch"


class ChecksumMismatch(BatchError):
    """The batch's bytes do not have the checksum in its header."""

    code: ClassVar[str] = "checksum_mismatch"


class OversizedBatch(BatchError):
    """The batch is, or inflates to, more bytes than the limit."""

    code: ClassVar[str] = "oversized_batch"


class UnknownControlType(BatchError):
    """A control record that is neither a commit nor an abort marker."""

    code: ClassVar[str] = "unknown_control_type"
