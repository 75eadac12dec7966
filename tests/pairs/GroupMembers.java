import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;

import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.CooperativeStickyAssignor;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.clients.consumer.RoundRobinAssignor;
import org.apache.kafka.clients.consumer.StickyAssignor;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Lets Kafka's own consumers live through a plan, one thread for each life of a member.
 *
 * Arguments: bootstrap servers, moment of the plan's 0 in epoch ms. In, one life a line, separated by tabs:
 * client id, group, topic, instance or "-", session timeout, heartbeat interval, poll interval, assignor, begin, end,
 * "leave" or "crash", stalls of the poll loop as begin:end joined by commas; times in ms of the plan.
 * A crash is a consumer that closes its connections and tells nobody.
 */
public class GroupMembers {
    private static final Map<String, Class<?>> ASSIGNORS = Map.of(
        "range", RangeAssignor.class,
        "roundrobin", RoundRobinAssignor.class,
        "sticky", StickyAssignor.class,
        "cooperative-sticky", CooperativeStickyAssignor.class);
    private static final Duration POLL = Duration.ofMillis(50);

    /** A consumer is made that long before it joins, so that it joins when it should. */
    private static final long AHEAD_MS = 10_000;

    private static long zero;

    public static void main(String[] arguments) throws Exception {
        zero = Long.parseLong(arguments[1]);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        List<Thread> threads = new ArrayList<>();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] life = line.split("\t", -1);
            threads.add(new Thread(() -> live(arguments[0], life)));
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads)
            thread.join();
    }

    private static void live(String servers, String[] life) {
        long begin = Long.parseLong(life[8]);
        long end = Long.parseLong(life[9]);
        sleepUntil(begin - AHEAD_MS);
        KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(properties(servers, life));
        sleepUntil(begin);
        try {
            consumer.subscribe(List.of(life[2]));
            String[] stalls = life[11].isEmpty() ? new String[0] : life[11].split(",");
            int next = 0;
            while (now() < end) {
                consumer.poll(POLL);
                if (next < stalls.length && now() >= Long.parseLong(stalls[next].split(":")[0]))
                    sleepUntil(Long.parseLong(stalls[next++].split(":")[1]));
            }
        } catch (RuntimeException error) {
            System.err.println(life[0] + " in " + life[1] + ": " + error);
        } finally {
            close(consumer, life[10].equals("leave"));
        }
    }

    /** Closes; since 4.1 a method says whether to leave (KIP-1092), before that a setting. */
    @SuppressWarnings({"unchecked", "rawtypes"})
    private static void close(KafkaConsumer<byte[], byte[]> consumer, boolean leaves) {
        try {
            Class<?> options = Class.forName("org.apache.kafka.clients.consumer.CloseOptions");
            Class<Enum> operations = (Class<Enum>) Class.forName(options.getName() + "$GroupMembershipOperation");
            Enum<?> operation = Enum.valueOf(operations, leaves ? "DEFAULT" : "REMAIN_IN_GROUP");
            Object how = options.getMethod("groupMembershipOperation", operations).invoke(null, operation);
            KafkaConsumer.class.getMethod("close", options).invoke(consumer, how);
        } catch (ClassNotFoundException error) {
            consumer.close();
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    private static Properties properties(String servers, String[] life) {
        Properties properties = new Properties();
        properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
        properties.put(ConsumerConfig.CLIENT_ID_CONFIG, life[0]);
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, life[1]);
        if (!life[3].equals("-"))
            properties.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, life[3]);
        properties.put(ConsumerConfig.SESSION_TIMEOUT_MS_CONFIG, life[4]);
        properties.put(ConsumerConfig.HEARTBEAT_INTERVAL_MS_CONFIG, life[5]);
        properties.put(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, life[6]);
        properties.put(ConsumerConfig.PARTITION_ASSIGNMENT_STRATEGY_CONFIG, List.of(ASSIGNORS.get(life[7])));
        properties.put("internal.leave.group.on.close", life[10].equals("leave"));
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        properties.put(ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, 5000);
        properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        return properties;
    }

    private static long now() {
        return System.currentTimeMillis() - zero;
    }

    private static void sleepUntil(long moment) {
        try {
            Thread.sleep(Math.max(0, moment - now()));
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }
}
