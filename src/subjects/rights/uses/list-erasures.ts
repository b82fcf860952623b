/** Lists the erasures that were done (docs/subject.md, "Erase"). Reads `erasures` page by page. */
import type { OperatorContext } from '../../../program/operations/operator-context.ts';
import { type NumberedErasure, readErasuresAfter } from '../sql/erasures.ts';

export { type NumberedErasure, readErasuresAfter };

const PAGE = 1_000;

/** All erasures after a number, the oldest first, in bounded memory. */
export async function* listErasures(
  { database }: Pick<OperatorContext, 'database'>,
  after = 0,
): AsyncGenerator<NumberedErasure, void, undefined> {
  for (let from: number | undefined = after; from !== undefined; ) {
    const some: NumberedErasure[] = await readErasuresAfter(database, from, PAGE);
    yield* some;
    from = some.length === PAGE ? some.at(-1)?.number : undefined;
  }
}
