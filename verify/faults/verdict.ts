/** What the report of a test run says of the program that was tested. */

const FAILED = /^failed: (.+?\.test\.ts.*?) > (.+)$/gm;
const CLOSED = /^\d+ passed, \d+ failed, \d+ skipped$/m;
/** What an edit leads to that names something that is not there. Such a run says nothing of the fault. */
const UNFIT =
  /^.*(?:does not provide an export named|ERR_MODULE_NOT_FOUND|ReferenceError: \S+ is not defined|Cannot access '\S+' before init).*$/m;

/** A test that failed. `file` names more than one file where these shared a process that ended. */
export interface Failure {
  readonly file: string;
  readonly test: string;
}

/** How a run ended. `unusable`: it says nothing of the program, because it could not start or had no end. */
export type Ran =
  | { readonly kind: 'passed' }
  | { readonly kind: 'failed'; readonly failures: readonly [Failure, ...Failure[]] }
  | { readonly kind: 'unusable'; readonly reason: string; readonly output: string };

/** How a run ended, by its exit code and its report. */
export function verdictOf(code: number | null, output: string): Ran {
  // The end of a report names each failure once more.
  const lines = new Map(
    [...output.matchAll(FAILED)].map(([line, file, test]) => [line, { file, test } as Failure]),
  );
  const [first, ...more] = lines.values();
  if (code === 0 && first === undefined) return { kind: 'passed' };
  const unfit = UNFIT.exec(output);
  if (unfit !== null) return { kind: 'unusable', reason: unfit[0].trim(), output };
  if (first === undefined || !CLOSED.test(output))
    return { kind: 'unusable', reason: 'the run did not come to its closing line', output };
  return { kind: 'failed', failures: [first, ...more] };
}
