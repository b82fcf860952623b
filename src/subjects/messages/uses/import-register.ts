/**
 * Imports a register of numbers whose owners want no commercial messages, such as Colombia's register of excluded
 * numbers (D42; docs/messages.md, "Registers of excluded numbers"). Reads the file line by line in bounded memory. A
 * number holds from its part on; what the file does not list any more goes at the end, so a run that was ended takes
 * nothing away. Writes by `sql/registers.ts`.
 */
import type { BlindIndex } from '../../../domain/application/ids.ts';
import { normalisePhone, type Phone } from '../../../domain/phone/phone.ts';
import type { Country } from '../../../ground/base/country-data.ts';
import { readableText } from '../../../ground/base/plain-text.ts';
import { inTransaction } from '../../../ground/postgres/database.ts';
import { acting } from '../../../program/operations/acting.ts';
import { linesOf } from '../../../program/operations/file-lines.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { phoneIndexOf } from '../../../seal/blind-indexes.ts';
import { requireIndexKey } from '../../../seal/index-key.ts';
import { readPartnerCountries } from '../../partners/sql/partners.ts';
import {
  addExcluded,
  beginImport,
  countNumbers,
  endImport,
  forgetUnlisted,
  isNewestImport,
  type Register,
  type RegisterImport,
  readRegisters,
} from '../sql/registers.ts';

/** What became of a file. Each line with a text is in one of `added`, `already` and `refused`. */
export interface ImportedRegister {
  readonly source: string;
  /** The register did not list the number. */
  added: number;
  /** The register listed the number, or a line before did. */
  already: number;
  /** The file does not list the number any more. */
  gone: number;
  /** The line is no phone of the country. */
  refused: number;
  /** The numbers of the first such lines. */
  readonly refusedLines: number[];
}

const MOST_NAME = 60;
const MOST_LINE = 200;
/** Numbers of a statement, which ends within three seconds also where the disk is busy. */
const AT_ONCE = 500;
const MOST_NAMED = 20;
/** Where more numbers and a larger part would go, an operator has to say so: the file may be half a file. */
const MOST_GONE = { numbers: 1_000, part: 0.1 };

/** The registers by name. */
export function listRegisters({ database }: OperatorContext): Promise<Register[]> {
  return readRegisters(database);
}

interface RegisterOptions {
  readonly source: string;
  /** Of numbers without a country code; null: that of the partners, where they have one country. */
  readonly country: Country | null;
  readonly mayShrink: boolean;
}

/** The name of a register, as it is stored. Throws `OperatorError`. */
export function readRegisterName(text: string): string {
  const name = readableText(text, MOST_NAME);
  if (name === null)
    throw new OperatorError(`the name of a register must be one line of 1 to ${MOST_NAME} characters`);
  return name;
}

/**
 * Imports the file of a register. Throws `OperatorError` where the file
 * cannot be read, where it lacks many numbers of the register and `mayShrink` is false (then nothing goes), or
 * where another import of the register began meanwhile.
 */
export async function importRegister(
  context: OperatorContext,
  path: string,
  { source, country: given, mayShrink }: RegisterOptions,
): Promise<ImportedRegister> {
  const { vault } = context;
  const lines = linesOf(path, MOST_LINE);
  // The file is opened before the import is.
  let next = await lines.next();
  if (next.done === true) throw new OperatorError('the file has no line');
  const begun = await acting(
    context,
    (part) => beginImport(part.database, source),
    () => ({ act: 'suppression import', target: `register ${source}` }),
  );
  if (begun === null) throw new OperatorError('the store has too many registers');
  const country = given ?? (await onlyCountry(context));
  const done: ImportedRegister = { source, added: 0, already: 0, gone: 0, refused: 0, refusedLines: [] };
  let some: BlindIndex<'phone'>[] = [];
  for (; next.done !== true; next = await lines.next()) {
    const { line, text } = next.value;
    if (text?.trim() === '') continue;
    const phone = text === null ? null : phoneOf(text, country);
    if (phone === null) {
      // The first line may name the column.
      if (line === 1 && text !== null && !/\d/.test(text)) continue;
      done.refused += 1;
      if (done.refusedLines.length < MOST_NAMED) done.refusedLines.push(line);
    } else some.push(phoneIndexOf(vault, phone));
    if (some.length < AT_ONCE) continue;
    await addSome(context, begun, some, done);
    some = [];
  }
  await addSome(context, begun, some, done);
  await endOf(context, begun, done, mayShrink);
  return done;
}

async function onlyCountry({ database }: OperatorContext): Promise<Country | null> {
  const [country, ...others] = await readPartnerCountries(database);
  return country !== undefined && others.length === 0 ? country : null;
}

/** The phone in the first column of a line. */
function phoneOf(text: string, country: Country | null): Phone | null {
  const [first = ''] = text.split(/[,;\t]/, 1);
  const written = first.trim().replace(/^"(.*)"$/, '$1');
  // With a + or 00 the country does not matter; CO stands for any country.
  if (country === null && !/^(\+|00)/.test(written)) return null;
  return normalisePhone(written, country ?? 'CO');
}

async function addSome(
  { database, vault }: OperatorContext,
  begun: RegisterImport,
  some: readonly BlindIndex<'phone'>[],
  done: ImportedRegister,
): Promise<void> {
  const added =
    some.length === 0
      ? 0
      : await inTransaction(database, async (session) => {
          // If the indexes were made with another key by now, the numbers would hold for no phone.
          await requireIndexKey(session, vault);
          return addExcluded(session, begun, [...new Set(some)]);
        });
  done.added += added;
  done.already += some.length - added;
}

async function endOf(
  { database }: OperatorContext,
  begun: RegisterImport,
  done: ImportedRegister,
  mayShrink: boolean,
): Promise<void> {
  const { numbers, gone } = await countNumbers(database, begun);
  if (!mayShrink && gone > MOST_GONE.numbers && gone > MOST_GONE.part * numbers)
    throw new OperatorError(
      `the file does not list ${gone} of the ${numbers} numbers of register ${done.source}: nothing was taken away. If the file is whole, import it again with --may-shrink`,
    );
  if (!(await isNewestImport(database, begun))) throw overtaken(done.source);
  done.gone = await forgetUnlisted(database, begun);
  if (!(await endImport(database, begun, numbers - done.gone))) throw overtaken(done.source);
}

function overtaken(source: string): OperatorError {
  return new OperatorError(`another import of register ${source} has begun meanwhile`);
}
