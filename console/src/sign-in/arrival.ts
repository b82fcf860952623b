/** What the address says where the page opens: the token of a link, or what became of a sign-in at the provider. */

/** What became of a sign-in at the identity provider (docs/operators.md). */
const OUTCOMES = [
  ...['again', 'over', 'unknown', 'no_link', 'taken', 'no_second_factor', 'not_again'],
  ...['declined', 'invalid', 'away'],
] as const;
export type ArrivalOutcome = (typeof OUTCOMES)[number];

export interface Arrival {
  /** The one of an enrolment's link; null: the page opened without it. */
  readonly token: string | null;
  /** The account is bound to an identity, and needs an authenticator app. */
  readonly isBound: boolean;
  readonly outcome: ArrivalOutcome | null;
}

/** A link's token, or that of an account which a sign-in at the provider has bound. */
const TOKEN = /^#(token|bound)=([\w-]+)$/;

/** Takes all of it out of the address, so that neither the history nor a bookmark keeps it. */
export function takeArrival(): Arrival {
  const { pathname, search, hash } = location;
  const query = new URLSearchParams(search);
  const [, kind, token = null] = TOKEN.exec(hash) ?? [];
  const outcome = OUTCOMES.find((one) => one === query.get('oidc')) ?? null;
  if (token !== null || outcome !== null) {
    query.delete('oidc');
    history.replaceState(null, '', query.size === 0 ? pathname : `${pathname}?${query}`);
  }
  return { token, isBound: kind === 'bound', outcome };
}

/** A link that is opened where the page is open already changes the fragment alone: the page has to begin anew. */
export function watchArrivals(page: Window): void {
  page.addEventListener('hashchange', () => {
    if (TOKEN.test(page.location.hash)) page.location.reload();
  });
}
