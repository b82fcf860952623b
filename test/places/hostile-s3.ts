/** An S3 store with answers of the test's own. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { type Clock, machineClock } from '../../src/ground/base/clock.ts';
import { S3, type S3Account } from '../../src/ground/places/s3.ts';
import { BACKUPS } from '../../src/subjects/backup/place-of-backups.ts';

/** A server with answers of its own, and the requests that it got. */
export async function hostile(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  clock: Clock = machineClock,
) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    answer(request, response);
  }).listen(0, '127.0.0.1');
  after(() => {
    server.closeAllConnections();
    server.close();
  });
  await new Promise((done) => server.once('listening', done));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const account: S3Account = { accessKeyId: 'a', secretAccessKey: 'b', region: 'us-east-1', endpoint };
  return { place: new S3('s3://backups/ours', account, BACKUPS, clock), requests, endpoint, account };
}
