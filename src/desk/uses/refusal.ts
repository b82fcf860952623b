/** Why the desk does not do what an operator asks for. */

/** `404`: there is none; `409`: not in this state; `412`: something happened since; `429`: too often. */
export type RefusalStatus = 400 | 403 | 404 | 409 | 412 | 428 | 429;

/** The request cannot be carried out; the operator reads the message as it is. It repeats nothing of a person. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: RefusalStatus;
  /** More fields of the answer's body, such as who did what when. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** With `429`: when to come again. */
  readonly retryAfterSeconds: number | undefined;

  constructor(
    status: RefusalStatus,
    message: string,
    {
      facts = {},
      retryAfterSeconds,
    }: { readonly facts?: Readonly<Record<string, unknown>>; readonly retryAfterSeconds?: number } = {},
  ) {
    super(message);
    this.status = status;
    this.facts = facts;
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/** There is no application with the id of the request. */
export function noApplication(): Refusal {
  return new Refusal(404, 'there is no such application');
}

/** As the listener refuses a route that needs a new sign-in. */
export function needsSignIn(): Refusal {
  return new Refusal(403, 'sign in again: this needs a sign-in of the last five minutes', {
    facts: { needs: 'sign-in' },
  });
}

/** An operator's key stands for what it was first sent with. */
export function otherRequest(): Refusal {
  return new Refusal(400, 'the Idempotency-Key was used for another request: take a new one');
}
