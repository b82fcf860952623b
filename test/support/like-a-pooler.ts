/** A proxy that looks like a pooler: it gives each client a process number of its own. */
import { connect, createServer } from 'node:net';
import type { TestContext } from 'node:test';

/** The server's first message about its session: a message K with the process and a secret. */
const KEY_DATA = Buffer.from([0x4b, 0, 0, 0, 0x0c]);

/** The URL of such a proxy before the server of `url`, until the test is over. */
export async function poolerUrl(t: TestContext, url: string): Promise<string> {
  const address = new URL(url);
  const target = { host: address.hostname, port: Number(address.port) };
  const server = createServer((client) => {
    const upstream = connect(target);
    upstream.on('data', (chunk) => {
      const at = chunk.indexOf(KEY_DATA);
      if (at >= 0) chunk.writeUInt32BE(1, at + KEY_DATA.length);
      client.write(chunk);
    });
    client.pipe(upstream);
    for (const socket of [client, upstream]) socket.on('error', () => {});
    upstream.on('close', () => client.destroy());
    client.on('close', () => upstream.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  address.hostname = '127.0.0.1';
  address.port = String((server.address() as { port: number }).port);
  return address.href;
}
