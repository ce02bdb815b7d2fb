// Look up the turns of a conversation that may be given messages, and what is needed to align them with it.
// mode: read
// rows: one
// plan: NodeUniqueIndexSeek
// allow: CartesianProduct
// params:
//   $episode_id    string  id of the session
//   $ids           list    ids of turns that may exist
//   $texts         list    texts of the messages
//   $human_roles   list    roles of people, in lower case
//   $system_roles  list    roles of the system, in lower case
// columns:
//   - turns    list     maps of the turns with one of these ids or texts: id, position, role, name, text
//   - systems  list     positions of the turns of the system
//   - erased   list     positions and digests of erased turns, as texts
//   - asked    integer  position of the last turn of a person; -1: none
//   - next     integer  position of the next turn, from 0

OPTIONAL MATCH (p:Episode {tenant: $tenant, id: $episode_id})
// include: fragments/turns_given_again.cypher
// CartesianProduct: both inputs are single rows.
RETURN turns, systems, erased, asked, next
