/** The contents of replies as values that a data key has sealed. */
import { type ApplicationId, toApplicationId } from '../../../applications/rules/ids.ts';
import type { Database } from '../../../postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import type { Opening, ResealStep, SealedKind, SealedRows, SealedSearch } from '../../../seal/witness.ts';
import { replyIdentity } from '../replies.ts';

interface SealedReply {
  readonly id: string;
  readonly application_id: string;
  readonly turn: number;
  readonly content: Buffer;
}

const SOME = `
  SELECT id, application_id, turn, content FROM replies WHERE substring(content FROM 1 FOR 1) = $1 LIMIT 3`;

async function* sealedReplies({ keyByte, rows }: SealedSearch): AsyncGenerator<Opening, void, undefined> {
  for (const row of await rows<SealedReply>(SOME, [keyByte])) {
    yield (vault) => vault.open(row.content, identityOf(row));
  }
}

/** The rows of a step. */
const STEP = 200;
const OF_KEY = `
  SELECT id, application_id, turn, content FROM replies
  WHERE id > $1 AND substring(content FROM 1 FOR 1) = $2 ORDER BY id LIMIT ${STEP}`;

/** Reads all rows of the key: after a reseal there are few, and before it the answer is that there are some. */
async function repliesOfKey(database: Database, vault: Vault, keyId: number): Promise<SealedRows> {
  let [needing, damaged] = [0, 0];
  for (let from: string | undefined = '0'; from !== undefined; ) {
    const { rows }: { rows: SealedReply[] } = await database.query(OF_KEY, [from, Buffer.of(keyId)]);
    const lost = vault.hasDataKey(keyId) ? rows.filter((row) => resealed(vault, row) === null).length : 0;
    damaged += lost;
    needing += rows.length - lost;
    from = rows.at(-1)?.id;
  }
  return { needing, damaged };
}

/** The rows of a step, of whatever key: so that a step takes the same time where most rows are sealed already. */
const NEXT = `SELECT id, application_id, turn, content FROM replies WHERE id > $1 ORDER BY id LIMIT ${STEP}`;
const RESEAL = `
  UPDATE replies r SET content = g.content FROM unnest($1::bigint[], $2::bytea[], $3::bytea[]) AS g(id, content, before)
  WHERE r.id = g.id AND r.content = g.before AND may_seal($4) AND r.id = ANY (ARRAY(
    SELECT h.id FROM replies h WHERE h.id = ANY ($1::bigint[]) ORDER BY h.id FOR NO KEY UPDATE))`;

async function resealReplies(database: Database, vault: Vault, from: string): Promise<ResealStep> {
  const { id } = vault.sealingKey;
  const { rows } = await database.query<SealedReply>(NEXT, [from === '' ? '0' : from]);
  const others = rows.filter(({ content }) => content[0] !== id);
  const again = others.flatMap((row) => {
    const content = resealed(vault, row);
    return content === null ? [] : [{ id: row.id, content, before: row.content }];
  });
  const done =
    again.length === 0
      ? 0
      : (
          await database.query(RESEAL, [
            again.map((row) => row.id),
            again.map((row) => row.content),
            again.map((row) => row.before),
            id,
          ])
        ).rowCount;
  return {
    next: rows.length < STEP ? null : (rows.at(-1)?.id ?? null),
    resealed: done ?? 0,
    unopened: others.length - again.length,
    applications: done ?? 0,
  };
}

function resealed(vault: Vault, row: SealedReply): Buffer | null {
  try {
    return vault.reseal(row.content, identityOf(row));
  } catch {
    return null;
  }
}

function identityOf({ application_id, turn }: SealedReply): string {
  const id: ApplicationId = toApplicationId(application_id);
  return replyIdentity(id, turn);
}

/** The contents of replies. */
export const REPLIES: SealedKind = {
  name: 'replies',
  find: sealedReplies,
  rowsOf: repliesOfKey,
  reseal: resealReplies,
};
