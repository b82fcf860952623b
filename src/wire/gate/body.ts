/**
 * Reads a request's body into memory, within a limit for itself and a limit for all bodies together (D3, D37). Touches
 * the request's stream.
 */
import type { IncomingMessage } from 'node:http';
import { RequestError } from '../contract/request.ts';
import type { ByteBudget, Grant, Reservation } from './byte-budget.ts';
import { connectionOf } from './front-door.ts';

/** A body up to this size takes nothing of the budget, because the limit of connections bounds such bodies. */
const SMALL_BYTES = 64 * 1024;
const NOTHING = Buffer.alloc(0);
const FIRST_BYTES = 4 * 1024;
/** A body may come in this many pieces; in more if they have at least `LEAST_PIECE_BYTES` on average. */
const FREE_PIECES = 4_096;
const LEAST_PIECE_BYTES = 32;

interface BodyOptions {
  readonly limit: number;
  readonly budget: ByteBudget;
  /** The account of a body that is not small, and its share of the budget. */
  readonly owner: Reservation['owner'];
  readonly share: Reservation['share'];
}

/**
 * Resolves to the whole body. Throws a `RequestError`: `too_large` over the limit, `bad_request` for too many pieces.
 * Throws an `UnavailableError` if the budget has no room. The budget gets the bytes back after the answer.
 */
export function readBody(request: IncomingMessage, options: BodyOptions): Promise<Buffer> {
  return new Body(request, options).whole;
}

class Body {
  readonly whole: Promise<Buffer>;
  readonly #request: IncomingMessage;
  readonly #options: BodyOptions;
  readonly #settle: { resolve(body: Buffer): void; reject(error: Error): void };
  #bytes: Buffer;
  #length = 0;
  #pieces = 0;
  #grant: Grant | null = null;

  constructor(request: IncomingMessage, options: BodyOptions) {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    this.whole = promise;
    this.#request = request;
    this.#options = options;
    this.#settle = { resolve, reject };
    const declared = Number(request.headers['content-length'] ?? FIRST_BYTES);
    this.#bytes = Buffer.allocUnsafe(Math.min(declared, SMALL_BYTES));
    if (declared > options.limit) this.#fail(new RequestError('too_large'));
    else if (declared > SMALL_BYTES) this.#grow(declared, () => this.#read());
    else this.#read();
  }

  #read(): void {
    this.#request.on('data', this.#add).on('end', this.#end).on('error', this.#fail);
  }

  readonly #add = (piece: Buffer): void => {
    this.#pieces += 1;
    const length = this.#length + piece.length;
    if (length > this.#options.limit) this.#fail(new RequestError('too_large'));
    else if (this.#pieces > FREE_PIECES + length / LEAST_PIECE_BYTES) {
      this.#fail(new RequestError('bad_request'));
    } else if (length <= this.#bytes.length) this.#append(piece);
    else if (length <= SMALL_BYTES) {
      this.#enlarge(Math.min(2 * length, SMALL_BYTES));
      this.#append(piece);
    } else {
      // The length is not known, so the body reserves the largest size that it may have.
      this.#request.pause();
      this.#grow(this.#options.limit, () => {
        this.#append(piece);
        this.#request.resume();
      });
    }
  };

  #append(piece: Buffer): void {
    piece.copy(this.#bytes, this.#length);
    this.#length += piece.length;
  }

  #grow(bytes: number, goOn: () => void): void {
    const { budget, owner, share } = this.#options;
    budget.reserve({ owner, share, bytes, giveUp: this.#fail }).then((grant) => {
      connectionOf(this.#request).onceAnswered(() => grant.giveBack());
      this.#grant = grant;
      this.#enlarge(bytes);
      goOn();
    }, this.#fail);
  }

  #enlarge(bytes: number): void {
    const larger = Buffer.allocUnsafe(bytes);
    this.#bytes.copy(larger, 0, 0, this.#length);
    this.#bytes = larger;
  }

  readonly #end = (): void => {
    this.#grant?.whole();
    this.#settle.resolve(this.#bytes.subarray(0, this.#length));
  };

  readonly #fail = (error: Error): void => {
    this.#request.off('data', this.#add).off('end', this.#end);
    connectionOf(this.#request).stopReading();
    this.#bytes = NOTHING;
    // The bytes are free before the answer, so that the next body need not wait for the answer.
    this.#grant?.giveBack();
    this.#settle.reject(error);
  };
}
