// Transactions that the server is running, but for this one.
// mode: read
// rows: many
// params:
// columns:
//   - id  string  of one

SHOW TRANSACTIONS YIELD transactionId, currentQuery
WHERE NOT coalesce(currentQuery, '') CONTAINS 'SHOW TRANSACTIONS'
RETURN transactionId AS id
