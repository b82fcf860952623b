/**
 * A person with a phone who follows a script. Where no answer comes, the person does it again, or asks whether anybody
 * is there, as people do.
 */
import { hash } from 'node:crypto';
import { madeUpFile } from '../../src/subjects/simulator/made-up-files.ts';
import type { Random } from '../../test/support/random.ts';
import type { MediaFile } from '../../test/support/whatsapp-media.ts';
import { type Button, questionOf, type ShownReply, says } from './phone.ts';
import type { Act, OperatorDoes, Question, Script } from './scripts.ts';
import type { Taken, Told } from './seen.ts';

/** What a person sends: the type and the parts of the channel's form. */
export interface Message {
  readonly what: string;
  readonly type: string;
  readonly parts: Readonly<Record<string, unknown>>;
  /** The channel's id of the message that it answers. */
  readonly context?: string;
  readonly accepts?: string | null;
  readonly optsOut?: boolean;
  readonly code?: string;
  /** Nobody would miss it, so the channel may not lose it. */
  readonly isSure: boolean;
}

/** The channel, as a person uses it. */
export interface Line {
  /** Resolves when the service has heard it, or when the channel has lost it. */
  tell(person: Person, message: Message): Promise<void>;
  /** Whether something of this person is under way: a message, work, or a reply. */
  isBusyWith(person: Person): Promise<boolean>;
  /** Whether an operator holds the conversation of this person. */
  isHeld(person: Person): Promise<boolean>;
  /** Uploads a file and returns its id. */
  keep(file: MediaFile): string;
  /** An operator acts; resolves when it is done. */
  operate(person: Person, act: OperatorDoes): Promise<void>;
}

export interface Pace {
  /** The longest time before a person answers. */
  readonly thinkMs: number;
  /** How long a person waits for an answer the first time; later up to four times as long. */
  readonly patienceMs: number;
}

export interface Applicant {
  readonly name: string;
  readonly id_number: string;
  readonly phone: string;
  readonly income: number;
  readonly currency: string;
}

/** Nobody writes an answer in the second in which the question comes. */
const READS_MS = 1_100;
const MOST_PATIENCE = 4;
const MOST_NUDGES = 7;
/** After the last act it is the store that tells how it ended. */
const MOST_LAST_NUDGES = 3;
/** Asks whether anybody is there. */
const GREETS_AT = [2, 4];
/** At one question: the third text in a row that is not understood calls an operator. */
const MOST_GREETINGS = 2;

export class Person {
  applicationId = 0;
  readonly told: Told[] = [];
  readonly taken: Taken[] = [];
  readonly codes: string[] = [];
  /** The SHA-256 of the texts that the phone showed. */
  readonly shown: string[] = [];
  /** Resolves when the script is over, or the person has given up. */
  readonly over: Promise<void>;
  readonly script: Script;
  readonly applicant: Applicant;
  /** The channel's own id of a person whose phone it does not tell; null: it tells the phone. */
  readonly userId: string | null;
  readonly #line: Line;
  readonly #random: Random;
  readonly #pace: Pace;
  readonly #done = new Map<Question, number>();
  /** At which question's number each question was answered the last time. */
  readonly #answeredAt = new Map<Question, number>();
  /** Each with the contract that it accepts: the one beside it, or the newest one before it. */
  readonly #buttons: (Button & { readonly document: string | null })[] = [];
  #offer: { messageId: string; payload: string } | null = null;
  #question: Question | null = null;
  #document: string | null = null;
  #sentLast: string | null = null;
  #triedCode: string | null = null;
  #nudges = 0;
  #greetings = 0;
  /** The lost message that was no reason to give up. */
  #forgiven: Told | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isOver = false;
  #finish: () => void = () => {};

  constructor(
    about: { script: Script; applicant: Applicant; userId: string | null },
    line: Line,
    random: Random,
    pace: Pace,
  ) {
    this.script = about.script;
    this.applicant = about.applicant;
    this.userId = about.userId;
    this.#line = line;
    this.#random = random;
    this.#pace = pace;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.over = promise;
    this.#finish = resolve;
    if (Object.keys(this.script.acts).length === 0) this.#end();
  }

  /** The service has registered the applicant. An offer that a killed service had in hand is not sent again. */
  waitForOffer(): void {
    if (this.#offer !== null || this.#isOver) return;
    this.#after(this.#pace.patienceMs * MOST_PATIENCE * MOST_NUDGES, () => this.#end());
  }

  showOffer(offer: { messageId: string; payload: string }): void {
    if (this.#offer !== null) return;
    this.#offer = offer;
    this.#ask('offer');
  }

  /** `document`: the SHA-256 of the file. */
  show(reply: ShownReply, document: string | null): void {
    this.shown.push(hash('sha256', reply.text));
    this.#document = document ?? this.#document;
    for (const button of reply.buttons) this.#buttons.push({ ...button, document: this.#document });
    const { hears } = this.script.last;
    if (hears !== null && says(reply.text, hears)) this.#end();
    const question = questionOf(reply);
    if (question === null || this.script.acts[question] === undefined) return;
    if (says(reply.text, 'code_expired')) this.#triedCode = this.codes.at(-1) ?? null;
    this.#ask(question);
  }

  showCode(code: string): void {
    this.codes.push(code);
  }

  #ask(question: Question): void {
    if (this.#isOver) return;
    const isNew = question !== this.#question;
    this.#question = question;
    if (!this.#isWanted(question)) return;
    if (isNew) this.#nudges = this.#greetings = 0;
    const readsMs = this.#nextAct(question).kind === 'write' ? READS_MS : 0;
    this.#after(readsMs + this.#random.between(0, this.#pace.thinkMs), () => this.#answer(question));
  }

  #nextAct(question: Question): Act {
    const acts = this.script.acts[question]!;
    return acts[Math.min(this.#done.get(question) ?? 0, acts.length - 1)]!;
  }

  /** Whether the question waits for an act: it has never been answered so, or it is another one by now. */
  #isWanted(question: Question): boolean {
    const acts = this.script.acts[question] ?? [];
    if (acts.length === 0) return false;
    if ((question === 'more_files' || question === 'more_debts') && this.#sentLast === 'locked') return false;
    const done = this.#done.get(question) ?? 0;
    return done < acts.length || this.#answeredAt.get(question) !== this.#newestNonce;
  }

  get #newestNonce(): number {
    return Math.max(-1, ...this.#buttons.map(({ nonce }) => nonce));
  }

  #answer(question: Question): void {
    const act = this.#nextAct(question);
    const acts = this.script.acts[question]!;
    const done = (this.#done.get(question) ?? 0) + 1;
    this.#done.set(question, done);
    this.#answeredAt.set(question, this.#newestNonce);
    const { last } = this.script;
    const isLast = question === last.question && done >= acts.length;
    const isSure = isLast && last.hears === null;
    const heard = this.#perform(question, act, isSure);
    if (isSure) void heard.then(() => this.#end());
    else this.#wait(isLast);
  }

  /** Does the next thing where no answer comes. */
  #wait(isLast: boolean): void {
    this.#after(this.#pace.patienceMs * Math.min(this.#nudges + 1, MOST_PATIENCE), async () => {
      // A busy machine is no lost message.
      if (await this.#line.isBusyWith(this)) return this.#isWaiting && this.#wait(isLast);
      // Where the reply that says so was lost, the operator sees it in the list.
      const isHeld = this.script.acts.handed_over !== undefined && (await this.#line.isHeld(this));
      if (!this.#isWaiting) return;
      if (isHeld) this.#question = 'handed_over';
      // The service gave no answer to what the channel lost, and cannot: nobody gives up over it. Each lost message
      // counts once, because a person who has greeted enough says nothing new.
      const last = this.told.at(-1);
      if (last?.isLost !== true || last === this.#forgiven) this.#nudges += 1;
      this.#forgiven = last;
      if (this.#nudges > (isLast ? MOST_LAST_NUDGES : MOST_NUDGES)) return this.#end();
      if (!GREETS_AT.includes(this.#nudges)) return this.#answer(this.#question!);
      void this.#greet(false);
      this.#wait(isLast);
    });
  }

  #perform(question: Question, act: Act, isSure: boolean): Promise<void> {
    switch (act.kind) {
      case 'interested':
        return this.#tapOffer(isSure);
      case 'tap': {
        const button = this.#buttons.findLast(
          ({ place, choice }) => choice === act.choice && place === placeOf(question),
        );
        if (act.twice === true) setTimeout(() => void this.#tap(button, question, isSure), 300);
        return this.#tap(button, question, isSure);
      }
      case 'old_button':
        return this.#tap(
          this.#buttons.findLast(({ nonce }) => nonce < this.#newestNonce) ?? this.#buttons[0],
          question,
          isSure,
        );
      case 'write':
        return this.#write(act.body, isSure, question);
      case 'send':
        return this.#sendAll(act.what, isSure);
      case 'operator':
        return this.#line.operate(this, act.act);
      case 'no_more_files':
        return this.#tap(
          this.#buttons.findLast(({ choice, place }) => choice === 'done' && place === placeOf(question)),
          question,
          isSure,
        );
      case 'last_four':
        return this.#write(this.applicant.id_number.slice(-4), isSure);
      case 'wrong_code':
        return this.#sayCode(this.codes.at(-1) === '000000' ? '000001' : '000000', isSure);
      case 'code':
        return this.#sayNewestCode(isSure);
    }
  }

  #tapOffer(isSure: boolean): Promise<void> {
    const { messageId, payload } = this.#offer!;
    const button = { payload, text: 'Me interesa' };
    return this.#tell({ what: 'interested', type: 'button', parts: { button }, context: messageId, isSure });
  }

  #tap(
    button: (Button & { readonly document: string | null }) | undefined,
    question: Question,
    isSure: boolean,
  ): Promise<void> {
    if (button === undefined) return this.#askAgain(question, isSure);
    const accepts = question === 'contract' && button.choice === 'accept' ? button.document : null;
    const reply = { type: 'button_reply', button_reply: { id: button.text, title: button.title } };
    return this.#tell({
      ...{
        what: `tap ${button.choice}`,
        type: 'interactive',
        parts: { interactive: reply },
        accepts,
        isSure,
      },
    });
  }

  /** The phone has no such button. Whoever was offered an operator goes on, and sees the question again. */
  #askAgain(question: Question, isSure: boolean): Promise<void> {
    const goOn = this.#buttons.findLast(
      ({ choice, place, nonce }) =>
        choice === 'go_on' && place === placeOf(question) && nonce === this.#newestNonce,
    );
    return goOn === undefined ? this.#greet(isSure) : this.#tap(goOn, question, isSure);
  }

  #greet(isSure: boolean): Promise<void> {
    if (this.#greetings === MOST_GREETINGS && !isSure) return Promise.resolve();
    this.#greetings += 1;
    return this.#write('¿hola?', isSure);
  }

  #write(body: string, isSure: boolean, question?: Question): Promise<void> {
    const accepts = question === 'contract' && body === 'ACEPTO' ? this.#document : null;
    const optsOut = ['BAJA', 'cancelar', 'no autorizo'].includes(body);
    return this.#tell({ what: 'a text', type: 'text', parts: { text: { body } }, accepts, optsOut, isSure });
  }

  async #sendAll(all: readonly Parameters<typeof madeUpFile>[0][], isSure: boolean): Promise<void> {
    await Promise.all(all.map((what) => this.#send(what, isSure)));
  }

  #send(what: Parameters<typeof madeUpFile>[0], isSure: boolean): Promise<void> {
    this.#sentLast = what;
    const { name, id_number: idNumber, income, currency } = this.applicant;
    const file = madeUpFile(what, { name, idNumber, income, currency }, new Date());
    const document = {
      id: this.#line.keep(file),
      mime_type: file.contentType,
      filename: file.filename,
    };
    if (file.media === 'audio') {
      const { filename: _, ...audio } = document;
      return this.#tell({ what: 'a voice message', type: 'audio', parts: { audio }, isSure });
    }
    return this.#tell({ what: 'a file', type: 'document', parts: { document }, isSure });
  }

  /** A code that did not help, or none: another one. */
  #sayNewestCode(isSure: boolean): Promise<void> {
    const code = this.codes.at(-1);
    if (code !== undefined && code !== this.#triedCode) {
      this.#triedCode = code;
      return this.#sayCode(code, isSure);
    }
    // The next code is a new one, also at the same question.
    this.#answeredAt.delete('code');
    return this.#tap(
      this.#buttons.findLast(({ choice }) => choice === 'resend'),
      'code',
      isSure,
    );
  }

  #sayCode(code: string, isSure: boolean): Promise<void> {
    return this.#tell({ what: 'a code', type: 'text', parts: { text: { body: code } }, code, isSure });
  }

  #tell(message: Message): Promise<void> {
    return this.#line.tell(this, message);
  }

  /** Whether nothing else was begun since the wait that looks now. */
  get #isWaiting(): boolean {
    return !this.#isOver && this.#timer === undefined;
  }

  #after(ms: number, act: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (!this.#isOver) act();
    }, ms);
  }

  #end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#finish();
  }
}

/** The step of a question with buttons. */
function placeOf(question: Question): string {
  if (question === 'more_debts' || question === 'debts_right') return 'debts';
  return question === 'more_files' ? 'earnings' : question;
}
