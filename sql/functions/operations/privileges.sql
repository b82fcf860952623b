-- What the runtime role may do with the tables of operations (runtime_may).

SELECT runtime_may('SELECT, INSERT', 'operator_events');
SELECT runtime_may('SELECT, UPDATE', 'operator_events_head');
