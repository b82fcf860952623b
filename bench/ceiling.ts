/**
 * Measures the ceiling in a process of its own: the lean statement, sent straight by the driver, with ready
 * parameters.
 */

import pg from 'pg';
import { namedFields } from '../src/domain/application/fields.ts';
import { readApplication } from '../src/domain/application/read-application.ts';
import { messageType } from '../src/domain/message/notify.ts';
import { toKeyId } from '../src/domain/partner/credential.ts';
import { cardOfContent } from '../src/domain/scorecard/content.ts';
import { DEFAULT_POLICY } from '../src/domain/scorecard/form-1.ts';
import {
  byteaArray,
  integerArray,
  smallintArray,
  textArray,
  uuidArray,
} from '../src/ground/postgres/gathering.ts';
import { Vault } from '../src/seal/vault.ts';
import { type PreparedBatch, prepareBatch } from '../src/subjects/applications/sql/prepared-batch.ts';
import { candidateColumns } from '../src/subjects/applications/sql/registration-sql.ts';
import { bodies } from './applicants.ts';
import { measure, serve } from './phase.ts';

const CARD = cardOfContent(DEFAULT_POLICY);

interface Phase {
  readonly connectionString: string;
  readonly concurrency: number;
  /** Applications a batch. */
  readonly size: number;
  /** Batches a statement. */
  readonly together: number;
  readonly ms: number;
  readonly stream: number;
  /** Statements to make beforehand. The run fails where they run out. */
  readonly statements: number;
}

const vault = new Vault({
  dataKeys: new Map([[1, Buffer.alloc(32, 1)]]),
  indexKey: Buffer.alloc(32, 2),
  apiKeyPepper: Buffer.alloc(32, 3),
});
const CALL = `SELECT bench_ceiling(${Array.from({ length: 10 }, (_, index) => `$${index + 1}`).join(', ')})`;

serve<Phase>(async (phase) => {
  const nextBody = bodies(phase.size, phase.stream);
  const statements = Array.from({ length: phase.statements }, () =>
    statement(Array.from({ length: phase.together }, () => prepared(nextBody()))),
  );
  const clients = Array.from(
    { length: phase.concurrency },
    () => new pg.Client({ connectionString: phase.connectionString }),
  );
  await Promise.all(clients.map((client) => client.connect()));
  const result = await measure({ ...phase, size: phase.size * phase.together }, async (lane) => {
    const values = statements.pop();
    if (values === undefined) throw new Error('too few statements were made');
    await (clients[lane] as pg.Client).query({ name: 'ceiling', text: CALL, values });
  });
  await Promise.all(clients.map((client) => client.end()));
  return result;
});

function prepared(body: Buffer): PreparedBatch {
  const fields = namedFields('messaging');
  const { applications } = JSON.parse(body.toString()) as { applications: unknown[] };
  const candidates = applications.map((element, position) => {
    const reading = readApplication(element, fields, 'CO');
    if (reading.kind !== 'valid') throw new Error('an example is not valid');
    const { application } = reading;
    const assessment = CARD.decide(application);
    return { position, application, assessment, messageType: messageType(application, assessment.decision) };
  });
  return prepareBatch(vault, { keyId: toKeyId(1), policyId: 1 }, candidates, null);
}

/** The columns in the order of the parameters of `bench_ceiling`. */
function statement(batches: readonly PreparedBatch[]): unknown[] {
  const candidates = batches.flatMap((batch) => batch.candidates);
  const numbers = batches.flatMap((batch, index) => batch.candidates.map(() => index + 1));
  const [, ...columns] = candidateColumns(candidates);
  return [
    uuidArray(batches, ({ id }) => id.replaceAll('-', '')),
    byteaArray(batches, ({ envelope }) => envelope),
    byteaArray(batches, ({ facts }) => facts.bytes),
    textArray(batches, ({ facts }) => facts.platforms),
    integerArray(batches, ({ positions }) => positions),
    smallintArray(numbers, (number) => number),
    ...columns,
  ];
}
