-- What the runtime role may do with the tables of monitoring (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'upkeep_jobs');
SELECT runtime_may('SELECT, INSERT, DELETE', 'message_count_hours');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'troubles');
SELECT runtime_may('USAGE', 'troubles_id_seq');
SELECT runtime_may('SELECT, UPDATE', 'trouble_looks');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'step_medians');
