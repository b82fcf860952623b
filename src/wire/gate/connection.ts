/**
 * One client's connection, between its socket and Node's HTTP parser (D37; ARCHITECTURE, "A request's way"). The parser
 * makes a request of every head in what it reads: thousands of requests from one read. This connection passes on one
 * request at a time, and meanwhile reads at most one more piece of 64 KiB from the socket.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import type { Clock } from '../../ground/base/clock.ts';
import type { GivingWay } from './giving-way.ts';
import { BlankLine, endOfChunks, LINE_END, PIECE_BYTES } from './request-pieces.ts';
import { TURNED_AWAY } from './turned-away.ts';

// The first part: the side of a connection that passes writes and settings on to its socket.

/** The callback of a stream's write or end. */
type StreamCallback = (error?: Error | null) => void;

/** The members of a socket that the server uses, except for reading. What is written after `sendLast` is discarded. */
abstract class SocketSide extends Duplex {
  /** Not named `socket`, because requests and answers have a `socket` too, which is the connection. */
  protected readonly rawSocket: Socket;

  constructor(socket: Socket, pieceBytes: number) {
    super({ decodeStrings: false, readableHighWaterMark: pieceBytes });
    this.rawSocket = socket;
  }

  get remoteAddress(): string | undefined {
    return this.rawSocket.remoteAddress;
  }

  setTimeout(ms: number, onTimeout?: () => void): this {
    if (onTimeout !== undefined) this.once('timeout', onTimeout);
    this.rawSocket.setTimeout(ms);
    return this;
  }

  /** Sends the bytes and ends the socket's writing side, past everything that is written to this stream. */
  protected sendLast(bytes: Buffer): void {
    this.rawSocket.end(bytes);
  }

  override _read(): void {
    // Nothing to do: the connection pushes, and it checks `isPaused` before each push.
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: StreamCallback): void {
    if (this.rawSocket.writableEnded) done();
    else this.rawSocket.write(chunk, encoding, done);
  }

  override _writev(
    chunks: { chunk: Buffer | string; encoding: BufferEncoding }[],
    done: StreamCallback,
  ): void {
    if (this.rawSocket.writableEnded) {
      done();
      return;
    }
    // Head and body of an answer go in one piece, which costs the system less than two.
    const bytes = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk,
    );
    this.rawSocket.write(Buffer.concat(bytes), done);
  }

  override _final(done: StreamCallback): void {
    if (this.rawSocket.writableEnded) done();
    else this.rawSocket.end(done);
  }
}

// The second part: where the bytes of a connection are cut, so that Node's HTTP parser gets one request at a time.

class RequestCut {
  /** Follows the bytes that went to the parser. */
  readonly #blankLine = new BlankLine();
  /** The number of bytes that went to the parser in one piece with the head before them. */
  #afterHead = 0;
  /** These bytes included the beginning of the next head. */
  #isNextBegun = false;
  #bodyLeft = 0;

  /** The bytes of the body that are still to come, by its head; Infinity for chunks. */
  get bodyLeft(): number {
    return this.#bodyLeft;
  }

  /** The length of the next piece of a head. */
  ofHead(bytes: Buffer): number {
    const head = this.#blankLine.lengthTo(bytes);
    // Bytes without a line end hold neither another request nor a chunk. They go with the head: one piece costs less.
    const isAlone = bytes.indexOf(LINE_END, head) < 0;
    this.#afterHead = isAlone ? bytes.length - head : 0;
    if (this.#afterHead > 0) this.#blankLine.follow(bytes.subarray(head));
    return head + this.#afterHead;
  }

  /** Call this when a head is read, with the length of its body. */
  beginBody(length: number): void {
    this.#isNextBegun = this.#afterHead > length;
    this.#bodyLeft = Math.max(length - this.#afterHead, 0);
  }

  /** The length of the next piece of the body. */
  ofBody(bytes: Buffer): number {
    // A blank line ends the chunks. Within a chunk a blank line only cuts the piece in two.
    if (this.#bodyLeft === Number.POSITIVE_INFINITY) {
      return this.#blankLine.lengthTo(bytes.subarray(0, endOfChunks(bytes)));
    }
    const length = Math.min(bytes.length, this.#bodyLeft, PIECE_BYTES);
    this.#bodyLeft -= length;
    return length;
  }

  /** Call this when the request is over. Returns whether the next one has begun. */
  endRequest(): boolean {
    this.#bodyLeft = 0;
    if (!this.#isNextBegun) this.#blankLine.forget();
    return this.#isNextBegun;
  }
}

/** The time that a client which still sends has to read the last answer. A reset would discard the answer. */
const LINGER_MS = 1_000;

export class IncomingConnection extends SocketSide {
  readonly #givingWay: GivingWay<IncomingConnection>;
  readonly #clock: Clock;
  readonly #onClosed: (connection: IncomingConnection) => void;
  #unread: Buffer | null = null;
  readonly #cut = new RequestCut();
  #inputEnded = false;
  /** Nothing more is read. */
  #isInputStopped = false;
  /** The parser has a piece, or the next piece is scheduled. */
  #isPassing = false;
  #exchange: Exchange | null = null;
  #startedAt: number | null;

  /** Reports to `givingWay` when the connection may give way to a new one, and calls `onClosed` at its end. */
  constructor(
    socket: Socket,
    givingWay: GivingWay<IncomingConnection>,
    clock: Clock,
    onClosed: (connection: IncomingConnection) => void,
  ) {
    super(socket, PIECE_BYTES);
    this.#givingWay = givingWay;
    this.#clock = clock;
    this.#startedAt = clock.monotonicMs();
    this.#onClosed = onClosed;
    givingWay.unknown(this);
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('end', () => this.#endInput());
    socket.on('timeout', () => this.emit('timeout'));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  /**
   * The time when the first byte of the request under way was read, on `Clock.monotonicMs`. Before any
   * byte: the time when the connection was made. Null between two requests.
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
    return this.#exchange === null || this.#exchange.request.complete ? 0 : this.#cut.bodyLeft;
  }

  /** The server calls this for each request as soon as its head is read. */
  begin(request: IncomingMessage, response: ServerResponse): void {
    if (this.#exchange !== null) {
      // The parser ended a head at another place than a blank line, so nobody knows how it reads the rest.
      this.destroy();
      return;
    }
    this.#cut.beginBody(lengthOfBody(request));
    const exchange = { request, response, wanted: false, answered: false };
    this.#exchange = exchange;
    this.#givingWay.keep(this);
    response.once('close', () => {
      exchange.answered = true;
      this.#conclude();
    });
  }

  /**
   * The request under way is from somebody we know: the connection keeps its place. Returns false if it gave way
   * before: the client got 500, and nothing may be done for it.
   */
  keepPlace(): boolean {
    return this.#givingWay.keep(this);
  }

  /** The request under way may be from anybody: if it takes long, the connection may give way to a new one. */
  mayGiveWay(): void {
    this.#givingWay.unknown(this);
  }

  /**
   * The answer waits, and is for anybody. A connection that gives way calls `send`, which sends the answer as the last.
   */
  onGivingWay(send: () => void): void {
    this.#givingWay.answered(this, send);
  }

  /** Closes the connection for a new one. A client whose request has no answer yet gets 500 first. */
  giveWay(): void {
    const isTold = this.#startedAt === null || this.writableEnded || this.#exchange?.response.headersSent;
    if (isTold) {
      this.destroy();
      return;
    }
    this.stopInput();
    this.sendLast(TURNED_AWAY);
    this.#linger();
  }

  /**
   * Calls back when the request under way is answered or its connection is closed; at once if that has happened
   * already.
   */
  onceAnswered(callback: () => void): void {
    if (this.#exchange === null || this.#exchange.answered) callback();
    else this.#exchange.response.once('close', callback);
  }

  /** Node also calls this when the application reads the body of a request. */
  override resume(): this {
    super.resume();
    if (this.#exchange !== null) this.#exchange.wanted = true;
    this.#pass();
    return this;
  }

  /** Reads nothing more: one answer is still to come, which is the last. */
  stopInput(): void {
    this.#isInputStopped = true;
    this.#unread = null;
    this.rawSocket.pause();
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
      if (isSending) this.#linger();
      else this.destroy();
    });
  }

  #linger(): void {
    this.#clock.after(LINGER_MS, () => this.destroy(), { ref: false });
  }

  override _destroy(error: Error | null, done: StreamCallback): void {
    this.#unread = null;
    this.rawSocket.destroy();
    this.#onClosed(this);
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
    if (this.writableEnded || this.#isInputStopped) {
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
      if (this.#unread !== null && this.#cut.bodyLeft === Number.POSITIVE_INFINITY) {
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
    // A body in chunks of one byte takes two hundred times its size in the parser, so a body is passed on only on
    // demand.
    if (exchange !== null) return exchange.request.complete || !exchange.wanted ? 0 : this.#cut.ofBody(bytes);
    if (this.#startedAt === null) {
      this.#startedAt = this.#clock.monotonicMs();
      this.#givingWay.unknown(this);
    }
    return this.#cut.ofHead(bytes);
  }

  /** Once the request is read and answered, the next one may come, after the other connections had a turn. */
  #conclude(): void {
    if (this.#exchange === null || !this.#exchange.answered || !this.#exchange.request.complete) return;
    this.#exchange = null;
    if (this.#cut.endRequest()) {
      this.#startedAt = this.#clock.monotonicMs();
      this.#givingWay.unknown(this);
    } else {
      this.#startedAt = null;
      this.#givingWay.idle(this);
    }
    if (this.#unread !== null || this.#inputEnded) setImmediate(() => this.#pass());
  }
}

/** A request under way with its answer. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The application reads the body. */
  wanted: boolean;
  answered: boolean;
}

/** The length of the body by its head; Infinity for chunks. */
function lengthOfBody({ headers }: IncomingMessage): number {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers;
  return encoding === undefined ? Number(length ?? 0) : Number.POSITIVE_INFINITY;
}
