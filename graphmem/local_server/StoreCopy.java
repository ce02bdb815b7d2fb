package graphmem;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import org.neo4j.dbms.api.DatabaseManagementService;
import org.neo4j.dbms.api.DatabaseManagementServiceBuilder;
import org.neo4j.graphdb.Entity;
import org.neo4j.graphdb.GraphDatabaseService;
import org.neo4j.graphdb.Label;
import org.neo4j.graphdb.Node;
import org.neo4j.graphdb.Relationship;
import org.neo4j.graphdb.ResourceIterable;
import org.neo4j.graphdb.Result;
import org.neo4j.graphdb.Transaction;

/**
 * Copies the nodes, relationships and schema of a stopped database into the empty database of
 * another home. The new files contain nothing that was deleted from the old ones.
 */
public final class StoreCopy {
    private static final int BATCH = 10_000;

    private final GraphDatabaseService from;
    private final GraphDatabaseService to;
    private final Map<String, String> copies = new HashMap<>();

    private StoreCopy(GraphDatabaseService from, GraphDatabaseService to) {
        this.from = from;
        this.to = to;
    }

    /**
     * Copies a database.
     *
     * @param arguments home of the old database, home of the new one, name of the database, file
     *     of settings; then queries that return the statements that create the schema, in order
     */
    public static void main(String[] arguments) {
        DatabaseManagementService old = open(arguments[0], arguments[3]);
        try {
            DatabaseManagementService fresh = open(arguments[1], arguments[3]);
            try {
                String name = arguments[2];
                new StoreCopy(old.database(name), fresh.database(name))
                        .run(Arrays.copyOfRange(arguments, 4, arguments.length));
            } finally {
                fresh.shutdown();
            }
        } finally {
            old.shutdown();
        }
    }

    private static DatabaseManagementService open(String home, String settings) {
        return new DatabaseManagementServiceBuilder(Path.of(home))
                .loadPropertiesFromFile(Path.of(settings))
                .build();
    }

    private void run(String[] schema) {
        try (Transaction tx = from.beginTx();
                ResourceIterable<Node> nodes = tx.getAllNodes();
                ResourceIterable<Relationship> edges = tx.getAllRelationships()) {
            inBatches(nodes, this::copyNode);
            inBatches(edges, this::copyRelationship);
        }
        for (String query : schema) {
            statements(query).forEach(to::executeTransactionally);
        }
        try (Transaction tx = to.beginTx()) {
            tx.schema().awaitIndexesOnline(1, TimeUnit.DAYS);
        }
    }

    private <T> void inBatches(Iterable<T> entities, BiConsumer<Transaction, T> copy) {
        Iterator<T> left = entities.iterator();
        while (left.hasNext()) {
            try (Transaction tx = to.beginTx()) {
                for (int n = 0; n < BATCH && left.hasNext(); n++) {
                    copy.accept(tx, left.next());
                }
                tx.commit();
            }
        }
    }

    private void copyNode(Transaction tx, Node node) {
        List<Label> labels = new ArrayList<>();
        node.getLabels().forEach(labels::add);
        Node copy = tx.createNode(labels.toArray(Label[]::new));
        copies.put(node.getElementId(), copy.getElementId());
        copyProperties(node, copy);
    }

    private void copyRelationship(Transaction tx, Relationship edge) {
        Node start = tx.getNodeByElementId(copies.get(edge.getStartNode().getElementId()));
        Node end = tx.getNodeByElementId(copies.get(edge.getEndNode().getElementId()));
        copyProperties(edge, start.createRelationshipTo(end, edge.getType()));
    }

    private static void copyProperties(Entity entity, Entity copy) {
        entity.getAllProperties().forEach(copy::setProperty);
    }

    private List<String> statements(String schema) {
        List<String> found = new ArrayList<>();
        try (Transaction tx = from.beginTx();
                Result rows = tx.execute(schema)) {
            rows.forEachRemaining(row -> found.add((String) row.get("statement")));
        }
        return found;
    }
}
