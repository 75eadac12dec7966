"""All laws, in the order in which the gate tells of them."""

from __future__ import annotations

from transforms.quality.laws import generations, ownership, paths, references, trust
from transforms.quality.laws.law import Law

_DECLARED = (*ownership.LAWS, *generations.LAWS, *paths.LAWS, *references.LAWS, *trust.LAWS)

LAWS: tuple[Law, ...] = tuple(each for law in _DECLARED for each in law.by_evidence())
