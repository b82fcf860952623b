/** What `serve` and `worker` run of the incomes. */

import type { Service } from '../../program/subject/subject.ts';
import { stillThere } from '../applications/sql/erasure.ts';
import { checkedAfter, deleteIncomeChecks } from './sql/income-checks.ts';
import { forgetSteps } from './sql/income-steps.ts';

/** The jobs of one process: each remembers where it goes on. */
export function incomeService(): Service {
  let after = '0';
  return {
    upkeep: [
      {
        name: 'delete checks of incomes without applications',
        seldom: true,
        run: async ({ database }) => {
          const { applications, last } = await checkedAfter(database, after);
          const there = new Set(await stillThere(database, applications, 'also erased'));
          const gone = applications.filter((id) => !there.has(id));
          if (gone.length > 0) await deleteIncomeChecks(database, gone);
          after = last ?? '0';
        },
      },
      {
        name: 'forget sessions of income sources',
        seldom: true,
        run: ({ database }) => forgetSteps(database),
      },
    ],
  };
}
