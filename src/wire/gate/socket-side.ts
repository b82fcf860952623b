/** The side of a connection that passes writes and settings on to its socket. */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/** The callback of a stream's write or end. */
export type StreamCallback = (error?: Error | null) => void;

/** The members of a socket that the server uses, except for reading. What is written after `sendLast` is discarded. */
export abstract class SocketSide extends Duplex {
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
