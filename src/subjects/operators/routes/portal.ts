/**
 * The routes of the portal about accounts: the sign-in of people at partners, and the accounts of their partner, which
 * its owners add and end (D54, docs/portal.md). `uses/partner-accounts.ts` does the work.
 */
import { Type } from 'typebox';
import { PARTNER_ROLES } from '../../../domain/operator/authority.ts';
import { accountName } from '../../../domain/operator/operator-name.ts';
import type { OnTry } from '../../../domain/operator/sign-in-try.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import type { Clock } from '../../../ground/base/clock.ts';
import type { Database } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { form, oneOf, orNull, Time } from '../../../wire/operator/form.ts';
import { inForm } from '../../../wire/operator/in-form.ts';
import { type Call, type Route, route } from '../../../wire/operator/route.ts';
import { actingBy, answered } from '../../partners/routes/answered.ts';
import { requirePartner } from '../../partners/uses/partners.ts';
import { enrolmentLink } from '../settings.ts';
import {
  addPartnerAccount,
  disablePartnerAccount,
  listPartnerAccounts,
  type PartnerAccount,
  resetPartnerAccount,
  signOutPartnerAccount,
} from '../uses/partner-accounts.ts';
import { checkArgon2 } from '../uses/password-hash.ts';
import { enrolmentRoutes } from './enrolment.ts';
import { ShortText } from './forms.ts';
import { waysRoute } from './oidc.ts';
import { sessionRoutes } from './session.ts';

/** Who is signed in at the portal. */
export const SignedInAtPortal = form({
  id: Type.Integer(),
  login: Type.String(),
  role: oneOf(PARTNER_ROLES),
  partner: form({ id: Type.Integer(), name: Type.String(), country: Type.String() }),
  proved_seconds_ago: Type.Integer(),
  signs_in_with: oneOf(['password', 'oidc']),
  has_app: Type.Boolean(),
  oidc: Type.Boolean(),
});

export const PortalAccount = form({
  id: Type.Integer(),
  login: Type.String(),
  role: oneOf(PARTNER_ROLES),
  created_at: Time,
  /** null: the person has set no factors, and cannot sign in. */
  enrolled_at: orNull(Time),
  disabled_at: orNull(Time),
});
export const PortalAccounts = form({ accounts: Type.Array(PortalAccount) });
/** The link is shown only this once. */
export const InvitedAccount = form({ account: PortalAccount, link: Type.String() });

interface Portal {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
  /** Where browsers reach the portal; the port may be known only once it is open. */
  readonly origin: () => string;
  /** Hears of each try to sign in. */
  readonly onTry: OnTry;
}

/** The routes. Throws `ToldError` if this Node.js cannot check a password. */
export async function portalAccountRoutes({ origin, onTry, ...store }: Portal): Promise<Route[]> {
  await checkArgon2();
  return [
    ...sessionRoutes(store, 'partner', onTry),
    ...enrolmentRoutes({ ...store, whose: 'partner' }, onTry),
    waysRoute(null),
    sessionRoute(store),
    ...invitingRoutes(store, (token) => enrolmentLink(origin(), token)),
    ...endingRoutes(store),
  ];
}

type Store = Pick<Portal, 'database' | 'vault' | 'clock'>;

function sessionRoute(store: Store): Route {
  return route({
    method: 'GET',
    path: '/session',
    access: 'member',
    summary: 'Tells who is signed in, and for which partner.',
    reply: SignedInAtPortal,
    run: async ({ session }) => {
      const { id, name, country } = await requirePartner(store, session.partnerId);
      const { operatorId, login, role, provedSecondsAgo } = session;
      const way = { signsInWith: 'password' as const, hasApp: true, oidc: false };
      const who = { id: operatorId, login, role, partner: { id, name, country }, provedSecondsAgo, ...way };
      return { body: inForm(SignedInAtPortal, who) };
    },
  });
}

/** Who has an account, and who gets one or new factors. */
function invitingRoutes(store: Store, linkTo: (token: string) => string): Route[] {
  return [
    route({
      method: 'GET',
      path: '/accounts',
      access: 'member',
      summary: 'The accounts of the partner, the oldest first.',
      reply: PortalAccounts,
      run: async ({ session }) => ({
        body: inForm(PortalAccounts, { accounts: await listPartnerAccounts(store, session.partnerId) }),
      }),
    }),
    route({
      method: 'POST',
      path: '/accounts',
      access: 'owner',
      needsFresh: true,
      summary:
        'Adds an account of the partner. The answer is the link to choose the factors, shown only this once.',
      body: form({ login: ShortText, role: Type.Optional(oneOf(PARTNER_ROLES)) }),
      reply: InvitedAccount,
      run: async ({ session, body: { login, role = 'member' } }) =>
        answered(async () => {
          const { account, token } = await acting(
            actingBy(store, { session }),
            (part) => addPartnerAccount(part, { partnerId: session.partnerId, login, role }),
            ({ account }) => actOn('add', account),
          );
          return { body: inForm(InvitedAccount, { account, link: linkTo(token) }) };
        }),
    }),
    route({
      method: 'POST',
      path: '/accounts/{id}/reset-factors',
      access: 'owner',
      needsFresh: true,
      failures: [404],
      summary: 'Ends the sessions and factors of an account. The answer is a new link, shown only this once.',
      body: form({}),
      reply: InvitedAccount,
      run: async ({ session, params }) =>
        answered(async () => {
          const { account, token } = await acting(
            actingBy(store, { session }),
            (part) => resetPartnerAccount(part, namedBy(session, params)),
            ({ account }) => actOn('reset-factors', account),
          );
          return { body: inForm(InvitedAccount, { account, link: linkTo(token) }) };
        }),
    }),
  ];
}

/** The ends of sessions and of accounts. */
function endingRoutes(store: Store): Route[] {
  return [
    route({
      method: 'POST',
      path: '/accounts/{id}/sign-out',
      access: 'owner',
      failures: [404],
      summary: 'Ends all sessions of an account, which may sign in again.',
      body: form({}),
      reply: PortalAccount,
      run: async ({ session, params }) =>
        answered(async () => {
          const account = await acting(
            actingBy(store, { session }),
            (part) => signOutPartnerAccount(part, namedBy(session, params)),
            (found) => actOn('sign-out', found),
          );
          return { body: inForm(PortalAccount, account) };
        }),
    }),
    route({
      method: 'DELETE',
      path: '/accounts/{id}',
      access: 'owner',
      needsFresh: true,
      failures: [404],
      summary: 'Ends an account of the partner for good. Nobody ends their own.',
      reply: PortalAccount,
      run: async ({ session, params }) =>
        answered(async () => {
          // So a partner that has an owner keeps one.
          if (params.id === `${session.operatorId}`)
            throw new OperatorError('this is your own account: another owner, or the operator, can end it');
          const account = await acting(
            actingBy(store, { session }),
            (part) => disablePartnerAccount(part, namedBy(session, params)),
            (found) => actOn('disable', found),
          );
          return { body: inForm(PortalAccount, account) };
        }),
    }),
  ];
}

type Session = Call<never, never, 'member'>['session'];

function actOn(act: string, account: PartnerAccount) {
  const target = `${accountName(account)} of partner ${account.partnerId}: ${account.role}`;
  return { act: `partner account ${act}`, target };
}

/** An id that is no number names no account. */
function namedBy(
  { partnerId }: Session,
  { id = '' }: Call<never, never>['params'],
): { partnerId: PartnerId; id: number } {
  return { partnerId, id: /^[1-9]\d{0,8}$/.test(id) ? Number(id) : 0 };
}
