/** Writes states of applications that the service reaches only slowly or never. */
import type { ApplicationStatus } from '../../src/domain/application/lifecycle.ts';
import type { Database } from '../../src/ground/postgres/database.ts';

/** Deletes all applications and messages. */
export async function emptyApplications(database: Database): Promise<void> {
  await database.query(`TRUNCATE batches, open_phones, application_states, review_queue, review_items, backlog_counts, outbox, leases, message_records,
    waiting_messages, waiting_rejections, message_counts`);
}

/** Gives applications a status and frees the phones of final ones, without a history. */
export async function setStatus(
  database: Database,
  ids: readonly number[],
  status: ApplicationStatus,
): Promise<void> {
  await database.query(
    `INSERT INTO application_states (batch_id, application_id, status)
    SELECT batch_of(id), id, $2 FROM unnest($1::bigint[]) AS g(id)
    ON CONFLICT (batch_id, application_id) DO UPDATE SET status = excluded.status`,
    [ids, status],
  );
  if (status === 'rejected' || status === 'disbursed') {
    await database.query('DELETE FROM open_phones WHERE application_id = ANY ($1)', [ids]);
  }
}

interface StoredBatch {
  /** The number of the batch. */
  readonly id: string;
  readonly seal_id: string;
  readonly envelope: Buffer;
  readonly surplus: boolean;
}

/** The batch of an application. */
export async function batchOf(database: Database, applicationId: number): Promise<StoredBatch> {
  const { rows } = await database.query('SELECT * FROM batches WHERE id = batch_of($1)', [applicationId]);
  return rows[0];
}
