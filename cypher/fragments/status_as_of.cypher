// Compute the lineage of `node`, a memory or a belief, as of ($valid, $known), for the reader, without walking its chain.
// needs: node
// leaves: status, superseding (of fragments/unruled_status_as_of.cypher)
// twin: oracles/lineage.py

// include: fragments/unruled_status_as_of.cypher
// include: fragments/rejected_for_reader.cypher
LET status = CASE WHEN reader_rejects THEN 'rejected' ELSE unruled END
