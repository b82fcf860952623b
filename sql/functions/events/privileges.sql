-- What the runtime role may do with the tables of events (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE', 'partner_event_totals');
SELECT runtime_may('SELECT, INSERT, DELETE', 'partner_events');
