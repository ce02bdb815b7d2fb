"""The outer world, one driver behind one door each; adapters never see each other."""
