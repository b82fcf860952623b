/** Reads a file of an operator line by line in bounded memory. */
import { createReadStream } from 'node:fs';
import { describeError } from '../../ground/base/describe-error.ts';
import { OperatorError } from './operator-context.ts';

export interface FileLine {
  /** From 1 on. */
  readonly line: number;
  /** Without the end of the line; null: the line is longer than the most that was asked for. */
  readonly text: string | null;
}

/** The lines of a file in UTF-8. Throws `OperatorError` where it cannot be read. */
export async function* linesOf(
  path: string,
  mostCharacters: number,
): AsyncGenerator<FileLine, void, undefined> {
  let [line, rest, isTooLong] = [0, '', false];
  const next = (text: string): FileLine => {
    line += 1;
    const whole = isTooLong ? null : (line === 1 ? text.replace(/^\uFEFF/, '') : text).replace(/\r$/, '');
    isTooLong = false;
    return { line, text: whole === null || whole.length > mostCharacters ? null : whole };
  };
  try {
    for await (const piece of createReadStream(path, 'utf8')) {
      const lines = `${rest}${piece}`.split('\n');
      rest = lines.pop() ?? '';
      for (const text of lines) yield next(text);
      if (rest.length <= mostCharacters) continue;
      // What is too long is not kept until its end comes.
      isTooLong = true;
      rest = '';
    }
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error)) throw error;
    throw new OperatorError(`${path} cannot be read: ${describeError(error)}`);
  }
  if (rest !== '' || isTooLong) yield next(rest);
}
