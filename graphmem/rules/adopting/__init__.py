"""What other memories hold, as steps that ours can take: mem0 and Graphiti."""
