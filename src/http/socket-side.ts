/** The side of a connection that writes to its socket as it is. */
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

export type StreamCallback = (error?: Error | null) => void;

/** What the server asks for of a socket, but for reading. */
export abstract class SocketSide extends Duplex {
  /** Not `socket`: requests and answers have a property of that name, which is the connection. */
  protected readonly rawSocket: Socket;

  constructor(socket: Socket, pieceBytes: number) {
    super({ decodeStrings: false, readableHighWaterMark: pieceBytes });
    this.rawSocket = socket;
  }

  setTimeout(ms: number, onTimeout?: () => void): this {
    if (onTimeout !== undefined) this.once('timeout', onTimeout);
    this.rawSocket.setTimeout(ms);
    return this;
  }

  override _read(): void {
    // The socket pushes. The connection sees a pause, and `resume` is called when the reader goes on.
  }

  override _write(chunk: Buffer | string, encoding: BufferEncoding, done: StreamCallback): void {
    this.rawSocket.write(chunk, encoding, done);
  }

  override _writev(
    chunks: { chunk: Buffer | string; encoding: BufferEncoding }[],
    done: StreamCallback,
  ): void {
    // Head and body of an answer: one piece costs the system less than two.
    const bytes = chunks.map(({ chunk, encoding }) =>
      typeof chunk === 'string' ? Buffer.from(chunk, encoding) : chunk,
    );
    this.rawSocket.write(Buffer.concat(bytes), done);
  }

  override _final(done: StreamCallback): void {
    this.rawSocket.end(done);
  }
}
