/** Opens a file of applicants; where its encoding is doubtful, a person on a terminal chooses by its names. */

import { type Io, recordOf, writeOutput } from '../../cli/output.ts';
import { inLine } from '../../cli/terminal-text.ts';
import { openSource, type Source, type SourceOptions } from '../map/source.ts';
import type { CodePage } from '../read/encoding/code-pages.ts';
import { DoubtfulEncoding } from '../read/encoding/encoding-survey.ts';
import type { Surroundings } from './submit-terminal.ts';

/** The words come from rows, so they are shown on a terminal alone. Throws `BulkError`. */
export async function openAsking(
  path: string,
  options: SourceOptions,
  { io, around, yes }: { readonly io: Io; readonly around: Surroundings; readonly yes: boolean },
): Promise<Source> {
  try {
    return await openSource(path, options);
  } catch (error) {
    if (!(error instanceof DoubtfulEncoding) || !around.isTerminal || yes) throw error;
    return openSource(path, { ...options, encoding: await chosenPage(error, io, around) });
  }
}

async function chosenPage(doubt: DoubtfulEncoding, io: Io, around: Surroundings): Promise<CodePage> {
  await writeOutput(io, `${doubt.message}\n\n`);
  const readings = doubt.readings.map(
    ({ page, words }) => [page, words.map((word) => inLine(word)).join(', ')] as const,
  );
  await writeOutput(io, `${recordOf([['ENCODING', 'NAMES'], ...readings])}\n\n`);
  const pages = doubt.readings.map(({ page }) => page);
  const answer = (await around.ask(`Which one reads right? (${pages.join(', ')}) `)).trim().toLowerCase();
  const page = pages.find((one) => one.toLowerCase() === answer);
  if (page === undefined) throw doubt;
  return page;
}
