-- What the runtime role may do with the tables of desk (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'review_items');
SELECT runtime_may('SELECT, INSERT, DELETE', 'selections');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'proposals');
SELECT runtime_may('USAGE', 'proposals_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'open_proposals');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'desk_requests');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'application_notes');
SELECT runtime_may('USAGE', 'application_notes_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'pends');
SELECT runtime_may('USAGE', 'pends_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'open_pends');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'decision_hours');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'second_looks');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'backlog_counts');
SELECT runtime_may('SELECT, INSERT, DELETE', 'left_pages');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'inbox_claims');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'operator_searches');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'saved_views');
SELECT runtime_may('USAGE', 'saved_views_id_seq');
