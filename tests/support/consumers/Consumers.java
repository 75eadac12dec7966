import java.io.BufferedReader;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.InputStreamReader;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;

import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.MemberAssignment;
import org.apache.kafka.clients.admin.MemberDescription;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ByteBufferAccessor;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ConsumerGroupHeartbeatRequest;
import org.apache.kafka.common.requests.RequestHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Kafka's own consumers of the consumer protocol (KIP-848), led from outside, and an admin client that describes groups.
 *
 * Argument: bootstrap server. In, one command a line, its words separated by tabs; out, one JSON value a line:
 * <pre>
 * start CLIENT GROUP TOPIC INSTANCE POLL_MS   a consumer that subscribes and polls; instance "-" = none
 * member CLIENT                               its member id and epoch
 * stall CLIENT MS                             its application does not poll for so long
 * commit CLIENT                               offset 1 of each of its partitions; "" or the exception's name
 * close CLIENT                                it leaves
 * describe GROUP                              the group as the broker describes it now, or why it does not
 * topic TOPIC                                 its name and id
 * beat GROUP MEMBER EPOCH INSTANCE TOPICS     one heartbeat in the name of a member, without its client; the error;
 *                                             instance "-" = none, topics "-" = as before, else with commas between
 * </pre>
 */
public class Consumers {
    private static final short BEAT_VERSION = 1;
    private static final int POLL_MS = 50;
    private static final Map<String, Life> LIVES = new HashMap<>();
    private static String server;
    private static Admin admin;

    public static void main(String[] arguments) throws Exception {
        server = arguments[0];
        admin = Admin.create(Map.of("bootstrap.servers", server));
        ObjectMapper json = new ObjectMapper();
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        try {
            for (String line = lines.readLine(); line != null; line = lines.readLine())
                System.out.println(json.writeValueAsString(answer(line.split("\t", -1))));
        } catch (Exception error) {
            error.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }

    private static Object answer(String[] words) throws Exception {
        switch (words[0]) {
            case "start":
                Life life = new Life(words);
                LIVES.put(words[1], life);
                life.start();
                return "";
            case "member":
                return LIVES.get(words[1]).ask(c -> List.of(c.groupMetadata().memberId(), c.groupMetadata().generationId()));
            case "stall":
                LIVES.get(words[1]).tell(c -> {
                    Thread.sleep(Long.parseLong(words[2]));
                    return "";
                });
                return "";
            case "commit":
                return LIVES.get(words[1]).ask(Consumers::commit);
            case "close":
                return LIVES.remove(words[1]).end();
            case "describe":
                return described(words[1]);
            case "topic":
                Uuid id = admin.describeTopics(List.of(words[1])).allTopicNames().get().get(words[1]).topicId();
                return Map.of("api", "_topic", "topic", words[1], "topic_id", id.toString());
            case "beat":
                return beat(words);
            default:
                throw new IllegalArgumentException(words[0]);
        }
    }

    private interface Act {
        Object on(KafkaConsumer<byte[], byte[]> consumer) throws Exception;
    }

    /** A consumer, and the thread that polls; whatever else is done with the consumer is done in between. */
    private static class Life extends Thread {
        private final KafkaConsumer<byte[], byte[]> consumer;
        private final BlockingQueue<FutureTask<Object>> acts = new LinkedBlockingQueue<>();
        private volatile boolean ends;

        Life(String[] words) {
            consumer = new KafkaConsumer<>(properties(words));
            consumer.subscribe(List.of(words[3]));
        }

        FutureTask<Object> tell(Act act) {
            FutureTask<Object> task = new FutureTask<>((Callable<Object>) () -> act.on(consumer));
            acts.add(task);
            return task;
        }

        Object ask(Act act) throws Exception {
            return tell(act).get();
        }

        Object end() throws InterruptedException {
            ends = true;
            join();
            return "";
        }

        @Override
        public void run() {
            while (!ends) {
                try {
                    consumer.poll(Duration.ofMillis(POLL_MS));
                } catch (RuntimeException error) {
                    System.err.println(error);
                    ends = true;
                }
                for (FutureTask<Object> task = acts.poll(); task != null; task = acts.poll())
                    task.run();
            }
            consumer.close();
        }
    }

    private static Properties properties(String[] words) {
        Properties properties = new Properties();
        properties.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, server);
        properties.put(ConsumerConfig.GROUP_PROTOCOL_CONFIG, "consumer");
        properties.put(ConsumerConfig.CLIENT_ID_CONFIG, words[1]);
        properties.put(ConsumerConfig.GROUP_ID_CONFIG, words[2]);
        if (!words[4].equals("-"))
            properties.put(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG, words[4]);
        properties.put(ConsumerConfig.MAX_POLL_INTERVAL_MS_CONFIG, words[5]);
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, false);
        properties.put(ConsumerConfig.KEY_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        properties.put(ConsumerConfig.VALUE_DESERIALIZER_CLASS_CONFIG, ByteArrayDeserializer.class);
        return properties;
    }

    private static Object commit(KafkaConsumer<byte[], byte[]> consumer) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        consumer.assignment().forEach(partition -> offsets.put(partition, new OffsetAndMetadata(1)));
        try {
            consumer.commitSync(offsets);
            return "";
        } catch (RuntimeException error) {
            return error.getClass().getSimpleName();
        }
    }

    private static Object described(String group) throws Exception {
        double since = System.currentTimeMillis() / 1000.0;
        ConsumerGroupDescription told;
        try {
            told = admin.describeConsumerGroups(List.of(group)).all().get().get(group);
        } catch (ExecutionException error) {
            return Map.of("error", error.getCause().getClass().getSimpleName());
        }
        Map<String, Object> members = new TreeMap<>();
        for (MemberDescription member : told.members()) {
            Map<String, Object> fields = new TreeMap<>();
            fields.put("client", member.clientId());
            fields.put("host", member.host());
            fields.put("instance", member.groupInstanceId().orElse(null));
            fields.put("epoch", member.memberEpoch().orElse(null));
            fields.put("parts", parts(Optional.of(member.assignment())));
            fields.put("target", parts(member.targetAssignment()));
            members.put(member.consumerId(), fields);
        }
        Map<String, Object> line = new TreeMap<>();
        line.put("api", "_describe");
        line.put("error", 0);
        line.put("group", group);
        line.put("gtype", told.type().name());
        line.put("state", told.groupState().name());
        line.put("epoch", told.groupEpoch().orElse(null));
        line.put("assignment_epoch", told.targetAssignmentEpoch().orElse(null));
        line.put("assignor", told.partitionAssignor());
        line.put("members", members);
        line.put("t0", since);
        line.put("t1", System.currentTimeMillis() / 1000.0);
        return line;
    }

    private static Object parts(Optional<MemberAssignment> assignment) {
        return assignment.stream().flatMap(of -> of.topicPartitions().stream()).map(Object::toString).sorted().toArray();
    }

    private static Object beat(String[] words) throws Exception {
        ConsumerGroupHeartbeatRequestData data = new ConsumerGroupHeartbeatRequestData()
            .setGroupId(words[1])
            .setMemberId(words[2])
            .setMemberEpoch(Integer.parseInt(words[3]))
            .setInstanceId(words[4].equals("-") ? null : words[4]);
        if (!words[5].equals("-"))
            data.setSubscribedTopicNames(Arrays.asList(words[5].split(",")));
        if (data.memberEpoch() == 0)
            data.setRebalanceTimeoutMs(60_000).setTopicPartitions(List.of());
        RequestHeader header = new RequestHeader(ApiKeys.CONSUMER_GROUP_HEARTBEAT, BEAT_VERSION, "stranger", 1);
        ByteBuffer request = new ConsumerGroupHeartbeatRequest(data, BEAT_VERSION).serializeWithHeader(header);
        String[] place = server.split(":");
        try (Socket socket = new Socket(place[0], Integer.parseInt(place[1]))) {
            DataOutputStream out = new DataOutputStream(socket.getOutputStream());
            out.writeInt(request.remaining());
            out.write(request.array(), request.position(), request.remaining());
            DataInputStream in = new DataInputStream(socket.getInputStream());
            byte[] response = new byte[in.readInt()];
            in.readFully(response);
            int head = Integer.BYTES + 1; // correlation id, no tagged fields
            ByteBuffer body = ByteBuffer.wrap(response, head, response.length - head);
            short error = new ConsumerGroupHeartbeatResponseData(new ByteBufferAccessor(body), BEAT_VERSION).errorCode();
            return Errors.forCode(error).name();
        }
    }
}
