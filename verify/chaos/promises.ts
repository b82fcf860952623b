/** The promises that a run checks, how often each was checked, and how often it was broken. */
import { RULES } from '../history/check.ts';

const PROMISES = {
  answered: 'every request is answered or closed in time (D37)',
  statuses: 'a valid request is answered with 200 or 500 (contract, "HTTP codes")',
  ...RULES,
  invariants: 'what holds in every store holds: tables, indexes and the rules of src/ground/invariants',
  deadlocks: 'no two transactions wait for each other',
  health: '/healthz answers while the process lives',
  recovery: 'after each fault batches are registered again',
  ends: 'in the end every message has its end, and every push has come (D33, D41)',
  stops: 'SIGTERM ends a process with 0 and in time',
  memory: 'memory comes back after a flood',
  heap: 'the heap of a process that lives long does not grow',
} as const;

type PromiseName = keyof typeof PROMISES;

const EXAMPLES = 5;

export class Promises {
  readonly #looks = new Map<PromiseName, number>();
  readonly #broken = new Map<PromiseName, string[]>();

  /** Checks a promise once: `what` says how the promise is broken, if it is. */
  hold(name: PromiseName, isKept: boolean, what: () => string): void {
    this.#looks.set(name, (this.#looks.get(name) ?? 0) + 1);
    if (isKept) return;
    const text = `${new Date().toISOString()} ${what()}`;
    const broken = this.#broken.get(name) ?? [];
    broken.push(text);
    this.#broken.set(name, broken);
    if (broken.length <= EXAMPLES) console.error(`BROKEN: ${PROMISES[name]}: ${text}`);
  }

  /** Every promise, for the report. */
  get all(): { name: PromiseName; text: string; looks: number; broken: readonly string[] }[] {
    return (Object.keys(PROMISES) as PromiseName[]).map((name) => ({
      ...{ name, text: PROMISES[name] },
      looks: this.#looks.get(name) ?? 0,
      broken: this.#broken.get(name) ?? [],
    }));
  }

  get areKept(): boolean {
    return this.#broken.size === 0;
  }

  /** A line for each promise, and a few examples of what broke it. */
  summary(): string {
    return this.all
      .flatMap(({ text, looks, broken }) => {
        const whole = looks > 0 ? 'kept' : 'not checked';
        const verdict = broken.length === 0 ? whole : `BROKEN ${broken.length} times`;
        return [
          `${looks.toLocaleString('en-US').padStart(9)} looks  ${verdict.padEnd(11)} ${text}`,
          ...broken.slice(0, EXAMPLES).map((one) => `      ${one}`),
        ];
      })
      .join('\n');
  }
}
