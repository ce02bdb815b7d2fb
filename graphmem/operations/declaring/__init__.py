"""What holds for a whole tenant: how predicates are read, and by which names somebody is known."""
