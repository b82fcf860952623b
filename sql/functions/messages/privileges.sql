-- What the runtime role may do with the tables of messages (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'outbox');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'waiting_rejections');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'leases');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'message_records');
SELECT runtime_may('SELECT, INSERT, DELETE', 'waiting_messages');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'message_counts');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'recipients');
SELECT runtime_may('SELECT, UPDATE', 'sender');
SELECT runtime_may('SELECT, INSERT, DELETE', 'paused_templates');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'early_events');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'suppressions');
SELECT runtime_may('SELECT, INSERT, UPDATE', 'exclusion_registers');
SELECT runtime_may('USAGE', 'exclusion_registers_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'excluded_numbers');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'channel_users');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'replies');
