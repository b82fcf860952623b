/**
 * One client's connection, between its socket and Node's HTTP parser. The parser makes a request of every head in what
 * it reads: thousands of requests from one read. This connection passes on one request at a time, and meanwhile reads
 * at most one more piece of 64 KiB from the socket.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Exchange, lengthOfBody } from './exchange.ts';
import { BlankLine, endOfChunks, LINE_END, PIECE_BYTES } from './request-pieces.ts';
import { SocketSide, type StreamCallback } from './socket-side.ts';

/** The time that a client which still sends has to read the last answer. A reset would discard the answer. */
const LINGER_MS = 1_000;

interface ConnectionEvents {
  /** The connection waits for a request. */
  idle(connection: IncomingConnection): void;
  /** The first byte of a request has arrived. */
  busy(connection: IncomingConnection): void;
  closed(connection: IncomingConnection): void;
}

export class IncomingConnection extends SocketSide {
  readonly #events: ConnectionEvents;
  #unread: Buffer | null = null;
  /** Follows the bytes that went to the parser. */
  readonly #blankLine = new BlankLine();
  /** The number of bytes that went to the parser in one piece with the head before them. */
  #afterHead = 0;
  /** These bytes included the beginning of the next head. */
  #isNextBegun = false;
  #inputEnded = false;
  /** The parser has a piece, or the next piece is scheduled. */
  #isPassing = false;
  #exchange: Exchange | null = null;
  #startedAt: number | null = performance.now();

  constructor(socket: Socket, events: ConnectionEvents) {
    super(socket, PIECE_BYTES);
    this.#events = events;
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('end', () => this.#endInput());
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  /**
   * The time when the first byte of the request under way was read, on the clock of `performance.now()`. Before any
   * byte:
   * the time when the connection was made. Null between two requests.
   */
  get startedAt(): number | null {
    return this.#startedAt;
  }

  /** The request that was read as a whole and has no answer yet. */
  get unanswered(): IncomingMessage | null {
    const { request, answered } = this.#exchange ?? {};
    return request?.complete && !answered ? request : null;
  }

  /** The bytes of the body under way that are not read yet, by its head; Infinity for chunks. */
  get unread(): number {
    return this.#exchange === null || this.#exchange.request.complete ? 0 : this.#exchange.bodyLeft;
  }

  /** The server calls this for each request as soon as its head is read. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    if (this.#exchange !== null) {
      // The parser ended a head elsewhere than at a blank line, so its reading of the rest is not known.
      this.destroy();
      return;
    }
    const body = lengthOfBody(request);
    this.#isNextBegun = this.#afterHead > body;
    const bodyLeft = Math.max(body - this.#afterHead, 0);
    const exchange = { request, response, bodyLeft, wanted: false, answered: false };
    this.#exchange = exchange;
    response.once('close', () => {
      exchange.answered = true;
      this.#conclude();
    });
  }

  /** Calls back when the request under way is answered or its connection closed; at once where that has happened. */
  onceAnswered(callback: () => void): void {
    if (this.#exchange === null || this.#exchange.answered) callback();
    else this.#exchange.response.once('close', callback);
  }

  /** Node calls this also where the application reads the body of a request. */
  override resume(): this {
    super.resume();
    if (this.#exchange !== null) this.#exchange.wanted = true;
    this.#pass();
    return this;
  }

  /** Stops reading the body under way. */
  stopReading(): void {
    if (this.#exchange !== null) this.#exchange.wanted = false;
  }

  /** Ends the connection once all written bytes are sent. */
  destroySoon(): void {
    if (this.writableEnded) return;
    const isSending = this.#unread !== null || this.#exchange?.request.complete === false;
    this.#unread = null;
    this.rawSocket.pause();
    this.end(() => {
      if (isSending) setTimeout(() => this.destroy(), LINGER_MS).unref();
      else this.destroy();
    });
  }

  override _destroy(error: Error | null, done: StreamCallback): void {
    this.#unread = null;
    this.rawSocket.destroy();
    this.#events.closed(this);
    done(error);
  }

  #take(bytes: Buffer): void {
    this.#unread = this.#unread === null ? bytes : Buffer.concat([this.#unread, bytes]);
    this.#pass();
  }

  #endInput(): void {
    this.#inputEnded = true;
    this.#pass();
  }

  /** Passes on the bytes of the request under way, or else of the next request's head. */
  #pass(): void {
    // After the last answer nothing is read any more, because no request would be served.
    if (this.writableEnded) {
      this.#unread = null;
      this.rawSocket.pause();
      return;
    }
    // `push` may call `resume`: the parser has to finish one piece before it gets the next.
    if (this.#isPassing) return;
    this.#isPassing = true;
    while (this.#unread !== null && !this.isPaused() && !this.destroyed) {
      const length = this.#lengthToPass(this.#unread);
      if (length === 0) break;
      const piece = this.#unread.subarray(0, length);
      this.#unread = length === this.#unread.length ? null : this.#unread.subarray(length);
      this.push(piece);
      this.#conclude();
      if (this.#unread !== null && this.#exchange?.bodyLeft === Number.POSITIVE_INFINITY) {
        this.rawSocket.pause();
        setImmediate(() => {
          this.#isPassing = false;
          this.#pass();
        });
        return;
      }
    }
    this.#isPassing = false;
    if (this.#unread !== null) this.rawSocket.pause();
    else if (this.#inputEnded) this.push(null);
    else if (this.rawSocket.isPaused()) this.rawSocket.resume();
  }

  #lengthToPass(bytes: Buffer): number {
    const exchange = this.#exchange;
    if (exchange === null) {
      if (this.#startedAt === null) {
        this.#startedAt = performance.now();
        this.#events.busy(this);
      }
      const head = this.#blankLine.lengthTo(bytes);
      // Bytes without a line end hold neither another request nor a chunk. They go with the head: one piece costs less.
      const isAlone = bytes.indexOf(LINE_END, head) < 0;
      this.#afterHead = isAlone ? bytes.length - head : 0;
      if (this.#afterHead > 0) this.#blankLine.follow(bytes.subarray(head));
      return head + this.#afterHead;
    }
    // A body in chunks of one byte takes two hundred times its size in the parser, so a body is passed on only on
    // demand.
    if (exchange.request.complete || !exchange.wanted) return 0;
    // A blank line ends the chunks. Within a chunk a blank line only cuts the piece in two.
    if (exchange.bodyLeft === Number.POSITIVE_INFINITY) {
      return this.#blankLine.lengthTo(bytes.subarray(0, endOfChunks(bytes)));
    }
    const length = Math.min(bytes.length, exchange.bodyLeft, PIECE_BYTES);
    exchange.bodyLeft -= length;
    return length;
  }

  /** Where the request is read and answered, the next request may come, after the other connections had a turn. */
  #conclude(): void {
    if (this.#exchange === null || !this.#exchange.answered || !this.#exchange.request.complete) return;
    this.#exchange = null;
    if (this.#isNextBegun) this.#startedAt = performance.now();
    else {
      this.#blankLine.forget();
      this.#startedAt = null;
      this.#events.idle(this);
    }
    if (this.#unread !== null || this.#inputEnded) setImmediate(() => this.#pass());
  }
}
