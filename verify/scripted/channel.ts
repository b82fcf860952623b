/**
 * The channel between the persons and the services, over the stand-in of its API: it loses, doubles, delays and
 * reorders messages, fails sends and files, and tells the same news again until somebody takes it.
 */
import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseReplyCallback } from '../../src/domain/message/reply.ts';
import type { Answer } from '../../test/support/http-answer.ts';
import type { Random } from '../../test/support/random.ts';
import {
  type AcceptedMessage,
  type Fault,
  type PersonMessage,
  personWebhook,
  type StatusEvent,
  statusWebhook,
  type TemplateMessage,
  type WebhookBody,
  type WhatsAppApi,
} from '../../test/support/whatsapp-api.ts';
import type { MediaFile } from '../../test/support/whatsapp-media.ts';
import { type Fate, FILE_FAULTS, SEND_FAULTS, type Shares, SLOW_FILE_MS } from './channel-shares.ts';
import { drawBy } from './draw.ts';
import type { Line, Message, Person } from './person.ts';
import { hashIn, shownReply } from './phone.ts';
import type { OperatorDoes } from './scripts.ts';
import type { Told } from './seen.ts';

const FLUSH_MS = 40;
const MOST_A_WEBHOOK = 20;
const AGAIN_MS = 1_000;
/** A slow phone, in times of the usual longest time. */
const SLOW_TIMES = 3;

interface Item {
  readonly dueMs: number;
  readonly message?: PersonMessage;
  readonly status?: StatusEvent;
  /** Called at the first answer with 200. */
  readonly onHeard: () => void;
}

interface ChannelContext {
  readonly api: WhatsAppApi;
  /** Of the services, before the path of the webhook. */
  readonly urls: readonly string[];
  readonly random: Random;
  readonly shares: Shares;
  readonly nowMs: () => number;
  /** Whether the service has something to do for an application. */
  readonly isBusy: (applicationId: number) => Promise<boolean>;
  readonly isHeld: (applicationId: number) => Promise<boolean>;
  /** An operator does it for an application. */
  readonly operate: (applicationId: number, act: OperatorDoes) => Promise<void>;
  /** By the phone in E.164. */
  readonly persons: ReadonlyMap<string, Person>;
}

export class Channel implements Line {
  readonly #context: ChannelContext;
  readonly #fates = new Map<string, Fate>();
  #items: Item[] = [];
  #posting = 0;
  #serial = 0;
  readonly #timer: NodeJS.Timeout;

  constructor(context: ChannelContext) {
    this.#context = context;
    const { api } = context;
    api.fault = (message) => this.#faultOf(message);
    api.onAccept = (accepted) => this.#accepted(accepted);
    api.media.chance = () => this.#fileFault();
    this.#timer = setInterval(() => this.#flush(), FLUSH_MS);
  }

  /** Whether nothing is on its way to the services. */
  get isIdle(): boolean {
    return this.#items.length === 0 && this.#posting === 0;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async isBusyWith({ told, applicationId }: Person): Promise<boolean> {
    const isUnheard = told.some(({ isLost, heardAtMs }) => !isLost && heardAtMs === null);
    return isUnheard || this.#context.isBusy(applicationId);
  }

  isHeld({ applicationId }: Person): Promise<boolean> {
    return this.#context.isHeld(applicationId);
  }

  keep(file: MediaFile): string {
    return this.#context.api.media.keep(file);
  }

  operate({ applicationId }: Person, act: OperatorDoes): Promise<void> {
    return this.#context.operate(applicationId, act);
  }

  tell(person: Person, message: Message): Promise<void> {
    const { random, shares, nowMs, api } = this.#context;
    const isLost = !message.isSure && random.isLucky(shares.lost);
    const id = `wamid.person.${++this.#serial}`;
    const told: Told = {
      ...{ id, what: message.what, atMs: nowMs(), isLost, heardAtMs: null },
      ...{ accepts: message.accepts ?? null, optsOut: message.optsOut === true, code: message.code ?? null },
      shown: person.shown.length,
    };
    person.told.push(told);
    api.wrote.add(person.applicant.phone);
    if (isLost) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    const onHeard = () => {
      told.heardAtMs ??= nowMs();
      resolve();
    };
    const whom =
      person.userId === null ? { from: person.applicant.phone.slice(1) } : { userId: person.userId };
    const { type, parts, context } = message;
    const sent: PersonMessage = {
      ...{ ...whom, id, at: new Date(), type, parts },
      ...(context === undefined ? {} : { messageId: context }),
    };
    this.#put((dueMs) => ({ dueMs, message: sent, onHeard }));
    return promise;
  }

  /** Now or late, once or twice. */
  #put(make: (dueMs: number) => Item): void {
    const { random, shares, nowMs } = this.#context;
    const late = () => (random.isLucky(shares.late) ? random.between(0, shares.latestMs) : 0);
    this.#items.push(make(nowMs() + late()));
    if (random.isLucky(shares.doubled)) this.#items.push(make(nowMs() + random.between(0, shares.latestMs)));
  }

  #flush(): void {
    const { random, nowMs } = this.#context;
    const now = nowMs();
    const due = random.shuffled(this.#items.filter(({ dueMs }) => dueMs <= now));
    this.#items = this.#items.filter(({ dueMs }) => dueMs > now);
    while (due.length > 0) {
      const some = due.splice(0, random.between(1, MOST_A_WEBHOOK));
      const messages = some.flatMap(({ message }) => message ?? []);
      const statuses = some.flatMap(({ status }) => status ?? []);
      void this.#post(
        [
          ...(messages.length > 0 ? [personWebhook(...messages)] : []),
          ...(statuses.length > 0 ? [statusWebhook(...statuses)] : []),
        ],
        some,
      );
    }
  }

  /** Until a service takes it: so the real channel does. */
  async #post(webhooks: WebhookBody[], items: readonly Item[]): Promise<void> {
    const { api, urls, random } = this.#context;
    this.#posting += 1;
    while (webhooks.length > 0) {
      const url = `${urls[random.between(0, urls.length - 1)]}/webhooks/whatsapp`;
      const statuses = await api.deliver(url, webhooks).catch(() => []);
      webhooks = webhooks.filter((_, index) => statuses[index] !== 200);
      if (webhooks.length > 0) await sleep(random.between(0, AGAIN_MS));
    }
    for (const { onHeard } of items) onHeard();
    this.#posting -= 1;
  }

  #faultOf(message: TemplateMessage): Fault | undefined {
    const { random, shares } = this.#context;
    const isReply = parseReplyCallback(message.biz_opaque_callback_data ?? '') !== null;
    const possible = SEND_FAULTS.filter(({ isOfReplies }) => isReply || !isOfReplies);
    const found = drawBy(possible, random.next() / shares.faults);
    const fate = found?.fate ?? {};
    this.#fates.set(message.biz_opaque_callback_data ?? '', fate);
    return found?.fault();
  }

  #fileFault(): { held?: Promise<unknown>; answer?: Answer | 'close' } {
    const { random, shares } = this.#context;
    if (random.isLucky(shares.files)) return { held: sleep(random.between(0, SLOW_FILE_MS)) };
    if (!random.isLucky(shares.files)) return {};
    return { answer: FILE_FAULTS[random.between(0, FILE_FAULTS.length - 1)]! };
  }

  #accepted({ id, callback, message }: AcceptedMessage): void {
    const { persons, nowMs, api } = this.#context;
    const person = persons.get(message.to);
    const fate = this.#fates.get(callback) ?? {};
    if (person === undefined) return;
    const named = parseReplyCallback(callback);
    if (named === null) {
      const payload = payloadOf(message);
      const laterMs = this.#showAfter(false);
      if (payload !== null) setTimeout(() => person.showOffer({ messageId: id, payload }), laterMs);
      this.#tellStatus(id, callback, person, false, laterMs);
      return;
    }
    const reply = shownReply(id, message);
    const document = reply.mediaId === null ? null : hashOf(api.media.files.get(reply.mediaId)?.bytes);
    person.taken.push({
      ...{ replyId: named.replyId, atMs: nowMs(), isFailed: fate.fails === true },
      ...{ document, hashInWords: hashIn(reply.text) },
    });
    const laterMs = this.#showAfter(fate.isSlow === true);
    if (fate.fails !== true) setTimeout(() => person.show(reply, document), laterMs);
    this.#tellStatus(id, callback, person, fate.fails === true, laterMs);
  }

  /** A phone may be slow, and then show a later reply first. */
  #showAfter(isSlow: boolean): number {
    const { random, shares } = this.#context;
    const waitMs = isSlow ? SLOW_TIMES * shares.latestMs : 0;
    return waitMs + (random.isLucky(shares.late) ? random.between(0, shares.latestMs) : 0);
  }

  /** No news says more than is true: a reply is delivered when the phone shows it. */
  #tellStatus(
    id: string,
    callback: string,
    { applicant, userId }: Person,
    fails: boolean,
    laterMs: number,
  ): void {
    const { random, shares, nowMs } = this.#context;
    if (!fails && random.isLucky(shares.untold)) return;
    const now = Date.now();
    for (const status of fails ? (['failed'] as const) : (['sent', 'delivered', 'read'] as const)) {
      const waitMs = status === 'sent' ? 0 : laterMs;
      const event: StatusEvent = {
        ...{ id, callback, status, at: new Date(now + waitMs), recipient: applicant.phone.slice(1) },
        ...(userId === null ? {} : { recipientUserId: userId }),
        ...(status === 'failed' ? { errors: [131026] } : {}),
      };
      const dueMs = nowMs() + waitMs + random.between(0, shares.latestMs);
      this.#put(() => ({ dueMs, status: event, onHeard: () => {} }));
    }
  }
}

/** The payload of the first button of a template: "I am interested". null: it has none. */
function payloadOf({ template }: TemplateMessage): string | null {
  const buttons = template.components as readonly { type: string; parameters: { payload?: string }[] }[];
  return buttons.find(({ type }) => type === 'button')?.parameters[0]?.payload ?? null;
}

const hashes = new WeakMap<Buffer, string>();

/** An upload is sent several times, and hashed once. */
function hashOf(bytes: Buffer | undefined): string | null {
  if (bytes === undefined) return null;
  const known = hashes.get(bytes) ?? hash('sha256', bytes);
  hashes.set(bytes, known);
  return known;
}
