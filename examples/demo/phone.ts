/** The demo's applicant: a phone of the simulator, by the requests of its page (docs/messages.md). */
import { setTimeout as sleep } from 'node:timers/promises';
import { askPatiently, DemoError } from './service.ts';

const LEAST_TIMEOUT_MS = 8_000;
const LOOK_EVERY_MS = 250;

interface Choice {
  readonly title: string;
  readonly payload: string;
}
export interface Reply {
  readonly replyId: string;
  readonly text: string;
  readonly buttons: readonly Choice[];
  readonly document: { readonly mediaId: string; readonly filename: string } | null;
}
/** What the phone shows. */
export interface Chat {
  readonly messages: readonly {
    readonly messageId: string;
    readonly text: string;
    readonly buttons: readonly { readonly title: string; readonly isInterest: boolean }[];
  }[];
  readonly replies: readonly Reply[];
  readonly codes: readonly { readonly text: string; readonly at: string }[];
}
const NO_CHAT: Chat = { messages: [], replies: [], codes: [] };

export class DemoPhone {
  readonly #url: string;
  readonly #phone: string;
  readonly #timeoutMs: number;

  /** `url` is that of the page; `phone` is in its international form; a request may take `limitMs`, or 8 seconds. */
  constructor(url: string, phone: string, limitMs: number) {
    this.#url = url;
    this.#phone = phone;
    this.#timeoutMs = Math.max(LEAST_TIMEOUT_MS, limitMs);
  }

  /** The chat as it is now; an empty one before the first message. */
  async look(): Promise<Chat> {
    const query = new URLSearchParams({ phone: this.#phone });
    const { chats } = (await (await this.#ask(`chats?${query}`)).json()) as { chats: Chat[] };
    return chats[0] ?? NO_CHAT;
  }

  /** Waits for something on the phone. Returns undefined where `byMs` (of `performance.now()`) comes first. */
  async wait<T>(
    byMs: number,
    find: (chat: Chat) => T | undefined | Promise<T | undefined>,
  ): Promise<T | undefined> {
    for (;;) {
      const found = await find(await this.look());
      if (found !== undefined || performance.now() > byMs) return found;
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Does something that the page can do: a path and the members of its form. */
  async act(path: string, body: Record<string, unknown>): Promise<void> {
    await this.#ask(path, body);
  }

  async write(body: string): Promise<void> {
    await this.#ask('text', { phone: this.#phone, body });
  }

  /** Sends a made-up file. */
  async send(what: string): Promise<void> {
    await this.#ask('made-up', { phone: this.#phone, what });
  }

  /** The bytes of a file in the chat. */
  async open(mediaId: string): Promise<Buffer> {
    const response = await this.#ask(`files/${encodeURIComponent(mediaId)}`);
    return Buffer.from(await response.arrayBuffer());
  }

  async #ask(path: string, body?: unknown): Promise<Response> {
    const url = `${this.#url}/${path}`;
    const post = {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    };
    const init = { ...(body === undefined ? {} : post), signal: AbortSignal.timeout(this.#timeoutMs) };
    const response = await askPatiently(url, init).catch((error) => {
      throw new DemoError(
        `The simulator's page ${this.#url} does not answer (${error.cause?.code ?? error.name}). It runs with ` +
          'CHANNEL=simulator on OPS_PORT; VENTANILLA_SIMULATOR_URL names another page.',
      );
    });
    // The path without its query, which has the phone.
    if (!response.ok) throw new DemoError(`${this.#url}/${path.split('?')[0]} answered ${response.status}.`);
    return response;
  }
}
