/** The preview that `ventanilla submit` shows before it sends anything. */

import { type Io, recordOf, writeOutput } from '../../cli/output.ts';
import { inLine } from '../../cli/terminal-text.ts';
import type { Check } from '../map/check.ts';
import type { ConvertedRow } from '../map/convert.ts';
import type { Source } from '../map/source.ts';
import { isEmpty } from '../read/table.ts';
import { count, rowsOf } from './submit-progress.ts';

/** The preview cuts longer values off. */
const SHOWN_CHARACTERS = 40;

/** Shows how the file was read and which column is which field. Shows no value of a row. */
export async function showSource(io: Io, { file, mapping, table, notes }: Source): Promise<void> {
  const encoding = file.encoding === null ? '' : `, ${file.encoding}`;
  await writeOutput(io, `${inLine(file.file)}: ${file.format}${encoding}\n`);
  for (const note of notes) await writeOutput(io, `  ${inLine(note)}\n`);
  await writeOutput(io, '\n');
  const fields = mapping.fields.map(({ field, columns }) => {
    const names = columns.map((column) => plain(table.columns[column] ?? ''));
    return [field.name, names.join(', else ')] as const;
  });
  await writeOutput(io, `${recordOf([['FIELD', 'COLUMN'], ...fields])}\n`);
  if (mapping.unused.length > 0) {
    await writeOutput(io, `\nNot sent: ${mapping.unused.map((name) => plain(name)).join(', ')}\n`);
  }
}

/** Shows how many cells are converted, and how many rows the spreadsheet does not show. */
export async function showChanges(io: Io, { changes, hidden }: Check): Promise<void> {
  if (hidden !== null) {
    await writeOutput(
      io,
      `Hidden in the sheet, and not left out: ${rowsOf(hidden.count)}, the first is row ${count(hidden.firstRow)}.` +
        ' --visible-only leaves hidden rows out.\n',
    );
  }
  for (const [field, counts] of changes) {
    for (const [change, cells] of counts) {
      await writeOutput(io, `${field}: ${count(cells)} converted (${change})\n`);
    }
  }
}

/** Shows the first rows as they will be sent, with the file's text beside each converted value. For terminals only. */
export async function showSample(io: Io, source: Source, sample: readonly ConvertedRow[]): Promise<void> {
  for (const { row, application } of sample) {
    await writeOutput(io, `\nRow ${row.number}\n`);
    for (const { field, columns } of source.mapping.fields) {
      const sent = application[field.name];
      if (sent === undefined) continue;
      const typed = columns.map((column) => row.cells[column]).find((cell) => !isEmpty(cell));
      const same = String(typed).trim() === String(sent).trim();
      const from = same ? '' : `   (in the file: ${plain(String(typed))})`;
      await writeOutput(io, `  ${field.name.padEnd(16)} ${plain(JSON.stringify(sent))}${from}\n`);
    }
  }
  await writeOutput(io, '\n');
}

/** The text, cut to fit into a line. */
function plain(text: string): string {
  const isLong = text.length > SHOWN_CHARACTERS;
  // The cut must not split a surrogate pair.
  const cut = text.slice(0, SHOWN_CHARACTERS).replace(/[\ud800-\udbff]$/, '');
  return inLine(isLong ? `${cut}…` : text);
}
