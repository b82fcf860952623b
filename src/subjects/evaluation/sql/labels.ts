/**
 * What became of applications after their decision: labels of loans, which are imported (reads and writes
 * `loan_labels`), and what the store knows already (reads `application_events`, `income_checks`, `loan_contracts`).
 */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import type { Session, Transaction } from '../../../ground/postgres/database.ts';
import type { Label } from '../rules/label-lines.ts';
import type { LabelKind } from '../rules/label-report.ts';

const READ = `
  SELECT l.application_id::float8 AS id, to_char(l.day, 'YYYY-MM-DD') AS day, l.is_bad AS "isBad" FROM loan_labels l
  WHERE l.application_id = ANY ($1::bigint[])`;

/** The stored labels of these applications, by application. */
export async function readLabels(
  session: Session,
  ids: readonly ApplicationId[],
): Promise<Map<number, Label>> {
  const { rows } = await session.query<Label>(READ, [ids]);
  return new Map(rows.map((label) => [label.id, label]));
}

/** The rule of `laterLabel` once more, because another import may have stored one meanwhile. */
const PUT = `
  INSERT INTO loan_labels AS l (application_id, day, is_bad)
  SELECT u.id, u.day, u.is_bad FROM unnest($1::bigint[], $2::date[], $3::boolean[]) AS u(id, day, is_bad) ORDER BY u.id
  ON CONFLICT (application_id) DO UPDATE SET day = excluded.day, is_bad = excluded.is_bad
  WHERE (l.day, l.is_bad) < (excluded.day, excluded.is_bad)`;

/** Stores labels, one an application at most. What is stored of a later day stays. */
export async function putLabels(session: Session, labels: readonly Label[]): Promise<void> {
  await session.query(PUT, [
    labels.map(({ id }) => id),
    labels.map(({ day }) => day),
    labels.map(({ isBad }) => isBad),
  ]);
}

const DELETE = 'DELETE FROM loan_labels WHERE application_id = ANY ($1::bigint[])';

/** Deletes the labels of these applications. */
export async function deleteLabels(session: Transaction, ids: readonly ApplicationId[]): Promise<void> {
  await session.query(DELETE, [ids]);
}

/** Of each kind: application, and whether it came out bad, in a range of applications. */
const OF_KIND: Readonly<Record<LabelKind, string>> = {
  loans: `
    SELECT l.application_id AS id, l.is_bad FROM loan_labels l
    WHERE l.application_id >= $1 AND l.application_id < $2`,
  // A person who is erased is rejected for that alone.
  reviews: `
    SELECT e.application_id AS id, e.to_status = 'rejected' AS is_bad FROM application_events e
    WHERE e.application_id >= $1 AND e.application_id < $2 AND e.from_status = 'in_review'
      AND e.action IN ('approve', 'reject') AND e.reason_code IS DISTINCT FROM 'data_erased'`,
  incomes: `
    SELECT DISTINCT ON (c.application_id) c.application_id AS id,
      c.observed < c.declared * (c.rules ->> 'confirm_ratio')::numeric AS is_bad
    FROM income_checks c WHERE c.application_id >= $1 AND c.application_id < $2 AND c.observed > 0 AND c.declared > 0
    ORDER BY c.application_id, c.number DESC`,
  signatures: `
    SELECT c.application_id AS id, c.state = 'withdrawn' AS is_bad FROM loan_contracts c
    WHERE c.application_id >= $1 AND c.application_id < $2 AND c.state IN ('signed', 'withdrawn')`,
};

const KINDS = Object.keys(OF_KIND) as LabelKind[];
const FIRST = KINDS.map((kind) => `EXISTS (${OF_KIND[kind]}) AS ${kind}`).join(', ');

/** The kinds of labels that the store has any of. */
export async function storedLabelKinds(session: Session): Promise<LabelKind[]> {
  const { rows } = await session.query<Record<LabelKind, boolean>>(`SELECT ${FIRST}`, [
    0,
    `${Number.MAX_SAFE_INTEGER}`,
  ]);
  return KINDS.filter((kind) => rows[0]?.[kind] === true);
}

/** What is known of an application: by kind whether it came out bad. */
export type KnownLabels = ReadonlyMap<number, readonly (readonly [kind: LabelKind, isBad: boolean])[]>;

/** The labels of the applications from one id on and before another one. */
export async function labelsBetween(
  session: Session,
  kinds: readonly LabelKind[],
  from: ApplicationId,
  before: ApplicationId,
): Promise<KnownLabels> {
  const known = new Map<number, [LabelKind, boolean][]>();
  for (const kind of kinds) {
    const { rows } = await session.query<{ id: string; is_bad: boolean | null }>(OF_KIND[kind], [
      from,
      before,
    ]);
    for (const { id, is_bad } of rows) {
      if (is_bad === null) continue;
      const one = toApplicationId(id);
      const found = known.get(Number(one));
      if (found === undefined) known.set(Number(one), [[kind, is_bad]]);
      else found.push([kind, is_bad]);
    }
  }
  return known;
}
