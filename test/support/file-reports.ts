/**
 * Whether the run heard of every test. Each file is a process, which ends its report with a summary. The runner itself
 * takes no notice of a report that is cut: tests that are missing in it, also failed ones, count as nothing.
 */
import { relative, resolve } from 'node:path';
import type { TestEvent } from 'node:test/reporters';

export class FileReports {
  /** Files whose report has no end yet. */
  readonly #open = new Set<string>();
  readonly #empty: string[] = [];
  /** Files with a suite that is skipped with a reason. */
  readonly #skipped = new Set<string>();
  #counted = 0;
  #heard = 0;

  take({ type, data }: TestEvent): void {
    if (type === 'test:enqueue' && isFile(data)) this.#open.add(data.name);
    if ((type === 'test:pass' || type === 'test:fail') && data.details.type !== 'suite' && !isFile(data)) {
      this.#heard += 1;
    }
    if (
      type === 'test:pass' &&
      data.details.type === 'suite' &&
      typeof data.skip === 'string' &&
      data.skip !== ''
    ) {
      this.#skipped.add(relative('.', data.file ?? ''));
    }
    if (type !== 'test:summary' || data.file === undefined) return;
    const name = relative('.', data.file);
    this.#open.delete(name);
    this.#counted += data.counts.tests;
    if (data.counts.tests === 0 && !this.#skipped.has(name)) this.#empty.push(name);
  }

  /** What is missing, once the run is over. */
  faults(): string[] {
    return [
      ...[...this.#open].map((name) => `${name} ended before the end of its report: tests are missing`),
      ...this.#empty.map((name) => `${name} has no test`),
      ...(this.#open.size === 0 && this.#heard !== this.#counted
        ? [`the files counted ${this.#counted} tests, and ${this.#heard} of them were reported`]
        : []),
    ];
  }
}

/** The runner reports each file as a test that has the path as its name. */
function isFile({ name, file }: { readonly name: string; readonly file?: string }): boolean {
  return name.endsWith('.test.ts') && file === resolve(name);
}
