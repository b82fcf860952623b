/** Writes what a command shows into a file. */
import { open } from 'node:fs/promises';
import { describeError } from '../../ground/base/describe-error.ts';
import { OperatorError } from '../operations/operator-context.ts';

/** Writes a new file that is its owner's alone; no other file is replaced. Throws `OperatorError` with the path. */
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
