/**
 * `ventanilla terms`: checks a file of terms, and prices a loan by the terms of the process (D45; docs/signing.md,
 * "Terms"). Reads files alone.
 */
import { type Command, InvalidArgumentError } from 'commander';
import { rulesOf, WHOLE_COUNTRIES } from '../../../domain/loan/country-rules.ts';
import { addMonths, startOfDate } from '../../../domain/loan/local-day.ts';
import { type PricedLoan, priceLoan } from '../../../domain/loan/offer.ts';
import type { CountryTerms } from '../../../domain/loan/terms.ts';
import { lackingOf } from '../../../domain/loan/told-terms.ts';
import { moneyText } from '../../../domain/money/money.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import { addCommand, type Cli, readDay } from '../../../program/cli/command.ts';
import { readCountry } from '../../../program/cli/country-argument.ts';
import { recordOf, writeJson, writeList, writeOutput } from '../../../program/cli/output.ts';
import { TERMS_FILE } from '../settings.ts';
import { NotOfferedError } from '../uses/check-terms.ts';
import { loadTerms } from '../uses/load-terms.ts';

/** Adds the commands. */
export function addTermsCommands(group: Command, cli: Cli): void {
  addCheck(group, cli);
  addPrice(group, cli);
}

function addCheck(group: Command, { io }: Cli): void {
  addCommand(
    group,
    'check',
    'check a file of terms, and price them over their whole range',
    'terms check terms.json',
  )
    .argument('<file>', 'the terms in JSON')
    .action(async (file: string, { json }: { json?: boolean }) => {
      try {
        const { version, countries } = (await loadTerms({ path: file }))!;
        const names = Object.keys(countries);
        const lacking = Object.fromEntries(
          Object.entries(countries)
            .map(([country, terms]) => [country, lackingOf(country as Country, terms)] as const)
            .filter(([, members]) => members.length > 0),
        );
        if (json) return await writeJson(io, { ok: true, version, countries: names, lacking });
        const without = names.filter((country) => !rulesOf(country as Country).isWhole);
        await writeOutput(io, `The terms ${version} can be offered over their whole range.\n`);
        for (const [country, members] of Object.entries(lacking))
          await writeOutput(
            io,
            `Nobody in ${country} gets a contract: countries.${country} lacks ${members.join(', ')}.\n`,
          );
        if (without.length > 0)
          await writeOutput(
            io,
            `Nobody in ${without.join(', ')} gets a contract: the program has whole rules of ${WHOLE_COUNTRIES.join(', ')} alone.\n`,
          );
      } catch (error) {
        if (!(json === true && error instanceof ToldError)) throw error;
        io.exitCode = 1;
        await writeJson(io, {
          ok: false,
          text: error.message,
          ...(error instanceof NotOfferedError && error.notOffered),
        });
      }
    });
}

interface PriceOptions {
  readonly country: Country;
  readonly amount: string;
  readonly months?: number;
  readonly on: string;
  readonly json?: boolean;
}

function addPrice(group: Command, { roles, io }: Cli): void {
  addCommand(
    group,
    'price',
    'price a loan that is paid out on a day, with the date of each installment',
    'terms price --country CO --amount 6000000 --months 36 --on 2026-12-01',
  )
    .requiredOption('--country <code>', 'the country of the applicant (ISO 3166)', readCountry)
    .requiredOption('--amount <number>', 'the amount in the currency of the terms', readAmount)
    .option('--months <number>', 'the number of installments; without it those of the terms', readMonths)
    .requiredOption('--on <date>', 'the day of the paying out: YYYY-MM-DD', readDay)
    .action(async ({ json, ...asked }: PriceOptions) => {
      const terms = await loadTerms(await roles.setting(TERMS_FILE));
      const ofCountry = terms?.countries[asked.country];
      if (ofCountry === undefined) throw new ToldError(`there are no terms for ${asked.country}: TERMS_FILE`);
      if (!rulesOf(asked.country).isWhole && !terms!.demonstration)
        throw new ToldError(`nobody in ${asked.country} gets a contract: no_rules`);
      const priced = pricedOf(ofCountry, asked);
      const loan = loanJson(ofCountry, asked, priced);
      if (json) return writeJson(io, loan);
      const { schedule, interest_rate: interest, total_cost_rate: cost, ...rest } = loan;
      await writeOutput(
        io,
        `${recordOf([
          ...Object.entries(rest).map(([name, value]) => [name, `${value}`] as const),
          [interest.name, `${interest.percent} %`],
          [cost.name, `${cost.percent} %`],
        ])}\n`,
      );
      await writeList(
        io,
        schedule,
        { json: false, limit: schedule.length + 1 },
        {
          columns: COLUMNS.map((name) => ({ title: name.toUpperCase(), value: (row) => row[name] })),
          json: (row) => row,
          none: '',
        },
      );
    });
}

const COLUMNS = ['due', 'payment', 'principal', 'interest', 'tax', 'insurance', 'fee', 'balance'] as const;

function pricedOf(terms: CountryTerms, { country, amount, months = terms.months, on }: PriceOptions) {
  const { currency, term, zone } = terms;
  const [least, most] = term === undefined ? [terms.months, terms.months] : [term.minimum, term.maximum];
  if (months < least || months > most)
    throw new ToldError(`--months must be from ${least} to ${most} by the terms of ${country}`);
  const priced = priceLoan(country, terms, { amount, currency, months }, startOfDate(on, zone));
  if (priced.kind === 'blocked')
    throw new ToldError(`${amount} ${currency} over ${months} months cannot be offered: ${priced.reason}`);
  return priced;
}

/** A loan as the command tells it. Amounts are exact decimals. */
function loanJson(
  { currency }: CountryTerms,
  { country, on }: PriceOptions,
  { loan, principal, interestRate, annualRate }: PricedLoan,
) {
  const rules = rulesOf(country);
  const money = (minor: bigint) => moneyText(minor, currency);
  return {
    country,
    currency,
    principal: money(principal),
    net: money(loan.net),
    months: loan.payments.length,
    installment: money(loan.installment),
    total: money(loan.total),
    interest_rate: { name: rules.interestRate.name, percent: interestRate },
    total_cost_rate: { name: rules.totalCost.name, percent: annualRate },
    schedule: loan.payments.map(
      ({ month, payment, principal: repaid, interest, tax, insurance, fee, balance }) => ({
        due: addMonths(on, month),
        payment: money(payment),
        principal: money(repaid),
        interest: money(interest),
        tax: money(tax),
        insurance: money(insurance),
        fee: money(fee),
        balance: money(balance),
      }),
    ),
  };
}

function readAmount(text: string): string {
  if (!/^\d{1,15}(\.\d{1,3})?$/.test(text) || Number(text) === 0)
    throw new InvalidArgumentError('It must be a number above zero, such as 6000000 or 1500.50.');
  return text;
}

function readMonths(text: string): number {
  if (!/^[1-9]\d{0,2}$/.test(text) || Number(text) > 120)
    throw new InvalidArgumentError('It must be a whole number from 1 to 120.');
  return Number(text);
}
