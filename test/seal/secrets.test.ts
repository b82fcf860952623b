/** The secrets of an installation: their file, its rights, and which secrets a database accepts. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, describe, it } from 'node:test';
import { v7 as uuidv7 } from 'uuid';
import { closeToOthers } from '../../src/app/private-files.ts';
import { loadWitnesses } from '../../src/app/subjects.ts';
import { toPartnerId } from '../../src/domain/partner/credential.ts';
import { toPhone } from '../../src/domain/phone/phone.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { SetupError } from '../../src/ground/postgres/setup-error.ts';
import { phoneIndexOf, toBigint } from '../../src/seal/blind-indexes.ts';
import { checkSecrets, checkSecretsOfCommand, confirmSecrets, knowsSecrets } from '../../src/seal/secrets.ts';
import { secretsOfDataDir } from '../../src/seal/secrets-file.ts';
import type { Secrets } from '../../src/seal/vault.ts';
import { Vault } from '../../src/seal/vault.ts';
import { sealEnvelope } from '../../src/subjects/applications/sql/envelope.ts';
import { makeSigningSecret } from '../../src/subjects/events/push/http/sign.ts';
import { writeEndpoint } from '../../src/subjects/events/push/sql/endpoints.ts';
import { TEST_SECRETS, testDatabase } from '../support/database.ts';

const WITNESSES = await loadWitnesses();

const { database } = await testDatabase();
const isRoot = process.getuid?.() === 0;
const root = mkdtempSync(join(tmpdir(), 'ventanilla-secrets-'));
after(() => rmSync(root, { recursive: true, force: true }));
const newDir = () => mkdtempSync(join(root, 'data-'));
const key = (name: string) => createHash('sha256').update(name).digest();
const refusal = (message: RegExp) => (error: unknown) =>
  error instanceof SetupError && message.test(error.message);

describe('secretsOfDataDir', () => {
  const plain = ({ dataKeys, indexKey, apiKeyPepper }: Secrets) => ({
    dataKeys: [...dataKeys].map(([id, bytes]) => [id, bytes.toString('hex')]),
    indexKey: indexKey.toString('hex'),
    apiKeyPepper: apiKeyPepper.toString('hex'),
  });

  it('makes secrets of 32 random bytes, readable by their owner only, and gives the same ones the next time', async () => {
    const dir = newDir();
    const made = plain(await secretsOfDataDir(dir, true, machineClock));
    assert.deepEqual(readdirSync(dir), ['secrets.json']);
    assert.equal(statSync(join(dir, 'secrets.json')).mode & 0o777, 0o600);
    for (const mayMake of [true, false]) {
      assert.deepEqual(plain(await secretsOfDataDir(dir, mayMake, machineClock)), made);
    }
    const keys = [...made.dataKeys.map(([, hex]) => hex), made.indexKey, made.apiKeyPepper];
    assert.deepEqual(
      made.dataKeys.map(([id]) => id),
      [1],
    );
    assert.equal(new Set(keys).size, 3);
    for (const hex of keys) assert.match(String(hex), /^[0-9a-f]{64}$/);
    assert.notDeepEqual(plain(await secretsOfDataDir(newDir(), true, machineClock)), made);
  });

  it('the file is on disk, with its folder, before the database remembers the secrets', async (t) => {
    const dir = newDir();
    const handle = await open(dir, 'r');
    const filesThen: string[][] = [];
    t.mock.method(Object.getPrototypeOf(handle), 'sync', async function (this: FileHandle) {
      if ((await this.stat()).ino === statSync(dir).ino) filesThen.push(readdirSync(dir));
    });
    await handle.close();
    await secretsOfDataDir(dir, true, machineClock);
    assert.deepEqual(filesThen, [['secrets.json']]);
    // The process that made the file may have been killed before it synced the folder.
    await secretsOfDataDir(dir, true, machineClock);
    assert.equal(filesThen.length, 2);
  });

  it('a process that is killed while it makes the secrets leaves no copy for long', async () => {
    const dir = newDir();
    const copy = () => writeFileSync(join(dir, 'secrets.json.making-999999999-00'), '{}');
    copy();
    await secretsOfDataDir(dir, true, machineClock);
    assert.deepEqual(readdirSync(dir), ['secrets.json']);
    copy();
    await secretsOfDataDir(dir, false, machineClock);
    assert.deepEqual(readdirSync(dir), ['secrets.json']);
  });

  it('many processes at once get the same secrets, and leave nothing else behind', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const dir = newDir();
      const all = await Promise.all(
        Array.from({ length: 8 }, () => secretsOfDataDir(dir, true, machineClock)),
      );
      for (const other of all) assert.deepEqual(plain(other), plain(all[0] as Secrets));
      assert.deepEqual(readdirSync(dir), ['secrets.json']);
    }
  });

  it('a missing file is refused by name if other secrets may be in use, and none is made', async () => {
    const dir = newDir();
    await assert.rejects(secretsOfDataDir(dir, false, machineClock), refusal(/secrets\.json is missing/));
    assert.deepEqual(readdirSync(dir), []);
  });

  it('an unreadable file is refused by name and left as it is', async () => {
    const dir = newDir();
    mkdirSync(join(dir, 'secrets.json'));
    await assert.rejects(
      secretsOfDataDir(dir, true, machineClock),
      refusal(/secrets\.json cannot be read \(EISDIR\)/),
    );
    if (isRoot) return;
    const other = newDir();
    await secretsOfDataDir(other, true, machineClock);
    chmodSync(join(other, 'secrets.json'), 0);
    await assert.rejects(
      secretsOfDataDir(other, true, machineClock),
      refusal(/secrets\.json cannot be read \(EACCES\)/),
    );
  });

  it('a damaged file is refused and left as it is', async () => {
    const dir = newDir();
    await secretsOfDataDir(dir, true, machineClock);
    const path = join(dir, 'secrets.json');
    const whole = readFileSync(path, 'utf8');
    const file = JSON.parse(whole);
    const damaged = [
      '',
      'null',
      '[]',
      '{}',
      whole.slice(0, -10),
      ...['data_keys', 'index_key', 'api_key_pepper'].map((name) =>
        JSON.stringify({ ...file, [name]: undefined }),
      ),
      JSON.stringify({ ...file, index_key: file.index_key.slice(4) }),
      JSON.stringify({ ...file, api_key_pepper: 12 }),
      ...[
        {},
        [],
        null,
        { '1': 'AAAA' },
        { one: file.index_key },
        { '256': file.index_key },
        [file.index_key],
        [`1:${file.index_key}`, `1:${file.index_key}`],
        [1],
      ].map((data_keys) => JSON.stringify({ ...file, data_keys })),
    ];
    for (const content of damaged) {
      writeFileSync(path, content);
      await assert.rejects(
        secretsOfDataDir(dir, true, machineClock),
        refusal(/secrets\.json is damaged/),
        content,
      );
      assert.equal(readFileSync(path, 'utf8'), content);
    }
    writeFileSync(path, whole);
    assert.deepEqual(
      plain(await secretsOfDataDir(dir, true, machineClock)).indexKey,
      Buffer.from(file.index_key, 'base64').toString('hex'),
    );
  });

  it('the first data key of the list seals, whatever the ids; an object, which has no order, may hold one key', async () => {
    const dir = newDir();
    await secretsOfDataDir(dir, true, machineClock);
    const path = join(dir, 'secrets.json');
    const file = JSON.parse(readFileSync(path, 'utf8'));
    const [one, two] = [key('one').toString('base64'), key('two').toString('base64')];
    const idsOf = async (data_keys: unknown) => {
      writeFileSync(path, JSON.stringify({ ...file, data_keys }));
      return [...(await secretsOfDataDir(dir, true, machineClock)).dataKeys.keys()];
    };
    assert.deepEqual(await idsOf([`2:${two}`, `1:${one}`]), [2, 1]);
    assert.deepEqual(await idsOf([`1:${one}`, `2:${two}`]), [1, 2]);
    assert.deepEqual(await idsOf({ '7': one }), [7]);
    await assert.rejects(idsOf({ '2': two, '1': one }), refusal(/does not say which of its data keys seals/));
  });
});

describe('closeToOthers', () => {
  const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

  it('takes the rights of others away and names the paths; the second time there is nothing to do', async () => {
    const dir = newDir();
    const open = [
      'secrets.json',
      'demo-key',
      'postgres.password',
      'postgres.service-password',
      'postgres.log',
    ].map((name) => join(dir, name));
    for (const path of open) {
      writeFileSync(path, '');
      chmodSync(path, 0o644);
    }
    mkdirSync(join(dir, 'postgres'), { mode: 0o755 });
    chmodSync(dir, 0o775);
    assert.deepEqual((await closeToOthers(dir)).sort(), [dir, ...open, join(dir, 'postgres')].sort());
    assert.equal(modeOf(dir), '700');
    for (const path of open) assert.equal(modeOf(path), '600');
    assert.equal(modeOf(join(dir, 'postgres')), '700');
    assert.deepEqual(await closeToOthers(dir), []);
    assert.deepEqual(await closeToOthers(join(dir, 'none')), []);
  });

  it('what is neither a file nor a folder stays as it is, also behind a link', async () => {
    const dir = newDir();
    const socket = join(dir, 'socket');
    const server = createServer().listen(socket);
    after(() => server.close());
    await once(server, 'listening');
    chmodSync(socket, 0o666);
    assert.deepEqual(await closeToOthers(socket), []);
    symlinkSync(socket, join(dir, 'postgres.log'));
    assert.deepEqual(await closeToOthers(dir), []);
    assert.equal(modeOf(socket), '666');
  });

  it('a new folder is closed; a folder with other uses or another owner is refused and left as it is', async () => {
    const fresh = newDir();
    chmodSync(fresh, 0o755);
    mkdirSync(join(fresh, 'lost+found'));
    assert.deepEqual(await closeToOthers(fresh), [fresh]);

    const project = newDir();
    chmodSync(project, 0o755);
    writeFileSync(join(project, 'package.json'), '{}');
    await assert.rejects(closeToOthers(project), refusal(/^DATA_DIR .* is used for other things too/));
    assert.equal(modeOf(project), '755');
    chmodSync(project, 0o700);
    assert.deepEqual(await closeToOthers(project), []);

    // As root the path may be /dev/null.
    const file = join(newDir(), 'file');
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    await assert.rejects(closeToOthers(file), refusal(/^DATA_DIR is not a directory: /));
    assert.equal(modeOf(file), '644');

    const shared = newDir();
    chmodSync(shared, 0o1777);
    await assert.rejects(closeToOthers(shared), refusal(/^DATA_DIR /));
    if (!isRoot) return;
    const foreign = newDir();
    chmodSync(foreign, 0o755);
    chownSync(foreign, 12_345, 12_345);
    await assert.rejects(closeToOthers(foreign), refusal(/belongs to another user \(uid 12345\)/));
  });
});

describe('a database accepts only its secrets', () => {
  const RIGHT = TEST_SECRETS;
  const withDataKeys = (...names: [id: number, name: string][]): Secrets => ({
    ...RIGHT,
    dataKeys: new Map(names.map(([id, name]) => [id, key(name)])),
  });
  const OTHER_INDEX: Secrets = { ...RIGHT, indexKey: key('other') };
  const OTHER_PEPPER: Secrets = { ...RIGHT, apiKeyPepper: key('other') };
  const OTHER_DATA = withDataKeys([1, 'other']);
  const TWO = withDataKeys([2, 'two'], [1, 'data']);
  const WRONG_TWO = withDataKeys([2, 'wrong'], [1, 'data']);

  afterEach(async () => {
    await database.query(
      'TRUNCATE secret_checks, batches, batch_receipts, partners, suppressions, partner_endpoints CASCADE',
    );
  });

  const seal = (secrets: Secrets) => {
    const id = uuidv7();
    return database.query(
      `INSERT INTO batches (id, created_at, seal_id, partner_id, api_key_id, policy_id, surplus, phones, id_numbers,
        facts, platforms, envelope)
      VALUES (nextval('batch_numbers'), now(), $1, 1, 1, 1, false, '{}', '{}', '', '', $2)`,
      [id, sealEnvelope(new Vault(secrets), id, [])],
    );
  };
  const setEndpoint = (secrets: Secrets) =>
    writeEndpoint(database, new Vault(secrets), toPartnerId(1), {
      url: new URL('https://partner.example/'),
      newSecret: makeSigningSecret(),
    });
  const issueKey = (secrets: Secrets = RIGHT) =>
    database.query(
      `WITH partner AS (INSERT INTO partners (name, country) VALUES ('Acme', 'CO') RETURNING id)
       INSERT INTO api_keys (partner_id, digest, hint, pepper) SELECT id, $1, 'x', $2 FROM partner`,
      [key('digest'), new Vault(secrets).pepperIds[0]],
    );
  const suppress = () =>
    database.query('INSERT INTO suppressions (phone_index, source) VALUES ($1, $2)', [
      toBigint(phoneIndexOf(new Vault(RIGHT), toPhone('+573001234567'))),
      'operator',
    ]);
  const start = async (secrets: Secrets) => {
    await checkSecrets(database, secrets, WITNESSES, machineClock);
    await confirmSecrets(database, secrets, WITNESSES, machineClock);
  };
  const failedStart = (secrets: Secrets) => checkSecrets(database, secrets, WITNESSES, machineClock);
  const command = (secrets: Secrets) => checkSecretsOfCommand(database, secrets, WITNESSES, machineClock);

  type Step = () => Promise<unknown>;
  const rows: [what: string, before: Step[], last: Step, refused: RegExp | null][] = [
    ['the same again', [() => start(RIGHT)], () => start(RIGHT), null],
    ['the same in a command', [() => start(RIGHT)], () => command(RIGHT), null],
    // Nothing depends on these secrets yet, so a mistake of the first start can be corrected.
    ['others, nothing stored', [() => start(OTHER_INDEX)], () => start(RIGHT), null],
    [
      'others in a command first',
      [() => command({ ...OTHER_INDEX, apiKeyPepper: key('x') })],
      () => start(RIGHT),
      null,
    ],
    ['others in a command, then the right ones', [() => command(OTHER_PEPPER)], () => command(RIGHT), null],
    ['a failed start with others', [() => failedStart(OTHER_INDEX), issueKey], () => start(RIGHT), null],
    // A service may run with these secrets at this moment.
    ['others in a command', [() => start(RIGHT)], () => command(OTHER_INDEX), /^INDEX_KEY is not the one/],
    [
      'another data key in a command',
      [() => start(RIGHT)],
      () => command(OTHER_DATA),
      /^DATA_KEYS 1 is not the one/,
    ],
    [
      'another pepper, keys issued',
      [() => start(RIGHT), issueKey],
      () => start(OTHER_PEPPER),
      /^API_KEY_PEPPER is not the one/,
    ],
    [
      'another pepper after a command that issued a key',
      [() => command(RIGHT), issueKey],
      () => command(OTHER_PEPPER),
      /^API_KEY_PEPPER is not/,
    ],
    [
      'another index key, a phone suppressed',
      [() => start(RIGHT), suppress],
      () => start(OTHER_INDEX),
      /^INDEX_KEY is not the one/,
    ],
    [
      'another data key, data sealed',
      [() => start(RIGHT), () => seal(RIGHT)],
      () => start(OTHER_DATA),
      /^DATA_KEYS 1 is not the one/,
    ],
    [
      'no data key of the data',
      [() => start(RIGHT), () => seal(RIGHT)],
      () => start(withDataKeys([2, 'two'])),
      /^DATA_KEYS 1 is missing/,
    ],
    // Data keys are added and removed.
    [
      'one key more, and sealed with',
      [() => start(RIGHT), () => seal(RIGHT), () => start(TWO), () => seal(TWO)],
      () => start(TWO),
      null,
    ],
    [
      'in another order',
      [() => start(TWO), () => seal(TWO), () => seal(RIGHT)],
      () => start(withDataKeys([1, 'data'], [2, 'two'])),
      null,
    ],
    [
      'one key more, sealed with, then without it',
      [() => start(TWO), () => seal(TWO)],
      () => start(RIGHT),
      /^DATA_KEYS 2 is missing/,
    ],
    [
      'one key more that sealed nothing, then without it',
      [() => seal(RIGHT), () => start(TWO)],
      () => start(RIGHT),
      null,
    ],
    [
      'one key more, an endpoint sealed with it, then without it',
      [() => start(TWO), () => setEndpoint(TWO)],
      () => start(RIGHT),
      /^DATA_KEYS 2 is missing/,
    ],
    [
      'another data key, an endpoint sealed',
      [() => start(RIGHT), () => setEndpoint(RIGHT)],
      () => start(OTHER_DATA),
      /^DATA_KEYS 1 is not the one/,
    ],
    [
      'a key that retired: the endpoint was set again under another one',
      [() => start(RIGHT), () => setEndpoint(RIGHT), () => start(TWO), () => setEndpoint(TWO)],
      () => start(withDataKeys([2, 'two'])),
      null,
    ],
    [
      'a key that retired: nothing is sealed with it any more',
      [() => start(TWO), () => seal(TWO)],
      () => start(withDataKeys([2, 'two'])),
      null,
    ],
    [
      'a wrong second key in a command, then the right one',
      [() => start(RIGHT), () => seal(RIGHT), () => command(WRONG_TWO)],
      () => start(TWO),
      null,
    ],
    [
      'a wrong second key in a start, then the right one',
      [() => seal(RIGHT), () => start(WRONG_TWO)],
      () => start(TWO),
      null,
    ],
    [
      'a wrong second key that has sealed',
      [() => start(WRONG_TWO), () => seal(WRONG_TWO)],
      () => start(TWO),
      /^DATA_KEYS 2 is not the one/,
    ],
    // The data decide: secrets that open them are right, whatever was remembered meanwhile.
    [
      'another start with a wrong key while this one served',
      [() => start(RIGHT), () => start(OTHER_DATA), () => seal(RIGHT)],
      () => start(RIGHT),
      null,
    ],
  ];
  for (const [what, before, last, refused] of rows) {
    it(`${what}: ${refused === null ? 'taken' : 'refused'}`, async () => {
      for (const step of before) await step();
      if (refused === null) {
        await last();
        return;
      }
      const remembered = async () => (await database.query('SELECT * FROM secret_checks ORDER BY name')).rows;
      const known = await remembered();
      await assert.rejects(last(), refusal(refused));
      assert.deepEqual(await remembered(), known);
    });
  }

  it('remembers nothing that tells a key', async () => {
    await start(RIGHT);
    const { rows } = await database.query('SELECT * FROM secret_checks');
    assert.equal(rows.length, 3);
    const stored = JSON.stringify(rows).replaceAll('-', '');
    for (const bytes of [RIGHT.indexKey, RIGHT.apiKeyPepper]) {
      assert.ok(!stored.includes(bytes.toString('hex').slice(0, 32)));
    }
  });

  it('a failed start leaves nothing behind; the secrets of a service that is up, or of a command, are remembered', async () => {
    await failedStart(RIGHT);
    assert.equal(await knowsSecrets(database), false);
    await command(RIGHT);
    assert.equal(await knowsSecrets(database), true);
  });

  it('of several first starts with different peppers only the one of an issued key is accepted', async () => {
    const all = ['a', 'b', 'c', 'd'].map((name): Secrets => ({ ...RIGHT, apiKeyPepper: key(name) }));
    await issueKey(all[1]);
    const outcomes = await Promise.allSettled(all.map((secrets) => start(secrets)));
    assert.deepEqual(
      outcomes.map(({ status }) => status === 'fulfilled'),
      [false, true, false, false],
    );
  });
});
