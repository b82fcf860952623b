/** The promises that the soak checks, how often each was checked, and how often it was broken. */

export const PROMISES = {
  answered: 'every request is answered or closed in time (D37)',
  statuses: 'a valid request is answered with 200 or 500 (contract, "HTTP codes")',
  kept: 'each acknowledged application is stored, once (D15)',
  nothing: 'an application that was refused, or answered with 500, is not stored (D15, D37)',
  whole: 'a batch without an answer is stored whole or not at all (D15)',
  replayed: 'a replay is the first answer, byte for byte (D36)',
  caps: 'no partner passes its cap, and its usage equals the stored applications (D18)',
  phones: 'no phone has two open applications (contract, "Duplicate rule")',
  messages: 'every applicant with consent has one message, and no other applicant has one (D33)',
  sends: 'no message is lost, sent twice or ended without a reason',
  pushes: 'each event comes to its endpoint, and not before the earlier ones of its application (D41)',
  feed: 'the events of a partner have no gaps (D41)',
  invariants: 'what holds in every store holds: tables, indexes and the rules of src/invariants',
  deadlocks: 'no two transactions wait for each other',
  health: '/healthz answers while the process lives',
  recovery: 'after each fault batches are registered again',
  stops: 'SIGTERM ends a process with 0 and in time',
  memory: 'memory comes back after an attack',
} as const;

export type PromiseName = keyof typeof PROMISES;

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

  get areKept(): boolean {
    return this.#broken.size === 0;
  }

  /** A line for each promise, and a few examples of what broke it. */
  summary(): string {
    return (Object.entries(PROMISES) as [PromiseName, string][])
      .flatMap(([name, text]) => {
        const broken = this.#broken.get(name) ?? [];
        const looks = (this.#looks.get(name) ?? 0).toLocaleString('en-US').padStart(9);
        const verdict = broken.length === 0 ? 'kept' : `BROKEN ${broken.length} times`;
        return [
          `${looks} looks  ${verdict.padEnd(8)} ${text}`,
          ...broken.slice(0, EXAMPLES).map((one) => `      ${one}`),
        ];
      })
      .join('\n');
  }
}
