-- What the runtime role may do with the tables of reconsiderations (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'cases');
SELECT runtime_may('USAGE', 'cases_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'told_reasons');
SELECT runtime_may('USAGE', 'told_reasons_id_seq');
