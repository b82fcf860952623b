/**
 * Imports what became of loans from a file (D51; docs/policy.md, "Labels"). Reads the file line by line in bounded
 * memory, and stores a few lines in a transaction. The order of lines and files does not matter, so a run that was
 * ended is begun again and ends with the same labels. Writes by `sql/labels.ts` and records the act before the first
 * line.
 */
import { type ApplicationId, toApplicationId } from '../../../domain/application/ids.ts';
import { type Database, inTransaction } from '../../../ground/postgres/database.ts';
import { noting } from '../../../program/operations/acting.ts';
import { linesOf } from '../../../program/operations/file-lines.ts';
import { type OperatorContext, OperatorError } from '../../../program/operations/operator-context.ts';
import { stillThere } from '../../applications/sql/erasure.ts';
import { readToday } from '../../policies/sql/policies.ts';
import { type Label, labelReader, laterLabel, type ReadLabel } from '../rules/label-lines.ts';
import { putLabels, readLabels } from '../sql/labels.ts';

/** What became of the lines of a file. Each line with a label is in one of the first five. */
export interface Imported {
  added: number;
  /** The same label was there. */
  already: number;
  /** The line has a newer day than the label that was there, or the same day and says bad. */
  changed: number;
  /** The label that was there is of a newer day, and stays. */
  older: number;
  /** The store has no such application. */
  unknown: number;
  /** Of the lines with a label, those of applications whose applicant was erased: the label counts nevertheless. */
  erased: number;
  damaged: number;
  /** The first unknown applications and damaged lines, each with its line number. */
  readonly faults: { readonly line: number; readonly fault: string }[];
}

/** The most faults that are named. */
const MOST_NAMED = 100;
/** Lines of a transaction. */
const AT_ONCE = 1_000;
/** A longer line has no label. */
const MAX_LINE = 1_000;

/**
 * Imports a file. Throws `OperatorError` where it cannot be read, or where its first line is neither the names of the
 * columns nor JSON; then nothing is stored.
 */
export async function importLabels(context: OperatorContext, path: string): Promise<Imported> {
  const today = await readToday(context.database);
  const done: Imported = {
    ...{ added: 0, already: 0, changed: 0, older: 0, unknown: 0, erased: 0, damaged: 0 },
    faults: [],
  };
  let read: ReadLabel | null = null;
  let some: Numbered[] = [];
  for await (const { line, text } of linesOf(path, MAX_LINE)) {
    if (text?.trim() === '') continue;
    if (read === null) {
      const reader = labelReader(text ?? '', today);
      read = reader.read;
      await noting(context, { act: 'policy labels import' });
      if (!reader.isLabel) continue;
    }
    const label = text === null ? { fault: `it is longer than ${MAX_LINE} characters` } : read(text);
    if ('fault' in label) tellFault(done, 'damaged', line, label.fault);
    else some.push({ line, label });
    if (some.length === AT_ONCE) {
      await importSome(context.database, some, done);
      some = [];
    }
  }
  if (read === null) throw new OperatorError('the file has no line');
  await importSome(context.database, some, done);
  return done;
}

interface Numbered {
  readonly line: number;
  readonly label: Label;
}

function tellFault(done: Imported, sort: 'damaged' | 'unknown', line: number, fault: string): void {
  done[sort] += 1;
  if (done.faults.length < MOST_NAMED) done.faults.push({ line, fault });
}

async function importSome(database: Database, some: readonly Numbered[], done: Imported): Promise<void> {
  if (some.length === 0) return;
  const ids = [...new Set(some.map(({ label }) => toApplicationId(label.id)))].toSorted((a, b) => a - b);
  const there = new Set<number>(await stillThere(database, ids, 'also erased'));
  const notErased = new Set<number>(await stillThere(database, [...there] as ApplicationId[]));
  await inTransaction(database, async (session) => {
    const labels = await readLabels(session, ids);
    const changed = new Map<number, Label>();
    const counts: ('added' | 'already' | 'changed' | 'older')[] = [];
    for (const { label } of some) {
      if (!there.has(label.id)) continue;
      const stored = labels.get(label.id);
      const sort = stored === undefined ? 'added' : sortOf(stored, label);
      counts.push(sort);
      if (sort !== 'added' && sort !== 'changed') continue;
      labels.set(label.id, label);
      changed.set(label.id, label);
    }
    await putLabels(session, [...changed.values()]);
    return counts;
  }).then((counts) => {
    for (const sort of counts) done[sort] += 1;
  });
  for (const { line, label } of some) {
    if (!there.has(label.id)) tellFault(done, 'unknown', line, `there is no application ${label.id}`);
    else if (!notErased.has(label.id)) done.erased += 1;
  }
}

function sortOf(stored: Label, label: Label): 'already' | 'changed' | 'older' {
  if (stored.day === label.day && stored.isBad === label.isBad) return 'already';
  return laterLabel(stored, label) === stored ? 'older' : 'changed';
}
