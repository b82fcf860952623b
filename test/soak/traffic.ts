/** Partners at work: they send batches of all sizes, repeat each until its end is known, and note the answers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { MEXICAN } from '../support/applicant.ts';
import type { Random } from '../support/random.ts';
import type { End, Ledger, Partner } from './ledger.ts';
import type { Promises } from './promises.ts';

/** D37 says 10 s from the first byte; the rest is for a busy machine. */
const ANSWER_WITHIN_MS = 20_000;
const MOST = 60;
/** Phones that applicants of different batches share. */
const SHARED_PHONES = 200;
const SAMPLE_SHARE = 0.05;
const WITHOUT_KEY_SHARE = 0.2;

type Applicant = { readonly id_number: string } & Readonly<Record<string, unknown>>;

interface Answer {
  readonly status: number;
  readonly isReplay: boolean;
  readonly text: string;
}

let serial = 0;

/** Sends until `stop`, one batch after the other. */
export class Traffic {
  readonly #url: string;
  readonly #partner: Partner;
  readonly #ledger: Ledger;
  readonly #promises: Promises;
  readonly #random: Random;
  readonly #loop: Promise<void>;
  /** A sample of answered batches, to be sent again. */
  readonly #samples: { readonly body: string; readonly key: string; readonly answer: Answer }[] = [];
  #isOver = false;
  /** Batches that were registered. */
  registered = 0;

  constructor(url: string, partner: Partner, ledger: Ledger, promises: Promises, random: Random) {
    this.#url = url;
    this.#partner = partner;
    this.#ledger = ledger;
    this.#promises = promises;
    this.#random = random;
    this.#loop = this.#run();
  }

  /** Resolves when the end of the last batch is known; needs a healthy service. */
  stop(): Promise<void> {
    this.#isOver = true;
    return this.#loop;
  }

  /** Sends a sample of the batches once more, because each is remembered for a day; needs a healthy service. */
  async replay(): Promise<void> {
    for (const { body, key, answer } of this.#samples) {
      const again = await this.#post(body, key);
      const isSame = again?.isReplay === true && again.text === answer.text;
      this.#promises.hold(
        'replayed',
        isSame,
        () => `${this.#partner.name}: status ${again?.status}, replay ${again?.isReplay}`,
      );
    }
  }

  async #run(): Promise<void> {
    while (!this.#isOver) {
      // A part of a capped partner's batch may be over quota; without an answer nothing says which part.
      const isUnkeyed = this.#partner.cap === null && this.#random.isLucky(WITHOUT_KEY_SHARE);
      const applications = this.#applicants(this.#random.between(1, MOST), isUnkeyed);
      const body = JSON.stringify({ applications });
      const end = isUnkeyed ? await this.#sendOnce(body) : await this.#sendUntilKnown(body);
      this.#ledger.add(this.#partner, applications, end);
      await this.#checkQuota();
      await sleep(this.#random.between(0, 400));
    }
  }

  async #sendOnce(body: string): Promise<End> {
    const answer = await this.#post(body, null);
    if (answer === null) return 'unknown';
    return answer.status === 200 ? this.#ended(answer) : 'refused';
  }

  /** The same key until the answer is 200. */
  async #sendUntilKnown(body: string): Promise<End> {
    const key = `soak-${++serial}`;
    let mayBeStored = false;
    for (;;) {
      const answer = await this.#post(body, key);
      if (answer?.status === 200) {
        const isFair = mayBeStored || !answer.isReplay;
        this.#promises.hold(
          'nothing',
          isFair,
          () => 'a batch was refused each time, and its resend is a replay',
        );
        if (this.#random.isLucky(SAMPLE_SHARE)) this.#samples.push({ body, key, answer });
        return this.#ended(answer);
      }
      if (answer === null) mayBeStored = true;
      // Another batch with this content will have the same end.
      else if (answer.status !== 500) return 'refused';
      await sleep(this.#random.between(50, 300));
    }
  }

  #ended({ text }: Answer): End {
    this.registered += 1;
    const { results } = JSON.parse(text) as { results: { id: number; id_number: string }[] };
    return new Map(results.map(({ id, id_number }) => [id_number, id]));
  }

  /** null: closed without an answer. */
  async #post(body: string, key: string | null): Promise<Answer | null> {
    const start = performance.now();
    const headers = { 'X-API-Key': this.#partner.apiKey, 'Content-Type': 'application/json' };
    const answer = await fetch(`${this.#url}/PRO`, {
      method: 'POST',
      headers: key === null ? headers : { ...headers, 'Idempotency-Key': key },
      body,
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    })
      .then(
        async (response) => ({
          status: response.status,
          isReplay: response.headers.get('Idempotency-Replayed') === 'true',
          text: await response.text(),
        }),
        () => null,
      )
      .catch(() => null);
    const ms = performance.now() - start;
    this.#promises.hold('answered', ms < ANSWER_WITHIN_MS, () => `POST after ${Math.round(ms)} ms`);
    if (answer !== null) {
      const { status, text } = answer;
      const isRight = status === 200 || status === 500;
      this.#promises.hold('statuses', isRight, () => `${status} ${text.slice(0, 200)}`);
    }
    return answer;
  }

  async #checkQuota(): Promise<void> {
    const { apiKey, cap, name } = this.#partner;
    if (cap === null) return;
    const signal = AbortSignal.timeout(ANSWER_WITHIN_MS);
    const response = await fetch(`${this.#url}/PRO`, { headers: { 'X-API-Key': apiKey }, signal }).catch(
      () => null,
    );
    if (response?.status !== 200) return;
    const quota = (await response.json().catch(() => null)) as { partner: { used_24h: number } } | null;
    if (quota === null) return;
    const used = quota.partner.used_24h;
    this.#promises.hold('caps', used >= 0 && used <= cap, () => `${name}: ${used} used of ${cap}`);
  }

  /** Some applicants share a phone with others, unless all of them are to be registered. */
  #applicants(count: number, areAllNew: boolean): Applicant[] {
    return Array.from({ length: count }, () => {
      serial += 1;
      const isShared = !areAllNew && this.#random.isLucky(0.1);
      const line = isShared ? this.#random.between(0, SHARED_PHONES - 1) : 1_000 + serial;
      const isRejected = this.#random.isLucky(0.1);
      return {
        ...MEXICAN,
        id_number: `10${String(serial).padStart(9, '0')}`,
        phone: `+5255${String(line).padStart(8, '0')}`,
        debt_amount: isRejected ? 90_000_000 : MEXICAN.debt_amount,
        messaging_optin: this.#random.isLucky(0.6),
      };
    });
  }
}
