/**
 * One client's connection, between its socket and Node's HTTP parser. The parser reads whatever a socket gives it
 * and makes a request of each head that it finds: thousands of one read. Here it gets one request at a time, and
 * nothing more of the socket is read meanwhile than one piece of at most 64 KiB.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { type Exchange, lengthOfBody } from './exchange.ts';
import { BlankLine, endOfChunks, LINE_END, PIECE_BYTES } from './request-pieces.ts';
import { SocketSide, type StreamCallback } from './socket-side.ts';

/** A client that still sends when the last answer is out has so long to read it: a reset would throw it away. */
const LINGER_MS = 1_000;

interface ConnectionEvents {
  /** The connection waits for a request. */
  idle(connection: IncomingConnection): void;
  /** The first byte of a request is there. */
  busy(connection: IncomingConnection): void;
  closed(connection: IncomingConnection): void;
}

export class IncomingConnection extends SocketSide {
  readonly #events: ConnectionEvents;
  #unread: Buffer | null = null;
  /** Of what was passed on. */
  readonly #blankLine = new BlankLine();
  /** How many bytes went to the parser together with the head before them. */
  #afterHead = 0;
  /** Among these was the beginning of the next head. */
  #isNextBegun = false;
  #inputEnded = false;
  /** A piece is with the parser, or the next one waits for its turn. */
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
   * When the first byte of the request under way was read, or the connection was made if none was yet, on the
   * clock of `performance.now()`; null between two requests.
   */
  get startedAt(): number | null {
    return this.#startedAt;
  }

  /** The request that is read as a whole and not answered yet. */
  get unanswered(): IncomingMessage | null {
    const { request, answered } = this.#exchange ?? {};
    return request?.complete && !answered ? request : null;
  }

  /** Of the body of the request under way, as far as its head tells: what nobody read yet; Infinity for chunks. */
  get unread(): number {
    return this.#exchange === null || this.#exchange.request.complete ? 0 : this.#exchange.bodyLeft;
  }

  /** Told by the server of each request, as soon as its head is read. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    if (this.#exchange !== null) {
      // The parser ended a head elsewhere than at its blank line: nobody can tell what it makes of the rest.
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

  /** Calls back when the request under way is answered, or its connection closed: at once where it is already. */
  onceAnswered(callback: () => void): void {
    if (this.#exchange === null || this.#exchange.answered) callback();
    else this.#exchange.response.once('close', callback);
  }

  /** Called where a request is read, too. */
  override resume(): this {
    super.resume();
    if (this.#exchange !== null) this.#exchange.wanted = true;
    this.#pass();
    return this;
  }

  /** The rest of the body under way is not read any more. */
  stopReading(): void {
    if (this.#exchange !== null) this.#exchange.wanted = false;
  }

  /** Ends the connection once what was written is out. */
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

  /** Passes on as much as belongs to the request under way, or to the next one's head where there is none. */
  #pass(): void {
    // After its last answer a client is not read any more: nobody would take what comes.
    if (this.writableEnded) {
      this.#unread = null;
      this.rawSocket.pause();
      return;
    }
    // The parser takes one piece after the other.
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
      // Without another line there is neither a request in it nor a chunk, and one piece costs less than two.
      const isAlone = bytes.indexOf(LINE_END, head) < 0;
      this.#afterHead = isAlone ? bytes.length - head : 0;
      if (this.#afterHead > 0) this.#blankLine.follow(bytes.subarray(head));
      return head + this.#afterHead;
    }
    // Of a body in chunks of a byte the parser makes two hundred times as much: it gets a body that somebody reads.
    if (exchange.request.complete || !exchange.wanted) return 0;
    // A blank line ends the chunks as well, and may stand within one: then it only makes two pieces of one.
    if (exchange.bodyLeft === Number.POSITIVE_INFINITY) {
      return this.#blankLine.lengthTo(bytes.subarray(0, endOfChunks(bytes)));
    }
    const length = Math.min(bytes.length, exchange.bodyLeft, PIECE_BYTES);
    exchange.bodyLeft -= length;
    return length;
  }

  /** The request is read and answered: the next one may come, after everybody else had a turn. */
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
