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
 * Base class of the plugin's procedures: checks arguments, runs Cypher in the caller's transaction
 * and returns the rows.
 */
public abstract class Reading {
    static final ZonedDateTime BEGINNING = ZonedDateTime.of(1, 1, 1, 0, 0, 0, 0, ZoneOffset.UTC);
    static final ZonedDateTime FOREVER =
            ZonedDateTime.of(9999, 12, 31, 23, 59, 59, 999_999_000, ZoneOffset.UTC);

    @Context
    public Transaction tx;

    /** Returns the rows of a query as records, lazily. */
    protected <T> Stream<T> rows(Call call, String text, Function<Map<String, Object>, T> record) {
        Result found = tx.execute(text, call.params);
        return found.stream().map(record).onClose(found::close);
    }

    /**
     * Returns the rows of a second query whose parameter is the only row of a first query.
     *
     * @param found name of that parameter
     */
    protected <T> Stream<T> rows(
            Call call, String first, String found, String second, Function<Map<String, Object>, T> record) {
        try (Result row = tx.execute(first, call.params)) {
            call.params.put(found, row.next());
        }
        return rows(call, second, record);
    }

    /**
     * Returns Cypher that queries the current embedding generation.
     *
     * @param text query of the first generation
     * @param generation query that returns the number of the current generation
     * @param kept pattern of the names that get that number as a suffix
     */
    protected String inGeneration(String text, String generation, Pattern kept) {
        try (Result found = tx.execute(generation)) {
            long here = found.hasNext() ? (Long) found.next().get("generation") : 1;
            return here == 1 ? text : kept.matcher(text).replaceAll("$0_" + here);
        }
    }

    static ZonedDateTime now() {
        return ZonedDateTime.now(ZoneOffset.UTC);
    }

    static <T> T orDefault(T value, T assumed) {
        return value == null ? assumed : value;
    }

    /** Returns null for an empty string, the default of an optional string argument. */
    static String emptyToNull(String value) {
        return value == null || value.isEmpty() ? null : value;
    }

    static Double number(Object value) {
        return value == null ? null : ((Number) value).doubleValue();
    }

    /** Returns a list; the value of a stored property is an array. */
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

    /** Returns an unmodifiable map of alternating names and values; values may be null. */
    static Map<String, Object> mapOf(Object... pairs) {
        Map<String, Object> made = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) {
            made.put((String) pairs[i], pairs[i + 1]);
        }
        return Collections.unmodifiableMap(made);
    }

    /** Checked arguments of one call; some are passed in one map, as the client does. */
    protected static final class Call {
        private final String procedure;
        private final Map<String, Object> sized = new HashMap<>();
        private final Map<String, Object> params = new HashMap<>();

        Call(String procedure, String map, String tenant) {
            this.procedure = procedure;
            if (tenant == null || tenant.isBlank()) {
                throw invalid("tenant", "must be a tenant name, not " + (tenant == null ? "null" : "empty"));
            }
            sized.put("tenant", tenant);
            params.put(map, sized);
        }

        void sized(String name, Object value) {
            sized.put(name, checked(name, value));
        }

        void plain(String name, Object value) {
            params.put(name, checked(name, value));
        }

        <T> T required(String name, T value) {
            if (value == null) {
                throw invalid(name, "must not be null");
            }
            return value;
        }

        /** Returns a map after checking that it has these keys. */
        Map<String, Object> withKeys(String name, Map<String, Object> value, List<String> keys) {
            if (value != null) {
                TreeSet<String> lacking = new TreeSet<>(keys);
                lacking.removeAll(value.keySet());
                if (!lacking.isEmpty()) {
                    throw invalid(name, "lacks the keys " + String.join(", ", lacking));
                }
            }
            return value;
        }

        /** Returns a map completed by defaults; other keys are rejected unless it is open. */
        Map<String, Object> withDefaults(
                String name, Map<String, Object> value, Map<String, Object> defaults, boolean open) {
            if (value == null) {
                return defaults;
            }
            TreeSet<String> unknown = new TreeSet<>(value.keySet());
            unknown.removeAll(defaults.keySet());
            if (!open && !unknown.isEmpty()) {
                String known = String.join(", ", defaults.keySet());
                throw invalid(name, "has unknown keys " + String.join(", ", unknown) + "; known: " + known);
            }
            Map<String, Object> completed = new HashMap<>(defaults);
            completed.putAll(value);
            return completed;
        }

        private Object checked(String name, Object value) {
            if (value instanceof Long number && number < 0) {
                throw invalid(name, "must not be negative: " + number);
            }
            if (value instanceof List<?> list && list.stream().anyMatch(one -> one == null)) {
                throw invalid(name, "must not contain null");
            }
            return value;
        }

        private IllegalArgumentException invalid(String name, String what) {
            return new IllegalArgumentException(procedure + ": `" + name + "` " + what + ".");
        }
    }
}
