/** The parts of the contracts that the program gets: commands, settings, tables and jobs. */

import type { ReadSetting } from '../../ground/base/setting.ts';
import { addGroup, type Cli } from '../../program/cli/command.ts';
import type { ServiceContext, Subject } from '../../program/subject/subject.ts';
import {
  CODE_TEMPLATE,
  CODE_WAY,
  CODES_AN_HOUR,
  CONTRACT_YEARS,
  SIGNING_CERTIFICATE_FILE,
  SIGNING_KEY_FILE,
  SMS_ACCOUNT_SID,
  SMS_API_URL,
  SMS_AUTH_TOKEN,
  SMS_FROM,
  TERMS_FILE,
  type TermsSource,
  TSA_URL,
} from './settings.ts';

export const signing: Subject = {
  commands: [
    {
      command: (program) =>
        addGroup(program, 'contract', 'the contracts and their signatures', 'contract verify 12'),
      load: async () => (await import('./commands/contract.ts')).addContractCommands,
    },
    {
      command: (program) => addGroup(program, 'debt', 'the debts that a loan consolidates', 'debt list 12'),
      load: async () => (await import('./commands/debt.ts')).addDebtCommands,
    },
    {
      command: (program) =>
        addGroup(program, 'terms', "the lender's terms of loans", 'terms check terms.json'),
      load: async () => (await import('./commands/terms.ts')).addTermsCommands,
    },
  ],
  settings: [
    ...[TERMS_FILE, SIGNING_CERTIFICATE_FILE, SIGNING_KEY_FILE, TSA_URL, CODE_WAY, CODE_TEMPLATE],
    ...[CODES_AN_HOUR, SMS_API_URL, SMS_ACCOUNT_SID, SMS_AUTH_TOKEN, SMS_FROM, CONTRACT_YEARS],
  ],
  tables: async () => (await import('./sql/tables.ts')).TABLES,
  witnesses: async () => ({
    indexKey: [(await import('./sql/evidence.ts')).hasEvidence],
  }),
  files: async () => (await import('./files.ts')).CONTRACT_FILES,
  service: async () => (await import('./service.ts')).SIGNING_SERVICE,
};

/** The monthly cost of the terms of loans on a day, `YYYY-MM-DD`, by currency (D45), to compare the policy with. */
export async function realFactors({ roles }: Cli, today: string) {
  return realFactorsFrom(await roles.setting(TERMS_FILE), today);
}

/** The same in a service, whose settings are read. */
export function realFactorsOn(setting: ReadSetting, today: string) {
  return realFactorsFrom(setting(TERMS_FILE), today);
}

/** Reads the terms as a service has them now; null: there are none. */
export function termsNow(around: Pick<ServiceContext, 'database' | 'clock'>, setting: ReadSetting) {
  return async () => (await (await import('./open.ts')).signingFiles(around, setting)).terms.value;
}

async function realFactorsFrom(terms: TermsSource, today: string) {
  const { loadTerms } = await import('./uses/load-terms.ts');
  const { realFactorsOf } = await import('./uses/real-factors.ts');
  return realFactorsOf(await loadTerms(terms), new Date(`${today}T12:00:00Z`));
}
