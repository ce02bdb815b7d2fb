"""`graphmem episode`."""

from __future__ import annotations

from graphmem.cli.derived import Group

episode = Group("episode", "Write, read, summarise and compress episodes.")

episode.method("episodes.add", key="episode_id")
episode.method("episodes.get", more="`graphmem expand` adds its turns.")
episode.method("episodes.list")
episode.method("episodes.turns")
episode.method(
    "episodes.summarise",
    more="The end of a session does this by rules. If a language model is set, it also summarises "
    "what only the rules have summarised.",
    counters={"episode": "Summarising"},
)
episode.method("history", changes={"item_id": {"metavar": "EPISODE_ID"}})
episode.method(
    "episodes.graduate",
    more="Only the section between the graphmem markers of FILE is modified.",
)
episode.method("episodes.compress", counters={"episode": "Compressing"})
episode.method("episodes.restore")
episode.method("episodes.pin")
episode.method("episodes.unpin")
