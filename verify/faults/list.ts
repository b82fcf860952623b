/**
 * The faults that this repository's history mended, each with the edit that brings it back. They lie in the YAML files
 * of this folder, one for each room, so that an edit can follow the code when the code moves.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';

/** What an edit changes: a text that stands exactly once in its file. */
export interface Edit {
  /** From the repository's root. */
  readonly file: string;
  readonly now: string;
  /** What brings the fault back. */
  readonly before: string;
}

export interface Fault {
  /** Unique among all faults. */
  readonly name: string;
  /** The commit that mended the fault. */
  readonly mended: string;
  /** What goes wrong for somebody. */
  readonly what: string;
  readonly edits: readonly Edit[];
  /** Test files that fail with the fault, the gate's first. */
  readonly told: readonly string[];
}

/** The text of an edit does not stand exactly once in its file any more. */
export class LostEditError extends Error {}

/** Every fault, by the names of their files. Throws where a file does not have the form of a list of faults. */
export function readFaults(): Fault[] {
  const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.yaml'));
  return files.sort().flatMap((name) => {
    const list: unknown = parse(readFileSync(join(import.meta.dirname, name), 'utf8'));
    if (!Array.isArray(list)) throw new Error(`${name} is no list`);
    return list.map((one, index) => toFault(one, `${name}, entry ${index + 1}`));
  });
}

/**
 * The texts of the files that a fault changes, with the fault, by the path of the file. `textOf` reads a file of today;
 * null: there is no such file. Throws `LostEditError` where the text of an edit is not in its file, or is there twice.
 */
export function withFault(fault: Fault, textOf: (file: string) => string | null): Map<string, string> {
  const changed = new Map<string, string>();
  for (const { file, now, before } of fault.edits) {
    const [first, rest, ...more] = (changed.get(file) ?? textOf(file) ?? '').split(now);
    if (rest === undefined) throw new LostEditError(`its text is not in ${file} any more`);
    if (more.length > 0) throw new LostEditError(`its text is in ${file} more than once`);
    changed.set(file, `${first}${before}${rest}`);
  }
  return changed;
}

function toFault(value: unknown, at: string): Fault {
  const one = value as Fault;
  const isText = (text: unknown) => typeof text === 'string' && text !== '';
  const isList = (list: unknown) => Array.isArray(list) && list.length > 0;
  for (const name of ['name', 'mended', 'what'] as const)
    if (!isText(one?.[name])) throw new Error(`${at}: ${name} must be a text; put digits into quotes`);
  if (!isList(one.edits) || !one.edits.every(({ file, now }) => isText(file) && isText(now)))
    throw new Error(`${at}: edits must be a list of file, now and before`);
  if (one.edits.some(({ before }) => typeof before !== 'string'))
    throw new Error(`${at}: before must be a text`);
  if (!isList(one.told) || !one.told.every(isText)) throw new Error(`${at}: told must be a list of files`);
  return one;
}
