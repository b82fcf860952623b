/** The API key that `submit` sends with. */
import { readFileSync, statSync } from 'node:fs';
import { errorCode } from '../../base/error-code.ts';
import { isOpenToOthers, OPEN_TO_OTHERS } from '../../base/private-file.ts';
import { BulkError } from '../read/bulk-error.ts';
import type { Surroundings } from './submit-terminal.ts';

/**
 * The API key of the environment, or of the file that VENTANILLA_API_KEY_FILE names. Throws `BulkError` where there is
 * none; no text shows the path, because somebody may put the key itself there by mistake.
 */
export function readKey({ env }: Surroundings): string {
  const path = env.VENTANILLA_API_KEY_FILE?.trim();
  const given = env.VENTANILLA_API_KEY?.trim();
  if (path && given)
    throw new BulkError('VENTANILLA_API_KEY and VENTANILLA_API_KEY_FILE are both set: set one of them');
  const [name, key] = path
    ? ['the file of VENTANILLA_API_KEY_FILE', readKeyFile(path)]
    : ['VENTANILLA_API_KEY', given];
  if (!key)
    throw new BulkError(
      path
        ? `${name} is empty: write the API key into it`
        : 'VENTANILLA_API_KEY is not set: put the API key into that environment variable',
    );
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new BulkError(`${name} must be the API key as it was issued, without spaces`);
  return key;
}

function readKeyFile(path: string): string {
  try {
    const key = readFileSync(path, 'utf8').trim();
    if (!isOpenToOthers(statSync(path))) return key;
    throw new BulkError(`VENTANILLA_API_KEY_FILE names a file that ${OPEN_TO_OTHERS}`);
  } catch (error) {
    if (error instanceof BulkError) throw error;
    throw new BulkError(`VENTANILLA_API_KEY_FILE names a file that cannot be read (${errorCode(error)})`);
  }
}
