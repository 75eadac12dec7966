"""All laws, in the order in which the gate tells of them."""

from __future__ import annotations

from transforms.quality.laws import generations, ownership, paths, references, trust
from transforms.quality.laws.law import Law

LAWS: tuple[Law, ...] = (*ownership.LAWS, *generations.LAWS, *paths.LAWS, *references.LAWS, *trust.LAWS)
