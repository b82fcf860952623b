/**
 * What the routes about a partner share, also those of other subjects: ids of a path, who acts, and refusals as answers
 * of HTTP. Pure.
 */
import { accountName } from '../../../domain/operator/operator-name.ts';
import type { BrowserSession } from '../../../domain/operator/session.ts';
import { type KeyId, type PartnerId, toKeyId, toPartnerId } from '../../../domain/partner/credential.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Answer } from '../../../wire/operator/route.ts';

/** What the routes need of the service. */
export type PartnerDesk = Pick<OperatorContext, 'database' | 'vault' | 'clock'>;

/** The answer of the work, or of its refusal: without a code it is a fault of the body. */
export async function answered<Reply>(work: () => Promise<Answer<Reply>>): Promise<Answer<Reply>> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    const { code, message } = error;
    if (code === null) return { status: 400, body: { error: `body: ${message}` } };
    if (code === 'not_found') return { status: 404, body: { error: message } };
    return { status: 409, body: { error: message, ...{ code } } };
  }
}

/**
 * What an act makes of a thing; where the act was done before (the refusal has the code), what the thing is now. So the
 * same request again changes and records nothing.
 */
export async function orAsItIs<T>(done: Promise<T>, code: string, now: () => Promise<T>): Promise<T> {
  return done.catch((error: unknown) => {
    if (error instanceof OperatorError && error.code === code) return now();
    throw error;
  });
}

/** Who acts with a request, as the record names them. */
export function actingBy(
  desk: PartnerDesk,
  {
    session: { operatorId: id, partnerId },
  }: { readonly session: Pick<BrowserSession, 'operatorId' | 'partnerId'> },
): OperatorContext {
  return { ...desk, actor: accountName({ id, partnerId }) };
}

/** The partner that a path names. Throws `OperatorError` where no partner can have this id. */
export function partnerIdOf({ id }: Readonly<Record<string, string>>): PartnerId {
  return toPartnerId(idOf(id, 'partner'));
}

/** The key that a path names. Throws `OperatorError` where no key can have this id. */
export function keyIdOf({ key }: Readonly<Record<string, string>>): KeyId {
  return toKeyId(idOf(key, 'key'));
}

function idOf(text: string | undefined, what: string): number {
  const id = /^[1-9]\d{0,9}$/.test(text ?? '') ? Number(text) : Number.NaN;
  if (id < 2 ** 31) return id;
  throw new OperatorError(`there is no such ${what}`, 'not_found');
}
