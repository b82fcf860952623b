-- What the runtime role may do with the tables of signing (runtime_may).

SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'loan_contracts');
SELECT runtime_may('USAGE', 'loan_contracts_id_seq');
SELECT runtime_may('SELECT, INSERT, UPDATE, DELETE', 'signing_codes');
SELECT runtime_may('USAGE', 'signing_codes_id_seq');
SELECT runtime_may('SELECT, INSERT', 'contract_evidence');
