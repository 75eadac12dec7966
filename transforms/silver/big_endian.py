"""Integers out of bytes, as a Spark expression.

SQL has no function for it, and the way around, `conv(hex(…), 16, -10)`, takes longer than all else that a commit needs.
Spark's own engine has one, to compare binary columns when it sorts; this makes it a column like any other. It is called
by Catalyst's `StaticInvoke`, which needs the driver's JVM, as every column of a classic session does, but nothing on
the executors that Spark itself does not bring.
"""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext
from pyspark.sql import Column
from pyspark.sql import functions as F

_HOLDER, _METHOD = "org.apache.spark.unsafe.types.ByteArray", "getPrefix"


def leading_int64(raw: Column) -> Column:
    """Read the first eight bytes as one signed number, most significant first.

    Args:
        raw: binary; where it has fewer bytes, zeros take their place.

    Returns:
        A bigint; null for null.
    """
    context = SparkContext._active_spark_context
    assert context is not None, "columns are built within a session"
    jvm: Any = context._jvm
    expressions = jvm.org.apache.spark.sql.classic.ExpressionUtils
    as_seq = jvm.org.apache.spark.api.python.PythonUtils.toSeq
    invoke = jvm.org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke(
        jvm.java.lang.Class.forName(_HOLDER),
        jvm.org.apache.spark.sql.types.DataType.fromDDL("BIGINT"),
        _METHOD,
        as_seq([expressions.expression(raw._jc)]),
        as_seq([]),  # types that the arguments would be cast to
        True,  # null for null
        True,  # so the result can be null
        True,  # the same for the same bytes
        jvm.scala.Option.empty(),
    )
    return Column(expressions.column(invoke))


def bits(number: Column, start: int, size: int) -> Column:
    """Cut bits out of a bigint, the first being the most significant, as a signed number."""
    return F.shiftright(F.shiftleft(number, start) if start else number, 64 - size)
