/** The erasures that were done: a restored older store does them again. */
import { type ApplicationId, toApplicationId } from '../../applications/rules/ids.ts';
import type { Session } from '../../postgres/database.ts';

/** An application, and what the envelope of its batch is bound to: both name it in every state of the store. */
interface ErasedApplication {
  readonly id: ApplicationId;
  readonly sealId: string;
}

export interface Erasure {
  readonly id: string;
  readonly at: Date;
  readonly applications: readonly ErasedApplication[];
}

/** One that is stored already stays as it is. */
const ADD = `
  INSERT INTO erasures (id, erased_at, application_ids, seal_ids) VALUES ($1, coalesce($2, now()), $3, $4)
  ON CONFLICT (id) DO NOTHING`;

/** Stores an erasure with the transaction that does it; `at` null: now. */
export async function addErasure(
  session: Session,
  id: string,
  at: Date | null,
  applications: readonly ErasedApplication[],
): Promise<void> {
  const ids = applications.map((one) => one.id);
  await session.query(ADD, [id, at, ids, applications.map(({ sealId }) => sealId)]);
}

const PAGE = 1_000;
const AFTER = `
  SELECT id, number, erased_at, application_ids, seal_ids FROM erasures WHERE number > $1 ORDER BY number LIMIT ${PAGE}`;

interface Row {
  id: string;
  number: string;
  erased_at: Date;
  application_ids: string[];
  seal_ids: string[];
}

/** All erasures, the oldest first. */
export async function* readErasures(session: Session): AsyncGenerator<Erasure, void, undefined> {
  for (let after: string | undefined = '0'; after !== undefined; ) {
    const { rows }: { rows: Row[] } = await session.query<Row>(AFTER, [after]);
    for (const { id, erased_at: at, application_ids: ids, seal_ids: sealIds } of rows) {
      const applications = ids.map((one, n) => ({ id: toApplicationId(one), sealId: sealIds[n] ?? '' }));
      yield { id, at, applications };
    }
    after = rows.length === PAGE ? rows.at(-1)?.number : undefined;
  }
}
