/**
 * Reads applications as operators see them, and moves their status (D34, D35, D40, D41, D46). Reads `applications_of`,
 * `application_events`, `partners` and `policies`; writes by `move_application`.
 */
import { FIELDS, type Field, type FieldName } from '../../../domain/application/fields.ts';
import { type ApplicationId, partitionOf } from '../../../domain/application/ids.ts';
import type { ApplicationStatus, NotedAction, ReviewAction } from '../../../domain/application/lifecycle.ts';
import type { ReasonCode } from '../../../domain/application/reason-codes.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { areDecidable, type Card } from '../../../domain/scorecard/card.ts';
import type { ReasonWords } from '../../../domain/scorecard/document.ts';
import { reasonWords } from '../../../domain/scorecard/reasons.ts';
import {
  CRITERIA,
  type Decision,
  type DecisionFacts,
  type Points,
} from '../../../domain/scorecard/scorecard.ts';
import type { Database, Session } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { POLICY_AS_JSON, type PolicyRow, storedPolicyOf } from '../../policies/sql/policies.ts';
import { type Correction, correctionsOf } from './corrections.ts';
import { SEALED_FIELDS } from './envelope.ts';
import { byPartitions } from './partition-runs.ts';
import {
  type Person,
  type PersonalFault,
  readPersonalData,
  SEALED_COLUMNS,
  type SealedRow,
} from './personal-data.ts';

export interface StoredApplication {
  readonly id: ApplicationId;
  readonly createdAt: Date;
  readonly partner: { readonly id: PartnerId; readonly name: string };
  /** null if the decision cannot be read: a fault. */
  readonly decision: Decision | null;
  /** null if it depends on a decision that cannot be read. */
  readonly status: ApplicationStatus | null;
  readonly score: number | null;
  /** When the applicant first tapped "I am interested". */
  readonly interestedAt: Date | null;
  /** When the applicant signed the contract (D46); the status stays `pending_signature`. */
  readonly signedAt: Date | null;
  /** Until when the applicant may withdraw from it; null: not signed, or the country has no such period. */
  readonly withdrawableUntil: Date | null;
  /** Somebody at the phone said that it is not the applicant's (D43). */
  readonly isWrongPerson: boolean;
  /** Why the sealed fields, or all fields, cannot be shown; null if they can, and if they are erased. */
  readonly fault: PersonalFault | null;
  /** The fields in the contract's order; the sealed ones are null if they are erased or there is a fault. */
  readonly fields: Readonly<Record<FieldName, string | number | boolean | null>>;
}

interface ApplicationEvent {
  readonly at: Date;
  readonly actor: string;
  /** `interested` is the applicant's tap. Only a `ReviewAction` changes the status. */
  readonly action: ReviewAction | 'interested' | NotedAction;
  readonly from: ApplicationStatus;
  readonly to: ApplicationStatus;
  readonly reason: string;
  /** null for the applicant's tap. */
  readonly reasonCode: ReasonCode | null;
  /** The second operator of an act that needs two (D46); null: one was enough. */
  readonly second: string | null;
}

export interface ApplicationDetails extends StoredApplication {
  readonly policyVersion: string;
  readonly points: Points;
  /** True if the policy's amount limit rejected an application that its score alone would not have rejected (D29). */
  readonly aboveLimit: boolean;
  /** The least scores of the two better decisions, by the policy that decided. */
  readonly bands: { readonly approved: number; readonly in_review: number };
  /** Why the decision is no approval, the most important reason first (D50). A code without words is damaged. */
  readonly reasons: readonly { readonly code: string; readonly words: ReasonWords | null }[];
  /** Oldest first. */
  readonly corrections: readonly Correction[];
  /** Oldest first. */
  readonly events: readonly ApplicationEvent[];
}

type Row = SealedRow & Omit<StoredApplication, 'fault' | 'fields'> & Record<string, unknown>;

type DetailsRow = Row & {
  readonly policy: PolicyRow;
  readonly events: (Omit<ApplicationEvent, 'at'> & { at: string })[];
};

const FIELD_LIST = FIELDS as readonly (Field & { readonly name: FieldName })[];
const FIELD_COLUMNS = FIELD_LIST.filter(({ column }) => column === true).map(({ name }) => `a.${name}`);
const COLUMNS = `a.id::float8, a.created_at AS "createdAt", ${SEALED_COLUMNS},
  json_build_object('id', p.id, 'name', p.name) AS partner, a.decision, a.status, a.score,
  a.interested_at AS "interestedAt", a.signed_at AS "signedAt", a.withdrawable_until AS "withdrawableUntil",
  a.wrong_person AS "isWrongPerson", ${FIELD_COLUMNS.join(', ')}`;

const READ = `
  SELECT ${COLUMNS} FROM applications_of($1) a JOIN partners p ON p.id = a.partner_id
  ORDER BY array_position($1, a.id)`;

/** The applications with these ids, in their order. */
export async function readApplications(
  database: Database,
  vault: Vault,
  ids: readonly ApplicationId[],
): Promise<StoredApplication[]> {
  const rows: Row[] = [];
  for (const some of byPartitions(ids, partitionOf)) {
    rows.push(...(await database.query<Row>(READ, [some])).rows);
  }
  const persons = await readPersonalData(database, vault, rows, SEALED_FIELDS);
  return persons.map(({ row, person }) => applicationOf(row, person));
}

const POINT_COLUMNS = CRITERIA.map((criterion) => `a.${criterion}_points`).join(', ');
/** One statement, so that status and history are of the same moment. */
const READ_DETAILS = `
  SELECT ${COLUMNS}, ${POINT_COLUMNS},
    o.policy,
    (SELECT coalesce(json_agg(json_build_object('at', e.at, 'actor', e.actor, 'action', e.action,
        'from', e.from_status, 'to', e.to_status, 'reason', e.reason, 'reasonCode', e.reason_code,
        'second', e.second_actor) ORDER BY e.id), '[]')
      FROM application_events e WHERE e.application_id = a.id) AS events
  FROM applications_of(ARRAY[$1::bigint]) a
  JOIN partners p ON p.id = a.partner_id
  JOIN LATERAL (SELECT ${POLICY_AS_JSON} AS policy FROM policies p WHERE p.id = a.policy_id) AS o ON true`;

/** Everything about one application except its messages; null if there is none. */
export async function readApplicationDetails(
  database: Database,
  vault: Vault,
  id: ApplicationId,
): Promise<ApplicationDetails | null> {
  const { rows } = await database.query<DetailsRow>(READ_DETAILS, [id]);
  const [found] = await readPersonalData(database, vault, rows, SEALED_FIELDS);
  if (found === undefined) return null;
  const { row, person } = found;
  const { card } = storedPolicyOf(row.policy);
  const { document } = card;
  return {
    ...applicationOf(row, person),
    policyVersion: document.version,
    points: Object.fromEntries(CRITERIA.map((name) => [name, row[`${name}_points`]])) as Points,
    aboveLimit: row.decision === 'rejected' && (row.score ?? 0) >= document.decision.in_review,
    bands: document.decision,
    reasons: reasonsOf(row, card),
    corrections: await correctionsOf(database, vault, id),
    events: row.events.map((event) => ({ ...event, at: new Date(event.at) })),
  };
}

/** Damaged facts have no reasons. */
function reasonsOf(row: DetailsRow, { document, decide }: Card): ApplicationDetails['reasons'] {
  const facts = row as unknown as DecisionFacts;
  if (row.decision === null || !areDecidable(facts)) return [];
  return decide(facts).reasons.map((code) => ({
    code,
    words: reasonWords(code, document.reasons),
  }));
}

const MOVE = `
  SELECT status, moved, held_by_contract AS "heldByContract", withdrawable_until AS "withdrawableUntil"
  FROM move_application($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

interface Transition {
  readonly from: readonly ApplicationStatus[];
  readonly to: ApplicationStatus;
  readonly actor: string;
  readonly action: ReviewAction;
  readonly reason: string;
  readonly reasonCode: ReasonCode;
  /** The second operator, for the history (D48). */
  readonly second?: string;
  /** Two operators override what the contract asks for before a payment (D46). */
  readonly isOverride?: boolean;
}

/** How a move ended. */
export interface Moved {
  /** The status before; null if it cannot be read. */
  readonly status: ApplicationStatus | null;
  readonly moved: boolean;
  /** True if the contract keeps the application from being paid out (D46). */
  readonly heldByContract: boolean;
  /** Until when the applicant may withdraw; null: nothing is signed, or the country has no such period. */
  readonly withdrawableUntil: Date | null;
}

/**
 * Moves an application if its status is one of `from` (D34, D35), and writes its history, the applicant's message (D40)
 * and the partner's event (D41), in one transaction. An application with a conversation moves to `disbursed` only if
 * its contract is signed and the withdrawal period is over, unless that is overridden (D46). Null if there is no such
 * application.
 */
export async function moveApplication(
  database: Session,
  id: ApplicationId,
  { from, to, actor, action, reason, reasonCode, second, isOverride }: Transition,
): Promise<Moved | null> {
  const values = [id, from, to, actor, action, reason, reasonCode, second ?? null, isOverride ?? false];
  return (await database.query<Moved>(MOVE, values)).rows[0] ?? null;
}

/** If the facts of an application are damaged, its person is unreadable too. */
const DAMAGED: Person = { record: null, fault: 'unreadable' };

function applicationOf(row: Row, person: Person): StoredApplication {
  const { record, fault } = row.decision === null ? DAMAGED : person;
  const fields = Object.fromEntries(
    FIELD_LIST.map(({ name, column }) => {
      const value = column === true ? row[name] : record?.[name];
      return [name, value ?? null];
    }),
  );
  const { id, createdAt, partner, decision, status, interestedAt, signedAt, withdrawableUntil } = row;
  return {
    ...{ id, createdAt, partner, decision, status, interestedAt, signedAt, withdrawableUntil },
    score: decision === null ? null : row.score,
    isWrongPerson: row.isWrongPerson,
    fault,
    fields: fields as StoredApplication['fields'],
  };
}
