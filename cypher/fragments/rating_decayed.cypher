// Compute the decayed rating at the time of the read.
// needs: g (a Rating or null), valid
// leaves: elo
// twin: oracles/rating.py faded

LET days = (valid.epochSeconds - g.touched_at.epochSeconds + (valid.microsecond - g.touched_at.microsecond) / 1e6) / 86400
LET left = $rating_decay.floor + (g.elo - $rating_decay.floor) * exp(-CASE WHEN days > 0 THEN days ELSE 0 END / $rating_decay.days)
LET elo = CASE WHEN left < g.elo THEN left ELSE g.elo END
