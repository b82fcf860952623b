/**
 * What operators do with applications: find, explain, review (contract, "States and transitions"; D34, D35, D40, D41,
 * D46). Reads and writes the store through `sql/applications.ts`.
 */
import type { ApplicationId, BlindIndex } from '../../../domain/application/ids.ts';
import {
  type ApplicationStatus,
  type ReviewAction,
  TRANSITIONS,
} from '../../../domain/application/lifecycle.ts';
import { type ReasonCode, UNSPECIFIED } from '../../../domain/application/reason-codes.ts';
import type { PartnerId } from '../../../domain/partner/credential.ts';
import { normalisePhone, typedPhone } from '../../../domain/phone/phone.ts';
import { withOffset } from '../../../ground/base/clock.ts';
import {
  checkReason,
  type OperatorContext,
  OperatorError,
} from '../../../program/operations/operator-context.ts';
import { idNumberIndexOf, phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { readPartnerCountries } from '../../partners/sql/partners.ts';
import { requirePartner } from '../../partners/uses/partners.ts';
import { searchApplications } from '../sql/application-search.ts';
import { type Moved, moveApplication, type StoredApplication } from '../sql/applications.ts';
import type { Correction } from '../sql/corrections.ts';
import { searchLeads } from '../sql/leads.ts';

export type { Correction, StoredApplication };

const PARTICIPLE: Readonly<Record<ReviewAction, string>> = {
  approve: 'approved',
  reject: 'rejected',
  disburse: 'disbursed',
};

/** A part that is left out does not narrow the query. */
interface ApplicationQuery {
  /** As a person writes a phone. */
  readonly phone?: string | undefined;
  readonly idNumber?: string | undefined;
  readonly partnerId?: PartnerId | undefined;
  readonly status?: ApplicationStatus | undefined;
  /** Only leads: applications whose applicant is interested, since this time or at all. */
  readonly interestedSince?: Date | 'ever' | undefined;
}

/**
 * The applications that fit every part of the query; memory is bounded. The highest id comes first, but leads come by
 * their interest, newest first, unless a phone or an ID number is searched too. Throws `OperatorError` if the phone is
 * not a phone or the partner does not exist.
 */
export async function* listApplications(
  context: OperatorContext,
  query: ApplicationQuery,
): AsyncGenerator<StoredApplication, void, undefined> {
  const { phone, partnerId, status, interestedSince } = query;
  const idNumber = query.idNumber?.trim();
  if (idNumber === '') throw new OperatorError('the ID number must not be blank');
  if (partnerId !== undefined) await requirePartner(context, partnerId);
  const since = interestedSince instanceof Date ? interestedSince : null;
  if (interestedSince !== undefined && phone === undefined && idNumber === undefined) {
    const filter = { since, partnerId: partnerId ?? null, status: status ?? null };
    return yield* searchLeads(context.database, context.vault, filter);
  }
  const found = searchApplications(context.database, context.vault, {
    partnerId,
    status,
    phones: phone === undefined ? undefined : await searchPhones(context, phone),
    idNumber: idNumber === undefined ? undefined : idNumberIndexOf(context.vault, idNumber),
  });
  for await (const application of found) {
    const { interestedAt } = application;
    const isLead = interestedAt !== null && (since === null || interestedAt >= since);
    if (interestedSince === undefined || isLead) yield application;
  }
}

/**
 * The blind indexes under which a phone may be stored: `text` is read as an international number, and as a number of
 * each country that has partners (D11). Throws `OperatorError` if it is neither.
 */
export async function searchPhones(
  { database, vault }: Pick<OperatorContext, 'database' | 'vault'>,
  text: string,
): Promise<readonly BlindIndex<'phone'>[]> {
  const trimmed = typedPhone(text);
  const international = `+${trimmed.replace(/^[ (]*(?:\+|00)/, '')}`;
  const readings = [
    // With a + the country does not matter; CO stands for any country.
    normalisePhone(international, 'CO'),
    ...(await readPartnerCountries(database)).map((country) => normalisePhone(trimmed, country)),
  ];
  const phones = new Set(
    readings.filter((reading) => reading !== null).map((reading) => phoneIndexOf(vault, reading)),
  );
  if (phones.size === 0) {
    throw new OperatorError(
      'no country has such a phone: write it with + and its country code, such as +57 300 123 4567, or as it is dialled in a country that has partners',
    );
  }
  return [...phones];
}

/** A review that was done. */
export interface Reviewed {
  readonly action: ReviewAction;
  readonly from: ApplicationStatus;
  readonly to: ApplicationStatus;
  readonly reasonCode: ReasonCode;
  readonly second: string | null;
}

/**
 * Approves or rejects an application (D34); a final status frees its phone at once (D35). `reason` is 1 to 500 code
 * points without control characters, which no partner sees; the partner reads `reasonCode` (D41). Throws
 * `OperatorError` that names the status and the refused action.
 */
export async function reviewApplication(
  { actor, database }: OperatorContext,
  id: ApplicationId,
  action: ReviewAction,
  reason: string,
  reasonCode: ReasonCode = UNSPECIFIED,
): Promise<Reviewed> {
  const why = checkReason(reason);
  const transition = { ...TRANSITIONS[action], actor, action, reason: why, reasonCode };
  const from = requireMoved(id, action, await moveApplication(database, id, transition));
  return { action, from, to: TRANSITIONS[action].to, reasonCode, second: null };
}

/** The status before a move. Throws `OperatorError` if the application did not move, or if there is none. */
export function requireMoved(
  id: ApplicationId,
  action: ReviewAction,
  outcome: Moved | null,
): ApplicationStatus {
  if (outcome === null) throw new OperatorError(`there is no application ${id}`);
  const { status } = outcome;
  if (status === null) {
    throw new OperatorError(
      `application ${id} cannot be ${PARTICIPLE[action]}: its stored data cannot be read`,
    );
  }
  if (outcome.heldByContract) throw new OperatorError(heldText(id, outcome.withdrawableUntil));
  if (!outcome.moved) {
    throw new OperatorError(`application ${id} is ${status}: it cannot be ${PARTICIPLE[action]}`);
  }
  return status;
}

/** Throws `OperatorError` if the second operator is the first one under another writing of the name. */
export function checkSecond(actor: string, second: string | undefined): void {
  if (second !== undefined && isSameName(second, actor)) {
    throw new OperatorError(`the second operator must be another one than ${actor}`);
  }
}

function isSameName(one: string, other: string): boolean {
  const plain = (name: string) =>
    name
      .normalize('NFKC')
      .replace(/\p{Cf}/gu, '')
      .trim()
      .toLowerCase();
  return plain(one) === plain(other);
}

/** What lifts what the contract asks for before a payment. */
export const OVERRIDE = 'or add --override and --second OPERATOR, where a second operator agrees';

function heldText(id: ApplicationId, until: Date | null): string {
  const why =
    until === null
      ? 'has a conversation, and its contract is not signed: wait for the signature'
      : `is signed, and the applicant may withdraw until ${withOffset(until)}: wait until then`;
  return `application ${id} ${why}, ${OVERRIDE}`;
}
