# Format, lint, types, floors and the tests that need no server.
check:
    ruff format --check .
    ruff check .
    mypy
    lint-imports
    pytest -q -m "not server and not slow"

# Every test, on a real server.
test *args:
    pytest {{args}}

# Many more generated examples; takes its time.
deep:
    HYPOTHESIS_PROFILE=deep pytest

# Format and mend what can be mended.
fix:
    ruff format .
    ruff check --fix .

# Measure one thing: commit, recall, belief, beliefs, consolidate, attention, rating, locomo, start, pairs.
bench name *args:
    python -m bench {{name}} {{args}}

# Remake the lock file of the managed server for a version of Neo4j.
lock version:
    graphmem server lock --neo4j {{version}}
