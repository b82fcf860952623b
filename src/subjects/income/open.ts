/**
 * Builds what a check of an income works with from the variables of the process: the documents, and Belvo if it is set
 * (docs/income.md, "Sources").
 */
import type { ReadSetting } from '../../ground/base/setting.ts';
import { BELVO_RETURN_URL, BELVO_SECRET_ID, BELVO_SECRET_PASSWORD, BELVO_URL } from './settings.ts';
import { belvoProvider } from './sources/belvo.ts';
import { documentSource, operatorSource } from './sources/documents.ts';
import type { IncomeContext } from './uses/check-income.ts';

/** For a process that checks incomes. */
export function openIncome(
  setting: ReadSetting,
  around: Pick<IncomeContext, 'database' | 'vault' | 'clock'>,
): IncomeContext {
  const url = setting(BELVO_URL);
  const account =
    url === null
      ? null
      : {
          url,
          secretId: setting(BELVO_SECRET_ID),
          secretPassword: setting(BELVO_SECRET_PASSWORD),
          returnUrl: setting(BELVO_RETURN_URL),
        };
  return {
    ...around,
    documents: documentSource(around),
    operator: operatorSource(around),
    provider: account === null ? null : belvoProvider(account),
  };
}
