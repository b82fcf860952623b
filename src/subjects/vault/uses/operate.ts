/**
 * What operators do with data keys: look at them, reseal, and retire a key (docs/keys.md, "The data key"). Writes
 * `reseals`; `seal/data-keys.ts` has the table of keys.
 */
import { counted } from '../../../ground/base/counted.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import {
  type DataKey,
  readDataKeys,
  refuseDataKey,
  retireDataKey,
  SealMark,
  transactionsEnd,
} from '../../../seal/data-keys.ts';
import { MOST_SEALS } from '../../../seal/vault.ts';
import type { SealedKind } from '../../../seal/witness.ts';
import { beginReseal, type Reseal, readReseal } from '../sql/reseals.ts';
import { firstStep, type ResealContext, resealTurn } from './reseal-step.ts';

export type { Reseal };

/** A data key as operators see it. */
export interface KeyStatus extends DataKey {
  /** How much of the limit of seals (`MOST_SEALS`) is used, from 0 on. */
  readonly share: number;
}

interface VaultStatus {
  readonly keys: readonly KeyStatus[];
  /** The reseal under way, or the last one; null: there was none. */
  readonly reseal: Reseal | null;
}

/** The data keys and the last reseal. */
export async function vaultStatus({ database }: OperatorContext): Promise<VaultStatus> {
  const keys = await readDataKeys(database);
  return {
    keys: keys.map((key) => ({ ...key, share: key.seals / MOST_SEALS })),
    reseal: await readReseal(database),
  };
}

/**
 * Lets the running services seal everything again with the first data key of this process. `isNew` is false if they are
 * doing so already. Throws `OperatorError` while a service seals with another key: that service might be unable to open
 * the result.
 */
export async function reseal(
  { database, vault }: OperatorContext,
  kinds: readonly SealedKind[],
): Promise<{ keyId: number; isNew: boolean; hasService: boolean }> {
  const keyId = vault.sealingKey.id;
  const keys = await readDataKeys(database);
  const others = keys.filter(({ id, sealsNow }) => sealsNow && id !== keyId).map(({ id }) => id);
  if (others.length > 0) {
    throw new OperatorError(
      `a running service still seals with data key ${others.join(', ')}: start every service and worker with key ${keyId} first in DATA_KEYS, wait a minute and try again`,
    );
  }
  const isNew = await beginReseal(database, keyId, firstStep(kinds)!.kind);
  return { keyId, isNew, hasService: keys.some(({ id, sealsNow }) => sealsNow && id === keyId) };
}

const LOOK_EVERY_MS = 1_000;
/** A service tells its count of seals equally often. */
const TELL_EVERY_MS = 15_000;
const STUCK_AFTER_MS = 5 * 60_000;

/**
 * Takes due steps of the reseal, as the services do, until it has ended. Throws `OperatorError` if there was no step
 * for five minutes. Tells its count of seals every 15 seconds, and counts as a sealing process until a minute after its
 * end.
 */
export async function awaitReseal(
  { database, vault, clock }: OperatorContext,
  kinds: readonly SealedKind[],
): Promise<Reseal> {
  const mark = new SealMark(vault);
  const done = await takeSteps({ database, vault, clock, kinds }, mark).catch(async (error: unknown) => {
    await mark.tell(database).catch(() => {});
    throw error;
  });
  await mark.tell(database);
  return done;
}

/** Resolves to the reseal when it has ended. */
async function takeSteps(context: ResealContext, mark: SealMark): Promise<Reseal> {
  const { database, clock } = context;
  let seen = '';
  let sinceMs = clock.monotonicMs();
  let toldMs = sinceMs;
  for (;;) {
    const turn = await resealTurn(context);
    const found = await readReseal(database);
    if (found === null) throw new OperatorError('there is no reseal');
    if (found.finishedAt !== null) return found;
    if (clock.monotonicMs() - toldMs >= TELL_EVERY_MS) {
      await mark.tell(database);
      toldMs = clock.monotonicMs();
    }
    const now = `${found.kind} ${found.from}`;
    if (now !== seen) [seen, sinceMs] = [now, clock.monotonicMs()];
    if (clock.monotonicMs() - sinceMs > STUCK_AFTER_MS) {
      throw new OperatorError(
        'the reseal has stood still for five minutes: vault status shows which keys the running services seal with',
      );
    }
    await clock.sleep(turn.kind === 'step' ? turn.restMs : LOOK_EVERY_MS);
  }
}

/** The result of retiring a key. */
interface Retirement {
  /** False if the key was retired before. */
  readonly isNew: boolean;
  /** How many rows name the key and do not open with it. */
  readonly damaged: number;
}

/**
 * Retires a data key after it has proved that no row needs it. While the rows are counted, nothing that is sealed with
 * the key can be stored, and earlier transactions are waited for, which takes some seconds. Throws `OperatorError` if a
 * row needs the key, if a running service seals with it, and if there is no such key.
 */
export async function retire(
  { database, vault, clock }: OperatorContext,
  kinds: readonly SealedKind[],
  id: number,
): Promise<Retirement> {
  const known = (await readDataKeys(database)).find((key) => key.id === id);
  if (id === vault.sealingKey.id) {
    throw new OperatorError(
      `data key ${id} seals: put another key first in DATA_KEYS of every service, and run vault reseal --wait before`,
    );
  }
  if (known === undefined && !vault.hasDataKey(id)) throw new OperatorError(`there is no data key ${id}`);
  if (known?.retiredAt != null) return { isNew: false, damaged: 0 };
  if (known?.sealsNow === true) throw stillSeals(id);
  const underWay = await readReseal(database);
  if (underWay?.keyId === id && underWay.finishedAt === null) {
    throw new OperatorError(`a reseal with data key ${id} is under way: run vault reseal --wait before`);
  }
  await refuseDataKey(database, id, true);
  let damaged = 0;
  const needing: string[] = [];
  let rows = 0;
  try {
    if (!(await transactionsEnd(database, clock))) {
      throw new OperatorError(
        'a transaction has been under way for more than a minute: try again when it has ended',
      );
    }
    for (const kind of kinds) {
      const found = await kind.rowsOf(database, vault, id);
      damaged += found.damaged;
      rows += found.needing;
      if (found.needing > 0) needing.push(`${kind.name}: ${found.needing}`);
    }
    if (rows > 0) {
      throw new OperatorError(
        `${counted(rows, 'row needs', 'rows need')} data key ${id} (${needing.join(', ')}): run vault reseal --wait, then retire the key`,
      );
    }
    if (!(await retireDataKey(database, id))) throw stillSeals(id);
  } catch (error) {
    await refuseDataKey(database, id, false);
    throw error;
  }
  return { isNew: true, damaged };
}

function stillSeals(id: number): OperatorError {
  return new OperatorError(
    `a running service still seals with data key ${id}: start every service and worker with another key first in DATA_KEYS, wait a minute, and run vault reseal --wait before`,
  );
}
