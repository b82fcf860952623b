/** The load, in a process of its own: raw HTTP over keep-alive sockets, which costs little CPU. */
import { connect, type Socket } from 'node:net';
import { bodies } from './applicants.ts';
import { type Measured, measure, serve } from './phase.ts';

const TRIES = 20;

interface Phase {
  readonly url: string;
  readonly apiKey: string;
  readonly concurrency: number;
  readonly size: number;
  readonly ms: number;
  readonly stream: number;
}

serve<Phase>(async (phase): Promise<Measured> => {
  const { hostname, port, pathname } = new URL(phase.url);
  const nextBody = bodies(phase.size, phase.stream);
  const clients = await Promise.all(
    Array.from({ length: phase.concurrency }, () => client(hostname, Number(port))),
  );
  const head = `POST ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\nX-API-Key: ${phase.apiKey}\r\nContent-Type: application/json\r\nContent-Length: `;
  const result = await measure(phase, async (lane) => {
    const body = nextBody();
    const bytes = Buffer.concat([Buffer.from(`${head}${body.length}\r\n\r\n`), body]);
    let answer = '';
    // What is refused for a moment leaves nothing, and is sent again, as a partner does.
    for (let tries = 0; tries < TRIES && (answer === '' || answer.startsWith('HTTP/1.1 500')); tries += 1)
      answer = await (clients[lane] as Client).request(bytes);
    const registered = /"processed":(\d+)/.exec(answer)?.[1];
    if (Number(registered) !== phase.size) throw new Error(`unexpected answer: ${answer.slice(0, 300)}`);
  });
  for (const { socket } of clients) socket.destroy();
  return result;
});

interface Client {
  readonly socket: Socket;
  request(bytes: Buffer): Promise<string>;
}

function client(host: string, port: number): Promise<Client> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, noDelay: true });
    let received = '';
    let settle: { resolve(text: string): void; reject(error: Error): void } | null = null;
    socket.setEncoding('latin1');
    socket.on('data', (chunk: string) => {
      received += chunk;
      const end = received.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(received)?.[1]);
      if (received.length < end + 4 + length) return;
      const answer = received;
      received = '';
      settle?.resolve(answer);
    });
    const fail = () => settle?.reject(new Error('the service closed the connection'));
    socket.on('close', fail);
    socket.on('error', reject);
    socket.on('connect', () =>
      resolve({
        socket,
        request: (bytes) =>
          new Promise((done, failed) => {
            settle = { resolve: done, reject: failed };
            socket.write(bytes);
          }),
      }),
    );
  });
}
