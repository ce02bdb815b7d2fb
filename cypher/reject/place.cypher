// Create the belief of a value that is to be rejected or no longer rejected, if it does not exist.
// mode: write
// rows: none
// plan: MergeUniqueNode NodeIndexSeek
// writes_ids: claim.id Belief
// refers_to: claim.subject_key Person
// params:
//   $event  map  properties of the event to be written
//   $claim  map  as in belief/append
// columns:

WITH $event AS event, $claim AS claim
// include: fragments/merge_belief.cypher
