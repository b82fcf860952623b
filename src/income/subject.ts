/** The parts of the incomes in the program. */
import type { Subject } from '../subject/subject.ts';
import { BELVO_SECRET_ID, BELVO_SECRET_PASSWORD, BELVO_URL } from './settings.ts';

export const income: Subject = {
  settings: [BELVO_URL, BELVO_SECRET_ID, BELVO_SECRET_PASSWORD],
  witnesses: async () => ({ dataKeys: [(await import('./sql/income-checks.ts')).INCOME_EVIDENCE] }),
  service: async () => (await import('./service.ts')).incomeService(),
};
