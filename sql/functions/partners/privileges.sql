-- What the runtime role may do with the tables of partners (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE', 'partners');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'api_keys');
SELECT runtime_may('USAGE', 'partners_id_seq');
SELECT runtime_may('USAGE', 'api_keys_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'usage_entries');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'usage_counted');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'usage_totals');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'key_outcomes');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'key_totals');
SELECT runtime_may('SELECT, INSERT, DELETE', 'partner_requests');
