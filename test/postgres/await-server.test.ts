/** A database that is not up yet is waited for; a fault that waiting cannot help is reported at once (D37). */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { after, describe, it } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { awaitServer } from '../../src/ground/postgres/await-server.ts';
import { Patience } from '../../src/ground/postgres/patience.ts';
import { SetupError } from '../../src/ground/postgres/setup-error.ts';
import { eventually } from '../support/eventually.ts';
import { lastingPort } from '../support/free-port.ts';
import { openWithLimits } from '../support/open-patiently.ts';
import { LeapingClock, TestClock } from '../support/test-clock.ts';

const address = new URL(process.env.TEST_DATABASE_URL as string);
const signal = new AbortController().signal;
const SECRET = 'hunter2';
const WHAT = 'the database of DATABASE_URL';

function open(changes: (url: URL) => void) {
  const url = new URL(address);
  changes(url);
  const database = openWithLimits(url.href, 2);
  after(() => database.end());
  return database;
}

async function listening(server: Server, port = 0): Promise<number> {
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  after(() => server.close());
  return (server.address() as AddressInfo).port;
}

/** A server that answers every connection with one fatal error of PostgreSQL, `code`. */
function refusing(code: string): Server {
  return createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => {
      const fields = Buffer.from(`SFATAL\0VFATAL\0C${code}\0Mno, ${SECRET}\0\0`);
      const head = Buffer.alloc(5);
      head.write('E');
      head.writeInt32BE(fields.length + 4, 1);
      socket.end(Buffer.concat([head, fields]));
    });
  });
}

const forwarding = () =>
  createServer((socket) => {
    const onward = connect(Number(address.port), address.hostname);
    socket.pipe(onward).pipe(socket);
    for (const end of [socket, onward]) end.on('error', () => {});
  });

describe('awaitServer', () => {
  it('returns at once if the server answers, without a notice', async () => {
    const notices: string[] = [];
    await awaitServer(
      open(() => {}),
      new Patience({ what: WHAT, signal, notice: (text) => notices.push(text), clock: machineClock }),
    );
    assert.deepEqual(notices, []);
  });

  it('waits for a port where no server listens yet, then for a server that is starting up, with one notice', async () => {
    const port = await lastingPort();
    const notices: string[] = [];
    const database = open((url) => {
      url.hostname = '127.0.0.1';
      url.port = String(port);
    });
    const clock = new TestClock();
    let isUp = false;
    const waiting = awaitServer(
      database,
      new Patience({ what: WHAT, signal, notice: (text) => notices.push(text), clock }),
    ).then(() => {
      isUp = true;
    });
    await eventually('the notice', () => notices.length > 0);
    await clock.untilTimers();
    const starting = refusing('57P03');
    let refused = 0;
    starting.on('connection', () => {
      refused += 1;
    });
    await listening(starting, port);
    for (let tries = 1; tries <= 2; tries += 1) {
      await clock.advance(500);
      await eventually('a try', () => refused === tries);
      await clock.untilTimers();
    }
    starting.close();
    await once(starting, 'close');
    await listening(forwarding(), port);
    await eventually('the server', async () => {
      // The rest before the next try.
      if (clock.timers > 0) await clock.advance(500);
      return isUp;
    });
    await waiting;
    assert.deepEqual(notices, [
      'waiting for the database of DATABASE_URL: no server listens there (ECONNREFUSED)',
    ]);
  });

  it('fails when the time is over, and names DATABASE_URL and the reason', async () => {
    const cases: [change: (url: URL) => void, reason: RegExp][] = [
      [(url) => Object.assign(url, { hostname: '127.0.0.1', port: '1' }), /no server listens there/],
      [(url) => Object.assign(url, { hostname: `${SECRET}.invalid` }), /ENOTFOUND|EAI_AGAIN/],
    ];
    for (const [change, reason] of cases) {
      await assert.rejects(
        awaitServer(
          open(change),
          new Patience({ what: WHAT, signal, notice: () => {}, withinMs: 100, clock: new LeapingClock() }),
        ),
        (error) => {
          assert.ok(error instanceof SetupError);
          assert.match(error.message, /^the database of DATABASE_URL did not work within 0 s: /);
          assert.match(error.message, reason);
          return !error.message.includes(SECRET);
        },
      );
    }
  });

  it('fails at once if waiting would not help, and shows no part of the URL', async () => {
    for (const code of ['28P01', '28000', '3D000', '42501', 'XX000', '0A000']) {
      const port = await listening(refusing(code));
      const database = open((url) =>
        Object.assign(url, { hostname: '127.0.0.1', port: String(port), username: SECRET, password: SECRET }),
      );
      await assert.rejects(
        awaitServer(
          database,
          new Patience({ what: WHAT, signal, notice: () => assert.fail('it waits'), clock: machineClock }),
        ),
        (error) =>
          error instanceof SetupError &&
          /^DATABASE_URL cannot be used: /.test(error.message) &&
          error.message.includes(code) &&
          !error.message.includes(SECRET),
      );
    }
  });

  it('names the setting of the URL that the server refuses, and shows no value of it', async () => {
    const options = (text: string) => (url: URL) => url.searchParams.set('options', text);
    const cases: [change: (url: URL) => void, message: string][] = [
      [
        options(`-c no_such_thing=${SECRET}`),
        'the server does not know the setting no_such_thing that the URL asks for (42704)',
      ],
      [
        options(`-c application_name=v --work_mem=${SECRET}`),
        'the server refuses the value of the setting work_mem that the URL asks for (22023)',
      ],
      [
        options(`-c datestyle=${SECRET}`),
        'the server refuses the value of the setting DateStyle that the URL asks for (22023)',
      ],
      [
        options(`-c role=${SECRET}`),
        'the server refuses the value of the setting role that the URL asks for (22023)',
      ],
      [
        options('-c shared_buffers=1MB'),
        'the setting shared_buffers that the URL asks for cannot be set for a session (55P02)',
      ],
      [options(SECRET), 'the server cannot read the options that the URL asks for (42601)'],
      [
        (url) => url.searchParams.set('statement_timeout', SECRET),
        'the server refuses the value of the setting statement_timeout that the URL asks for (22023)',
      ],
    ];
    for (const [change, message] of cases) {
      await assert.rejects(
        awaitServer(
          open(change),
          new Patience({ what: WHAT, signal, notice: () => assert.fail('it waits'), clock: machineClock }),
        ),
        {
          message: `DATABASE_URL cannot be used: ${message}`,
        },
      );
    }
    const port = await listening(refusing('25001'));
    const database = open((url) => Object.assign(url, { hostname: '127.0.0.1', port: String(port) }));
    await assert.rejects(
      awaitServer(
        database,
        new Patience({ what: WHAT, signal, notice: () => assert.fail('it waits'), clock: machineClock }),
      ),
      {
        message:
          'DATABASE_URL cannot be used: a setting that the URL asks for cannot be set for a session (25001)',
      },
    );
  });

  it('ends when the signal aborts', async () => {
    const stop = new AbortController();
    const database = open((url) => Object.assign(url, { hostname: '127.0.0.1', port: '1' }));
    await assert.rejects(
      awaitServer(
        database,
        new Patience({ what: WHAT, signal: stop.signal, notice: () => stop.abort(), clock: machineClock }),
      ),
      {
        name: 'AbortError',
      },
    );
  });
});
