"""The plugin that lets any driver, and Neo4j Browser, CALL what the catalog reads.

`offered` reads the headers, `java_source` writes Java, `building` compiles and keeps the jar.
"""
