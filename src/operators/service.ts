/** What `serve` and `worker` run of the operators' accounts. */
import { tellForged } from '../seal/row-macs.ts';
import type { Service } from '../subject/subject.ts';
import { ACCOUNTS } from './sql/account.ts';
import { forgetPending, PENDING_SIGN_INS } from './sql/pending-sign-ins.ts';
import { forgetSessions, SESSIONS } from './sql/sessions.ts';
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
    {
      name: 'check the rows of operators',
      seldom: true,
      run: (context) => tellForged(context, [ACCOUNTS, SESSIONS, PENDING_SIGN_INS]),
    },
  ],
};
