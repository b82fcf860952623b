/**
 * What a restore ends (docs/backup.md): all sign-ins of operators, and what was ended after the restored moment, as far
 * as a later state in the place tells of it. It gives nothing back: the later state may be the reason for the restore.
 */
import type { ApplicationId } from '../../applications/rules/ids.ts';
import { noteWrongPerson, readWrongPersons } from '../../applications/sql/application-marks.ts';
import { chooseBackup } from '../../backup/manifest.ts';
import type { RestoreOptions } from '../../backup/restore.ts';
import { lookAtBackup } from '../../backup/verify.ts';
import { describeError } from '../../base/describe-error.ts';
import {
  type LaterSuppressions,
  readSuppressionsSince,
  suppressAgain,
} from '../../messages/sql/suppressions.ts';
import { chainKeysOf } from '../../operations/chain-keys.ts';
import type { OperatorContext } from '../../operations/operator-context.ts';
import { type Act, addOperatorEvents } from '../../operations/sql/operator-events.ts';
import type { Account } from '../../operators/sql/account.ts';
import { endAccountsAgain, endSignIns, type Loss, readAccounts } from '../../operators/sql/ended.ts';
import type { KeyId } from '../../partners/rules/credential.ts';
import { type EndedKey, endKeysAgain, readEndedKeys } from '../../partners/sql/key-changes.ts';
import { inTransaction, type Session } from '../../postgres/database.ts';
import { openDatabase } from '../../postgres/open-database.ts';
import { schemaFit } from '../../schema/migrations.ts';
import { checkSecrets } from '../../seal/secrets.ts';
import { type Secrets, Vault } from '../../seal/vault.ts';
import { loadWitnesses } from '../subjects.ts';

/** What a later state of the store says. */
export interface Later {
  readonly at: Date;
  readonly accounts: readonly Account[];
  readonly keys: readonly EndedKey[];
  readonly suppressions: LaterSuppressions;
  readonly wrongPersons: readonly ApplicationId[];
}

/** What a restore has ended. */
export interface Ended {
  readonly sessions: number;
  readonly links: number;
  readonly keys: readonly KeyId[];
  readonly suppressions: number;
  readonly losses: readonly Loss[];
}

export const NOTHING_ENDED: Ended = { sessions: 0, links: 0, keys: [], suppressions: 0, losses: [] };

/**
 * The newest state of the place; null: it has none after this moment. Throws `BackupError` where the backup does not
 * restore or there is no room, and an error where it is of another version or has other secrets.
 */
export async function readLater(
  options: Omit<RestoreOptions, 'check' | 'at'>,
  secrets: Secrets,
  at: Date,
): Promise<Later | null> {
  const { place, key, clock } = options;
  if ((await chooseBackup(place, key, undefined)).logEnd.at <= at) return null;
  let later: Later | null = null;
  await lookAtBackup({
    ...options,
    check: async (connection, restored) => {
      const database = openDatabase(connection, { clock, max: 1, onError: () => {} });
      try {
        const { fault, pending } = await schemaFit(database);
        if (fault !== null || pending.length > 0) throw new Error(fault ?? 'its migrations are pending');
        await checkSecrets(database, secrets, await loadWitnesses(), clock);
        later = { at: restored.at, ...(await endedSince(database, new Vault(secrets), at)) };
      } finally {
        await database.end();
      }
    },
  });
  return later;
}

/** What a store says that was ended after a moment. */
export async function endedSince(session: Session, vault: Vault, at: Date): Promise<Omit<Later, 'at'>> {
  return {
    accounts: await readAccounts(session, vault),
    keys: await readEndedKeys(session, vault),
    suppressions: await readSuppressionsSince(session, at),
    wrongPersons: await readWrongPersons(session),
  };
}

/** Ends all sign-ins, and again what the later state has ended, and records it. No service may run on the store. */
export function endAgain(
  { database, vault, actor }: Pick<OperatorContext, 'database' | 'vault' | 'actor'>,
  later: Omit<Later, 'at'> | null,
): Promise<Ended> {
  return inTransaction(database, async (session) => {
    const signIns = await endSignIns(session, vault);
    if (later === null) return { ...NOTHING_ENDED, ...signIns };
    const losses = await endAccountsAgain(session, vault, later.accounts);
    const keys = await endKeysAgain(session, vault, later.keys);
    const suppressions = await suppressAgain(session, later.suppressions);
    await noteWrongPerson(session, later.wrongPersons, true);
    const ended = { ...signIns, keys, suppressions, losses };
    const acts = actsOf(ended);
    if (acts.length > 0) await addOperatorEvents(session, chainKeysOf(vault), actor, acts);
    return ended;
  });
}

function actsOf({ keys, suppressions, losses }: Ended): Act[] {
  const act = 'backup restore';
  return [
    ...keys.map((id) => ({ act, target: `key ${id}: ended again` })),
    ...losses.map(({ id, what }) => ({ act, target: `operator ${id}: lost again: ${what}` })),
    ...(suppressions === 0 ? [] : [{ act, target: `phones: ${suppressions} suppressed again` }]),
  ];
}

/** Why a later state is not known, for the operator. */
export function unknownLaterText(error: unknown): string {
  return `the store is restored, but what was ended after this moment is not known (${describeError(error)}): revoke keys, add opt-outs and reset factors by hand (docs/backup.md)`;
}
