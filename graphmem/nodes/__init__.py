"""The one declaration of the graph's nodes and relationships, as neomodel classes.

The drift check of the schema, the checks of exports, the seals, `graphmem.objects` and tables in
the documentation are derived from these classes. graphmem reads and writes with Cypher files.
Importing neomodel takes a quarter of a second, so modules that every command imports use the
classes inside functions only.
"""
