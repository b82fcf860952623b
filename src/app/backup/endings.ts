/**
 * Ends in a restored store all sign-ins of operators, and again what was ended after the restored moment, as far as a
 * later state in the place shows it. It gives nothing back: the later state may be the reason for the restore. Reads
 * the place and later states, writes the restored store. docs/backup.md has the rule.
 */

import type { KeyId } from '../../domain/partner/credential.ts';
import { describeError } from '../../ground/base/describe-error.ts';
import { type Database, inTransaction } from '../../ground/postgres/database.ts';
import { schemaFit } from '../../ground/schema/migrations.ts';
import { chainKeysOf } from '../../program/operations/chain-keys.ts';
import type { OperatorContext } from '../../program/operations/operator-context.ts';
import { type Act, addOperatorEvents } from '../../program/operations/sql/operator-events.ts';
import { checkSecrets } from '../../seal/secrets.ts';
import { type Secrets, Vault } from '../../seal/vault.ts';
import { noteWrongPerson, readWrongPersons } from '../../subjects/applications/sql/application-marks.ts';
import { stillStored } from '../../subjects/applications/sql/erasure.ts';
import { laterBackups } from '../../subjects/backup/manifest.ts';
import type { RestoreOptions } from '../../subjects/backup/restore.ts';
import { lookAtBackup } from '../../subjects/backup/verify.ts';
import {
  type LaterSuppressions,
  readSuppressionsSince,
  suppressAgain,
} from '../../subjects/messages/sql/suppressions.ts';
import type { Account } from '../../subjects/operators/sql/account.ts';
import { endAccountsAgain, endSignIns, type Loss, readAccounts } from '../../subjects/operators/sql/ended.ts';
import { type EndedKey, endKeysAgain, readEndedKeys } from '../../subjects/partners/sql/key-changes.ts';
import { listErasures } from '../../subjects/rights/uses/list-erasures.ts';
import { erasureJson, readErasure, type WrittenErasure } from '../../subjects/rights/uses/written-erasure.ts';
import { reindex } from '../../subjects/vault/uses/reindex.ts';
import { loadWitnesses } from '../subjects.ts';
import { withDatabase } from './with-database.ts';

/** What a later state of the store says. */
export interface Later {
  readonly at: Date;
  readonly accounts: readonly Account[];
  readonly keys: readonly EndedKey[];
  readonly suppressions: LaterSuppressions;
  readonly wrongPersons: Awaited<ReturnType<typeof readWrongPersons>>;
  /** All erasures that it knows, because a process may have been killed before it copied one into the place. */
  readonly erasures: readonly WrittenErasure[];
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
 * The last states in the place that are later than this moment (`laterBackups`), the newest one last. There is only one
 * unless the store was restored before. Throws `BackupError` if a backup does not restore or there is no room, and an
 * error if it is of another version or has other secrets.
 */
export async function readLater(
  options: Omit<RestoreOptions, 'check' | 'at' | 'backup'>,
  secrets: Secrets,
  at: Date,
): Promise<Later[]> {
  const { place, key, clock } = options;
  const found: Later[] = [];
  for (const backup of await laterBackups(place, key, at)) {
    await lookAtBackup({
      ...options,
      backup,
      check: (connection, restored) =>
        withDatabase(connection, clock, async (database) => {
          const { fault, pending } = await schemaFit(database);
          if (fault !== null || pending.length > 0) throw new Error(fault ?? 'its migrations are pending');
          const [witnesses, vault] = [await loadWitnesses(), new Vault(secrets)];
          await checkSecrets(database, secrets, witnesses, clock, 'restore');
          await reindex({ database, vault, clock, actor: '' }, witnesses.reindexings, 'restore');
          found.push({ at: restored.at, ...(await endedSince(database, vault, at)) });
        }),
    });
  }
  return found;
}

/** What was ended after a moment, as a store has it. */
export async function endedSince(database: Database, vault: Vault, at: Date): Promise<Omit<Later, 'at'>> {
  const erasures = [];
  for await (const erasure of listErasures({ database }))
    erasures.push(readErasure(erasureJson(vault, erasure)));
  return {
    erasures,
    accounts: await readAccounts(database, vault),
    keys: await readEndedKeys(database, vault),
    suppressions: await readSuppressionsSince(database, at),
    wrongPersons: await readWrongPersons(database),
  };
}

/** Ends all sign-ins, ends again what the later states have ended, and records it. No service may run on the store. */
export function endAgain(
  { database, vault, actor }: Pick<OperatorContext, 'database' | 'vault' | 'actor'>,
  later: readonly Omit<Later, 'at'>[],
): Promise<Ended> {
  return inTransaction(database, async (session) => {
    const ended = { ...NOTHING_ENDED, ...(await endSignIns(session, vault)) };
    for (const { accounts, keys, suppressions, wrongPersons } of later) {
      ended.losses = [...ended.losses, ...(await endAccountsAgain(session, vault, accounts))];
      ended.keys = [...ended.keys, ...(await endKeysAgain(session, vault, keys))];
      ended.suppressions += await suppressAgain(session, suppressions);
      await noteWrongPerson(session, await stillStored(session, wrongPersons), true);
    }
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
