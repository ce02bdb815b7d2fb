// The types of all relationships. Otherwise the first relationship of a type makes the server plan again each query that
// names it, which takes two seconds for a recall.
// mode: write

UNWIND [
  'ACCESSED', 'ARCHIVED_AS', 'CLAIMS', 'CONCERNS', 'FOLLOWED_BY', 'FOUND_BY', 'NAMES', 'NEXT', 'OCCURRED_IN', 'QUOTES', 'RATED',
  'REFUTES', 'REINFORCES', 'RESTS_ON', 'RETRACTS', 'RETRIEVED', 'RETURNED', 'SEALS', 'STANDS_IN', 'SUPERSEDES', 'SUPPORTS',
  'UNSEALED', 'WITHIN'
] AS name
CALL db.createRelationshipType(name)
RETURN count(*) AS types;
