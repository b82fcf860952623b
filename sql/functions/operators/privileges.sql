-- What the runtime role may do with the tables of operators (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE', 'operators');
SELECT runtime_may('USAGE', 'operators_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'operator_sessions');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'operator_tries');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'operator_pending_sign_ins');
