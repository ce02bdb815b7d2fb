"""The plugin with which any driver and Neo4j Browser can CALL the catalog's read procedures.

`java_source` reads the headers and writes Java; `building` compiles and caches the jar.
"""
