/** Opens a file of applicants; where its encoding is doubtful, a person on a terminal chooses by its names. */

import type { Language, Words } from '../../../ground/base/language.ts';
import { inLine } from '../../../ground/base/printable.ts';
import { type Io, recordOf, writeOutput } from '../../../program/cli/output.ts';
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
    const encoding = await chosenPage(error, options.language, io, around);
    return openSource(path, { ...options, encoding });
  }
}

const TITLES = { en: ['ENCODING', 'NAMES'], es: ['CODIFICACIÓN', 'NOMBRES'] } as const;
const QUESTION: Words = { en: 'Which one reads right?', es: '¿Cuál se lee bien?' };

async function chosenPage(
  doubt: DoubtfulEncoding,
  language: Language,
  io: Io,
  around: Surroundings,
): Promise<CodePage> {
  await writeOutput(io, `${doubt.words[language]}\n\n`);
  const readings = doubt.readings.map(
    ({ page, words }) => [page, words.map((word) => inLine(word)).join(', ')] as const,
  );
  await writeOutput(io, `${recordOf([TITLES[language], ...readings])}\n\n`);
  const pages = doubt.readings.map(({ page }) => page);
  const answer = (await around.ask(`${QUESTION[language]} (${pages.join(', ')}) `)).trim().toLowerCase();
  const page = pages.find((one) => one.toLowerCase() === answer);
  if (page === undefined) throw doubt;
  return page;
}
