"""The sticky assignor of streams groups: tasks go back to where they were as far as loads allow, else to the idlest.

Source: StickyTaskAssignor and ProcessState of the group coordinator (4.2).
"""

from __future__ import annotations

from collections.abc import Iterable

from transforms.coordinator.assignors.server.tasks import Task, TaskGroup, TaskMember, TasksAssigned
from transforms.coordinator.kafka.java_collections import grown_capacity, table_order
from transforms.coordinator.kafka.java_hashing import string_hash
from transforms.coordinator.kafka.java_queue import PriorityQueue


def assign_sticky_tasks(group: TaskGroup) -> dict[str, TasksAssigned]:
    """Assign all tasks, active ones first, then standby ones to other processes than the active one's."""
    run = _Run(group)
    run.assign_active()
    if group.standby_count > 0:
        run.assign_standby()
    return {
        member.member_id: TasksAssigned(
            run.of(member).active.get(member.member_id, []), run.of(member).standby.get(member.member_id, [])
        )
        for member in group.members
    }


class _Quota:
    """How many tasks a member may have; it sinks as members that have more than their share are full."""

    def __init__(self, tasks: int, members: int) -> None:
        self._tasks, self._members = tasks, members
        self._share()

    def _share(self) -> None:
        self.each = -(-self._tasks // self._members) if self._members else 0

    def took(self, count: int) -> None:
        """Note that a member has got to a number of tasks."""
        if count == self.each:
            self._members -= 1
            self._tasks -= count
            self._share()


class _Process:
    """One process with its members and what was assigned to them."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}
        self.tasks: set[Task] = set()
        self.active: dict[str, list[Task]] = {}
        self.standby: dict[str, list[Task]] = {}
        self._total = 0
        self._by_load: PriorityQueue[list[str | int]] | None = None

    @property
    def load(self) -> float:
        """Tasks per member."""
        return self._total / len(self.counts)

    def give(self, member_id: str, task: Task, is_active: bool) -> int:
        """Give a task to a member; return how many it has then."""
        self._by_load = None
        return self._give(member_id, task, is_active)

    def _give(self, member_id: str, task: Task, is_active: bool) -> int:
        self._total += 1
        self.tasks.add(task)
        (self.active if is_active else self.standby).setdefault(member_id, []).append(task)
        self.counts[member_id] += 1
        return self.counts[member_id]

    def give_to_idlest(self, task: Task, is_active: bool) -> int:
        """Give a task to the member that has the fewest; return how many it has then."""
        if len(self.counts) == 1:
            return self._give(next(iter(self.counts)), task, is_active)
        if self._by_load is None:
            self._by_load = PriorityQueue(lambda entry: int(entry[1]))
            for member_id in table_order(self.counts, string_hash, grown_capacity(len(self.counts))):
                self._by_load.add([member_id, self.counts[member_id]])
        entry = self._by_load.poll()
        assert entry is not None
        entry[1] = self._give(str(entry[0]), task, is_active)
        self._by_load.add(entry)
        return int(entry[1])


class _Run:
    """One run of the assignor."""

    def __init__(self, group: TaskGroup) -> None:
        self._group = group
        self._processes: dict[str, _Process] = {}
        self._was_active: dict[Task, TaskMember] = {}
        self._was_standby: dict[Task, list[TaskMember]] = {}
        for member in group.members:
            self._processes.setdefault(member.process_id, _Process()).counts[member.member_id] = 0
            for subtopology, numbers in member.active.items():
                for number in numbers:
                    self._was_active[subtopology, number] = member
            for subtopology, numbers in member.standby.items():
                for number in numbers:
                    self._was_standby.setdefault((subtopology, number), []).append(member)
        active = sum(group.task_counts.values())
        standby = sum(group.task_counts[each] for each in group.stateful) * group.standby_count
        self._active_quota = _Quota(active, len(group.members))
        self._quota = _Quota(active + standby, len(group.members))

    def of(self, member: TaskMember) -> _Process:
        """Return the process of a member."""
        return self._processes[member.process_id]

    def _tasks(self, subtopologies: Iterable[str]) -> list[Task]:
        return [(each, number) for each in subtopologies for number in range(self._group.task_counts[each])]

    def _by_load(self) -> PriorityQueue[_Process]:
        capacity = grown_capacity(len(self._processes), 1 << max(len(self._group.members) - 1, 0).bit_length())
        queue: PriorityQueue[_Process] = PriorityQueue(lambda process: process.load)
        for process_id in table_order(self._processes, string_hash, capacity):
            queue.add(self._processes[process_id])
        return queue

    # --- active ------------------------------------------------------------------------------------------------

    def assign_active(self) -> None:
        """Assign active tasks: to who had them, to who had their standby, to the idlest."""
        tasks = sorted(self._tasks(self._group.task_counts), key=lambda task: (task[1], task[0]))
        tasks = [task for task in tasks if not self._goes_back(task, self._was_active.get(task))]
        tasks = [task for task in tasks if not self._goes_back(task, self._idlest(task, will_hold=False))]
        queue = self._by_load()
        for task in sorted(tasks):
            process = queue.poll()
            if process is not None:
                self._count_active(process.give_to_idlest(task, is_active=True))
                queue.add(process)

    def _goes_back(self, task: Task, member: TaskMember | None) -> bool:
        if member is None or self.of(member).counts[member.member_id] >= self._active_quota.each:
            return False
        self._count_active(self.of(member).give(member.member_id, task, is_active=True))
        return True

    def _count_active(self, count: int) -> None:
        self._active_quota.took(count)
        self._quota.took(count)

    def _idlest(self, task: Task, will_hold: bool) -> TaskMember | None:
        """Return the least loaded of those that had a task as standby; one whose process has it already is none.

        Only the first of them is refused for that in the end, as Kafka does it.
        """
        members = self._was_standby.get(task)
        if not members:
            return None
        best = members[0]
        load, count = self.of(best).load, self.of(best).counts[best.member_id]
        for member in members[1:]:
            process = self.of(member)
            is_candidate = process.load < load and not (will_hold and task in process.tasks)
            if is_candidate and process.counts[member.member_id] < count:
                best, load, count = member, process.load, process.counts[member.member_id]
        return None if will_hold and task in self.of(members[0]).tasks else best

    # --- standby -----------------------------------------------------------------------------------------------

    def assign_standby(self) -> None:
        """Assign standby tasks: to who had the active task, to who had the standby one, to the idlest."""
        left: list[tuple[Task, int]] = []
        tasks = sorted(self._tasks(self._group.stateful), key=lambda task: (task[1], task[0]), reverse=True)
        for task in tasks:
            for replica in range(self._group.standby_count):
                if not self._stands_by_again(task):
                    left.append((task, self._group.standby_count - replica))
                    break
        queue = self._by_load()
        for task, replicas in sorted(left, reverse=True):
            for _ in range(replicas):
                if not self._stands_by_somewhere(queue, task):
                    break

    def _stands_by_again(self, task: Task) -> bool:
        before = self._was_active.get(task)
        if before is not None and task not in self.of(before).tasks and self._takes_standby(before, task):
            return True
        idlest = self._idlest(task, will_hold=True)
        return idlest is not None and self._takes_standby(idlest, task)

    def _takes_standby(self, member: TaskMember, task: Task) -> bool:
        if self.of(member).counts[member.member_id] >= self._quota.each:
            return False
        self._quota.took(self.of(member).give(member.member_id, task, is_active=False))
        return True

    def _stands_by_somewhere(self, queue: PriorityQueue[_Process], task: Task) -> bool:
        """Give a standby task to the idlest process that has not got it; the others go back where they were."""
        process = queue.poll()
        if process is None:
            return False
        has_found = False
        if task not in process.tasks:
            self._quota.took(process.give_to_idlest(task, is_active=False))
            has_found = True
        elif len(queue):
            has_found = self._stands_by_somewhere(queue, task)
        queue.add(process)
        return has_found
