/** Writes what a command shows into a new file. Touches that file alone. */
import { open } from 'node:fs/promises';
import { describeError } from '../../ground/base/describe-error.ts';
import { OperatorError } from '../operations/operator-context.ts';

/** Writes a new file that only its owner may read; never replaces a file. Throws `OperatorError` with the path. */
export async function writeNewFile(path: string, bytes: Buffer): Promise<void> {
  try {
    const file = await open(path, 'wx', 0o600);
    try {
      await file.writeFile(bytes);
    } finally {
      await file.close();
    }
  } catch (error) {
    throw new OperatorError(`${path} cannot be written (${describeError(error)}): name a new file`);
  }
}
