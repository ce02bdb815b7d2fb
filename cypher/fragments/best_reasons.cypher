// Choose the events to show: the newest three, among them the newest of those that support with the highest trust class.
// needs: events (newest first; one that refutes has polarity -1)
// leaves: best, vouching (all supporting events of the highest class)

LET highest = coll.max([e IN events WHERE coalesce(e.polarity, 1) = 1 | coalesce(e.trust, 0)])
LET vouching = [e IN events WHERE coalesce(e.polarity, 1) = 1 AND coalesce(e.trust, 0) = highest]
LET best = CASE WHEN vouching[0] IN events[3..] THEN events[..2] + vouching[0] ELSE events[..3] END
