-- What the runtime role may do with the tables of vault (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE', 'reseals');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'reindexes');
