"""What a request would be answered with, without letting it happen."""

from __future__ import annotations

from transforms.coordinator.classic.machine.admission import admit, first_refusal
from transforms.coordinator.classic.machine.events import Event
from transforms.coordinator.classic.machine.group import Group
from transforms.coordinator.classic.machine.transitions import TRANSITIONS
from transforms.coordinator.kafka.answers import Error
from transforms.coordinator.kafka.broker_settings import CoordinatorSettings
from transforms.coordinator.kafka.requests import Request
from transforms.coordinator.kafka.states import COMPLETING, EMPTY


def foresee(group: Group | None, request: Request, settings: CoordinatorSettings) -> Error | None:
    """Return the error a request would be answered with, a LeaveGroup first of all; None if it would be parked.

    The leader's assignment is parked by itself alone, until it is stored.
    """
    if request.api == "LeaveGroup":
        return first_refusal(group, request.leavers, settings)
    judged = admit(group, request, settings)
    if isinstance(judged, Error):
        return judged
    if judged is Event.LEADER_SYNCED and group is not None and group.state is COMPLETING:
        return Error.NONE
    cell = TRANSITIONS.get((group.state if group is not None else EMPTY, judged))
    return cell.answer if cell is not None else None
