/** Cuts inputs into batches, always at the same places, and gives each batch a key for safe retries. */
import { InputError } from './errors.ts';
import { echoOf } from './pairing.ts';
import type { BatchToSend } from './send-batch.ts';
import type { Application } from './wire.ts';

/** The most applications of one request, and the most bytes of its body. */
export const MAX_APPLICATIONS = 100;
export const MAX_BODY_BYTES = 4 * 1024 * 1024;

/** A hundred inputs of so many characters, at three bytes each, fit into a body, so their bytes need no exact count. */
const SMALL = 10_000;

const HEAD = '{"applications":[';
const TAIL = ']}';
const MAX_ELEMENT_BYTES = MAX_BODY_BYTES - HEAD.length - TAIL.length;

/** The size and the echo of an application, which decide whether it joins a batch. */
export interface Weighed {
  /** An upper bound of its bytes as JSON in UTF-8; exact for a large application. */
  readonly bytes: number;
  /** The ID number that the service echoes; null where it echoes none. */
  readonly echo: string | null;
}

/** An input with the JSON that is sent. */
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

/** Serialises an input. Throws `TypeError` where JSON cannot express it (a cycle, a BigInt). */
export function asElement(input: Application): SerialisedInput {
  // A value that JSON leaves out, such as undefined, is null in an array.
  const json = JSON.stringify(input) ?? 'null';
  const bytes = json.length > SMALL ? encoder.encode(json).length : 3 * json.length;
  return { input, json, bytes, echo: echoOf(json) };
}

/** The body of a batch and the echoes to expect. The same elements give the same bytes. */
export function contentOf(elements: readonly SerialisedInput[]): Omit<BatchToSend, 'idempotencyKey'> {
  const body = encoder.encode(`${HEAD}${elements.map(({ json }) => json).join(',')}${TAIL}`);
  return { echoes: elements.map(({ echo }) => echo), body };
}

/** A batch that is not closed yet. */
export class OpenBatch<E extends Weighed> {
  readonly elements: E[] = [];
  readonly #echoes = new Set<string>();
  #bytes = HEAD.length + TAIL.length;

  get isFull(): boolean {
    return this.elements.length === MAX_APPLICATIONS;
  }

  /** False where the batch would have too many elements, be too large, or have an echo twice (`pairing.ts`). */
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
 * The inputs in batches, in order. The cuts depend on the inputs alone, never on time, and an incomplete batch is not
 * yielded where the inputs fail. So the same list, sent again, has the same batches under the same keys. Throws
 * `InputError` where the inputs throw or one of them cannot be sent.
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
      // A full batch leaves at once: the source may be slow, or wait for this batch before the next input.
      if (open.isFull) yield await close();
    }
  } catch (cause) {
    throw new InputError(`input ${start + open.elements.length} could not be read or sent`, { cause });
  }
  if (open.elements.length > 0) yield await close();
}

/**
 * The Idempotency-Keys of a submission: SHA-256 of its id and the batch's bytes, and the number of equal batches
 * before. The number keeps apart two equal batches of one submission, which are meant as two. Takes a byte or two of
 * memory an application.
 */
class BatchKeys {
  readonly #prefix: Uint8Array;
  readonly #seen = new Map<string, number>();

  constructor(submissionId: string) {
    // The id goes in as JSON, so that no two pairs of id and body give the same text.
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
