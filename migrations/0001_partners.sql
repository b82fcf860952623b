-- Partners, their keys, and the policies that decided.

CREATE TYPE environment AS ENUM ('PRO', 'DEV');
CREATE TYPE language_setting AS ENUM ('auto', 'en', 'es');

CREATE TABLE partners (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL UNIQUE CHECK (name <> ''),
  country text NOT NULL CHECK (country ~ '^[A-Z]{2}$'),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE api_keys (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  partner_id integer NOT NULL REFERENCES partners,
  -- HMAC-SHA256 of the key under the pepper: the key itself is nowhere.
  digest bytea NOT NULL UNIQUE CHECK (octet_length(digest) = 32),
  -- The first characters, by which people recognise a key; they are no secret.
  hint text NOT NULL,
  -- NULL: both environments.
  environment environment,
  language language_setting NOT NULL DEFAULT 'auto',
  -- NULL: no cap.
  daily_cap integer CHECK (daily_cap >= 0),
  brand jsonb NOT NULL DEFAULT '{}',
  created_at timestamptz NOT NULL DEFAULT now(),
  -- Set when the key is rotated: it lives on beside its successor until then.
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX api_keys_partner ON api_keys (partner_id);

CREATE TABLE policies (
  id smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  version text NOT NULL UNIQUE,
  content jsonb NOT NULL,
  first_used_at timestamptz NOT NULL DEFAULT now()
);

-- Fingerprints of the secrets that the stored data depends on: a start with others is refused. confirmed: a service
-- has run with it; else it was only seen in a command.
CREATE TABLE secret_checks (
  name text PRIMARY KEY,
  value uuid NOT NULL,
  confirmed boolean NOT NULL
);
