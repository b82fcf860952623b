/** Reads the applications that a command is about, from a file with an id in each line. */
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import { describeError } from '../../../ground/base/describe-error.ts';
import { errorCode } from '../../../ground/base/error-code.ts';
import { OperatorError } from '../../../program/operations/operator-context.ts';

/** More ids than an operator decides at once; the bound keeps a wrong file out of memory. */
const MAX_IDS = 100_000;
/** Longer lines are no ids. */
const MAX_LINE_LENGTH = 1_000;

/**
 * The ids of a file, or of standard input where the path is `-`: the first field of each line, in its order. Leaves out
 * empty lines and a first line without any digit, which has the names of columns. Throws `OperatorError` that names the
 * line, before anything is done.
 */
export async function readIdFile(path: string): Promise<ApplicationId[]> {
  const input = path === '-' ? process.stdin : createReadStream(path);
  const ids: ApplicationId[] = [];
  let line = 0;
  try {
    for await (const text of createInterface({ input, crlfDelay: Infinity })) {
      line += 1;
      const field = firstField(text);
      if (field === '' || (line === 1 && !/\d/.test(field))) continue;
      const id = Number(field);
      if (!/^\d+$/.test(field) || id < 1 || !Number.isSafeInteger(id)) {
        throw new OperatorError(
          `line ${line} of ${nameOf(path)} has no id of an application in its first column`,
        );
      }
      ids.push(toApplicationId(id));
      if (ids.length > MAX_IDS) throw new OperatorError(`${nameOf(path)} has more than ${MAX_IDS} ids`);
    }
  } catch (error) {
    if (error instanceof OperatorError || errorCode(error) === undefined) throw error;
    throw new OperatorError(`${nameOf(path)} cannot be read: ${describeError(error)}`);
  }
  if (ids.length === 0) throw new OperatorError(`${nameOf(path)} has no ids`);
  return ids;
}

function firstField(text: string): string {
  const [field = ''] = text
    .replace(/^\uFEFF/, '')
    .slice(0, MAX_LINE_LENGTH)
    .split(/[,;\t]/, 1);
  return field.trim().replace(/^"(.*)"$/, '$1');
}

function nameOf(path: string): string {
  return path === '-' ? 'the standard input' : path;
}
