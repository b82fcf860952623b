/**
 * Records what happens to the money after a payment, each as a line of its own: a sum that came back, and a sum that is
 * paid again (D46; docs/signing.md, "The payment"). Locks the contract; writes `disbursements` and the evidence.
 */
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { localDate } from '../../../domain/loan/local-day.ts';
import { toMinor } from '../../../domain/money/money.ts';
import { lockState } from '../../applications/sql/application-marks.ts';
import { balancesOf, checkLines, differenceOf, LineError, wantedOf } from '../rules/disbursement-lines.ts';
import { openSecret } from '../sql/contract-secrets.ts';
import { lockContract, type StoredContract } from '../sql/contracts.ts';
import { type NewLine, noteDisbursedOn, readLines, type StoredLine } from '../sql/disbursements.ts';
import { addEvidence } from '../sql/evidence.ts';
import { payeesOfContract } from './contract-payees.ts';
import { addWithEvidence, type GivenLine, type PaymentContext } from './disburse.ts';

/** Who records the lines, and whether two operators pay more than the contract says. */
export interface LaterBy {
  readonly actor: string;
  readonly second?: string;
}

/** A line of a contract, or the line that came back with the sum that did. */
export type LaterLine = GivenLine & { readonly returned: number | null };

/** The result. `isScheduled`: the installments count from now on. */
export interface LaterLines {
  readonly lines: readonly StoredLine[];
  readonly isScheduled: boolean;
}

type LaterContext = Pick<PaymentContext, 'session' | 'vault'>;

/** A sum that came back from the payee of line `returned`, as an operator states it. */
export type ReturnedLine = Omit<GivenLine, 'payee'> & { readonly returned: number };

/**
 * Records sums that came back. Throws `LineError` if a line has a wrong form or day, if it names no line that was
 * paid, or if more would come back than was paid.
 */
export async function recordReturned(
  context: LaterContext,
  id: ApplicationId,
  given: readonly ReturnedLine[],
  by: LaterBy,
): Promise<LaterLines> {
  const { contract, before } = await lockPaid(context, id);
  const payeeOf = (number: number): string => {
    const line = before.find((one) => one.number === number && one.kind === 'paid');
    if (line === undefined) throw new LineError(`application ${id} has no paid line ${number}`);
    return line.payee;
  };
  const named = given.map((line) => ({ ...line, payee: payeeOf(line.returned) }));
  const lines = checked(contract, named).map(
    (line, index): NewLine => ({
      ...{ ...line, kind: 'returned', returned: given[index]!.returned, proof: given[index]!.proof ?? null },
      ...{ recordedBy: by.actor, second: by.second ?? null },
    }),
  );
  for (const { returned, valueDate } of lines) requireNoMore(contract, before, lines, returned!, valueDate);
  return add(context, contract, before, lines);
}

/** Throws `LineError` if more comes back of a line than was paid, or before it was paid. */
function requireNoMore(
  { terms }: StoredContract,
  before: readonly StoredLine[],
  lines: readonly NewLine[],
  returned: number,
  valueDate: string,
): void {
  const { currency } = terms.offer;
  const paid = before.find(({ number }) => number === returned)!;
  const back = [...before, ...lines]
    .filter((one) => one.returned === returned)
    .reduce((sum, { amount }) => sum + toMinor(amount, currency), 0n);
  if (back > toMinor(paid.amount, currency))
    throw new LineError(`line ${returned}: no more can come back than was paid`);
  if (valueDate < paid.valueDate)
    throw new LineError(`line ${returned} was paid on ${paid.valueDate}: nothing came back before`);
}

/**
 * Records sums that are paid after the payment, such as one that came back and is paid again. Throws `LineError` as
 * `disburse` does, and if a payee would have more than the contract says, unless there is a second operator.
 */
export async function recordPaidAgain(
  context: LaterContext,
  id: ApplicationId,
  given: readonly GivenLine[],
  by: LaterBy,
): Promise<LaterLines> {
  const { contract, before } = await lockPaid(context, id);
  const lines = checked(contract, given).map(
    (line, index): NewLine => ({
      ...{ ...line, kind: 'paid', returned: null, proof: given[index]!.proof ?? null },
      ...{ recordedBy: by.actor, second: by.second ?? null },
    }),
  );
  const { currency } = contract.terms.offer;
  const balances = balancesOf([...before, ...lines], currency);
  const difference = differenceOf(
    balances,
    wantedOf(await payeesOfContract(context.session, context.vault, contract), currency),
    true,
  );
  if (difference !== null && by.second === undefined)
    throw new LineError(`application ${id}: ${difference}, or add --override and --second OPERATOR`);
  const repeated = lines.findIndex((line) =>
    before.some(
      ({ kind, payee, amount, reference }) =>
        kind === 'paid' && payee === line.payee && amount === line.amount && reference === line.reference,
    ),
  );
  if (repeated !== -1) throw new LineError(`line ${repeated + 1} is recorded already`);
  return add(context, contract, before, lines);
}

/** Locks the contract of an application that is paid out. Throws `LineError` if there is none. */
async function lockPaid(
  { session, vault }: LaterContext,
  id: ApplicationId,
): Promise<{ readonly contract: StoredContract; readonly before: readonly StoredLine[] }> {
  const state = await lockState(session, id);
  const contract = await lockContract(session, id);
  if (contract?.state !== 'signed') throw new LineError(`application ${id} has no signed contract`);
  if (state !== null && state.status !== 'disbursed')
    throw new LineError(`application ${id} is ${state.status}: nothing was paid out yet`);
  return { contract, before: await readLines(session, contract.id, openSecret(vault, contract)) };
}

function checked({ terms, signedAt, now }: StoredContract, given: readonly GivenLine[]) {
  const { zone, offer } = terms;
  const [signedOn, today] = [localDate(signedAt!, zone), localDate(now, zone)];
  return checkLines(given, { currency: offer.currency, signedOn, today });
}

async function add(
  { session, vault }: LaterContext,
  contract: StoredContract,
  before: readonly StoredLine[],
  lines: readonly NewLine[],
): Promise<LaterLines> {
  const { applicationId, id } = contract;
  if (lines.length === 0) throw new LineError('there is no line to record');
  if (before.length + lines.length > MOST_OF_CONTRACT)
    throw new LineError(`a contract has at most ${MOST_OF_CONTRACT} lines`);
  const entries = await addWithEvidence(session, vault, contract, before.length, lines);
  const day = lines
    .map(({ valueDate }) => valueDate)
    .toSorted()
    .at(-1)!;
  const isScheduled = lines[0]!.kind === 'paid' && (await noteDisbursedOn(session, id, day));
  await addEvidence(session, vault, [{ applicationId, entries }]);
  const all = await readLines(session, id, openSecret(vault, contract));
  return { lines: all.slice(before.length), isScheduled };
}

/** As the table has it. */
const MOST_OF_CONTRACT = 200;
