/** TLS to the database, by what the URL says (docs/deploy.md). */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { machineClock } from '../../src/ground/base/clock.ts';
import { awaitServer } from '../../src/ground/postgres/await-server.ts';
import { openDatabase } from '../../src/ground/postgres/open-database.ts';
import { Patience } from '../../src/ground/postgres/patience.ts';
import { SetupError } from '../../src/ground/postgres/setup-error.ts';
import { eventually } from '../support/eventually.ts';
import { openWithLimits } from '../support/open-patiently.ts';
import { selfSigned } from '../support/self-signed.ts';
import { TestServer } from '../support/servers.ts';

const own = selfSigned();
const other = selfSigned();
const { signal } = new AbortController();

/** Writes the files as the server's own user: the server refuses a key that another user owns or may read. */
async function turnTlsOn(server: TestServer): Promise<void> {
  for (const [file, text] of [
    ['server.key', own.key],
    ['server.crt', own.cert],
  ]) {
    const lines = `SELECT unnest(string_to_array('${text}', E'\\n'))`;
    await server.ask(`COPY (${lines}) TO PROGRAM 'umask 077; cat > ${file}'`);
  }
  await server.ask('ALTER SYSTEM SET ssl = on');
  await server.ask('SELECT pg_reload_conf()');
  await eventually('the server to take TLS', async () => {
    const [row] = await server.ask<{ ssl: string }>('SHOW ssl');
    return row?.ssl === 'on';
  });
}

/** Whether the server says that a session of the service is encrypted. */
async function isEncrypted(url: string): Promise<boolean> {
  const database = openDatabase(
    { connectionString: url },
    { max: 1, onError: () => {}, clock: machineClock },
  );
  try {
    await awaitServer(
      database,
      new Patience({
        what: 'the database of DATABASE_URL',
        signal,
        notice: () => {},
        withinMs: 20_000,
        clock: machineClock,
      }),
    );
    const text = 'SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()';
    const { rows } = await database.query<{ ssl: boolean }>(text);
    return rows[0]?.ssl === true;
  } finally {
    await database.end();
  }
}

/** A new server with TLS, and the files of its own authority and of another one, until the test is over. */
async function serverWithTls(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'ventanilla-tls-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const ca = join(folder, 'ca.pem');
  const otherCa = join(folder, 'other.pem');
  await writeFile(ca, own.cert);
  await writeFile(otherCa, other.cert);
  const server = await TestServer.start(t);
  await turnTlsOn(server);
  return { server, ca, otherCa };
}

describe('TLS to the database', { concurrency: false }, () => {
  it('each value of sslmode encrypts and verifies as documented', async (t) => {
    const { server, ca, otherCa } = await serverWithTls(t);
    const accepted: [parameters: string, encrypted: boolean][] = [
      ['', false],
      ['?sslmode=disable', false],
      ...['prefer', 'require', 'verify-ca', 'verify-full'].map((mode): [string, boolean] => [
        `?sslmode=${mode}&sslrootcert=${ca}`,
        true,
      ]),
      ['?sslmode=no-verify', true],
      ['?uselibpqcompat=true&sslmode=require', true],
      [`?uselibpqcompat=true&sslmode=verify-full&sslrootcert=${ca}`, true],
    ];
    for (const [parameters, encrypted] of accepted) {
      assert.equal(await isEncrypted(server.urlOf([server.place], parameters)), encrypted, parameters);
    }

    const byName = server.urlOf([server.place.replace('127.0.0.1', 'localhost')]);
    assert.equal(
      await isEncrypted(`${byName}?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${ca}`),
      true,
    );

    // The environment counts where the URL says nothing.
    process.env.PGSSLMODE = 'no-verify';
    t.after(() => delete process.env.PGSSLMODE);
    assert.equal(await isEncrypted(server.urlOf([server.place])), true);
    assert.equal(await isEncrypted(server.urlOf([server.place], '?sslmode=disable')), false);
    delete process.env.PGSSLMODE;

    const unknown = /certificate of the server.* not trusted.* sslrootcert/;
    const refused: [place: string, parameters: string, text: RegExp][] = [
      [server.place, '?sslmode=require', unknown],
      [server.place, '?sslmode=prefer', unknown],
      [server.place, '?sslmode=verify-full', unknown],
      [server.place, `?sslmode=verify-full&sslrootcert=${otherCa}`, unknown],
      [server.place, `?sslmode=require&sslrootcert=${otherCa}`, unknown],
      [server.place, `?uselibpqcompat=true&sslmode=verify-ca&sslrootcert=${otherCa}`, unknown],
      [server.place, `?uselibpqcompat=true&sslmode=require&sslrootcert=${otherCa}`, unknown],
      [
        server.place.replace('127.0.0.1', 'localhost'),
        `?sslmode=require&sslrootcert=${ca}`,
        /certificate of the server is for another host/,
      ],
      [
        server.place.replace('127.0.0.1', 'localhost'),
        `?sslmode=verify-full&sslrootcert=${ca}`,
        /certificate of the server is for another host/,
      ],
      [
        server.place,
        `?sslmode=verify-full&sslrootcert=${ca}.lost`,
        /sslrootcert .*cannot be read \(ENOENT\)/,
      ],
    ];
    for (const [place, parameters, text] of refused) {
      await assert.rejects(isEncrypted(server.urlOf([place], parameters)), (error) => {
        assert.ok(error instanceof SetupError, String(error));
        assert.match(error.message, text, parameters);
        assert.match(error.message, /^DATABASE_URL/);
        return true;
      });
    }

    // Several servers: the search and the session after it are both encrypted.
    const several = server.urlOf([server.place, '127.0.0.1:1'], `?sslmode=verify-full&sslrootcert=${ca}`);
    assert.equal(await isEncrypted(several), true);
  });

  it('a statement that was given up is cancelled over TLS too', async (t) => {
    const { server, ca } = await serverWithTls(t);
    const connectionString = server.urlOf([server.place], `?sslmode=verify-full&sslrootcert=${ca}`);
    const database = openWithLimits(connectionString, 1);
    const client = await database.connect();
    await client.query('SET statement_timeout = 0');
    const sleeping = client.query('SELECT pg_sleep(600)').catch(() => {});
    const sleepers = async () =>
      (await server.ask("SELECT FROM pg_stat_activity WHERE query = 'SELECT pg_sleep(600)'")).length;
    // A cancellation that overtakes its statement cancels nothing.
    await eventually('the statement to run', async () => (await sleepers()) === 1);
    client.release(true);
    await eventually('the server to have nothing that sleeps', async () => (await sleepers()) === 0);
    await sleeping;
    await database.end();
  });

  it('a server without TLS is refused where the URL asks for TLS, and never used without', async (t) => {
    const plain = await TestServer.start(t);
    for (const mode of ['prefer', 'require', 'verify-full', 'no-verify']) {
      await assert.rejects(isEncrypted(plain.urlOf([plain.place], `?sslmode=${mode}`)), {
        message: 'DATABASE_URL cannot be used: The server does not support SSL connections',
      });
    }
  });
});
