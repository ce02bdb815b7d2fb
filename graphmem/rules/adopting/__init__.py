"""Import plans for mem0 and Graphiti; see `graphmem.rules.foreign`."""
