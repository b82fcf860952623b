/**
 * The words and numbers of a contract and of its certificate, as blocks to draw. Pure. `rules/contract-words.ts` has
 * the fixed words, D45 what the applicant has to read.
 */
import type { Block, ContractValues } from '../../../domain/loan/contract-template.ts';
import { blocksOf } from '../../../domain/loan/contract-template.ts';
import { rulesOf } from '../../../domain/loan/country-rules.ts';
import { lateRateText } from '../../../domain/loan/late-interest.ts';
import type { Payment } from '../../../domain/loan/loan.ts';
import { addMonths } from '../../../domain/loan/local-day.ts';
import { formatMoney, formatPercent, moneyText } from '../../../domain/money/money.ts';
import { ANNEXES, type AnnexTexts } from '../pdf/make.ts';
import { CONTRACT_WORDS, SCHEDULE_COLUMNS } from '../rules/contract-words.ts';
import type { ContractTerms, StoredContract } from '../sql/contracts.ts';
import type { Evidence } from '../sql/evidence.ts';
import type { DueInstallment } from './due-installments.ts';
import type { ContractSource } from './price.ts';

/** The blocks of the contract with this number. */
export function contractBlocks(source: ContractSource, contractId: string): Block[] {
  const { application, country, countryTerms, template, priced, offer, disbursement, now } = source;
  const { language } = template;
  const locale = `${language}-${country}`;
  const words = CONTRACT_WORDS[language];
  // The sign of a currency and its amount stay on one line.
  const money = (text: string) => formatMoney(text, offer.currency, locale).replaceAll(' ', '\u00a0');
  const minor = (amount: bigint) => money(moneyText(amount, offer.currency));
  const day = (at: Date) => instantText(at, locale, countryTerms.zone);
  const fees = priced.fees.map(
    ({ fee, amount }) => `${fee.name}: ${minor(amount)} (${words.when[fee.when]})`,
  );
  const { person, partner, brand } = application;
  const values: ContractValues = {
    lender: countryTerms.lender.name,
    lender_number: countryTerms.lender.number,
    lender_address: countryTerms.lender.address ?? '',
    partner: brand.partner ?? partner.name,
    name: person.name,
    id_number: person.idNumber,
    city: person.city,
    contract: contractId,
    date: day(now),
    expires: lastDayText(priced.expiresAt, locale, countryTerms.zone),
    amount: money(offer.amount),
    currency: offer.currency,
    net: money(offer.net),
    installment: money(offer.installment),
    months: `${offer.months}`,
    total: money(offer.total),
    monthly_rate: formatPercent(offer.monthlyRate, locale),
    interest_rate: formatPercent(priced.interestRate, locale),
    interest_rate_name: rulesOf(country).interestRate.name,
    annual_rate: formatPercent(offer.annualRate, locale),
    rate_name: offer.rateName,
    disbursement: dateText(disbursement, locale),
    first_due: dateText(addMonths(disbursement, 1), locale),
    last_due: dateText(addMonths(disbursement, offer.months), locale),
    creditors: creditorsText(source, money),
    to_applicant: money(offer.paying?.toApplicant ?? offer.net),
    fees: fees.length === 0 ? words.noFees : fees.join('; '),
    tax: taxText(source) ?? words.noTax,
    withdrawal:
      countryTerms.withdrawal === 'none' ? words.noWithdrawal : words.withdrawal(countryTerms.withdrawal),
    payment: countryTerms.payment ?? '',
    late_rate: lateRateOf(source, locale),
    late_consequences: lateConsequences(source),
    complaints: countryTerms.complaints ?? '',
    supervisor: countryTerms.supervisor ?? rulesOf(country).supervisor ?? '',
  };
  return blocksOf(template, values, scheduleOf(source, minor));
}

/** The debts that the loan pays, with the mandate to pay them. */
function creditorsText({ template, debts }: ContractSource, money: (text: string) => string): string {
  const { noDebts, mandate, reference } = CONTRACT_WORDS[template.language];
  if (debts.length === 0) return noDebts;
  const lines = debts.map(
    (debt) =>
      `${debt.creditor}${debt.reference === null ? '' : `, ${reference} ${debt.reference}`}: ${money(debt.balance)}`,
  );
  return `${mandate}: ${lines.join('; ')}`;
}

/** What is taxed, with the name of the tax; null: there is none on interest. */
function taxText({ country, template }: ContractSource): string | null {
  const { tax } = rulesOf(country);
  return tax && CONTRACT_WORDS[template.language].tax(tax.name, `${tax.percent} %`);
}

function lateRateOf({ country, countryTerms, template }: ContractSource, locale: string): string {
  const words = CONTRACT_WORDS[template.language];
  const { late_rate: rate = 'none', legal_maximum: maximum } = countryTerms;
  if (rate === 'none') return words.noLateRate;
  const { tax, lateInterest } = rulesOf(country);
  return words.lateRate({
    monthly: formatPercent(rate, locale),
    yearly: formatPercent(lateRateText(countryTerms, country), locale),
    isLimited: lateInterest.bound === 'legal maximum' && maximum !== 'none',
    tax: tax && `${tax.name} (${tax.percent} %)`,
  });
}

function lateConsequences({ countryTerms, template }: ContractSource): string {
  const words = CONTRACT_WORDS[template.language];
  const { acceleration, bureaus } = countryTerms;
  return [
    acceleration === undefined ? words.noAcceleration : words.acceleration(acceleration),
    ...(bureaus === undefined ? [] : [words.reported(bureaus)]),
  ].join('; ');
}

/** The table of installments. A column that is zero in each month is left out. */
function scheduleOf(
  { template, priced, disbursement }: ContractSource,
  minor: (amount: bigint) => string,
): Extract<Block, { kind: 'table' }> {
  const { payments } = priced.loan;
  const columns = SCHEDULE_COLUMNS.filter(
    (column) =>
      !(column === 'tax' || column === 'insurance' || column === 'fee') ||
      payments.some((payment) => payment[column] > 0n),
  );
  const cell = (payment: Payment, column: (typeof columns)[number]) => {
    if (column === 'month') return `${payment.month}`;
    return column === 'due' ? addMonths(disbursement, payment.month) : minor(payment[column]);
  };
  return {
    kind: 'table',
    head: columns.map((column) => CONTRACT_WORDS[template.language].schedule[column]),
    rows: payments.map((payment) => columns.map((column) => cell(payment, column))),
  };
}

/** The blocks of the final schedule. A column that is zero in each month is left out. */
export function scheduleBlocks(
  { id, terms, disbursedOn }: StoredContract,
  installments: readonly DueInstallment[],
): Block[] {
  const { language, country, offer } = terms;
  const words = CONTRACT_WORDS[language];
  const locale = `${language}-${country}`;
  const money = (text: string) => formatMoney(text, offer.currency, locale).replaceAll(' ', '\u00a0');
  const columns = SCHEDULE_COLUMNS.filter(
    (column) =>
      !(column === 'tax' || column === 'insurance' || column === 'fee') ||
      installments.some((one) => Number(one[column]) > 0),
  );
  return [
    { kind: 'title', text: words.finalSchedule },
    {
      kind: 'text',
      text: words.finalScheduleText({
        contract: id,
        lender: offer.lender,
        amount: money(offer.amount),
        day: dateText(disbursedOn ?? '', locale),
      }),
    },
    {
      kind: 'table',
      head: columns.map((column) => words.schedule[column]),
      rows: installments.map((one, index) =>
        columns.map((column) =>
          column === 'month' ? `${index + 1}` : column === 'due' ? one.due : money(one[column]),
        ),
      ),
    },
  ];
}

/** An instant on the wall clock of a zone, with its name. */
function instantText(at: Date, locale: string, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, {
    timeZone,
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
    timeZoneName: 'short',
  }).format(at);
}

/** A date (YYYY-MM-DD), written out. */
function dateText(date: string, locale: string): string {
  return new Intl.DateTimeFormat(locale, { timeZone: 'UTC', dateStyle: 'long' }).format(new Date(date));
}

/**
 * The last day of a time that ends with the first instant of a day. Told as that instant, it would look like a day
 * more.
 */
function lastDayText(end: Date, locale: string, timeZone: string): string {
  return new Intl.DateTimeFormat(locale, { timeZone, dateStyle: 'long' }).format(end.getTime() - 1);
}

/**
 * The blocks of the certificate: what was signed, when and how, for people; the words of the annexes; then every line
 * of evidence.
 */
export function certificateBlocks(
  contract: StoredContract,
  evidence: readonly Evidence[],
  annexes: AnnexTexts,
): Block[] {
  const words = CONTRACT_WORDS[contract.terms.language];
  const line = ({ number, kind, recordedAt, happenedAt, facts, mac }: Evidence) =>
    `${number}. ${kind} ${happenedAt ?? recordedAt} ${factsText(facts)} mac=${mac.toString('hex')}`;
  return [
    { kind: 'title', text: words.certificate },
    { kind: 'text', text: words.certificateText },
    { kind: 'text', text: certifiedText(contract, evidence) },
    ...ANNEXES.flatMap((annex): Block[] => {
      const text = annexes[annex];
      if (text === undefined) return [];
      return [
        { kind: 'heading', text: words.annexes[annex] },
        { kind: 'text', text },
      ];
    }),
    { kind: 'heading', text: words.evidence },
    ...evidence.map((one): Block => ({ kind: 'text', text: line(one) })),
  ];
}

function certifiedText(
  { id, applicationId, sha256, signedAt, terms }: StoredContract,
  evidence: readonly Evidence[],
): string {
  const { certified, contract } = CONTRACT_WORDS[terms.language];
  const locale = `${terms.language}-${terms.country}`;
  const at = (text: string | null | undefined) =>
    text ? instantText(new Date(text), locale, terms.zone) : '-';
  const signed = evidence.at(-1);
  const facts = JSON.parse(signed?.facts ?? '{}') as Record<string, string | null>;
  const withdrawable = facts.withdrawable_until ? [new Date(facts.withdrawable_until)] : [];
  const accepted = evidence.findLast(({ kind }) => kind === 'contract_accepted');
  return [
    `${contract} ${id}, ${certified.application} ${applicationId}`,
    `${certified.sha256}: ${sha256?.toString('hex') ?? ''}`,
    `${certified.accepted}: ${at(accepted?.happenedAt)}`,
    `${certified.idChecked}: ${at(facts.id_checked_at)}`,
    `${certified.codeChecked} (${certified.ways[facts.way as 'sms'] ?? facts.way}): ${at(facts.code_checked_at)}`,
    `${certified.signed}: ${at(signedAt?.toISOString())}`,
    ...withdrawable.map((end) => `${certified.withdrawable}: ${lastDayText(end, locale, terms.zone)}`),
  ].join('\n');
}

function factsText(facts: string): string {
  return Object.entries(JSON.parse(facts) as Record<string, unknown>)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** The foot of each page; the pages of a certificate have a numbering of their own, under its name. */
export function footOf(
  contractId: string,
  { language, template, offer }: ContractTerms,
  certificate: string | null = null,
) {
  const words = CONTRACT_WORDS[language];
  const contract = `${words.contract} ${contractId}, ${template}`;
  return {
    left: certificate === null ? contract : `${certificate}: ${contract}`,
    page: words.page,
    mark: offer.demonstration ? words.demonstration : null,
  };
}
