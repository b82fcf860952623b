/**
 * Computes the loan of an application by the terms of its country, or says why nobody gets a contract (D45;
 * docs/signing.md, "The loan"). Reads the application, and notes a reason in `loan_contracts`. `domain/loan` has the
 * arithmetic.
 */
import { hash } from 'node:crypto';
import type { ApplicationId } from '../../../domain/application/ids.ts';
import { isOpen } from '../../../domain/application/lifecycle.ts';
import { DEFAULT_FLOW } from '../../../domain/conversation/default-flow.ts';
import { flowWith } from '../../../domain/conversation/flow.ts';
import { hasLastFour } from '../../../domain/evidence/answer.ts';
import { type ContractTemplate, untoldOf } from '../../../domain/loan/contract-template.ts';
import { rulesOf } from '../../../domain/loan/country-rules.ts';
import { type DebtBlock, debtBlock, sumOf } from '../../../domain/loan/debt.ts';
import {
  type BlockReason,
  type CountryBlock,
  type Offer,
  offerOfLoan,
  type PricedLoan,
  priceLoan,
} from '../../../domain/loan/offer.ts';
import { payingOf } from '../../../domain/loan/payees.ts';
import type { CountryTerms, Terms } from '../../../domain/loan/terms.ts';
import { lackingOf } from '../../../domain/loan/told-terms.ts';
import { plannedDisbursement } from '../../../domain/loan/withdrawal.ts';
import { moneyText, toMinor } from '../../../domain/money/money.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import type { Session } from '../../../ground/postgres/database.ts';
import { databaseTime } from '../../../ground/postgres/database-time.ts';
import { loadPublicHolidays } from '../../messages/uses/public-holidays.ts';
import { type ContractApplication, readForContract } from '../sql/application.ts';
import { noteBlock } from '../sql/blocks.ts';
import { readContract } from '../sql/contracts.ts';
import { currentDebts, isAccepted, type StoredDebt } from '../sql/debts.ts';
import { type HeldOffer, holdOffer, readHeldOffer } from '../sql/offers.ts';
import type { SigningContext } from './context.ts';
import { countryOf } from './debts.ts';

/** Everything that a contract is made of. */
export interface ContractSource {
  readonly kind: 'source';
  readonly application: ContractApplication;
  readonly country: Country;
  readonly terms: Terms;
  /** The version of `countryTerms`: an older one where an earlier offer still holds. */
  readonly termsVersion: string;
  readonly countryTerms: CountryTerms;
  readonly template: ContractTemplate;
  readonly templateName: string;
  readonly priced: PricedLoan;
  readonly offer: Offer;
  /** The debts that are paid, in their order. */
  readonly debts: readonly StoredDebt[];
  /** The day of the planned paying out: YYYY-MM-DD. */
  readonly disbursement: string;
  /** The database's clock. */
  readonly now: Date;
}

export interface Blocked {
  readonly kind: 'blocked';
  readonly reason: BlockReason;
  /** The lender's own limits, where they are in the way. */
  readonly limits?: Pick<CountryTerms, 'minimum' | 'maximum' | 'currency'>;
}

/** Reasons that only an operator can mend, in the terms or the settings. These get an ALARM in the log. */
const ALARMS: readonly BlockReason[] = [
  'no_terms',
  'terms_incomplete',
  'no_rules',
  'no_maximum',
  'above_maximum',
  'no_template',
  'no_certificate',
  'certificate_expired',
];

/**
 * The source of an application's contract. If nobody gets one, the reason is noted for the operators (`status`, the
 * metrics) and logged. Throws `UnknownDataKeyError` if this process lacks the data key of the application.
 */
export async function sourceOf(
  context: SigningContext,
  id: ApplicationId,
): Promise<ContractSource | Blocked> {
  const found = await findSource(context, id, false);
  if (found.kind === 'blocked') await noteBlocked(context, id, found);
  return found;
}

/** Notes for the operators why an application gets no contract. */
async function noteBlocked(context: SigningContext, id: ApplicationId, { reason }: Blocked): Promise<void> {
  // An application that was rejected meanwhile needs no operator.
  if (reason !== 'not_pending') await noteBlock(context.database, id, reason);
  const facts = { application_id: id, reason };
  if (ALARMS.includes(reason))
    context.log.warn(facts, 'ALARM: nobody gets a contract until an operator mends this');
  else context.log.warn(facts, 'an application gets no contract');
}

async function findSource(
  { database, vault, terms, sealer }: SigningContext,
  id: ApplicationId,
  isOutlook: boolean,
): Promise<ContractSource | Blocked> {
  const application = await readForContract(database, vault, id);
  if (application === null) return blocked('unreadable');
  const isReady = isOutlook ? isOpen(application.status) : application.status === 'pending_signature';
  if (!isReady) return blocked('not_pending');
  if (!hasLastFour(application.person.idNumber)) return blocked('short_id_number');
  if (terms === null) return blocked('no_terms');
  if (sealer === null) return blocked('no_certificate');
  const country = countryOf(application);
  const current = lendingTerms(terms, country);
  if (typeof current === 'string') return blocked(current);
  const templateName = application.brand.contract ?? current.contract;
  const template = Object.hasOwn(terms.contracts, templateName) ? terms.contracts[templateName] : undefined;
  if (template === undefined || untoldOf(template, rulesOf(country).tells).length > 0)
    return blocked('no_template');
  const now = await databaseTime(database);
  if (!sealer.isValidAt(now)) return blocked('certificate_expired');
  const offered = isOutlook ? null : await readHeldOffer(database, id);
  const held = offered?.country === country ? heldLoan(offered, current, application, now) : null;
  const { countryTerms, termsVersion, priced } = held ?? {
    countryTerms: current,
    termsVersion: terms.version,
    priced: priceLoan(country, current, application.debt, now),
  };
  if (priced.kind === 'blocked') {
    const { minimum, maximum, currency } = current;
    return { ...priced, limits: { minimum, maximum, currency } };
  }
  const debts = await currentDebts(database, vault, id);
  // Before the documents nobody has told the debts.
  const block = isOutlook ? null : await debtBlockOf(database, id, application, debts, priced.loan.net);
  if (block !== null) return blocked(block);
  const disbursement = plannedDisbursement(
    countryTerms.withdrawal,
    now,
    { country, zone: countryTerms.zone },
    await loadPublicHolidays(),
  );
  const { demonstration } = terms;
  const { currency } = countryTerms;
  const paying = payingOf(debts, { net: moneyText(priced.loan.net, currency), currency });
  const offer = offerOfLoan(country, countryTerms, priced, { disbursement, paying, demonstration });
  return {
    kind: 'source',
    application,
    country,
    terms,
    termsVersion,
    countryTerms,
    template,
    templateName,
    priced,
    offer,
    debts,
    disbursement,
    now,
  };
}

/** The terms by which loans are made in a country, or why none is made there. */
export function lendingTerms(terms: Terms, country: Country): CountryTerms | CountryBlock {
  const current = terms.countries[country];
  if (current === undefined) return 'no_terms';
  if (!rulesOf(country).isWhole && !terms.demonstration) return 'no_rules';
  return lackingOf(country, current).length > 0 ? 'terms_incomplete' : current;
}

/**
 * The loan by the terms of an offer that still holds: until its last day what was shown is what is signed (D45). The
 * legal maximum is that of the current terms. null: the loan may not be made any more.
 */
function heldLoan(
  { country, version, countryTerms: offered, expiresAt }: HeldOffer,
  { legal_maximum, contract }: CountryTerms,
  { debt }: ContractApplication,
  now: Date,
) {
  const countryTerms = { ...offered, legal_maximum, contract };
  const priced = priceLoan(country, countryTerms, debt, now);
  if (priced.kind === 'blocked') return null;
  const lastsUntil = priced.expiresAt < expiresAt ? priced.expiresAt : expiresAt;
  return { countryTerms, termsVersion: version, priced: { ...priced, expiresAt: lastsUntil } };
}

/** Why an operator has to look at the list of debts first; null: nobody has to (D52). */
async function debtBlockOf(
  session: Session,
  id: ApplicationId,
  { brand, debt: { amount, currency } }: ContractApplication,
  debts: readonly StoredDebt[],
  net: bigint,
): Promise<DebtBlock | null> {
  const { steps } = flowWith(DEFAULT_FLOW, brand.conversation || {});
  // Nobody asks for debts, and nobody told any: nothing is consolidated.
  if (debts.length === 0 && !steps.debts) return null;
  const ids = debts.map((debt) => debt.id);
  return debtBlock(sumOf(debts, currency), {
    declared: toMinor(amount, currency),
    net,
    isAccepted: await isAccepted(session, id, ids),
  });
}

function blocked(reason: BlockReason): Blocked {
  return { kind: 'blocked', reason };
}

/**
 * What an applicant could be offered, before a document is asked for and also while the application is in review (D45),
 * or why nothing could be. Makes nothing; a reason is noted as `sourceOf` notes it.
 */
export async function outlookOf(context: SigningContext, id: ApplicationId): Promise<Offer | Blocked> {
  const found = await findSource(context, id, true);
  if (found.kind === 'source') return found.offer;
  await noteBlocked(context, id, found);
  return found;
}

/**
 * What the applicant reads before the acceptance (D45), or why there is nothing. If a contract may already be signed,
 * as after a conversation that was closed, it is the offer of that contract, whatever the terms say now. The terms of a
 * new offer are held until its last day.
 */
export async function offerOf(context: SigningContext, id: ApplicationId): Promise<Offer | Blocked> {
  const contract = await readContract(context.database, id);
  if (contract?.state === 'open' && !contract.isExpired) return contract.terms.offer;
  const source = await sourceOf(context, id);
  if (source.kind === 'blocked') return source;
  const { country, termsVersion, countryTerms, priced } = source;
  const { expiresAt } = priced;
  await holdOffer(context.database, id, { country, version: termsVersion, countryTerms, expiresAt });
  return source.offer;
}

/**
 * The costs of an offer as one value, in hex. Two values are equal if the amounts, the months, the rates, the days, the
 * lender, the period to withdraw and the debts that are paid are equal, whatever the language of the offer.
 */
export function costsOf(offer: Offer): string {
  const { amount, currency, installment, months, total, net, monthlyRate, annualRate, lender, paying } =
    offer;
  const { interestRate, lateRate, disbursement, firstDue, lastDue, withdrawal } = offer;
  const costs = [
    ...[amount, currency, installment, months, total, net, monthlyRate, annualRate, lender],
    ...[interestRate, lateRate, disbursement, firstDue, lastDue],
  ];
  if (withdrawal !== undefined) costs.push(JSON.stringify(withdrawal));
  if (paying !== undefined) costs.push(...paying.debts, paying.creditors, paying.toApplicant);
  return hash('sha256', JSON.stringify(costs), 'hex');
}
