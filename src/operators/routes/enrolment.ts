/** How a browser uses the link of an operator: password first, then a code of the authenticator app. */
import { type Answer, type Route, route } from '../../operator-api/route.ts';
import type { Database } from '../../postgres/database.ts';
import type { Vault } from '../../seal/vault.ts';
import { addApp, beginEnrolment, endEnrolment, type Step } from '../uses/enrol.ts';
import { EnrolmentBegun, EnrolmentEnded, GivenPassword, ShortText, Strict } from './forms.ts';
import { throttled } from './throttled.ts';

export const NO_LINK = {
  status: 404,
  body: { error: 'the link is wrong, was used, or ended: ask an admin for a new one' },
};

/** The routes of an enrolment. */
export function enrolmentRoutes(store: { database: Database; vault: Vault }): Route[] {
  return [
    route({
      method: 'POST',
      path: '/enrolment',
      access: 'open',
      summary:
        'Sets the password of the account behind a link. The answer is the address for an authenticator app.',
      body: Strict({ token: ShortText, password: GivenPassword }),
      reply: EnrolmentBegun,
      run: async ({ body }) =>
        answerOf(await beginEnrolment(store, body), (totp, login) => ({ login, totp })),
    }),
    route({
      method: 'POST',
      path: '/enrolment/app',
      access: 'open',
      summary: 'Begins the second factor of an account whose first one is at the identity provider.',
      body: Strict({ token: ShortText }),
      reply: EnrolmentBegun,
      run: async ({ body: { token } }) =>
        answerOf(await addApp(store, token), (totp, login) => ({ login, totp })),
    }),
    route({
      method: 'POST',
      path: '/enrolment/totp',
      access: 'open',
      summary:
        'Ends the enrolment with a code of the app. The answer is the recovery codes, shown only this once.',
      body: Strict({ token: ShortText, code: ShortText }),
      reply: EnrolmentEnded,
      run: async ({ body }) =>
        answerOf(await endEnrolment(store, body), (codes, login) => ({ login, recovery_codes: [...codes] })),
    }),
  ];
}

function answerOf<T, Reply>(step: Step<T>, reply: (value: T, login: string) => Reply): Answer<Reply> {
  switch (step.kind) {
    case 'done':
      return { body: reply(step.value, step.account.login) };
    case 'wrong':
      return { status: 400, body: { error: step.fault } };
    case 'no_link':
      return NO_LINK;
    case 'throttled':
      return throttled(step.retryAfterSeconds);
  }
}
