/** The demo from a batch to a signed contract: an application of its own, whose applicant it plays in the chat. */
import { randomInt } from 'node:crypto';
import { styleText } from 'node:util';
import { type Chat, DemoPhone, type Reply } from './phone.ts';
import { call, DemoError } from './service.ts';

/** The whole chat, unless `--within` says so. The demo ends within 90 seconds then. */
const LIMIT_MS = 80_000;
/** A little less than the declared amount, so that something reaches the applicant. */
const DEBTS = ['Banco Azul 4.000.000', 'Nu 1,5 millones'];
/** A phone of the demo may have an open application by chance. */
const MOST_TRIES = 5;

interface Registered {
  readonly id: number;
  readonly idNumber: string;
  readonly phone: string;
}
interface Answer {
  readonly results: readonly { readonly id: number; readonly decision: string; readonly score: number }[];
  readonly errors_detail?: readonly { readonly error: string }[];
}
interface Feed {
  readonly events: readonly {
    readonly type: string;
    readonly data: { readonly id: number; readonly to?: string };
  }[];
  readonly next: string | null;
  readonly has_more: boolean;
}

export const told = (who: string, text: string) =>
  console.log(`${styleText('bold', who.padEnd(10))}  ${text}`);
const applicantDoes = (text: string) => told('applicant', styleText('cyan', text));

/** An application whose contract is signed, and its chat. */
export interface Signed {
  readonly id: number;
  readonly walk: Walk;
}

/** Registers an applicant and plays the chat until the contract is signed. Throws `DemoError` where it is not. */
export async function untilSigned(url: URL, key: string, page: string, limitMs = LIMIT_MS): Promise<Signed> {
  const startedMs = performance.now();
  const one = await register(url, key, limitMs);
  const phone = new DemoPhone(page.replace(/\/$/, ''), one.phone, limitMs);
  const walk = new Walk(phone, one.id, page, startedMs + limitMs);
  await walk.takeOffer();
  await walk.tapWhere('the question for the consent', 'yes');
  await walk.next('the question for statements of income', () => true);
  applicantDoes('sends a statement of income, a PDF');
  await walk.doing(() => phone.send('fitting'));
  await walk.tapWhere('the answer to the statement', 'done');
  await walk.next('the question for the debts', (reply) => placeOf(reply, 'skip') !== -1);
  applicantDoes(`writes "${DEBTS.join('", "')}"`);
  await walk.doing(() => phone.write(DEBTS.join('\n')));
  await walk.tapWhere('the list of debts with its sum', 'right');
  await walk.tapWhere('the offer with its costs', 'go_on', 'right');
  const shown = await walk.readContract();
  await walk.next('the question for the last characters of the ID number', () => true);
  applicantDoes('writes the last four characters of the ID number');
  await walk.doing(() => phone.write(one.idNumber.slice(-4)));
  const code = await walk.code();
  applicantDoes('writes the code of the second phone');
  await walk.doing(() => phone.write(code));
  await walk.next('the word that the contract is signed', ({ buttons }) => buttons.length === 0);
  await walk.readSigned(shown);
  await walk.until('the event "contract.signed" in the feed', () => isSigned(url, key, one.id, limitMs));
  const tookS = (performance.now() - startedMs) / 1_000;
  console.log();
  told('signed', `the contract of application ${one.id}, ${tookS.toFixed(0)} s after the batch was sent`);
  told(
    'look at',
    `${page} (the chat), npx ventanilla conversation show ${one.id}, npx ventanilla contract show ${one.id}`,
  );
  return { id: one.id, walk };
}

async function register(url: URL, key: string, limitMs: number): Promise<Registered> {
  for (let tries = 1; ; tries += 1) {
    const phone = `+57300${randomInt(1_000_000, 10_000_000)}`;
    const idNumber = `${randomInt(1_000_000_000, 2_000_000_000)}`;
    const application = {
      ...{
        name: 'Ana Gómez',
        id_number: idNumber,
        city: 'Bogotá',
        phone,
        platform: 'rappi',
        currency: 'COP',
      },
      ...{ income: 3_200_000, debt_amount: 6_000_000, num_debts: '1', debt_age: 'lt6' },
      ...{ prior_history: 'yes', messaging_optin: true },
    };
    const answer = await call<Answer>(url, key, JSON.stringify({ applications: [application] }), limitMs);
    const result = answer.results[0];
    if (result?.decision === 'approved') {
      told('partner', `sends a batch; application ${result.id} is approved with a score of ${result.score}`);
      return { id: result.id, idNumber, phone };
    }
    if (result !== undefined)
      throw new DemoError(
        `The application was not approved but ${result.decision}: the policy of this service (POLICY_FILE) says so.`,
      );
    const reason = answer.errors_detail?.[0]?.error ?? 'no reason given';
    if (tries === MOST_TRIES || !/already exists/.test(reason))
      throw new DemoError(`The application was refused: ${reason}`);
  }
}

function isSigned(url: URL, key: string, id: number, limitMs: number): Promise<true | undefined> {
  return isTold({ url, key, limitMs }, 'contract.signed', ({ data }) => data.id === id);
}

/** Whether the feed has an event: one of its last pages has that of a moment ago. */
export async function isTold(
  { url, key, limitMs }: { readonly url: URL; readonly key: string; readonly limitMs: number },
  type: string,
  fits: (event: Feed['events'][number]) => boolean,
): Promise<true | undefined> {
  for (let after: string | null = null; ; ) {
    const feed = new URL(`${url.href.replace(/\/$/, '')}/events`);
    feed.searchParams.set('types', type);
    feed.searchParams.set('limit', '500');
    if (after !== null) feed.searchParams.set('after', after);
    const { events, next, has_more } = await call<Feed>(feed, key, undefined, limitMs);
    if (events.some(fits)) return true;
    if (!has_more) return undefined;
    after = next;
  }
}

/** The place of the button of a choice; -1 where the reply has none. */
function placeOf({ buttons }: Reply, choice: string): number {
  return buttons.findIndex(({ payload }) => payload.endsWith(`.${choice}`));
}

/** The way through the chat: what came is told once, and each wait is for what comes after the applicant's last act. */
export class Walk {
  readonly #phone: DemoPhone;
  readonly #id: number;
  readonly #page: string;
  #byMs: number;
  readonly #told = new Set<string>();
  /** Replies before the applicant's last act. */
  #before = 0;

  constructor(phone: DemoPhone, id: number, page: string, byMs: number) {
    this.#phone = phone;
    this.#id = id;
    this.#page = page;
    this.#byMs = byMs;
  }

  /** Waits for the offer on the phone, whatever the hour, and taps "I am interested". */
  async takeOffer(): Promise<void> {
    const offer = await this.#wait('the message with the offer', async ({ messages }) => {
      // Colombia's contact window would hold the message back at night. Only the simulator can send it all the same.
      // Said at each look: a delivery that is under way at the first one may put the message off after that.
      await this.#phone.act('release', { messageId: `${this.#id}` });
      const message = messages.at(-1);
      const button = message?.buttons.findIndex(({ isInterest }) => isInterest) ?? -1;
      return message === undefined || button === -1 ? undefined : { ...message, button };
    });
    told('message', offer.text);
    applicantDoes(`taps "${offer.buttons[offer.button]?.title}"`);
    const { messageId, button } = offer;
    await this.doing(() => this.#phone.act('tap', { messageId, button }));
  }

  /**
   * Waits for a reply with a button of this choice, and taps it. `before`: the choice that the applicant has tapped
   * before. It is tapped again if its question comes again, as after a text that a busy service has heard twice.
   */
  async tapWhere(what: string, choice: string, before?: string): Promise<Reply> {
    const reply = await this.#wait(what, async ({ replies }) => {
      const askedWith = (one: string) =>
        replies.slice(this.#before).findLast((reply) => placeOf(reply, one) !== -1);
      const found = askedWith(choice);
      const asked = before === undefined ? undefined : askedWith(before);
      if (found === undefined && asked !== undefined) await this.#tap(asked, before!);
      return found;
    });
    await this.#tap(reply, choice);
    return reply;
  }

  async #tap(reply: Reply, choice: string): Promise<void> {
    const index = placeOf(reply, choice);
    applicantDoes(`taps "${reply.buttons[index]?.title}"`);
    await this.doing(() => this.#phone.act('choose', { replyId: reply.replyId, choice: index }));
  }

  /** Waits for the contract, opens it and accepts it. Returns the file's id. */
  async readContract(): Promise<string> {
    const mediaId = await this.#open('the contract', () => true);
    await this.tapWhere('the contract', 'accept');
    return mediaId;
  }

  /** Waits for the signed contract, another file than the one that was shown, and opens it. */
  async readSigned(shown: string): Promise<void> {
    await this.#open('the signed contract', (mediaId) => mediaId !== shown);
  }

  /** Gives what follows so much time from now on. */
  allow(limitMs: number): void {
    this.#byMs = performance.now() + limitMs;
  }

  /** Waits for the final schedule, and opens it. */
  async readSchedule(): Promise<void> {
    await this.#open('the final schedule', (_, filename) => filename.endsWith('-schedule.pdf'));
  }

  async #open(what: string, isWanted: (mediaId: string, filename: string) => boolean): Promise<string> {
    const { document } = await this.next(
      what,
      (one) => one.document !== null && isWanted(one.document.mediaId, one.document.filename),
    );
    if (document === null) throw this.#missing(what);
    const bytes = await this.#phone.open(document.mediaId);
    if (bytes.subarray(0, 5).toString('latin1') !== '%PDF-') throw new DemoError(`This is no PDF: ${what}.`);
    applicantDoes(`opens ${document.filename}, ${Math.ceil(bytes.length / 1024)} KiB`);
    return document.mediaId;
  }

  /** Waits for a code on the second phone, and for the question for it. */
  async code(): Promise<string> {
    await this.next('the question for the code', (reply) => placeOf(reply, 'resend') !== -1);
    const text = await this.#wait('a code on the second phone', ({ codes }) => codes.at(-1)?.text);
    const [code] = /\b\d{6}\b/.exec(text) ?? [];
    if (code === undefined) throw new DemoError('The text on the second phone has no code of six digits.');
    told('2nd phone', text);
    return code;
  }

  /** Waits for a reply after the applicant's last act. */
  next(what: string, fits: (reply: Reply) => boolean): Promise<Reply> {
    return this.#wait(what, ({ replies }) => replies.slice(this.#before).find(fits));
  }

  /** Waits for something beside the chat. */
  until<T>(what: string, find: () => Promise<T | undefined>): Promise<T> {
    return this.#wait(what, find);
  }

  /** Does something as the applicant. */
  async doing(act: () => Promise<void>): Promise<void> {
    this.#before = (await this.#phone.look()).replies.length;
    await act();
  }

  async #wait<T>(what: string, find: (chat: Chat) => T | undefined | Promise<T | undefined>): Promise<T> {
    const found = await this.#phone.wait(this.#byMs, (chat) => {
      this.#tell(chat);
      return find(chat);
    });
    if (found === undefined) throw this.#missing(what);
    return found;
  }

  #tell({ replies }: Chat): void {
    for (const { replyId, text, document } of replies) {
      if (this.#told.has(replyId)) continue;
      this.#told.add(replyId);
      const file = document === null ? '' : `[${document.filename}] `;
      told('service', `${file}${text.replaceAll('\n', `\n${' '.repeat(12)}`)}`);
    }
  }

  #missing(what: string): DemoError {
    return new DemoError(
      `This did not come in time: ${what}. Look at the chat on ${this.#page}, at "npx ventanilla application show ` +
        `${this.#id}", at "npx ventanilla conversation show ${this.#id}", and at the log of the service. The reason can be a ` +
        'page of another service (VENTANILLA_SIMULATOR_URL), faults that are set on the page, or a busy machine (--within gives more time).',
    );
  }
}
