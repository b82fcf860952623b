/** The contents of inputs as values that a data key has sealed. */
import { toApplicationId } from '../../applications/rules/ids.ts';
import type { Database } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import type { Opening, ResealStep, SealedKind, SealedRows, SealedSearch } from '../../seal/witness.ts';
import { inputIdentity } from './inputs.ts';

interface SealedInputRow {
  readonly id: string;
  readonly application_id: string;
  readonly seal_id: string;
  readonly content: Buffer;
}

const COLUMNS = 'id, application_id, seal_id, content';
const SOME = `
  SELECT ${COLUMNS} FROM conversation_inputs WHERE substring(content FROM 1 FOR 1) = $1 LIMIT 3`;

async function* sealedInputs({ keyByte, rows }: SealedSearch): AsyncGenerator<Opening, void, undefined> {
  for (const row of await rows<SealedInputRow>(SOME, [keyByte])) {
    yield (vault) => vault.open(row.content, identityOf(row));
  }
}

/** The rows of a step. */
const STEP = 500;
const OF_KEY = `
  SELECT ${COLUMNS} FROM conversation_inputs
  WHERE id > $1 AND substring(content FROM 1 FOR 1) = $2 ORDER BY id LIMIT ${STEP}`;

async function inputsOfKey(database: Database, vault: Vault, keyId: number): Promise<SealedRows> {
  let [needing, damaged] = [0, 0];
  for (let from: string | undefined = '0'; from !== undefined; ) {
    const { rows }: { rows: SealedInputRow[] } = await database.query(OF_KEY, [from, Buffer.of(keyId)]);
    const lost = vault.hasDataKey(keyId) ? rows.filter((row) => resealed(vault, row) === null).length : 0;
    damaged += lost;
    needing += rows.length - lost;
    from = rows.at(-1)?.id;
  }
  return { needing, damaged };
}

/** The rows of a step, of whatever key: so that a step takes the same time where most rows are sealed already. */
const NEXT = `SELECT ${COLUMNS} FROM conversation_inputs WHERE id > $1 ORDER BY id LIMIT ${STEP}`;
const RESEAL = `
  UPDATE conversation_inputs i SET content = g.content
  FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS g(id, content, before)
  WHERE i.id = g.id AND i.content = g.before AND may_seal($4)`;

async function resealInputs(database: Database, vault: Vault, from: string): Promise<ResealStep> {
  const { id } = vault.sealingKey;
  const { rows } = await database.query<SealedInputRow>(NEXT, [from === '' ? '0' : from]);
  const others = rows.filter(({ content }) => content[0] !== id);
  const again = others.flatMap((row) => {
    const content = resealed(vault, row);
    return content === null ? [] : [{ id: row.id, content, before: row.content }];
  });
  const parts = [again.map((row) => row.id), again.map((row) => row.content), again.map((row) => row.before)];
  const done = again.length === 0 ? 0 : ((await database.query(RESEAL, [...parts, id])).rowCount ?? 0);
  const next = rows.length < STEP ? null : (rows.at(-1)?.id ?? null);
  return { next, resealed: done, unopened: others.length - again.length, applications: done };
}

function resealed(vault: Vault, row: SealedInputRow): Buffer | null {
  try {
    return vault.reseal(row.content, identityOf(row));
  } catch {
    return null;
  }
}

function identityOf({ application_id, seal_id }: SealedInputRow): string {
  return inputIdentity(toApplicationId(application_id), seal_id);
}

/** The contents of inputs. */
export const CONVERSATION_INPUTS: SealedKind = {
  name: 'conversation inputs',
  find: sealedInputs,
  rowsOf: inputsOfKey,
  reseal: resealInputs,
};
