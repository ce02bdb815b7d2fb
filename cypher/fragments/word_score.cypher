// Divide the weight of a text's matched words by its length: 1 + characters / 800.
// needs: kind, n, weight
// leaves: kind, n, found
// twin: oracles/words.py

LET text = CASE kind WHEN 'memory' THEN n.content WHEN 'belief' THEN n.statement WHEN 'turn' THEN n.text ELSE coalesce(n.summary, n.gist, n.content) END
WITH kind, n, weight / (1.0 + size(coalesce(text, '')) / 800.0) AS found
