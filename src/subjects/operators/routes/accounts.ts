/**
 * Puts together all routes of the operators' accounts. They reach the network only for the identity provider
 * (docs/operators.md, "The operator API").
 */
import type { OnTry } from '../../../domain/operator/sign-in-try.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { LogFailure } from '../../../program/operations/failure-log.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { Route } from '../../../wire/operator/route.ts';
import type { OidcConfig } from '../settings.ts';
import { IdentityProvider } from '../uses/identity-provider.ts';
import { checkArgon2 } from '../uses/password-hash.ts';
import { enrolmentRoutes } from './enrolment.ts';
import { CALLBACK, oidcRoutes } from './oidc.ts';
import { operatorSessionRoute, sessionRoutes } from './session.ts';

interface Accounts {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  /** null: operators sign in here alone. */
  readonly oidc: OidcConfig | null;
  /** Where browsers reach the console; the port may be known only once it is open. */
  readonly origin: () => string;
  readonly logFailure: LogFailure;
  /** Hears of each try to sign in. */
  readonly onTry: OnTry;
}

/** All routes of the accounts. Throws `ToldError` if this Node.js cannot check a password. */
export async function accountRoutes({
  oidc,
  origin,
  logFailure,
  onTry,
  ...store
}: Accounts): Promise<Route[]> {
  await checkArgon2();
  const way = oidc && {
    ...store,
    provider: new IdentityProvider(oidc, store.clock),
    callback: () => `${origin()}${CALLBACK}`,
  };
  return [
    ...sessionRoutes(store, 'operator', onTry),
    operatorSessionRoute(store, way !== null),
    ...enrolmentRoutes({ ...store, whose: 'operator' }, onTry),
    ...oidcRoutes(
      way,
      ({ fault, code }) => logFailure('a sign-in at the identity provider failed', { fault, code }),
      onTry,
    ),
  ];
}
