/**
 * What lies beside the applications of one person: chats, documents, contracts, suppressions, erasures, and what was
 * exported (docs/operators.md, "A person"). Reads the tables of these subjects, and writes nothing.
 */
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import type { ConversationPlace, Holder } from '../../../domain/conversation/places.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { toBigint } from '../../../seal/blind-indexes.ts';

export interface PersonChat {
  readonly step: ConversationPlace;
  readonly heldBy: Holder;
  readonly beganAt: Date;
  readonly endedAt: Date | null;
}

export interface PersonExport {
  readonly at: Date;
  readonly actor: string;
}

/** What the applicant has seen of a contract. */
type PersonContract = 'open' | 'signed' | 'withdrawn' | 'expired';

/** What lies beside one application. */
export interface Beside {
  /** The newest; null: there is none. */
  readonly chat: PersonChat | null;
  readonly documents: number;
  /** The state of the newest contract; null: there is none. */
  readonly contract: PersonContract | null;
  readonly exports: readonly PersonExport[];
}

/** Separate statements, because on a cluster these tables may be on different machines. */
const CHATS = `
  SELECT DISTINCT ON (c.application_id) c.application_id::float8 AS id, c.place AS step, c.held_by AS "heldBy",
    c.began_at AS "beganAt", c.ended_at AS "endedAt"
  FROM conversations c WHERE c.application_id = ANY ($1::bigint[]) ORDER BY c.application_id, c.id DESC`;
const DOCUMENTS = `
  SELECT d.application_id::float8 AS id, count(*)::integer AS count FROM documents d
  WHERE d.application_id = ANY ($1::bigint[]) GROUP BY 1`;
const CONTRACTS = `
  SELECT DISTINCT ON (l.application_id) l.application_id::float8 AS id, l.state FROM loan_contracts l
  WHERE l.application_id = ANY ($1::bigint[]) AND l.state IN ('open', 'signed', 'withdrawn', 'expired')
  ORDER BY l.application_id, l.id DESC`;
const EXPORTS = `
  SELECT e.application_id::float8 AS id, e.at, e.actor FROM operator_events e
  WHERE e.application_id = ANY ($1::bigint[]) AND e.act = 'subject export' ORDER BY e.id`;

/** What lies beside each of these applications. */
export async function readBeside(
  database: Database,
  ids: readonly ApplicationId[],
): Promise<(id: ApplicationId) => Beside> {
  const read = async <Row extends object>(text: string) =>
    (await database.query<Row & { id: number }>(text, [ids])).rows;
  const chats = await read<PersonChat>(CHATS);
  const documents = await read<{ count: number }>(DOCUMENTS);
  const contracts = await read<{ state: PersonContract }>(CONTRACTS);
  const exports = await read<PersonExport>(EXPORTS);
  return (id) => ({
    chat: chats.find((one) => one.id === id) ?? null,
    documents: documents.find((one) => one.id === id)?.count ?? 0,
    contract: contracts.find((one) => one.id === id)?.state ?? null,
    exports: exports.filter((one) => one.id === id),
  });
}

/** Whether and why a phone gets no messages. */
export interface PhoneStop {
  readonly isActive: boolean;
  readonly source: string;
  readonly changedAt: Date;
}

const STOPS = `
  SELECT s.active AS "isActive", s.source, s.changed_at AS "changedAt" FROM suppressions s
  WHERE s.phone_index = ANY ($1::bigint[]) ORDER BY s.changed_at`;
const ERASURES = `
  SELECT e.erased_at AS at FROM erased_phones p JOIN erasures e ON e.id = p.erasure_id
  WHERE p.phone_index = ANY ($1::bigint[]) ORDER BY e.number`;

/** What the store has of these phones: the suppressions, also those that ended, and the times of erasures. */
export async function readOfPhones(
  database: Database,
  phones: readonly BlindIndex<'phone'>[],
): Promise<{ readonly suppressions: readonly PhoneStop[]; readonly erasedAt: readonly Date[] }> {
  const values = [phones.map(toBigint)];
  const { rows: suppressions } = await database.query<PhoneStop>(STOPS, values);
  const { rows: erasures } = await database.query<{ at: Date }>(ERASURES, values);
  return { suppressions, erasedAt: erasures.map(({ at }) => at) };
}
