/**
 * The list of debts that the loan of an application consolidates: shows it, adds and removes debts (D52;
 * docs/signing.md, "The debts"). Each change ends the time of a contract that is shown and not signed, because that
 * contract pays the former list. Writes `loan_debts` and `loan_contracts`, reads the application.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { isOpen } from '../../../domain/application/lifecycle.ts';
import {
  areSame,
  type Debt,
  type DebtFault,
  debtFault,
  listFault,
  MOST_DEBTS,
  notListed,
  withoutReference,
} from '../../../domain/loan/debt.ts';
import { localDate } from '../../../domain/loan/local-day.ts';
import { type ReadDebts, readDebts } from '../../../domain/loan/read-debts.ts';
import { DEFAULT_WINDOWS } from '../../../domain/message/contact-window.ts';
import { moneyText, toMinor } from '../../../domain/money/money.ts';
import { countryOfPhone } from '../../../domain/phone/phone.ts';
import { inTransaction, type Session, type Transaction } from '../../../ground/postgres/database.ts';
import { databaseTime } from '../../../ground/postgres/database-time.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import type { Vault } from '../../../seal/vault.ts';
import { lockState } from '../../applications/sql/application-marks.ts';
import { type ContractApplication, readForContract } from '../sql/application.ts';
import { readContract } from '../sql/contracts.ts';
import {
  allDebts,
  closeShown,
  currentDebtIds,
  currentDebts,
  holdDebts,
  insertDebt,
  isAccepted,
  noteAcceptance,
  removeDebts,
  type StoredDebt,
} from '../sql/debts.ts';

/** The country whose law the loan has: that of the phone, which tells best where the person lives. */
export function countryOf({ person, partner }: ContractApplication) {
  return (person.phone === null ? null : countryOfPhone(person.phone)) ?? partner.country;
}

/** The day (YYYY-MM-DD) on the wall clock of the applicant's country; without a known zone that of UTC. */
export function dayIn(application: ContractApplication, now: Date): string {
  return localDate(now, DEFAULT_WINDOWS[countryOf(application)]?.zones[0] ?? 'UTC');
}

/**
 * The debts of an application, those that count or all, and the declared amount. Throws `OperatorError` if the
 * application is gone.
 */
export async function listDebts(
  { database, vault }: OperatorContext,
  id: ApplicationId,
  { all }: { readonly all: boolean },
): Promise<DebtList & { readonly declared: string }> {
  const application = await readForContract(database, vault, id);
  if (application === null) throw noPerson(id);
  const { amount, currency } = application.debt;
  const debts = await (all ? allDebts : currentDebts)(database, vault, id);
  return { debts, currency, declared: moneyText(toMinor(amount, currency), currency) };
}

/** What an operator tells about a debt. */
export interface GivenDebt extends Omit<Debt, 'asOf'> {
  /** null: today, in the applicant's country. */
  readonly asOf: string | null;
  /** null: the application's. */
  readonly currency: string | null;
}

/** Adds a debt, in the caller's transaction. Throws `OperatorError` that names the field and its rule. */
export async function addDebt(
  context: OperatorContext,
  id: ApplicationId,
  { currency, asOf, ...given }: GivenDebt,
): Promise<{ readonly id: number } & Debt> {
  return changing(context, id, async (session, application) => {
    const { currency: own } = application.debt;
    if (currency !== null && currency !== own)
      throw refused({ field: 'currency', rule: `must be ${own}, the currency of the application` });
    const today = dayIn(application, await databaseTime(session));
    const debt: Debt = { ...given, asOf: asOf ?? today };
    const listed = await currentDebts(session, context.vault, id);
    const fault = debtFault(debt, own, today) ?? listFault(listed, [debt], own);
    if (fault !== null) throw refused(fault);
    const by = { toldBy: 'operator', addedBy: context.actor } as const;
    return { id: await insertDebt(session, context.vault, id, debt, by), ...debt };
  });
}

/** Takes a debt out of the list, in the caller's transaction. Throws `OperatorError` if the list does not have it. */
export async function removeDebt(context: OperatorContext, id: ApplicationId, debt: number): Promise<void> {
  await changing(context, id, async (session) => {
    const by = { by: context.actor, at: await databaseTime(session) };
    if ((await removeDebts(session, id, [debt], by)) === 0)
      throw new OperatorError(`the list of application ${id} has no debt ${debt}`);
  });
}

/**
 * Accepts the difference between the list of this moment and the declared amount, in the caller's transaction. It holds
 * while the list is the same. Throws `OperatorError` as the other uses do.
 */
export async function acceptList(
  { database, vault }: OperatorContext,
  id: ApplicationId,
): Promise<readonly number[]> {
  return inTransaction(database, async (session) => {
    const held = await holdList(session, vault, id);
    if (typeof held === 'string') throw REFUSED[held](id);
    const ids = await currentDebtIds(session, id);
    if (!(await isAccepted(session, id, ids))) await noteAcceptance(session, id, ids);
    return ids;
  });
}

function changing<T>(
  { database, vault }: OperatorContext,
  id: ApplicationId,
  change: (session: Transaction, application: ContractApplication) => Promise<T>,
): Promise<T> {
  return inTransaction(database, async (session) => {
    const held = await holdList(session, vault, id);
    if (typeof held === 'string') throw REFUSED[held](id);
    const done = await change(session, held);
    await closeShown(session, id);
    return done;
  });
}

/** Why a list of debts stays as it is. */
export type FixedList = 'no_person' | 'not_open' | 'signed';

/**
 * Holds the list of an application until the end of the transaction, against changes, signatures and the erasure.
 * Returns the application, or why the list may not change any more.
 */
export async function holdList(
  session: Transaction,
  vault: Vault,
  id: ApplicationId,
): Promise<ContractApplication | FixedList> {
  await lockState(session, id);
  await holdDebts(session, [id]);
  // Read under the locks, so an erasure that came first is seen.
  const application = await readForContract(session, vault, id);
  if (application === null) return 'no_person';
  if (!isOpen(application.status)) return 'not_open';
  return (await hasSigned(session, id)) ? 'signed' : application;
}

async function hasSigned(session: Session, id: ApplicationId): Promise<boolean> {
  const contract = await readContract(session, id);
  return contract !== null && contract.state !== 'open';
}

const REFUSED: Readonly<Record<FixedList, (id: ApplicationId) => OperatorError>> = {
  no_person: noPerson,
  not_open: (id) => new OperatorError(`application ${id} is final: its debts stay as they are`),
  signed: (id) =>
    new OperatorError(`the contract of application ${id} is signed: the debts that it pays stay as they are`),
};

function noPerson(id: ApplicationId): OperatorError {
  return new OperatorError(`there is no application ${id}, or its person is erased`);
}

function refused({ field, rule }: DebtFault): OperatorError {
  return new OperatorError(`${field} ${rule}`);
}

// The second part: what a person tells in the chat, in the transaction of the turn.

/** A list for people: what each debt is, and the currency. */
export interface DebtList {
  readonly debts: readonly StoredDebt[];
  readonly currency: string;
}

/** What became of a text about debts. `fixed`: the list may not change any more. */
export type ToldDebts =
  | ({ readonly kind: 'list' } & DebtList)
  | Exclude<ReadDebts, { readonly kind: 'list' }>
  | { readonly kind: 'fixed' };

/** Who told it, in the record of a row. */
const APPLICANT_TOLD = 'applicant';

/**
 * Stores the list in a text, in the place of what the person or their documents told before. Debts that an operator
 * told stay, and count once. The turn of a message is taken once, so a message that comes again doubles nothing.
 */
export async function tellDebts(
  session: Transaction,
  vault: Vault,
  id: ApplicationId,
  text: string,
): Promise<ToldDebts> {
  const application = await holdList(session, vault, id);
  if (typeof application === 'string') return { kind: 'fixed' };
  const { currency } = application.debt;
  const now = await databaseTime(session);
  const country = countryOf(application);
  const read = readDebts(text, { currency, country, today: dayIn(application, now) });
  if (read.kind !== 'list') return read;
  const listed = await currentDebts(session, vault, id);
  const kept = listed.filter(({ toldBy }) => toldBy === 'operator');
  const added = read.debts.filter((debt) => listFault(kept, [debt], currency)?.field !== 'debts');
  if (kept.length + added.length > MOST_DEBTS) return { kind: 'too_many' };
  const told = listed.filter(({ toldBy }) => toldBy !== 'operator');
  // The same list again leaves a contract that is shown as it is.
  if (areSame(told, added, currency)) return { kind: 'list', debts: listed, currency };
  await removeTold(session, id, listed, now);
  for (const debt of added)
    await insertDebt(session, vault, id, debt, { toldBy: 'applicant', addedBy: APPLICANT_TOLD });
  await closeShown(session, id);
  return { kind: 'list', debts: await currentDebts(session, vault, id), currency };
}

async function removeTold(
  session: Transaction,
  id: ApplicationId,
  listed: readonly StoredDebt[],
  at: Date,
): Promise<void> {
  const told = listed.flatMap((debt) => (debt.toldBy === 'operator' ? [] : [debt.id]));
  await removeDebts(session, id, told, { by: APPLICANT_TOLD, at });
}

/** What the person and their documents told does not count any more. */
export async function forgetTold(session: Transaction, vault: Vault, id: ApplicationId): Promise<void> {
  if (typeof (await holdList(session, vault, id)) === 'string') return;
  const listed = await currentDebts(session, vault, id);
  if (listed.every(({ toldBy }) => toldBy === 'operator')) return;
  await removeTold(session, id, listed, await databaseTime(session));
  await closeShown(session, id);
}

/** The list of this moment; null: the application is gone. */
export async function listOfDebts(
  session: Session,
  vault: Vault,
  id: ApplicationId,
): Promise<DebtList | null> {
  const application = await readForContract(session, vault, id);
  if (application === null) return null;
  return { debts: await currentDebts(session, vault, id), currency: application.debt.currency };
}

// The third part: what a statement tells, in the transaction of a turn or of an operator's decision.

/** Debts that were read in a document. */
export interface DebtsOfDocument {
  readonly documentId: number;
  readonly currency: string | null;
  readonly debts: readonly Debt[];
}

/** What became of the debts of a document. `same`: the list stays as it was. `refused`: none of them was taken. */
export type PutDebts =
  | ({ readonly kind: 'list' } & DebtList)
  | { readonly kind: 'same' | 'fixed' }
  | { readonly kind: 'refused'; readonly fault: DebtFault };

/** Who added debts that a document tells, if nobody decided about it. */
const READ_BY = 'document';

/**
 * Adds the debts of a document to the list, all or none; those that the list has already count once. `read` is called
 * when the list is held, so a decision about the document that came first is seen; null: it tells none. `by` null: the
 * debts were read without an operator, and this counts once for each document, whatever became of them since.
 */
export async function putDebts(
  session: Transaction,
  vault: Vault,
  id: ApplicationId,
  { read, by }: { readonly read: () => Promise<DebtsOfDocument | null>; readonly by: string | null },
): Promise<PutDebts> {
  const application = await holdList(session, vault, id);
  if (typeof application === 'string') return { kind: 'fixed' };
  const found = await read();
  if (found === null) return { kind: 'same' };
  const { documentId, debts } = found;
  const all = await allDebts(session, vault, id);
  const listed = all.filter(({ removedAt }) => removedAt === null);
  const before = by === null ? all : listed;
  if (before.some((debt) => debt.documentId === documentId)) return { kind: 'same' };
  const { currency } = application.debt;
  const now = await databaseTime(session);
  const fault = faultOfRead(found, currency, dayIn(application, now));
  if (fault !== null) return { kind: 'refused', fault };
  // What the person told without a reference gives way to the same debt with its reference.
  const told = listed.filter(({ toldBy }) => toldBy === 'applicant');
  const replaced = withoutReference(told, debts, currency);
  const others = listed.filter((debt) => !replaced.includes(debt));
  const added = notListed(others, debts, currency);
  const full = listFault(others, added, currency);
  if (full !== null) return { kind: 'refused', fault: full };
  if (added.length === 0) return { kind: 'same' };
  const addedBy = by ?? READ_BY;
  const ids = replaced.map((debt) => debt.id);
  if (ids.length > 0) await removeDebts(session, id, ids, { by: addedBy, at: now });
  for (const debt of added)
    await insertDebt(session, vault, id, debt, { toldBy: 'document', documentId, addedBy });
  await closeShown(session, id);
  return { kind: 'list', debts: await currentDebts(session, vault, id), currency };
}

/** Which rule the debts of a document break, whatever the list has; null: none. */
function faultOfRead(found: DebtsOfDocument, currency: string, today: string): DebtFault | null {
  if (found.currency !== currency)
    return { field: 'currency', rule: `must be ${currency}, the currency of the application` };
  for (const debt of found.debts) {
    const fault = debtFault(debt, currency, today);
    if (fault !== null) return fault;
  }
  return listFault([], found.debts, currency);
}

/** Takes the debts of a rejected document off the list, in the caller's transaction. A final or signed list stays. */
export async function takeOffDebts(
  { database, vault, actor }: OperatorContext,
  id: ApplicationId,
  documentId: number,
): Promise<void> {
  await inTransaction(database, async (session) => {
    if (typeof (await holdList(session, vault, id)) === 'string') return;
    const listed = await currentDebts(session, vault, id);
    const told = listed.filter((debt) => debt.documentId === documentId).map((debt) => debt.id);
    const by = { by: actor, at: await databaseTime(session) };
    if ((await removeDebts(session, id, told, by)) > 0) await closeShown(session, id);
  });
}
