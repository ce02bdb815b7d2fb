image_lock := "--python-version 3.13 --universal --generate-hashes --no-emit-index-url --no-annotate --custom-compile-command 'just lock-image'"

# Check format, lint, types and layers, and run the tests that do not need a server.
check:
    ruff format --check .
    ruff check .
    mypy
    lint-imports
    pytest -q -m "not server and not system"

# Run the tests that every change must pass, on a real server.
test *args:
    pytest {{args}}

# Run the tests that take minutes: ten thousand events, killed servers, Chromium, benchmarks, releases.
system *args:
    pytest -m system {{args}}

# Run every test with many more generated examples (slow).
deep *args:
    HYPOTHESIS_PROFILE=deep pytest -m "" {{args}}

# Test tenant isolation: ten thousand calls by tenants that know another's names, ids, texts and cursors.
isolation:
    HYPOTHESIS_PROFILE=deep pytest tests/isolation

# Fuzz the clients with a hundred thousand invalid inputs, generated from a seed.
fuzz seed="0":
    HYPOTHESIS_PROFILE=deep pytest tests/fuzz --hypothesis-seed={{seed}}

# Apply the mutations in tests/mutants.toml one at a time; a test must fail for each.
mutants *names:
    python -m tests.mutate {{names}}

# Write the number of lines of each part; a commit that raises one explains it.
lines:
    python -m tests.architecture.test_lines

# Format the code and fix lint errors automatically.
fix:
    ruff format .
    ruff check --fix .

# Run one benchmark: calls, growth, commit, recall, belief, consolidate, extraction, rating, reembed, locomo, retrieval, facts, start, mcp, serve, explorer, pairs, isolation.
bench name *args:
    python -m bench {{name}} {{args}}

# Measure the quality of formulas and policies: attention, beliefs, consolidation.
research name *args:
    python -m research {{name}} {{args}}

# Run the chaos benchmark: ten minutes of writers and faults (killed, stopped, paused, cut off, slow, out of disk).
chaos *args:
    python -m bench chaos {{args}}

# Take the Neo4j Browser screenshots of the documentation; requires Chromium.
pictures:
    python -m bench pictures

# Take the screenshots of the explorer for the documentation; requires Chromium.
screenshots:
    python -m bench screenshots

# Build the documentation site into site/; fails on a warning.
docs:
    NO_MKDOCS_2_WARNING=1 mkdocs build

# Write what declarations decide of docs/reference, and docs/openapi.json.
api:
    python -m tests.docs.api_reference
    python -m tests.docs.reference_pages
    python -m tests.docs.openapi_document

# Write the locked packages of the image.
lock-image:
    uv pip compile pyproject.toml --extra local --extra serve --extra otel {{image_lock}} --output-file deploy/requirements.txt

# Write the types of the TypeScript client from docs/openapi.json.
client:
    python -m tests.serve.test_typescript

# Write the parts of docs/reference/objects.md and docs/explanation/sealing.md that follow from the node classes.
nodes:
    python -m tests.docs.node_pages

# Regenerate the managed server's lock file for a Neo4j version.
lock version:
    python -m bench.server_lock {{version}}

# Build a release into dist/: wheel and sdist, twice and equal, pinned dependencies, SBOM, provenance, SHA-256 sums.
release:
    python -m tests.release.building

# Build the wheel that the image installs into dist/.
wheel:
    rm -rf dist
    pip wheel --quiet --no-deps --wheel-dir dist .

# Write the export of this version that later versions must read; as long as it is not released.
fixture:
    python -m tests.release.fixture

# Check the pinned dependencies for known vulnerabilities; queries PyPI.
audit:
    pip-audit --requirement dist/requirements.txt --require-hashes --disable-pip
