-- Schema 2, additive.
-- The lines of a proposed payment (D46, D48; src/subjects/desk).

-- Sealed with the secret of the contract (src/subjects/signing/uses/proposed-lines.ts), until the proposal ends. NULL:
-- no payment of a signed contract is proposed.
ALTER TABLE proposals ADD COLUMN lines bytea;
