"""What the classes of a release can log, by their byte code: formats as they stand there, spaces aside."""

from __future__ import annotations

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

GAP = "{}"
"""Stands where a value comes in."""

_CLASS_FILE = re.compile(r"^Classfile ", re.MULTILINE)
_METHOD = re.compile(r"^  (?:[a-z]+ )*([\w.$\[\]<>]+) ([\w$]+)\(.*\)(?: throws .*)?;$")
_STRING = re.compile(r"ldc(?:_w)?\s+#\d+\s+// String(.*)$")
_JOINED = re.compile(r"InvokeDynamic #(\d+):makeConcatWithConstants")
_RECIPE = re.compile(r"^\s+(\d+): #\d+ REF_invokeStatic .*\n\s+Method arguments:\n\s+#\d+ (.*)$", re.MULTILINE)
_LOGGER = re.compile(r"(?:getfield|getstatic|invoke\w+) .*Lorg/slf4j/Logger;$")
_LOGGED = re.compile(r"org/slf4j/Logger\.(?:error|warn|info|debug):\(Ljava/lang/String;")
_LAMBDA = "$anonfun$"


def can_read_classes() -> bool:
    """Whether there is a JDK: a runtime alone has no disassembler."""
    return shutil.which("javap") is not None


def formats(jars: Path, class_names: list[str], left_out: frozenset[str]) -> set[str]:
    """Return what some classes, and those within them, can log.

    Args:
        jars: a folder with the release's jars.
        class_names: the classes; those that are not in these jars are none of the release.
        left_out: inner classes that log by a name of their own.
    """
    paths = {name.replace(".", "/") for name in class_names}
    found = set[str]()
    for jar in jars.glob("*.jar"):
        with ZipFile(jar) as packed, tempfile.TemporaryDirectory() as folder:
            files = [name for name in packed.namelist() if name.split("$")[0].removesuffix(".class") in paths]
            files = [name for name in files if not any(each in name for each in left_out)]
            if not files:
                continue
            packed.extractall(folder, files)
            told = subprocess.run(
                ["javap", "-c", "-p", "-v", *(f"{folder}/{name}" for name in files)],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
        for text in _CLASS_FILE.split(told.stdout):
            found |= {_readable(each) for each in _of_class(text)}
    return found


def _of_class(text: str) -> Iterator[str]:
    """Yield the first string that each call of a logger is given, and what Scala's lambdas make for theirs."""
    recipes = {number: recipe.replace("\\u0001", GAP) for number, recipe in _RECIPE.findall(text)}
    given, is_lambda, parts = list[str](), False, _Parts()
    for line in text.splitlines():
        if method := _METHOD.match(line):
            is_lambda = method[1] == "java.lang.String" and _LAMBDA in method[2]
            given, parts = [], _Parts(is_joined=is_lambda)
        elif _LOGGER.search(line):
            given = []
        elif joined := _JOINED.search(line):
            given.append(recipes[joined[1]])
        elif is_lambda and line.endswith("areturn"):
            yield given[0] if given else parts.text
        elif parts.take(line):
            if parts.text and not is_lambda:
                given.append(parts.text)
                parts.text = ""
        elif given and _LOGGED.search(line):
            yield given[0]
            given = []


class _Parts:
    """The string that is being put together.

    Args:
        is_joined: it is so until the method returns, whatever builders that takes.
    """

    def __init__(self, is_joined: bool = False) -> None:
        self.text = ""
        self._parts: list[str] | None = [] if is_joined else None
        self._is_joined = is_joined
        self._is_given = False

    def take(self, line: str) -> bool:
        """Take an instruction; return whether it has to do with strings. `text` is what was put together by it."""
        if string := _STRING.search(line):
            self._take_constant(string[1])
        elif " new " in line and line.endswith("java/lang/StringBuilder"):
            self._parts = self._parts if self._is_joined else []
        elif ".mkString:" in line and self._parts:
            self._parts[-1] = GAP
        elif "StringBuilder.append:" in line and self._parts is not None:
            self._parts += [] if self._is_given else [GAP]
            self._is_given = False
        elif "StringBuilder.toString:" in line and self._parts is not None and not self._is_joined:
            self.text, self._parts = "".join(self._parts), None
        else:
            return False
        if self._is_joined:
            self.text = "".join(self._parts or ())
        return True

    def _take_constant(self, constant: str) -> None:
        if self._parts is None:
            self.text = constant
        else:
            self._parts.append(constant)
            self.text, self._is_given = "", True


def _readable(text: str) -> str:
    return re.sub(r"%[sd]", GAP, text.replace("\\'", "'").replace('\\"', '"'))


def fits(line: str, text: str) -> bool:
    """Tell whether a line can be of a format; the disassembler has no spaces at the ends of strings."""
    pattern = ".*".join(re.escape("".join(part.split())) for part in text.split(GAP))
    return re.fullmatch(pattern, "".join(line.split())) is not None
