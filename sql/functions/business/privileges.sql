-- What the runtime role may do with the tables of the business counts (runtime_may).

SELECT runtime_may('SELECT, UPDATE', 'business_place');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'business_event_places');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'business_days');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'business_totals');
SELECT runtime_may('SELECT, INSERT, DELETE', 'business_offers');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'business_waits');
