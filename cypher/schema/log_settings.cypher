// Return the settings that decide how long transaction logs are kept. A user who may not read them gets no rows.
// mode: read
// rows: many
// params:
// columns:
//   - name   string  name of the setting
//   - value  string  value of the setting

SHOW SETTINGS YIELD name, value
WHERE name IN ['db.checkpoint.interval.time', 'db.tx_log.rotation.retention_policy', 'db.tx_log.rotation.size']
RETURN name, value
