import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

import org.apache.kafka.common.Uuid;

/**
 * Lets the assignors of a broker share out the partitions of one group per line, whatever release they are of: from
 * release to release the interfaces stand in other packages, so that they are met by their names.
 *
 * In, separated by tabs: assignor; HOMOGENEOUS or HETEROGENEOUS; topics as id:count joined by commas; partitions that
 * may be assigned, as below, "-" for all; racks of partitions as topic:rack+rack/rack;topic:rack; then the members in
 * the order of the map that holds them, each as id|instance|rack|topic ids joined by commas|target, "-" for null.
 * Partitions are topic:number+number;topic:number.
 * Out: member=partitions separated by tabs, or "!" and the name of the exception.
 */
public class ServerAssignors {
    private static final String PLACE = "org.apache.kafka.coordinator.group.assignor.";

    private static class Member {
        String instance;
        String rack;
        Set<Uuid> topics = new LinkedHashSet<>();
        Map<Uuid, Set<Integer>> target;
    }

    public static void main(String[] args) throws Exception {
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        StringBuilder out = new StringBuilder();
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            out.append(answer(line.split("\t", -1))).append('\n');
        }
        System.out.print(out);
    }

    private static String answer(String[] columns) throws Exception {
        Map<Uuid, Integer> counts = new HashMap<>();
        for (String topic : names(columns[2])) {
            int colon = topic.lastIndexOf(':');
            counts.put(Uuid.fromString(topic.substring(0, colon)), Integer.parseInt(topic.substring(colon + 1)));
        }
        Map<Uuid, Set<Integer>> assignable = columns[3].equals("-") ? null : partitions(columns[3]);
        Map<Uuid, String[]> racks = racks(columns[4]);
        Map<String, Member> members = new LinkedHashMap<>();
        for (int i = 5; i < columns.length; i++) {
            String[] fields = columns[i].split("\\|", -1);
            Member member = new Member();
            member.instance = fields[1].equals("-") ? null : fields[1];
            member.rack = fields[2].equals("-") ? null : fields[2];
            names(fields[3]).forEach(id -> member.topics.add(Uuid.fromString(id)));
            member.target = Collections.unmodifiableMap(partitions(fields[4]));
            members.put(fields[0], member);
        }
        String name = Character.toUpperCase(columns[0].charAt(0)) + columns[0].substring(1) + "Assignor";
        Object assignor = Class.forName(PLACE + name).getDeclaredConstructor().newInstance();
        Method assign = Arrays.stream(assignor.getClass().getMethods())
            .filter(method -> method.getName().equals("assign") && !method.isBridge()).findFirst().orElseThrow();
        Class<?>[] types = assign.getParameterTypes();
        Object group = types[0].isInterface()
            ? groupSpec(types[0], columns[1], members, assignable) : assignmentSpec(types[0], members);
        Object describer = proxy(types[1], (method, arguments) -> method.getName().equals("numPartitions")
            ? (Object) counts.getOrDefault(arguments[0], -1) : racksOf(racks.get(arguments[0]), (int) arguments[1]));
        try {
            return text(assign.invoke(assignor, group, describer));
        } catch (InvocationTargetException e) {
            return "!" + e.getCause().getClass().getSimpleName();
        }
    }

    /** What an assignor is given since 3.8. */
    private static Object groupSpec(
        Class<?> type, String subscriptions, Map<String, Member> members, Map<Uuid, Set<Integer>> assignable
    ) throws Exception {
        return proxy(type, (method, arguments) -> {
            switch (method.getName()) {
                case "memberIds":
                    return Collections.unmodifiableSet(members.keySet());
                case "subscriptionType":
                    return constant(method.getReturnType(), subscriptions);
                case "isPartitionAssigned":
                    return members.values().stream()
                        .anyMatch(member -> has(member.target, arguments));
                case "isPartitionAssignable":
                    return assignable == null || has(assignable, arguments);
                case "memberSubscription":
                    return subscription(method.getReturnType(), members.get(arguments[0]));
                default:
                    return proxy(method.getReturnType(), (inner, none) -> members.get(arguments[0]).target);
            }
        });
    }

    private static Object subscription(Class<?> type, Member member) {
        return proxy(type, (method, none) -> {
            switch (method.getName()) {
                case "subscribedTopicIds":
                    return member.topics;
                case "instanceId":
                    return Optional.ofNullable(member.instance);
                default:
                    return Optional.empty();
            }
        });
    }

    /** What an assignor is given in 3.7. */
    private static Object assignmentSpec(Class<?> type, Map<String, Member> members) throws Exception {
        Class<?> one = Class.forName(PLACE + "AssignmentMemberSpec");
        Map<String, Object> specs = new LinkedHashMap<>();
        for (Map.Entry<String, Member> entry : members.entrySet()) {
            Member member = entry.getValue();
            specs.put(entry.getKey(), one.getConstructor(Optional.class, Optional.class, Collection.class, Map.class)
                .newInstance(Optional.ofNullable(member.instance), Optional.ofNullable(member.rack), member.topics, member.target));
        }
        return type.getConstructor(Map.class).newInstance(specs);
    }

    private static Map<Uuid, String[]> racks(String text) {
        Map<Uuid, String[]> found = new HashMap<>();
        for (String topic : text.isEmpty() ? new String[0] : text.split(";")) {
            int colon = topic.lastIndexOf(':');
            found.put(Uuid.fromString(topic.substring(0, colon)), topic.substring(colon + 1).split("/", -1));
        }
        return found;
    }

    private static Set<String> racksOf(String[] partitions, int number) {
        Set<String> racks = new HashSet<>();
        if (partitions != null && !partitions[number].isEmpty()) {
            racks.addAll(Arrays.asList(partitions[number].split("\\+")));
        }
        return racks;
    }

    private static boolean has(Map<Uuid, Set<Integer>> partitions, Object[] partition) {
        return partitions.getOrDefault(partition[0], Set.of()).contains(partition[1]);
    }

    private interface Answer {
        Object to(Method method, Object[] arguments) throws Exception;
    }

    private static Object proxy(Class<?> type, Answer answer) {
        return Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type},
            (self, method, arguments) -> answer.to(method, arguments));
    }

    private static Object constant(Class<?> type, String name) {
        return Arrays.stream(type.getEnumConstants())
            .filter(each -> ((Enum<?>) each).name().equals(name)).findFirst().orElseThrow();
    }

    private static List<String> names(String text) {
        return text.isEmpty() ? List.of() : Arrays.asList(text.split(","));
    }

    private static Map<Uuid, Set<Integer>> partitions(String text) {
        Map<Uuid, Set<Integer>> found = new LinkedHashMap<>();
        for (String topic : text.isEmpty() ? new String[0] : text.split(";")) {
            int colon = topic.lastIndexOf(':');
            Set<Integer> numbers = new LinkedHashSet<>();
            for (String number : topic.substring(colon + 1).split("\\+")) {
                numbers.add(Integer.parseInt(number));
            }
            found.put(Uuid.fromString(topic.substring(0, colon)), numbers);
        }
        return found;
    }

    @SuppressWarnings("unchecked")
    private static String text(Object assignment) throws Exception {
        Map<String, Object> members = (Map<String, Object>) open(assignment, "members");
        StringBuilder out = new StringBuilder();
        for (Map.Entry<String, Object> entry : new TreeMap<>(members).entrySet()) {
            Map<Uuid, Set<Integer>> of = (Map<Uuid, Set<Integer>>) open(entry.getValue(), "partitions", "targetPartitions");
            out.append(out.length() == 0 ? "" : "\t").append(entry.getKey()).append('=').append(
                of.entrySet().stream().filter(each -> !each.getValue().isEmpty())
                    .map(each -> each.getKey() + ":" + new TreeSet<>(each.getValue()).stream()
                        .map(String::valueOf).collect(Collectors.joining("+")))
                    .sorted().collect(Collectors.joining(";")));
        }
        return out.toString();
    }

    private static Object open(Object from, String... names) throws Exception {
        Method found = Arrays.stream(from.getClass().getMethods())
            .filter(method -> Arrays.asList(names).contains(method.getName()) && method.getParameterCount() == 0)
            .findFirst().orElseThrow();
        found.setAccessible(true);
        return found.invoke(from);
    }
}
