-- What the runtime role may do with the tables of applications (runtime_may).

SELECT runtime_may('SELECT, USAGE', 'batch_numbers');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'batches');
SELECT runtime_may('SELECT, INSERT, DELETE', 'open_phones');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'application_states');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'review_queue');
SELECT runtime_may('SELECT, INSERT', 'application_events');
SELECT runtime_may('USAGE', 'application_events_id_seq');
SELECT runtime_may('USAGE', 'refused_numbers');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'batch_receipts');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'closed_segments');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'look_up_buckets');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'corrections');
SELECT runtime_may('USAGE', 'corrections_id_seq');
SELECT runtime_may('SELECT', 'least_retention');
