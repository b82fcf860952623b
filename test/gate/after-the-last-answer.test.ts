/** D37: bytes that a client sends after the last answer of its connection are neither read nor kept. */
import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { after, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { IncomingConnection } from '../../src/wire/gate/connection.ts';
import { GivingWay } from '../../src/wire/gate/giving-way.ts';
import { eventually } from '../support/eventually.ts';
import { testService } from '../support/service.ts';

const MIB = 1024 * 1024;

/** A connection before its first request, with both ends of its socket. */
async function connected(): Promise<{ connection: IncomingConnection; socket: Socket; client: Socket }> {
  const server = createServer({ allowHalfOpen: true });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  after(() => server.close());
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const client = connect({
    port: (server.address() as AddressInfo).port,
    host: '127.0.0.1',
    allowHalfOpen: true,
  });
  client.on('error', () => {});
  client.resume();
  const socket = await accepted;
  const connection = new IncomingConnection(socket, new GivingWay(machineClock), machineClock, () => {});
  connection.on('error', () => {});
  after(() => {
    connection.destroy();
    client.destroy();
  });
  return { connection, socket, client };
}

it('D37: a client that sends on after the end of its connection fills no memory', async () => {
  const { connection, socket, client } = await connected();
  connection.resume();
  client.write('no request');
  await eventually('the first bytes', () => socket.bytesRead > 0);
  connection.end('the last answer');
  client.write(Buffer.alloc(32 * MIB));
  await eventually('the end of reading', () => socket.isPaused());
  assert.ok(socket.bytesRead < MIB, `${socket.bytesRead} bytes`);
});

const NO_REQUESTS = [
  'GARBAGE\r\n\r\n',
  'FOO /PRO HTTP/1.1\r\n\r\n',
  'CONNECT x:1 HTTP/1.1\r\nHost: x\r\n\r\n',
];

it('D37: a client that sends on after bytes that are not HTTP gets an answer and a closed connection', async () => {
  const service = await testService();
  const { hostname, port } = new URL(service.url);
  await Promise.all(
    NO_REQUESTS.map(async (request) => {
      const client = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
      const closed = new Promise((resolve) => client.once('close', resolve));
      client.on('error', () => {});
      let answer = '';
      client.on('data', (bytes) => {
        answer += bytes.toString('latin1');
      });
      client.write(request);
      await eventually(`an answer to ${request}`, () => answer.endsWith('}'));
      const filling = setInterval(() => client.writableNeedDrain || client.write(Buffer.alloc(MIB)), 5);
      await closed;
      clearInterval(filling);
      assert.match(answer, /^HTTP\/1\.1 40[045] /, request);
      const taken = client.bytesWritten - client.writableLength;
      assert.ok(taken < 24 * MIB, `${request} ${taken} bytes went out`);
    }),
  );
});
