# Format, lint, types, floors and the tests that need no server.
check:
    ruff format --check .
    ruff check .
    mypy
    lint-imports
    pytest -q -m "not server and not system"

# What every change must pass, on a real server.
test *args:
    pytest {{args}}

# What takes minutes: ten thousand events, killed servers, Chromium, benchmarks, releases.
system *args:
    pytest -m system {{args}}

# Every test with many more generated examples; takes its time.
deep *args:
    HYPOTHESIS_PROFILE=deep pytest -m "" {{args}}

# Ten thousand calls by tenants that know another's names, ids, texts and cursors.
isolation:
    HYPOTHESIS_PROFILE=deep pytest tests/isolation

# A hundred thousand inputs that nobody should give; another seed tries others.
fuzz seed="0":
    HYPOTHESIS_PROFILE=deep pytest tests/fuzz --hypothesis-seed={{seed}}

# Break the product in the ways that tests/mutants.toml lists, one at a time; a test must fail for each.
mutants *names:
    python -m tests.mutate {{names}}

# Format and mend what can be mended.
fix:
    ruff format .
    ruff check --fix .

# Measure one thing: commit, recall, belief, beliefs, consolidate, attention, rating, reembed, locomo, start, mcp, pairs, isolation.
bench name *args:
    python -m bench {{name}} {{args}}

# Ten minutes of writers and faults: killed, stopped, paused, cut off, slow, out of disk.
chaos *args:
    python -m bench chaos {{args}}

# Take the pictures of Neo4j Browser that the pages show; needs Chromium.
pictures:
    python -m bench pictures

# Remake the lock file of the managed server for a version of Neo4j.
lock version:
    graphmem server lock --neo4j {{version}}

# Build a release: wheel, sdist, every dependency pinned with its hashes, a list of parts, digests of all.
release:
    rm -rf dist
    python -m build
    pip-compile --quiet --generate-hashes --strip-extras --no-header --no-annotate \
        --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
        --extra dashboard,langgraph,local,mcp,metrics,otel,plot \
        --output-file dist/requirements.txt pyproject.toml
    cyclonedx-py requirements --pyproject pyproject.toml --output-format JSON \
        --output-file dist/sbom.json dist/requirements.txt
    cd dist && sha256sum * > SHA256SUMS

# Look up what is known to be unsafe among the pinned dependencies; asks PyPI.
audit:
    pip-audit --requirement dist/requirements.txt --require-hashes --disable-pip
