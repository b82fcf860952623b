/**
 * Loads the terms of a process: those in TERMS_FILE, or those of the demo (D45). Reads the file; `uses/check-terms.ts`
 * checks it.
 */
import { readFile } from 'node:fs/promises';
import type { Terms } from '../../../domain/loan/terms.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { parseOperatorJson } from '../../../ground/base/operator-json.ts';
import { ToldError } from '../../../ground/base/told-error.ts';
import type { TermsSource } from '../settings.ts';

/**
 * The terms; null: there are none, so nobody gets a contract. Throws `ToldError` that names the file, the place in it
 * and the rule.
 */
export async function loadTerms(source: TermsSource): Promise<Terms | null> {
  if (source === 'none') return null;
  if (source === 'demonstration') return (await import('../rules/demo-terms.ts')).DEMO_TERMS;
  const { checkTerms } = await import('./check-terms.ts');
  let content: unknown;
  try {
    content = parseOperatorJson(await readFile(source.path, 'utf8'));
  } catch (error) {
    throw new ToldError(`TERMS_FILE ${source.path} cannot be read as JSON: ${describeError(error)}`);
  }
  return checkTerms(content, source.path);
}
