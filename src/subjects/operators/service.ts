/** What `serve` and `worker` run of the operators' accounts. */
import type { Service } from '../../program/subject/subject.ts';
import { tellForgedOperators } from './sql/macs.ts';
import { forgetPending } from './sql/pending-sign-ins.ts';
import { forgetSessions } from './sql/sessions.ts';
import { forgetTries } from './sql/tries.ts';

export const OPERATORS_SERVICE: Service = {
  upkeep: [
    {
      name: 'forget the sessions of operators that ended',
      seldom: true,
      run: async ({ database }) => {
        await forgetSessions(database);
        await forgetTries(database);
        await forgetPending(database);
      },
    },
    { name: 'check the rows of operators', seldom: true, run: tellForgedOperators },
  ],
};
