/**
 * Checks whether a process is ready for requests, as `/readyz` answers (docs/deploy.md, "What to set"; docs/keys.md for
 * the secrets). Reads the schema, `secret_checks` and the privileges; writes to the log.
 */
import type { Logger } from 'pino';
import { isMigrated } from '../ground/schema/migrations.ts';
import type { Health } from '../listeners/ops/health-api.ts';
import { failureLog } from '../program/operations/failure-log.ts';
import { unfitKeys } from '../seal/data-keys.ts';
import type { Store } from './open-store.ts';
import { roleFault } from './prepare-tables.ts';

const ROLE_EVERY_MS = 60_000;

/**
 * Makes the check of a process, which asks the database at each call. `unknown_data_key`: other processes seal with a
 * data key that this one does not have. `retired_data_key`: this process seals with a key that is retired.
 * `unknown_pepper`: others hash API keys with a pepper that this process does not have. `other_index_key`: a `vault
 * reindex` passed it by. `privileges_missing`: the role lacks what statements need. The log says once a minute what is
 * wrong with the schema, the role or the secrets, and what only the next start would refuse. The probe's answer has no
 * room for that, and no other work of the process would notice.
 */
export function readiness({ database, vault, clock }: Store, log: Logger): Health['ready'] {
  const tell = failureLog(log, clock);
  let roleSeenMs = Number.NEGATIVE_INFINITY;
  /** This reads the catalogue of the database, so it does not run at each probe while all is well. */
  const isShort = async () => {
    if (clock.monotonicMs() - roleSeenMs < ROLE_EVERY_MS) return false;
    const fault = await roleFault(database);
    if (fault === null || !fault.isShort) roleSeenMs = clock.monotonicMs();
    if (fault !== null)
      tell(`${fault.isShort ? 'not ready' : 'the next start is refused'}: ${fault.text}`, {});
    return fault?.isShort === true;
  };
  return async () => {
    if (!(await isMigrated(database, (fault) => tell(`not ready: ${fault}`, {})))) return false;
    if (await isShort()) return 'privileges_missing';
    const { unknown, isRetired, lacksPepper, hasOtherIndexKey } = await unfitKeys(database, vault);
    if (isRetired) {
      tell(`not ready: this process seals with data key ${vault.sealingKey.id}, which is retired`, {});
      return 'retired_data_key';
    }
    if (lacksPepper) {
      tell(
        'not ready: other processes hash API keys with a pepper that this process does not have in API_KEY_PEPPER',
        {},
      );
      return 'unknown_pepper';
    }
    if (hasOtherIndexKey) {
      tell('not ready: the stored indexes were made with another INDEX_KEY than that of this process', {});
      return 'other_index_key';
    }
    if (unknown.length === 0) return true;
    const keys = `data key ${unknown.join(', ')}`;
    tell(`not ready: other processes seal with ${keys}, which this process does not have in DATA_KEYS`, {});
    return 'unknown_data_key';
  };
}
