"""The greatest recall of long texts fits into the default heap of the managed server."""

from __future__ import annotations

import os
from datetime import UTC, datetime

import neo4j
import pytest

from graphmem import AsOf, GraphMem, local_server
from graphmem.settings import Settings
from tests.plugins.tokens import TokenHashEmbedder

ITEMS = 1_000
"""Number of memories, and of turns."""
LENGTH = 8_000
COPY = """CYPHER 25
MATCH (m:Memory {tenant: 'large'})<-[:REINFORCES]-(e:Event {tenant: 'large'})
MATCH (t:Turn {tenant: 'large'})-[:OCCURRED_IN]->(p:Episode {tenant: 'large'})
UNWIND range(1, $items) AS i
CALL (m, e, t, p, i) {
  CREATE (a:Memory)
  SET a = m {.*, id: 'm' + i, content_hash: 'h' + i, content: 'budget ' + i + $text}
  SET a.token_states = $states
  CREATE (b:Event) SET b = e {.*, id: 'e' + i}
  CREATE (b)-[:REINFORCES]->(a)
  CREATE (c:Turn)
  SET c = t {.*, id: 't' + i, position: i, text: 'budget ' + i + $text, token_states: $states}
  CREATE (c)-[:OCCURRED_IN]->(p)
} IN TRANSACTIONS OF 50 ROWS
"""
LINK = """CYPHER 25
MATCH (a:Turn {tenant: 'large'})
MATCH (b:Turn {tenant: 'large', episode_id: a.episode_id, position: a.position + 1})
CREATE (a)-[:NEXT]->(b)
"""


@pytest.mark.system
@pytest.mark.timeout(900)
def test_a_thousand_long_results_fit_into_the_default_heap(own_server: Settings) -> None:
    heap = Settings().heap
    settings = own_server.model_copy(update={"heap": heap, "page_cache": "128m"})
    endpoint = local_server.ensure(settings)
    # Queries that write the search log are tested elsewhere.
    quiet = settings.model_copy(update={"access_log": False, "read_timeout_s": 300.0})
    with GraphMem.open(settings=quiet, embedder=TokenHashEmbedder()) as client:
        memory = client.tenant("large")
        memory.remember("the first budget")
        memory.session("s").add_messages([{"role": "user", "content": "a budget of a person"}])
        _copy(endpoint.uri, endpoint.user, endpoint.password.get_secret_value())
        now = datetime.now(UTC)
        for as_of in (None, AsOf(valid=now, known=now)):
            found = memory.recall("Which budget?", limit=1_000, as_of=as_of)
            assert len(found.bites) == 1_000


def _copy(uri: str, user: str, password: str) -> None:
    """Fill the graph with copies; to commit as many long texts takes minutes."""
    text, states = (" lorem ipsum dolor" * LENGTH)[:LENGTH], os.urandom(10 * 1_500)
    auth = (user, password)
    with neo4j.GraphDatabase.driver(uri, auth=auth) as driver, driver.session() as session:
        session.run(COPY, items=ITEMS, text=text, states=states).consume()
        session.run(LINK).consume()
        session.run("CALL db.awaitIndexes(300)").consume()
