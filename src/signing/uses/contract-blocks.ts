/** The words and numbers of a contract, and of its certificate. Pure. */
import { withOffset } from '../../base/time.ts';
import type { Block, ContractValues } from '../rules/contract-template.ts';
import { blocksOf } from '../rules/contract-template.ts';
import { CONTRACT_WORDS } from '../rules/contract-words.ts';
import { formatMoney, formatPercent, moneyText } from '../rules/money.ts';
import type { ContractTerms, StoredContract } from '../sql/contracts.ts';
import type { Evidence } from '../sql/evidence.ts';
import type { ContractSource } from './price.ts';

/** The blocks of the contract with this number. */
export function contractBlocks(source: ContractSource, contractId: string): Block[] {
  const { application, country, countryTerms, template, priced, offer, now } = source;
  const { language } = template;
  const locale = `${language}-${country}`;
  const words = CONTRACT_WORDS[language];
  const money = (text: string) => formatMoney(text, offer.currency, locale);
  const minor = (amount: bigint) => money(moneyText(amount, offer.currency));
  const day = (at: Date) =>
    new Intl.DateTimeFormat(locale, {
      ...{ timeZone: countryTerms.zone, year: 'numeric', month: 'long', day: 'numeric', hour: '2-digit' },
      ...{ minute: '2-digit', hourCycle: 'h23', timeZoneName: 'short' },
    }).format(at);
  const fees = priced.fees.map(
    ({ fee, amount }) => `${fee.name}: ${minor(amount)} (${words.when[fee.when]})`,
  );
  const { person, partner, brand } = application;
  const values: ContractValues = {
    lender: countryTerms.lender.name,
    lender_number: countryTerms.lender.number,
    partner: brand.partner ?? partner.name,
    name: person.name,
    id_number: person.idNumber,
    city: person.city,
    contract: contractId,
    date: day(now),
    expires: day(priced.expiresAt),
    amount: money(offer.amount),
    currency: offer.currency,
    net: money(offer.net),
    installment: money(offer.installment),
    months: `${offer.months}`,
    total: money(offer.total),
    monthly_rate: formatPercent(offer.monthlyRate, locale),
    annual_rate: formatPercent(offer.annualRate, locale),
    rate_name: offer.rateName,
    fees: fees.length === 0 ? words.noFees : fees.join('; '),
    withdrawal:
      countryTerms.withdrawal === 'none' ? words.noWithdrawal : words.withdrawal(countryTerms.withdrawal),
  };
  const rows = priced.loan.payments.map(({ month, payment, interest, principal, fee, balance }) => [
    `${month}`,
    ...[payment, interest, principal, fee, balance].map(minor),
  ]);
  return blocksOf(template, values, { kind: 'table', head: words.schedule, rows });
}

/** The blocks of the certificate: every line of evidence, and the hash of the contract that was shown. */
export function certificateBlocks(
  { id, applicationId, sha256, signedAt, terms }: StoredContract,
  evidence: readonly Evidence[],
): Block[] {
  const words = CONTRACT_WORDS[terms.language];
  const line = ({ number, kind, recordedAt, happenedAt, facts, mac }: Evidence) =>
    `${number}. ${kind} ${happenedAt ?? recordedAt} ${factsText(facts)} mac=${mac.toString('hex')}`;
  return [
    { kind: 'title', text: words.certificate },
    { kind: 'text', text: words.certificateText },
    {
      kind: 'text',
      text: [
        `${words.contract} ${id}, ${applicationId}`,
        `SHA-256 ${sha256?.toString('hex') ?? ''}`,
        `${signedAt === null ? '' : withOffset(signedAt)}`,
      ].join('\n'),
    },
    ...evidence.map((one): Block => ({ kind: 'text', text: line(one) })),
  ];
}

function factsText(facts: string): string {
  return Object.entries(JSON.parse(facts) as Record<string, unknown>)
    .map(([name, value]) => `${name}=${value}`)
    .join(' ');
}

/** The foot of each page. */
export function footOf(contractId: string, { language, template, offer }: ContractTerms) {
  const words = CONTRACT_WORDS[language];
  return {
    left: `${words.contract} ${contractId}, ${template}`,
    page: words.page,
    mark: offer.demonstration ? words.demonstration : null,
  };
}
