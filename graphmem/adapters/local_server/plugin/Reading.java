package graphmem;

import java.lang.reflect.Array;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.neo4j.graphdb.Result;
import org.neo4j.graphdb.Transaction;
import org.neo4j.procedure.Context;

/**
 * What every procedure of the plugin does: check what it is given, run its Cypher in the caller's
 * transaction, and hand on the rows.
 */
public abstract class Reading {
    static final ZonedDateTime BEGINNING = ZonedDateTime.of(1, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);
    static final ZonedDateTime FOREVER =
            ZonedDateTime.of(9999, 12, 31, 23, 59, 59, 999_999_000, ZoneOffset.UTC);

    @Context
    public Transaction tx;

    /** The rows of a query, each made into a record as it is asked for. */
    protected <T> Stream<T> rows(Call call, String text, Function<Map<String, Object>, T> made) {
        Result found = tx.execute(text, call.params);
        return found.stream().map(made).onClose(found::close);
    }

    /**
     * The rows that a second query makes of the only row of a first.
     *
     * @param found the parameter of the second that takes this row
     */
    protected <T> Stream<T> rows(
            Call call, String first, String found, String second, Function<Map<String, Object>, T> made) {
        try (Result row = tx.execute(first, call.params)) {
            call.params.put(found, row.next());
        }
        return rows(call, second, made);
    }

    /**
     * Cypher about the embeddings that the graph is searched by.
     *
     * @param text about those of its first model
     * @param generation asks which they are
     * @param kept finds what a later generation has a number behind
     */
    protected String about(String text, String generation, Pattern kept) {
        try (Result found = tx.execute(generation)) {
            long here = found.hasNext() ? (Long) found.next().get("generation") : 1;
            return here == 1 ? text : kept.matcher(text).replaceAll("$0_" + here);
        }
    }

    static ZonedDateTime now() {
        return ZonedDateTime.now(ZoneOffset.UTC);
    }

    static <T> T or(T value, T otherwise) {
        return value == null ? otherwise : value;
    }

    /** A string that was given; none is empty that may be left out. */
    static String told(String value) {
        return value == null || value.isEmpty() ? null : value;
    }

    static Double number(Object value) {
        return value == null ? null : ((Number) value).doubleValue();
    }

    /** A list, which is an array when it is a property just as it is kept. */
    @SuppressWarnings("unchecked")
    static List<Object> list(Object value) {
        if (value == null || !value.getClass().isArray()) {
            return (List<Object>) value;
        }
        return IntStream.range(0, Array.getLength(value)).mapToObj(i -> Array.get(value, i)).toList();
    }

    @SuppressWarnings("unchecked")
    static Map<String, Object> map(Object value) {
        return (Map<String, Object>) value;
    }

    /** A map of names and values by turns; values may be null. */
    static Map<String, Object> mapOf(Object... pairs) {
        Map<String, Object> made = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            made.put((String) pairs[i], pairs[i + 1]);
        }
        return Collections.unmodifiableMap(made);
    }

    /** What one call was given, checked. What the client sends in one map travels in it, too. */
    protected static final class Call {
        private final String procedure;
        private final Map<String, Object> sized = new HashMap<>();
        private final Map<String, Object> params = new HashMap<>();

        Call(String procedure, String map, String tenant) {
            this.procedure = procedure;
            if (tenant == null || tenant.isBlank()) {
                throw wrong("tenant", "must name a tenant, and is " + (tenant == null ? "null" : "empty"));
            }
            sized.put("tenant", tenant);
            params.put(map, sized);
        }

        void sized(String name, Object value) {
            sized.put(name, fit(name, value));
        }

        void plain(String name, Object value) {
            params.put(name, fit(name, value));
        }

        <T> T must(String name, T value) {
            if (value == null) {
                throw wrong(name, "must be given, and is null");
            }
            return value;
        }

        /** A map that holds all it must. */
        Map<String, Object> whole(String name, Map<String, Object> value, List<String> keys) {
            if (value != null) {
                TreeSet<String> lacking = new TreeSet<>(keys);
                lacking.removeAll(value.keySet());
                if (!lacking.isEmpty()) {
                    throw wrong(name, "lacks " + String.join(", ", lacking));
                }
            }
            return value;
        }

        /** A map completed by another, of whose keys it may have any, and no other unless it is open. */
        Map<String, Object> completed(
                String name, Map<String, Object> value, Map<String, Object> by, boolean open) {
            if (value == null) {
                return by;
            }
            TreeSet<String> unknown = new TreeSet<>(value.keySet());
            unknown.removeAll(by.keySet());
            if (!open && !unknown.isEmpty()) {
                throw wrong(
                        name,
                        "has no " + String.join(", ", unknown) + "; it holds " + String.join(", ", by.keySet()));
            }
            Map<String, Object> made = new HashMap<>(by);
            made.putAll(value);
            return made;
        }

        private Object fit(String name, Object value) {
            if (value instanceof Long number && number < 0) {
                throw wrong(name, "must not be negative, and is " + number);
            }
            if (value instanceof List<?> list && list.stream().anyMatch(one -> one == null)) {
                throw wrong(name, "must hold no null");
            }
            return value;
        }

        private IllegalArgumentException wrong(String name, String what) {
            return new IllegalArgumentException(procedure + ": `" + name + "` " + what + ".");
        }
    }
}
