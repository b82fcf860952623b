/**
 * Loads the contact windows of a process: the operator's file and the built-in windows (docs/contact-windows.md). Reads
 * the file; `uses/check-contact-windows.ts` checks it.
 */
import { readFile } from 'node:fs/promises';
import {
  type ContactWindows,
  contactWindows,
  DEFAULT_WINDOWS,
} from '../../../domain/message/contact-window.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { parseOperatorJson } from '../../../ground/base/operator-json.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import { loadPublicHolidays } from './public-holidays.ts';

/**
 * The windows of the countries in the file, and the built-in windows of all others; `path` null: there is no file.
 * Loads the library of public holidays, and, if there is a file, the modules that check it. Throws `ToldError` that
 * names the file, the place in it and the rule.
 */
export async function loadContactWindows(path: string | null, now: Date): Promise<ContactWindows> {
  const holidays = await loadPublicHolidays();
  if (path === null) return contactWindows(DEFAULT_WINDOWS, holidays);
  const { checkContactWindows } = await import('./check-contact-windows.ts');
  let content: unknown;
  try {
    content = parseOperatorJson(await readFile(path, 'utf8'));
  } catch (error) {
    throw new ToldError(`CONTACT_WINDOWS_FILE ${path} cannot be read as JSON: ${describeError(error)}`);
  }
  const rules = checkContactWindows(content, path, holidays, now);
  return contactWindows({ ...DEFAULT_WINDOWS, ...rules }, holidays);
}
