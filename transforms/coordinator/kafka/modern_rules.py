"""What the releases of Kafka do differently with consumer, share and streams groups, as one table.

The machines do as the last release that was read does, and ask here where an earlier one did otherwise. Each line was
read in the sources of the group coordinator 3.7.0, 3.8.0, 3.9.0, 4.0.0, 4.1.0 and 4.2.0, on both sides of it, in what
it names, and of their patch releases up to 3.9.1, 4.0.2, 4.1.2 and 4.2.1. How records are laid out is in
`schemas.records`, which lines there are and in which words in `transforms.loglines.broker.java_modern`.

| | 3.7 | 3.8, 3.9 | 4.0 | 4.1 | 4.2 |
|---|---|---|---|---|---|
| consumer groups | early access | preview | yes | yes | yes |
| share groups | no | early access, targets kept in memory (3.9) | early access | preview | yes |
| streams groups | no | no | no | early access | yes |
"""

from __future__ import annotations

from transforms.coordinator.kafka.rules import OfRelease, Rule


class ModernRules(OfRelease, frozen=True, dict=True, array_like=True):
    """The rules for groups of epochs that hold at a broker."""

    # --- heartbeats --------------------------------------------------------------------------------------------

    lets_rejoin = Rule((4, 2))
    """A member that is there may join again, with epoch 0, whatever its epoch is; before, only a consumer group's
    member that gives an instance id which nobody has (throwIf…GroupMemberEpochIsInvalid)."""

    joins_by_regex = Rule((4, 0))
    """Who joins a consumer group has to give names or a regular expression, be there none of them; before, at least
    one name (throwIfConsumerGroupHeartbeatRequestIsInvalid)."""

    leaves_for_a_while_nameless = Rule((4, 0))
    """Whether the member is named that leaves for a while is not looked at beforehand (likewise)."""

    replaces_classic_instances = Rule((4, 0))
    """A joiner takes the place of a member of the classic protocol that has its instance id, which need not have left
    for a while (getOrMaybeSubscribeStaticConsumerGroupMember)."""

    heirs_have_no_target = Rule(until=(3, 9))
    """A member that takes its instance's place has no target until one is computed, which is done at once and without a
    new epoch (consumerGroupHeartbeat)."""

    keeps_failed_joiners = Rule(until=(3, 8))
    """A new member is put into the coordinator's memory before anything else is done for it: it stays there, without a
    record, if the join then fails (ConsumerGroup.getOrMaybeCreateMember)."""

    tells_owners = Rule(until=(3, 8))
    """Whoever says what it owns is told what it may use; since, who says all else too (consumerGroupHeartbeat)."""

    reconciles_by_targets = Rule(until=(3, 8))
    """Members stand by the epoch of the target that they are led to, of which they keep what they wait for; a group is
    Stable though a member has left it for a while (CurrentAssignmentBuilder, ConsumerGroup.maybeUpdateGroupState)."""

    reconciles_by_subscription = Rule((4, 2))
    """Members are given nothing that they do not subscribe to, and lose it as soon as they say so; what they give up
    themselves skips no epoch (CurrentAssignmentBuilder)."""

    awaits_others_alone = Rule((4, 1, 2), taken_back=((4, 0, 2), (4, 1)))
    """What a member is still to give up itself does not hinder it from having that (CurrentAssignmentBuilder)."""

    # --- subscriptions and targets -----------------------------------------------------------------------------

    bumps_for_dropped_regex = Rule((4, 1, 2))
    """A member that gives up its regular expression bumps the epoch (maybeUpdateRegularExpressions)."""

    drops_regex_of_classic = Rule((4, 1, 2), taken_back=((4, 0, 2), (4, 1)))
    """Who joins by the classic protocol has no regular expression any more, and bumps the epoch by losing one
    (classicGroupJoinToConsumerGroup)."""

    refreshes_regexes = Rule((4, 1))
    """Regular expressions are resolved anew after group.consumer.regex.refresh.interval.ms too; before, where topics
    were created (maybeUpdateRegularExpressions)."""

    hashes_topics = Rule((4, 1))
    """The group's record has a hash of its topics; before, a record of its own lists them (KIP-1101)."""

    passes_extra_on = Rule((4, 0, 1))
    """A member that has no use for one partition more than the others passes it on
    (UniformHomogeneousAssignmentBuilder; 4.0.0 and 4.0.1 were run)."""

    assigns_without_racks = Rule((3, 8))
    """Where all subscribe alike, the uniform assignor looks at counts and at what was had alone
    (UniformHomogeneousAssignmentBuilder; before, OptimizedUniformAssignmentBuilder)."""

    needs_topics = Rule(until=(3, 8))
    """The uniform assignor fails, and with it the request, where one member subscribes to no topic that there is, and
    another to some (GeneralUniformAssignmentBuilder)."""

    balances_by_level = Rule((4, 0))
    """Subscriptions that differ are balanced topic by topic, in levels; before, partition by partition, which may fail
    (UniformHeterogeneousAssignmentBuilder)."""

    assigns_plain_ranges = Rule((3, 9))
    """Ranges are given whatever was had before (RangeAssignor)."""

    # --- offsets -----------------------------------------------------------------------------------------------

    needs_new_commits = Rule((3, 8))
    """Members of the consumer protocol commit by OffsetCommit 9 and later; before, an older one is let in too, unless
    the epoch is another one (ConsumerGroup.validateOffsetCommit, OffsetMetadataManager)."""

    lets_nobody_commit = Rule((4, 0))
    """A transaction may commit for a consumer group without being a member (ConsumerGroup.validateOffsetCommit)."""

    lets_old_epochs_commit = Rule((4, 2))
    """A member of a streams group may commit with an older epoch, for tasks that it has had since then
    (StreamsGroup.validateOffsetCommit)."""

    # --- classic members, conversions --------------------------------------------------------------------------

    converts = Rule((3, 8))
    """Classic groups and consumer groups are converted into each other, and members of the classic protocol live in
    consumer groups; before, every request of the other protocol is refused (getOrMaybeCreateConsumerGroup)."""

    converts_by_default = Rule((4, 0))
    """group.consumer.migration.policy is bidirectional; before, disabled."""

    converts_unassigned = Rule((4, 0))
    """Members that were given no assignment yet can be converted, once an assignor was elected; before, the conversion
    ends with GROUP_ID_NOT_FOUND, when all who waited have been sent back (ConsumerGroup.fromClassicGroup,
    GroupMetadataManager.convertToConsumerGroup; 3.8.1 was run)."""

    refuses_user_data = Rule((4, 0))
    """Members whose assignments have user data, as assignors of one's own and Kafka Streams' give it, cannot be
    converted: it ends as above. Before, the data is lost (ConsumerGroup.fromClassicGroup)."""

    knows_other_types = Rule((4, 0))
    """JoinGroup looks at the type of the group first (classicGroupJoin)."""

    downgrades_by_heirs = Rule((4, 0))
    """A member of the classic protocol that takes the place of the last one of the consumer protocol makes the group a
    classic one (classicGroupJoinToConsumerGroup)."""

    rebalances_for_heirs = Rule((4, 1, 1), taken_back=((4, 0, 2), (4, 1)))
    """If that member subscribes to something else, the classic group rebalances; before, its targets are computed all
    the same, and the group is taken over as it is (classicGroupJoinToConsumerGroup, convertToClassicGroup)."""

    upgrades_with_topics = Rule((4, 0, 1))
    """A classic group that becomes a consumer group knows its topics at once; before, from the next look at them on,
    which bumps the epoch (ConsumerGroup.fromClassicGroup)."""

    removes_any_member = Rule((4, 0))
    """LeaveGroup removes members of either protocol; before, those of the classic one
    (classicGroupLeaveToConsumerGroup)."""

    lets_leave_twice = Rule((4, 0))
    """LeaveGroup may name a member twice; before, the records of its removal are then written twice, of which the
    second fail: nobody leaves and all are answered UNKNOWN_MEMBER_ID, but their timers do not run any more
    (classicGroupLeaveToConsumerGroup, GroupCoordinatorService.leaveGroup; 3.9.1 was run)."""

    converts_empty_streams = Rule((4, 2))
    """Empty classic groups and empty streams groups become each other (getOrCreateStreamsGroup, classicGroupJoin)."""

    # --- share groups ------------------------------------------------------------------------------------------

    keeps_share_targets = Rule((4, 0))
    """Records have what the members of share groups are to have, and have (shareGroupHeartbeat)."""

    fences_old_share_epochs = Rule((4, 0))
    """A member that is more than one epoch behind is fenced (throwIfShareGroupMemberEpochIsInvalid)."""

    needs_share_member_id = Rule((4, 0))
    """Who joins a share group brings its id along (throwIfShareGroupHeartbeatRequestIsInvalid)."""

    tells_share_subscribers = Rule((4, 1))
    """Whoever says what it subscribes to is told what it may use (shareGroupHeartbeat)."""

    initialises_shares = Rule((4, 1))
    """Partitions are given once their share state is there, and spread over the members; before, every member has all
    of its topics (initializedAssignmentPending, SimpleAssignor)."""

    spreads_shares_evenly = Rule((4, 2))
    """The simple assignor was written anew (SimpleAssignor)."""

    # --- streams groups ----------------------------------------------------------------------------------------

    validates_topologies = Rule((4, 2))
    """The group's record has which topology could be run and with which settings; before, only the coordinator knows
    (StreamsGroup.maybeUpdateGroupState)."""

    delays_first_tasks = Rule((4, 2))
    """The first tasks of a group wait for more members, which have epoch 1 meanwhile and the group 2
    (streamsGroupHeartbeat)."""
