"""Writes the pages of `docs/` that are generated: `make docs`."""

from __future__ import annotations

import sys

from docs.generator.pages import FOLDER, pages

for name, make in pages().items():
    (FOLDER / name).write_text(make(), encoding="utf-8")
    sys.stdout.write(f"docs/{name}\n")
