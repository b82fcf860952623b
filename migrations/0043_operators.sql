-- Schema 2, additive.
-- Where and with what each session began (docs/operators.md, "The operator API"). NULL: it began before, or nothing is
-- known. For the eye alone: these grant nothing, and the program of the release before checks the MAC without them.

ALTER TABLE operator_sessions
  -- The network of the browser's address: of IPv4 a /24, of IPv6 a /48.
  ADD COLUMN network text CHECK (length(network) <= 50),
  -- Browser and system in words of a closed list.
  ADD COLUMN browser text CHECK (length(browser) <= 50);
