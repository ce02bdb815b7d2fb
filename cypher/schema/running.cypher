// List the transactions that the server is running, except this one.
// mode: read
// rows: many
// params:
// columns:
//   - id  string  transaction id

SHOW TRANSACTIONS YIELD transactionId, currentQuery
WHERE NOT coalesce(currentQuery, '') CONTAINS 'SHOW TRANSACTIONS'
RETURN transactionId AS id
