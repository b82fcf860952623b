/**
 * Belvo's incomes as a provider, by its documented API: a person opens Belvo's hosted widget, which makes a link to a
 * bank (`POST /api/token/`, `GET /api/links/`); the owner and the incomes of the link are read (`GET /api/owners/`,
 * `POST /api/incomes/`), with the code of the bank where the answer is 428 (`PATCH /api/incomes/`).
 * https://developers.belvo.com/apis/belvoopenapispec
 */
import { randomUUID } from 'node:crypto';
import { type BelvoAccount, callBelvo } from './belvo-api.ts';
import { accessIn, holderIn, linksIn, observedIn, sessionIn } from './belvo-incomes.ts';
import type { Provider, SourceAnswer } from './income-source.ts';

const WIDGET = 'https://widget.belvo.io/';
const SOON_MS = 30_000;
const AGAIN = { kind: 'wait', retryAfterMs: SOON_MS } as const;
/** Streams with less are left out. */
const LEAST = 'MEDIUM';

/**
 * Where a check stands. `person` is the name that the link will have at Belvo: nobody can guess it, so nobody connects
 * an account for somebody else.
 */
type Session =
  | { readonly person: string }
  | { readonly person: string; readonly link: string; readonly code: string };

/** The provider of an account. Its answers are checked: what does not fit the documented form counts as nothing. */
export function belvoProvider(account: BelvoAccount): Provider {
  return {
    name: 'belvo',
    observe: (_request, signal) => openLink(account, randomUUID(), signal),
    async resume(_request, text, code, signal) {
      const session = JSON.parse(text) as Session;
      if ('link' in session) return ask(account, session, code, signal);
      const found = await linkOf(account, session.person, signal);
      if (typeof found !== 'string') return found ?? openLink(account, session.person, signal);
      return ask(account, { person: session.person, link: found, code: '' }, null, signal);
    },
  };
}

/** The address of the widget: it is good for ten minutes, and for one link. */
async function openLink(account: BelvoAccount, person: string, signal: AbortSignal): Promise<SourceAnswer> {
  const { secretId, secretPassword, returnUrl } = account;
  const answer = await callBelvo(
    account,
    'POST',
    'token/',
    {
      id: secretId,
      password: secretPassword,
      scopes: 'read_institutions,write_links',
      fetch_resources: ['ACCOUNTS', 'TRANSACTIONS', 'OWNERS'],
      credentials_storage: 'store',
      stale_in: '30d',
      ...(returnUrl !== null && {
        widget: { callback_urls: { success: returnUrl, exit: returnUrl, event: returnUrl } },
      }),
    },
    signal,
  );
  if (answer === null) return AGAIN;
  const access = accessIn(answer.value);
  if (access === null) return nothing(answer.status);
  const link = `${WIDGET}?${new URLSearchParams({ access_token: access, external_id: person })}`;
  const session: Session = { person };
  return { kind: 'next_step', step: 'open_link', session: JSON.stringify(session), link };
}

/** The link that the person has made; null: none yet. */
async function linkOf(
  account: BelvoAccount,
  person: string,
  signal: AbortSignal,
): Promise<string | SourceAnswer | null> {
  const answer = await callBelvo(account, 'GET', `links/?external_id=${person}`, null, signal);
  if (answer === null) return AGAIN;
  const links = linksIn(answer.value);
  return links === null ? nothing(answer.status) : (links[0] ?? null);
}

/** Asks for the incomes of a link. A code that is refused makes the bank send another one. */
async function ask(
  account: BelvoAccount,
  session: Extract<Session, { link: string }>,
  code: string | null,
  signal: AbortSignal,
): Promise<SourceAnswer> {
  const { link, person } = session;
  const owners = await callBelvo(account, 'GET', `owners/?link=${encodeURIComponent(link)}`, null, signal);
  const holder = owners && holderIn(owners.value);
  // Belvo reads the owner right after the link is made.
  if (owners === null || holder === 'unread') return AGAIN;
  if (holder === null) return nothing(owners.status);
  const body = { link, save_data: false };
  const goesOn = code !== null && session.code !== '';
  const answer = goesOn
    ? await callBelvo(account, 'PATCH', 'incomes/', { ...body, session: session.code, token: code }, signal)
    : await callBelvo(account, 'POST', 'incomes/', { ...body, minimum_confidence_level: LEAST }, signal);
  if (answer === null) return AGAIN;
  const { status, value } = answer;
  const waiting = status === 428 ? sessionIn(value) : null;
  if (waiting !== null) {
    const next: Session = { person, link, code: waiting };
    return { kind: 'next_step', step: 'enter_code', session: JSON.stringify(next) };
  }
  if (goesOn && status === 400) return ask(account, session, null, signal);
  if (status !== 200 && status !== 201) return nothing(status);
  return observedIn(Array.isArray(value) ? value[0] : value, holder);
}

function nothing(status: number): SourceAnswer {
  return { kind: 'nothing', reason: status === 200 || status === 201 ? 'unknown_form' : `status_${status}` };
}
