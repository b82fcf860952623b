/** The operator of a run. */
import { setTimeout as sleep } from 'node:timers/promises';
import { toApplicationId } from '../../src/domain/application/ids.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { OperatorError } from '../../src/program/operations/operator-context.ts';
import { reviewApplication } from '../../src/subjects/applications/uses/applications.ts';
import { actOn } from '../../src/subjects/conversation/uses/operate.ts';
import { checkTerms } from '../../src/subjects/signing/uses/check-terms.ts';
import { TERMS } from '../../test/support/terms.ts';
import type { OperatorDoes } from './scripts.ts';
import type { Stage } from './stage.ts';

const AGAIN_MS = 300;

/** Acts, again while PostgreSQL is away. What an answer that was lost had done already is done once. */
export async function operate({ postgres, vault }: Stage, id: number, act: OperatorDoes): Promise<void> {
  const application = toApplicationId(id);
  for (;;) {
    const context = { database: postgres.database, vault, clock: machineClock, actor: 'scripted' };
    const acting =
      act === 'give_back'
        ? actOn({ ...context, terms: async () => checkTerms(TERMS, 'terms.json') }, application, act)
        : reviewApplication(context, application, act, 'scripted');
    const isDone = await acting.then(
      () => true,
      (error: unknown) => error instanceof OperatorError,
    );
    if (isDone) return;
    await sleep(AGAIN_MS);
  }
}
