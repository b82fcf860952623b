/** What the address says where the page opens: the token of a link, or what became of a sign-in at the provider. */

/** What became of a sign-in at the identity provider (docs/operators.md). */
const OUTCOMES = [
  ...['again', 'over', 'unknown', 'no_link', 'taken', 'no_second_factor', 'not_again'],
  ...['declined', 'invalid', 'away'],
] as const;
export type Outcome = (typeof OUTCOMES)[number];

export interface Arrival {
  /** The one of an enrolment's link; null: the page opened without it. */
  readonly token: string | null;
  /** The account is bound to an identity, and needs an authenticator app. */
  readonly isBound: boolean;
  readonly outcome: Outcome | null;
}

/** Takes all of it out of the address, so that neither the history nor a bookmark keeps it. */
export function takeArrival(): Arrival {
  const { pathname, search, hash } = location;
  const query = new URLSearchParams(search);
  const bound = /^#bound=([\w-]+)$/.exec(hash)?.[1] ?? null;
  const token = query.get('token');
  const outcome = OUTCOMES.find((one) => one === query.get('oidc')) ?? null;
  if (bound !== null || token !== null || outcome !== null) {
    query.delete('token');
    query.delete('oidc');
    history.replaceState(null, '', query.size === 0 ? pathname : `${pathname}?${query}`);
  }
  return { token: bound ?? token, isBound: bound !== null, outcome };
}
