-- Schema 2, additive.
-- The accounts of people at partners (D54; src/subjects/operators, docs/portal.md) are rows of operators.

-- Whose account it is; NULL: an operator's. The login of a partner's account is stored behind `partner/`, which no
-- login of an operator has. Without a foreign key, which a table of a cluster's coordinator cannot have.
ALTER TABLE operators ADD COLUMN partner_id integer;
-- A role is either an operator's or one at a partner, never both.
ALTER TABLE operators DROP CONSTRAINT operators_role_check;
ALTER TABLE operators ADD CONSTRAINT operators_role_check CHECK (CASE WHEN partner_id IS NULL
  THEN role IN ('viewer', 'reviewer', 'admin') ELSE role IN ('member', 'owner') END);
ALTER TABLE operators ADD CONSTRAINT operators_login_check CHECK ((partner_id IS NOT NULL) = starts_with(login, 'partner/'));
CREATE INDEX operators_partner ON operators (partner_id, id) WHERE partner_id IS NOT NULL;
