-- What the runtime role may do with the tables of signing (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'loan_contracts');
SELECT runtime_may('USAGE', 'loan_contracts_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'signing_codes');
SELECT runtime_may('USAGE', 'signing_codes_id_seq');
SELECT runtime_may('SELECT, INSERT', 'contract_evidence');
-- The owner deletes debts (drop_contracts, forget_contracts).
SELECT runtime_may('SELECT, INSERT, UPDATE', 'loan_debts');
SELECT runtime_may('USAGE', 'loan_debts_id_seq');
SELECT runtime_may('SELECT, INSERT, DELETE', 'debt_acceptances');
SELECT runtime_may('USAGE', 'debt_acceptances_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'loan_offers');
SELECT runtime_may('SELECT, INSERT', 'disbursements');
