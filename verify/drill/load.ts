/**
 * Partners that send batches over HTTP all the time, with what was acknowledged, and the longest time without a 200.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { MEXICAN } from '../../test/support/applicant.ts';

const MOST = 5;
const ANSWER_WITHIN_MS = 12_000;
const RETRY_AFTER_MS = 100;

let serial = 0;

function applicant(): object {
  serial += 1;
  return {
    ...MEXICAN,
    id_number: `10${String(serial).padStart(9, '0')}`,
    phone: `+5255${String(serial).padStart(8, '0')}`,
  };
}

export class Load {
  readonly #url: string;
  readonly #apiKey: string;
  readonly #loops: Promise<void>[];
  #isOver = false;
  #lastMs = performance.now();
  #longestMs = 0;
  /** The ids of all acknowledged applications. */
  readonly ids: number[] = [];
  /** How often each answer came; `closed` means none. */
  readonly answers = new Map<number | 'closed', number>();

  constructor(url: string, apiKey: string, senders: number) {
    this.#url = url;
    this.#apiKey = apiKey;
    this.#loops = Array.from({ length: senders }, () => this.#run());
  }

  /** The longest time between two 200s since the last call, in milliseconds. */
  takeLongestGap(): number {
    const longest = Math.max(this.#longestMs, performance.now() - this.#lastMs);
    this.#longestMs = 0;
    return longest;
  }

  /** Resolves when a batch that was sent after the call is acknowledged. */
  async flows(): Promise<void> {
    const before = this.ids.length;
    while (this.ids.length === before) await sleep(20);
  }

  /** Resolves when the end of each batch is known; needs a healthy cluster. */
  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      const applications = Array.from({ length: 1 + Math.floor(Math.random() * MOST) }, applicant);
      const key = `drill-${serial}`;
      while (!(await this.#send(JSON.stringify({ applications }), key))) await sleep(RETRY_AFTER_MS);
    }
  }

  /** Whether the batch was acknowledged. */
  async #send(body: string, key: string): Promise<boolean> {
    const answer = await fetch(`${this.#url}/PRO`, {
      method: 'POST',
      headers: { 'X-API-Key': this.#apiKey, 'Content-Type': 'application/json', 'Idempotency-Key': key },
      body,
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
      .then(async (response) => ({ status: response.status, text: await response.text() }))
      .catch(() => ({ status: 'closed' as const, text: '' }));
    this.answers.set(answer.status, (this.answers.get(answer.status) ?? 0) + 1);
    if (answer.status !== 200) return false;
    const nowMs = performance.now();
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#lastMs);
    this.#lastMs = nowMs;
    const { results } = JSON.parse(answer.text) as { results: { id: number }[] };
    this.ids.push(...results.map(({ id }) => id));
    return true;
  }
}
