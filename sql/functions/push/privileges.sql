-- What the runtime role may do with the tables of push (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE', 'partner_endpoints');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'pushes');
SELECT runtime_may('SELECT, INSERT, DELETE', 'push_attempts');
