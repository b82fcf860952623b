-- The makings that were cut off, which the upkeep looks for every 15 seconds: without the index it reads every
-- application of 120 days that got no contract.
CREATE INDEX loan_contracts_making ON loan_contracts (elapsed_ms) WHERE state = 'making';
