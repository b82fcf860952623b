/** What `serve` and `worker` run for incomes: the upkeep job that deletes checks with their applications. */
import type { Service } from '../../program/subject/subject.ts';
import { following } from '../applications/uses/followers.ts';
import { deleteIncomeChecks } from './sql/income-checks.ts';

/** The jobs of one process. Each remembers where it goes on. */
export function incomeService(): Service {
  const checks = { table: 'income_checks', forget: deleteIncomeChecks };
  return {
    upkeep: [
      { name: 'delete checks of incomes without applications', seldom: true, run: following([checks]) },
    ],
  };
}
