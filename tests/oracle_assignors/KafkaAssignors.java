import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Assignment;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.GroupSubscription;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor.Subscription;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.Cluster;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;

/**
 * Lets Kafka's own assignors share out the partitions of one group per line.
 *
 * In, separated by tabs: assignor, topics as topic:count joined by commas, then the members in the order of the
 * JoinGroup answer, each as id|instance|topics|owned|generation|user data in hex|rack, "-" for null.
 * Out: member=topic:partition,... separated by tabs, or "!" and the name of the exception.
 */
public class KafkaAssignors {
    private static final Map<String, Supplier<ConsumerPartitionAssignor>> ASSIGNORS = Map.of(
        "range", RangeAssignor::new,
        "roundrobin", RoundRobinAssignor::new,
        "sticky", StickyAssignor::new,
        "cooperative-sticky", CooperativeStickyAssignor::new);

    // Every partition has replicas in the same racks, so that no assignor has a reason to look at racks.
    private static final Node[] REPLICAS = {new Node(0, "a", 9092, "r0"), new Node(1, "b", 9092, "r1")};

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder out = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            out.append(answer(line.split("\t", -1))).append('\n');
        }
        System.out.print(out);
    }

    private static String answer(String[] columns) {
        Map<String, Subscription> subscriptions = new HashMap<>();
        for (int i = 2; i < columns.length; i++) {
            String[] fields = columns[i].split("\\|", -1);
            subscriptions.put(fields[0], subscription(fields));
        }
        try {
            Map<String, Assignment> assignments = ASSIGNORS.get(columns[0]).get()
                .assign(cluster(columns[1]), new GroupSubscription(subscriptions)).groupAssignment();
            return assignments.entrySet().stream()
                .map(e -> e.getKey() + "=" + text(e.getValue().partitions()))
                .collect(Collectors.joining("\t"));
        } catch (RuntimeException | AssertionError e) {
            return "!" + e.getClass().getSimpleName();
        }
    }

    private static Subscription subscription(String[] fields) {
        ByteBuffer userData = fields[5].equals("-") ? null : ByteBuffer.wrap(HexFormat.of().parseHex(fields[5]));
        Subscription subscription = new Subscription(names(fields[2]), userData, partitions(fields[3]),
            Integer.parseInt(fields[4]), nullable(fields[6]));
        subscription.setGroupInstanceId(nullable(fields[1]));
        return subscription;
    }

    private static Cluster cluster(String text) {
        List<PartitionInfo> infos = new ArrayList<>();
        for (TopicPartition count : partitions(text)) {
            for (int i = 0; i < count.partition(); i++) {
                infos.add(new PartitionInfo(count.topic(), i, REPLICAS[0], REPLICAS, REPLICAS));
            }
        }
        return new Cluster("c", Arrays.asList(REPLICAS), infos, Collections.emptySet(), Collections.emptySet());
    }

    private static Optional<String> nullable(String text) {
        return text.equals("-") ? Optional.empty() : Optional.of(text);
    }

    private static List<String> names(String text) {
        return text.isEmpty() ? List.of() : Arrays.asList(text.split(","));
    }

    private static List<TopicPartition> partitions(String text) {
        return names(text).stream().map(name -> {
            int colon = name.lastIndexOf(':');
            return new TopicPartition(name.substring(0, colon), Integer.parseInt(name.substring(colon + 1)));
        }).collect(Collectors.toList());
    }

    private static String text(List<TopicPartition> partitions) {
        return partitions.stream().map(p -> p.topic() + ":" + p.partition()).collect(Collectors.joining(","));
    }
}
