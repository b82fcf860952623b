-- What the runtime role may do with the tables of rights (runtime_may).

SELECT runtime_may('SELECT, INSERT', 'erasures');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'erased_phones');
