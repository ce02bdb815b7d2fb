"""Neo4j: its driver, the catalog of Cypher queries, and the connection of graphmem.objects."""
