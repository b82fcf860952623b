/**
 * Reads what the store tells of conversations. Each statement reads what waits, by an index of that alone, or
 * counts that are kept, so what is open or has ended costs nothing, however much there is of it.
 */
import type { Database } from '../../../ground/postgres/database.ts';
import { onlyRow } from '../../../ground/postgres/only-row.ts';
import {
  type BlockedFacts,
  type ConversationFacts,
  type DocumentFacts,
  type HeldFacts,
  type OpenFacts,
  WORK_REASONS,
  type WorkFacts,
} from '../rules/conversation-facts.ts';

/** A clock that has stepped back makes no negative age. */
const ageOf = (time: string) =>
  `coalesce(greatest(extract(epoch FROM now() - min(${time})), 0), 0)::double precision`;

const OPEN = `
  SELECT c.step, c.holder, sum(c.conversations)::double precision AS conversations
  FROM conversation_counts c GROUP BY 1, 2 HAVING sum(c.conversations) <> 0 ORDER BY 1, 2`;

const HELD = `
  SELECT coalesce(c.state ->> 'handedOver', 'operator') AS reason, count(*)::integer AS conversations,
    ${ageOf('c.waits_since')} AS "oldestS"
  FROM conversations c WHERE c.waits_since IS NOT NULL GROUP BY 1 ORDER BY 1`;

const WORK = `
  SELECT w.work, CASE WHEN w.reason IS NULL THEN 'none' WHEN w.reason = ANY ($1::text[]) THEN w.reason ELSE 'other' END
    AS reason, count(*)::integer AS waiting, ${ageOf('w.queued_at')} AS "oldestS"
  FROM conversation_work w GROUP BY 1, 2 ORDER BY 1, 2`;

const DOCUMENTS = `
  SELECT d.state, sum(d.documents)::double precision AS documents, sum(d.bytes)::double precision AS bytes
  FROM document_counts d GROUP BY 1 ORDER BY 1`;

const BLOCKED = `
  SELECT c.reason, count(*)::integer AS applications
  FROM loan_contracts c WHERE c.state = 'blocked' GROUP BY 1 ORDER BY 1`;

const WAITING = `
  SELECT i.inputs, i.inputs_s, p.queued, p.sending, p.replies_s, u.uncertain, u.uncertain_s, d.missing_files,
    n.not_read, f.unfinished, f.unfinished_s
  FROM (
    SELECT count(*)::integer AS inputs, ${ageOf('i.stored_at')} AS inputs_s
    FROM conversation_inputs i WHERE i.turn IS NULL) AS i
  CROSS JOIN (
    SELECT (count(*) FILTER (WHERE r.status = 'queued'))::integer AS queued,
      (count(*) FILTER (WHERE r.status = 'sending'))::integer AS sending, ${ageOf('r.created_at')} AS replies_s
    FROM replies r WHERE r.status IN ('queued', 'sending')) AS p
  CROSS JOIN (
    SELECT count(*)::integer AS uncertain, ${ageOf('r.changed_at')} AS uncertain_s
    FROM replies r WHERE r.status = 'uncertain' AND r.window_until > now()) AS u
  CROSS JOIN (
    SELECT count(*)::integer AS missing_files FROM documents d WHERE d.missing_at IS NOT NULL) AS d
  CROSS JOIN (
    SELECT count(*)::integer AS not_read FROM documents d
    WHERE d.state = 'received' AND d.reason = 'reader_off') AS n
  CROSS JOIN (
    SELECT count(*)::integer AS unfinished, ${ageOf('c.signed_at')} AS unfinished_s
    FROM loan_contracts c WHERE c.state IN ('signed', 'withdrawn') AND c.signed_sha256 IS NULL) AS f`;

interface WaitingRow {
  inputs: number;
  inputs_s: number;
  queued: number;
  sending: number;
  replies_s: number;
  uncertain: number;
  uncertain_s: number;
  missing_files: number;
  not_read: number;
  unfinished: number;
  unfinished_s: number;
}

/** Reads the facts. */
export async function readConversationFacts(database: Database): Promise<ConversationFacts> {
  const row = onlyRow((await database.query<WaitingRow>(WAITING)).rows);
  return {
    open: (await database.query<OpenFacts>(OPEN)).rows,
    held: (await database.query<HeldFacts>(HELD)).rows,
    inputs: { waiting: row.inputs, oldestS: row.inputs_s },
    work: (await database.query<WorkFacts>(WORK, [WORK_REASONS])).rows,
    replies: { queued: row.queued, sending: row.sending, oldestS: row.replies_s },
    uncertain: { replies: row.uncertain, oldestS: row.uncertain_s },
    documents: (await database.query<DocumentFacts>(DOCUMENTS)).rows,
    missingFiles: row.missing_files,
    notRead: row.not_read,
    blocked: (await database.query<BlockedFacts>(BLOCKED)).rows,
    unfinished: { contracts: row.unfinished, oldestS: row.unfinished_s },
  };
}
