-- What the runtime role may do with the tables of income (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'income_checks');
SELECT runtime_may('USAGE', 'income_checks_number_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'income_steps');
