/** Cuts inputs into batches, always in the same places, and names each batch for safe retries. */
import { InputError } from './errors.ts';
import { echoOf } from './pairing.ts';
import type { BatchToSend } from './send-batch.ts';
import type { Application } from './wire.ts';

/** Most applications in one request, and most bytes of its body. */
export const MAX_APPLICATIONS = 100;
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** Characters; a hundred times this, at most three bytes each, is within a body, so nobody has to count. */
const SMALL = 10_000;

const HEAD = '{"applications":[';
const TAIL = ']}';
const MAX_ELEMENT_BYTES = MAX_BODY_BYTES - HEAD.length - TAIL.length;

/** What decides whether an application goes into a batch. */
export interface Weighed {
  /** At most so many bytes of JSON in UTF-8; exact where it is large. */
  readonly bytes: number;
  /** What the service echoes of it. */
  readonly echo: string | null;
}

/** An input as it is sent. */
export interface SerialisedInput extends Weighed {
  readonly input: Application;
  readonly json: string;
}

export interface Batch extends BatchToSend {
  /** The index of its first input. */
  readonly start: number;
  readonly elements: readonly SerialisedInput[];
}

const encoder = new TextEncoder();

/** Throws `TypeError` where JSON has no form of the input (a cycle, a BigInt). */
export function asElement(input: Application): SerialisedInput {
  // What JSON leaves out, such as undefined, it writes as null in an array.
  const json = JSON.stringify(input) ?? 'null';
  const bytes = json.length > SMALL ? encoder.encode(json).length : 3 * json.length;
  return { input, json, bytes, echo: echoOf(json) };
}

/** What is sent of elements, and expected back; the same elements give the same bytes. */
export function contentOf(elements: readonly SerialisedInput[]): Omit<BatchToSend, 'idempotencyKey'> {
  const body = encoder.encode(`${HEAD}${elements.map(({ json }) => json).join(',')}${TAIL}`);
  return { echoes: elements.map(({ echo }) => echo), body };
}

/** The elements of a batch to be, and whether one more can join them. */
export class OpenBatch<E extends Weighed> {
  readonly elements: E[] = [];
  readonly #echoes = new Set<string>();
  #bytes = HEAD.length + TAIL.length;

  get isFull(): boolean {
    return this.elements.length === MAX_APPLICATIONS;
  }

  /** Not where it would be too many, too large, or could be taken for another (`pairing.ts`). */
  takes({ bytes, echo }: Weighed): boolean {
    const comma = this.elements.length > 0 ? 1 : 0;
    const fits = !this.isFull && this.#bytes + comma + bytes <= MAX_BODY_BYTES;
    return fits && (echo === null || !this.#echoes.has(echo));
  }

  add(element: E): void {
    this.#bytes += element.bytes + (this.elements.length > 0 ? 1 : 0);
    if (element.echo !== null) this.#echoes.add(element.echo);
    this.elements.push(element);
  }
}

/**
 * The inputs in batches, in order. Where it cuts depends on the inputs alone, never on time, and a batch that is
 * not complete when the inputs fail is not yielded: the same list, sent again, has the same batches under the
 * same keys. Throws `InputError` where the inputs throw or one of them cannot be sent.
 */
export async function* cutBatches(
  applications: Iterable<Application> | AsyncIterable<Application>,
  submissionId: string,
): AsyncGenerator<Batch, void, undefined> {
  const keys = new BatchKeys(submissionId);
  let start = 0;
  let open = new OpenBatch<SerialisedInput>();
  const close = async (): Promise<Batch> => {
    const { elements } = open;
    const content = contentOf(elements);
    const batch = { start, elements, ...content, idempotencyKey: await keys.next(content.body) };
    start += elements.length;
    open = new OpenBatch<SerialisedInput>();
    return batch;
  };
  try {
    for await (const input of applications) {
      const element = asElement(input);
      if (element.bytes > MAX_ELEMENT_BYTES) throw new RangeError('it is too large for a request');
      if (!open.takes(element)) yield await close();
      open.add(element);
      // Not only when the next one comes: a source may be slow, or bring no more than it is asked for.
      if (open.isFull) yield await close();
    }
  } catch (cause) {
    throw new InputError(`input ${start + open.elements.length} could not be read or sent`, { cause });
  }
  if (open.elements.length > 0) yield await close();
}

/**
 * Idempotency-Keys of a submission: SHA-256 of its id and the batch's bytes, and how many equal batches came
 * before, since the same list twice in one submission means what it says. Keeps a byte or two an application.
 */
class BatchKeys {
  readonly #prefix: Uint8Array;
  readonly #seen = new Map<string, number>();

  constructor(submissionId: string) {
    // As JSON, so that no id and body together read like another id and another body.
    this.#prefix = encoder.encode(JSON.stringify(submissionId));
  }

  async next(body: Uint8Array): Promise<string> {
    const named = new Uint8Array(this.#prefix.length + body.length);
    named.set(this.#prefix);
    named.set(body, this.#prefix.length);
    const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', named));
    const hex = Array.from(digest, (byte) => byte.toString(16).padStart(2, '0')).join('');
    const before = this.#seen.get(hex) ?? 0;
    this.#seen.set(hex, before + 1);
    return `${hex}-${before}`;
  }
}
