/** Registers in this process as POST /PRO does, without HTTP. */
import pino from 'pino';
import { namedFields } from '../../src/domain/application/fields.ts';
import type { Credential } from '../../src/domain/partner/credential.ts';
import type { Database } from '../../src/ground/postgres/database.ts';
import { Registrar } from '../../src/subjects/applications/sql/registration.ts';
import { ingestBatch } from '../../src/subjects/applications/uses/ingest-batch.ts';
import { Credentials } from '../../src/subjects/partners/sql/credentials.ts';
import { LivePolicy } from '../../src/subjects/policies/uses/live-policy.ts';
import { sessionsOf, type TestDatabase, type TestStore } from './database.ts';
import { PATIENCE_MS } from './eventually.ts';

type SpreadStore = TestStore & Pick<TestDatabase, 'isSpread'>;

const BATCH = 100;

/** The live policy of a store, as a service opens it. */
export function livePolicyOf({
  database,
  vault,
  clock,
}: Pick<TestStore, 'vault' | 'clock'> & { database: Database }) {
  return LivePolicy.open({ database, vault, clock, log: pino({ level: 'silent' }) }, null);
}

/** Takes in one batch within this time; gives the answer. Throws where the batch gets none. */
export async function intakeOf({ vault, isSpread, clock, ...store }: SpreadStore, withinMs = PATIENCE_MS) {
  const database = sessionsOf(store);
  const context = {
    database,
    vault,
    policies: await livePolicyOf({ database, vault, clock }),
    fields: namedFields('messaging'),
    registrar: new Registrar(database, { indexKeyId: vault.indexKeyId }, { clock, isSpread }),
    onAnswered: () => {},
    onRemembered: () => {},
  };
  const credentials = new Credentials(database, vault);
  const credentialOf = async (keyId: number): Promise<Credential> => {
    const { rows } = await database.query('SELECT digest FROM api_keys WHERE id = $1', [keyId]);
    return (await credentials.find(rows[0].digest))!.credential;
  };
  return async (keyId: number, elements: readonly unknown[], idempotencyKey: string | null = null) => {
    const result = await ingestBatch(context, {
      credential: await credentialOf(keyId),
      environment: 'PRO',
      elements,
      language: 'en',
      idempotencyKey,
      body: Buffer.from(JSON.stringify(elements)),
      deadline: clock.monotonicMs() + withinMs,
    });
    if (result.kind !== 'answered') throw new Error(result.kind);
    return result;
  };
}

/** Registers in batches of 100. Resolves to the ids, with 0 for a duplicate; throws at any other outcome. */
export async function registrarOf(store: SpreadStore) {
  const ingest = await intakeOf(store);
  return async (keyId: number, elements: readonly unknown[]): Promise<number[]> => {
    const ids: number[] = [];
    for (let start = 0; start < elements.length; start += BATCH) {
      const { outcomes } = await ingest(keyId, elements.slice(start, start + BATCH));
      for (const outcome of outcomes) {
        if (outcome.kind !== 'registered' && outcome.kind !== 'duplicate') throw new Error(outcome.kind);
        ids.push(outcome.kind === 'registered' ? (outcome.id as number) : 0);
      }
    }
    return ids;
  };
}
