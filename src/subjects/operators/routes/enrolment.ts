/**
 * Routes by which a browser uses an operator's link: first the password, then a code of the authenticator app.
 * `uses/enrol.ts` has the rule.
 */
import type { Whose } from '../../../domain/operator/session.ts';
import type { OnTry } from '../../../domain/operator/sign-in-try.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import type { Vault } from '../../../seal/vault.ts';
import { type Answer, type Route, route } from '../../../wire/operator/route.ts';
import { addApp, beginEnrolment, endEnrolment, lookAtLink, type NotBegun, type Step } from '../uses/enrol.ts';
import { EnrolmentBegun, EnrolmentEnded, GivenPassword, LinkUsable, ShortText, Strict } from './forms.ts';
import { throttled } from './throttled.ts';

export const NO_LINK = {
  status: 404,
  body: { error: 'the link is wrong, was used, or ended: ask an admin for a new one' },
};

/** The routes of an enrolment by links of `whose`; `onTry` hears of each look at a link that is refused. */
export function enrolmentRoutes(
  store: { database: Database; vault: Vault; whose: Whose },
  onTry: OnTry,
): Route[] {
  return [
    route({
      method: 'POST',
      path: '/enrolment',
      access: 'open',
      failures: [404],
      summary:
        'Sets the password of the account behind a link. The answer is the address for an authenticator app.',
      body: Strict({ token: ShortText, password: GivenPassword }),
      reply: EnrolmentBegun,
      run: async ({ body }) =>
        answerOf(await beginEnrolment(store, body), (totp, login) => ({ login, totp })),
    }),
    route({
      method: 'POST',
      path: '/enrolment/look',
      access: 'open',
      failures: [404],
      summary: 'Tells whether a link may be used, and whose it is, before anything is typed.',
      body: Strict({ token: ShortText }),
      reply: LinkUsable,
      run: async ({ body: { token }, address }) => {
        const look = await lookAtLink(store, { token, address });
        if (look.kind !== 'usable') onTry('link', look.kind === 'no_link' ? 'refused' : 'locked_out');
        return look.kind === 'usable' ? { body: { login: look.login } } : refused(look);
      },
    }),
    route({
      method: 'POST',
      path: '/enrolment/app',
      access: 'open',
      failures: [404],
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
      failures: [404],
      summary:
        'Ends the enrolment with a code of the app. The answer is the recovery codes, shown only this once.',
      body: Strict({ token: ShortText, code: ShortText }),
      reply: EnrolmentEnded,
      run: async ({ body, address }) =>
        answerOf(await endEnrolment(store, { ...body, address }), (codes, login) => ({
          login,
          recovery_codes: [...codes],
        })),
    }),
  ];
}

function answerOf<T, Reply>(step: Step<T>, reply: (value: T, login: string) => Reply): Answer<Reply> {
  switch (step.kind) {
    case 'done':
      return { body: reply(step.value, step.account.login) };
    case 'wrong':
      return { status: 400, body: { error: step.fault } };
    default:
      return refused(step);
  }
}

function refused(step: NotBegun): Answer<never> {
  return step.kind === 'no_link' ? NO_LINK : throttled(step.retryAfterSeconds);
}
