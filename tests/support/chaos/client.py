"""A raw client: sends the requests of a group's member and notes what it sent and was answered."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from random import Random
from typing import Any

from schemas.kafka_errors import error_name
from tests.support.chaos.cluster import Cluster
from tests.support.chaos.connection import Body, Connection, some_version
from tests.support.chaos.contents import partitions_of
from tests.support.chaos.notes import Notes

FIRST_WITH_INSTANCE = {"JoinGroup": 5, "SyncGroup": 3, "Heartbeat": 3, "OffsetCommit": 7, "LeaveGroup": 3}
FIRST_WITH_PROTOCOL = 5
FIRST_WITH_LIST_OF_LEAVERS = 3
NO_RETENTION = -1
NO_EPOCH = -1
NO_TIMEOUT = -1
NO_COORDINATOR = ("NOT_COORDINATOR", "COORDINATOR_NOT_AVAILABLE", "COORDINATOR_LOAD_IN_PROGRESS")
_OF_EPOCHS = (
    "instanceId",
    "rackId",
    "subscribedTopicNames",
    "subscribedTopicRegex",
    "serverAssignor",
    "topicPartitions",
)
"""Fields of a ConsumerGroupHeartbeat that are null where nothing has changed."""

Leaver = tuple[str, str | None]
"""Member id and instance id."""


class Client:
    """Requests of one client to one group; every method is one request and returns its answer.

    Attributes:
        name: the client id.
        versions: versions that the broker serves.
        chance: chooses versions.
    """

    def __init__(self, cluster: Cluster, notes: Notes, group: str, name: str, chance: Random) -> None:
        self.name = name
        self.versions = cluster.versions
        self.chance = chance
        self._notes = notes
        self._cluster = cluster
        self._group = group
        self._connections: list[Connection] = []

    def knows_instances(self) -> bool:
        """Whether the broker has static members at all."""
        return all(self.versions[api][1] >= first for api, first in FIRST_WITH_INSTANCE.items() if api != "LeaveGroup")

    def hang_up(self) -> None:
        """Close the connections on which nothing is outstanding; the others stay until their answers come."""
        for connection in self._connections:
            if not connection.is_waiting:
                connection.close()
        self._connections = [connection for connection in self._connections if connection.is_waiting]

    async def join(
        self,
        member_id: str,
        instance: str | None,
        protocols: Mapping[str, bytes],
        timeouts: tuple[int, int],
        version: int,
        protocol_type: str = "consumer",
    ) -> Body:
        """Send JoinGroup; timeouts are those of session and rebalance, in ms."""
        instance = instance if version >= FIRST_WITH_INSTANCE["JoinGroup"] else None
        body = {
            "sessionTimeoutMs": timeouts[0],
            "rebalanceTimeoutMs": timeouts[1],
            "memberId": member_id,
            "groupInstanceId": instance,
            "protocolType": protocol_type,
            "protocols": [{"name": name, "metadata": metadata} for name, metadata in protocols.items()],
            "reason": "chaos" if self.chance.random() < 0.5 else None,
        }
        answer, began, ended = await self._ask("JoinGroup", version, body)
        self._note(
            "JoinGroup",
            began,
            ended,
            answer["errorCode"],
            member_in=member_id,
            member=answer["memberId"],
            generation=answer["generationId"],
            leader=answer["leader"],
            protocol=answer["protocolName"],
            instance=instance,
            members=[member["memberId"] for member in answer["members"]],
            version=version,
        )
        return answer

    async def sync(
        self,
        member_id: str,
        instance: str | None,
        generation: int,
        assignments: Mapping[str, bytes],
        protocol: str | None,
        is_leader: bool,
    ) -> Body:
        """Send SyncGroup."""
        version = self._version("SyncGroup", instance)
        body = {
            "generationId": generation,
            "memberId": member_id,
            "groupInstanceId": instance,
            "protocolType": None if protocol is None else "consumer",
            "protocolName": protocol,
            "assignments": [{"memberId": each, "assignment": raw} for each, raw in assignments.items()],
        }
        answer, began, ended = await self._ask("SyncGroup", version, body)
        self._note(
            "SyncGroup",
            began,
            ended,
            answer["errorCode"],
            member=member_id,
            generation=generation,
            leader=is_leader,
            assignment=partitions_of(answer["assignment"]),
        )
        return answer

    async def heartbeat(self, member_id: str, instance: str | None, generation: int, **said: Any) -> int:
        """Send Heartbeat; return the error."""
        body = {"generationId": generation, "memberId": member_id, "groupInstanceId": instance}
        answer, began, ended = await self._ask("Heartbeat", self._version("Heartbeat", instance), body)
        self._note("Heartbeat", began, ended, answer["errorCode"], member=member_id, generation=generation, **said)
        return answer["errorCode"]

    async def commit(
        self,
        member_id: str,
        instance: str | None,
        generation: int,
        offsets: Mapping[tuple[str, int], int],
        metadata: str = "",
    ) -> int:
        """Send OffsetCommit; return the first error."""
        topics: dict[str, list[Body]] = {}
        for (topic, partition), offset in offsets.items():
            topics.setdefault(topic, []).append(
                {
                    "partitionIndex": partition,
                    "committedOffset": offset,
                    "committedLeaderEpoch": NO_EPOCH,
                    "committedMetadata": metadata,
                }
            )
        body = {
            "generationId": generation,
            "memberId": member_id,
            "groupInstanceId": instance,
            "retentionTimeMs": NO_RETENTION,
            "topics": [{"name": topic, "partitions": partitions} for topic, partitions in topics.items()],
        }
        answer, began, ended = await self._ask("OffsetCommit", self._version("OffsetCommit", instance), body)
        errors = [each["errorCode"] for topic in answer["topics"] for each in topic["partitions"]]
        error = next((error for error in errors if error), 0)
        said = {f"{topic}-{partition}": offset for (topic, partition), offset in offsets.items()}
        self._note("OffsetCommit", began, ended, error, member=member_id, generation=generation, offsets=said)
        return error

    async def leave(self, leavers: Iterable[Leaver]) -> list[int]:
        """Send LeaveGroup, or several where the broker takes one member a request; return their errors."""
        leaving = list(leavers)
        is_single = len(leaving) == 1 and leaving[0][1] is None
        version = some_version(self.versions, "LeaveGroup", self.chance, 0 if is_single else FIRST_WITH_LIST_OF_LEAVERS)
        if version >= FIRST_WITH_LIST_OF_LEAVERS:
            return await self._leave(leaving, version)
        return [error for each in leaving for error in await self._leave([each], version)]

    async def epoch_heartbeat(self, version: int, fields: Body) -> Body:
        """Send ConsumerGroupHeartbeat; fields that are not given are null, or -1."""
        body = {**dict.fromkeys(_OF_EPOCHS), "rebalanceTimeoutMs": NO_TIMEOUT, **fields}
        answer, began, ended = await self._ask("ConsumerGroupHeartbeat", version, body)
        self._note(
            "ConsumerGroupHeartbeat",
            began,
            ended,
            answer["errorCode"],
            member_in=body["memberId"],
            member=answer["memberId"],
            epoch_in=body["memberEpoch"],
            epoch=answer["memberEpoch"],
            instance=body["instanceId"],
            owned=body["topicPartitions"],
            assignment=answer["assignment"],
            error_message=answer["errorMessage"],
            version=version,
        )
        return answer

    async def beat(self, api: str, version: int, body: Body) -> Body:
        """Send a heartbeat of a share or streams group, of which all fields are given."""
        answer, began, ended = await self._ask(api, version, body)
        answered = {
            name: each for name, each in answer.items() if name.endswith(("assignment", "Tasks", "errorMessage"))
        }
        said = {"member_in": body["memberId"], "epoch_in": body["memberEpoch"], "version": version, "body": body}
        told = {"member": answer["memberId"], "epoch": answer["memberEpoch"], "answer": answered}
        self._note(api, began, ended, answer["errorCode"], **said, **told)
        return answer

    async def delete(self, group: str) -> int:
        """Send DeleteGroups; return the error."""
        began = time.time()
        self._notes.note("_delete_group", began, group=group)
        version = some_version(self.versions, "DeleteGroups", self.chance)
        answer = await self._answered("DeleteGroups", version, {"groupsNames": [group]})
        return answer["results"][0]["errorCode"]

    def note_end(self) -> None:
        """Note that a member went."""
        self._notes.note("_end", time.time(), group=self._group, name=self.name)

    async def _leave(self, leaving: list[Leaver], version: int) -> list[int]:
        members = [{"memberId": member, "groupInstanceId": instance, "reason": None} for member, instance in leaving]
        body = {"memberId": leaving[0][0], "members": members}
        answer, began, ended = await self._ask("LeaveGroup", version, body)
        errors = [member["errorCode"] for member in answer.get("members") or []] or [answer["errorCode"]]
        error = answer["errorCode"] or next((error for error in errors if error), 0)
        self._note("LeaveGroup", began, ended, error, member=[member for member, _ in leaving], member_errors=errors)
        return errors

    def _version(self, api: str, instance: str | None) -> int:
        return some_version(self.versions, api, self.chance, FIRST_WITH_INSTANCE[api] if instance else 0)

    async def _ask(self, api: str, version: int, body: Body) -> tuple[Body, float, float]:
        began = time.time()
        answer = await self._answered(api, version, {"groupId": self._group, **body})
        return answer, began, time.time()

    async def _answered(self, api: str, version: int, body: Body) -> Body:
        """Ask the coordinator; one that is gone is looked for anew before the next request."""
        try:
            return await (await self._free()).ask(api, version, body)
        except ConnectionError:
            self.hang_up()
            raise

    async def _free(self) -> Connection:
        """Return a connection on which nothing is outstanding."""
        for connection in self._connections:
            if not connection.is_waiting:
                return connection
        if self._connections:
            server = self._connections[-1].server
        else:
            server = await self._cluster.coordinator(self._group, self.name, self.chance)
        self._connections.append(Connection(server, self.name))
        return self._connections[-1]

    def _note(self, api: str, began: float, ended: float, error: int, **said: Any) -> None:
        """Note a request and its answer; one that says who is no coordinator has that looked for, too."""
        if error_name(error) in NO_COORDINATOR:
            self.hang_up()
        self._notes.note(api, began, ended, group=self._group, name=self.name, error=error, **said)
