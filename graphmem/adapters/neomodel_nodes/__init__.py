"""The graph as neomodel classes: the declared schema, and read-only browsing by objects.

graphmem reads and writes with Cypher files and does not use these classes for that. A node's `id`
is the attribute `uid`, because neomodel reserves the name `id`.
"""
