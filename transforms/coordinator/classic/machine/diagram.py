"""The state diagram of a classic group, drawn from the state machine's table."""

from __future__ import annotations

from transforms.coordinator.classic.machine.transitions import TRANSITIONS


def mermaid() -> str:
    """Return the changes of state as a Mermaid state diagram, the events that cause each on its arrow."""
    arrows: dict[tuple[str, str], list[str]] = {}
    for (state, event), cell in TRANSITIONS.items():
        if cell.next_state is not None:
            arrows.setdefault((state.value, cell.next_state.value), []).append(event.value)
    lines = ["stateDiagram-v2", "    [*] --> Empty"]
    for (before, after), events in arrows.items():
        lines.append(f"    {before} --> {after}: {', '.join(events)}")
    return "\n".join([*lines, "    Dead --> [*]"])
