/** `ventanilla operator` (D48). */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, it } from 'node:test';
import { forgetPlace, notePlace } from '../../src/subjects/operators/uses/console-place.ts';
import { commandLine } from '../cli/harness.ts';
import { PASSWORD, startTestConsole, tokenOf } from '../support/console.ts';
import { testDatabase } from '../support/database.ts';

const store = await testDatabase();
const { database } = store;
const { run, json } = commandLine(store);
const desk = await startTestConsole(store);
beforeEach(() =>
  database.query(`
    DELETE FROM operator_sessions; DELETE FROM operators`),
);
const add = (login: string, role: string, ...more: string[]) =>
  json('operator', 'add', '--login', login, '--role', role, ...more);
const fail = async (...args: string[]) => {
  const { code, err } = await run(...args);
  assert.notEqual(code, 0, args.join(' '));
  return err;
};

describe('operator add', () => {
  it('prints the id, the login and a link with a token, which works', async () => {
    const added = await add(
      ' Ana.Diaz ',
      'reviewer',
      '--authority',
      'COP=5000000',
      '--authority',
      'usd=1200.5',
    );
    assert.equal(added.login, 'ana.diaz');
    assert.deepEqual(added.authority, { COP: '5000000', USD: '1200.50' });
    const token = tokenOf(added.link);
    const begun = await desk
      .visitor()
      .ask('POST', '/api/enrolment', { token, password: 'seven wet umbrellas' });
    assert.equal(begun.status, 200);
    assert.deepEqual((await json('operator', 'list'))[0].enrolled_at, null);
  });

  it('says that the link begins with the usual origin where nothing tells where the console is', async () => {
    const told = async (variables: Record<string, string>) => {
      await database.query('DELETE FROM operators');
      const { out } = await commandLine(store, variables).run(
        ...['operator', 'add', '--login', 'ana', '--role', 'viewer'],
      );
      return /begins with the usual origin of the console/.test(out);
    };
    assert.equal(await told({}), true);
    assert.equal(await told({ CONSOLE_PORT: '8082' }), false);
    assert.equal(await told({ CONSOLE_URL: 'https://desk.example' }), false);
  });

  it('takes the place of the console that a service has noted, which may be another one than the usual', async (context) => {
    await database.query('DELETE FROM operators');
    const folder = await mkdtemp(join(tmpdir(), 'ventanilla-console-'));
    context.after(() => rm(folder, { recursive: true }));
    const added = async (login: string) =>
      (
        await commandLine(store, { DATA_DIR: folder }).run(
          ...['operator', 'add', '--login', login, '--role', 'viewer'],
        )
      ).out;
    await notePlace(folder, 'operator', 'http://localhost:39565');
    assert.match(await added('ana'), /\nhttp:\/\/localhost:39565\/#token=\S+\n$/);
    await forgetPlace(folder, 'operator', 'http://localhost:39565');
    assert.match(await added('eva'), /localhost:8082[\s\S]*usual origin/);
  });

  it('refuses a login that is taken or breaks its rule, an unknown role, and a wrong amount', async () => {
    await add('ana', 'viewer');
    assert.match(
      await fail('operator', 'add', '--login', 'ANA', '--role', 'viewer'),
      /an operator ana already/,
    );
    assert.match(await fail('operator', 'add', '--login', '1', '--role', 'viewer'), /begin with a letter/);
    assert.match(
      await fail('operator', 'add', '--login', 'eva', '--role', 'boss'),
      /viewer, reviewer, admin/,
    );
    for (const amount of ['COP', 'COP=0', 'COP=-1', 'COP=1.234', 'XXX=5', 'COP=1e6']) {
      assert.match(
        await fail('operator', 'add', '--login', 'eva', '--role', 'viewer', '--authority', amount),
        /It must be a currency and the largest amount.*such as COP=5000000/s,
      );
    }
    assert.match(
      await fail(
        ...['operator', 'add', '--login', 'eva', '--role', 'viewer'],
        ...['--authority', 'COP=5', '--authority', 'cop=7'],
      ),
      /COP has an amount already/,
    );
    assert.equal((await json('operator', 'list')).length, 1);
  });
});

describe('operator role', () => {
  it('changes the role, and replaces all amounts or takes them away', async () => {
    await add('ana', 'viewer', '--authority', 'COP=5', '--authority', 'MXN=7');
    const changed = await json('operator', 'role', 'ana', '--role', 'reviewer', '--authority', 'MXN=9');
    assert.deepEqual([changed.role, changed.authority], ['reviewer', { MXN: '9' }]);
    const taken = await json('operator', 'role', 'ana', '--authority', 'none');
    assert.deepEqual([taken.role, taken.authority], ['reviewer', {}]);
    for (const [one, other] of [
      ['COP=5', 'none'],
      ['none', 'COP=5'],
    ] as const)
      assert.match(
        await fail('operator', 'role', 'ana', '--authority', one, '--authority', other),
        /none stands alone/,
      );
    assert.match(await fail('operator', 'role', 'ana'), /--role, the new --authority, or both/);
    assert.match(await fail('operator', 'role', 'eva', '--role', 'viewer'), /no operator with this login/);
  });
});

describe('the record of operator add and operator role', () => {
  it('has role and amounts as they are from then on', async () => {
    const { id } = await add('ana', 'viewer', '--authority', 'COP=5', '--authority', 'MXN=20000.50');
    await json('operator', 'role', 'ana', '--role', 'reviewer');
    await json('operator', 'role', 'ana', '--authority', 'MXN=9');
    await add('eva', 'viewer');
    const rows: { act: string; target: string }[] = await json('audit', 'list');
    assert.deepEqual(
      rows.slice(0, 4).map(({ act, target }) => [act, target]),
      [
        ['operator add', `operator ${id + 1}: viewer, decides alone on nothing`],
        ['operator role', `operator ${id}: reviewer, decides alone on MXN=9`],
        ['operator role', `operator ${id}: reviewer, decides alone on COP=5, MXN=20000.50`],
        ['operator add', `operator ${id}: viewer, decides alone on COP=5, MXN=20000.50`],
      ],
    );
  });
});

describe('operator sign-out', () => {
  it('ends all sessions, and the operator may sign in again', async () => {
    const { signIn, login, nextCode, id } = await desk.enrolled('ana', 'viewer');
    const [first, second] = [await signIn(), await signIn()];
    const other = await (await desk.enrolled('eva', 'viewer')).signIn();
    await json('operator', 'sign-out', login);
    for (const visitor of [first, second])
      assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
    assert.equal((await other.ask('GET', '/api/session')).status, 200);
    const again = desk.visitor();
    await again.ask('POST', '/api/session', { login, password: PASSWORD });
    assert.equal((await again.ask('POST', '/api/session/totp', { code: await nextCode() })).status, 200);
    const row = (await json('audit', 'list')).find(({ act }: { act: string }) => act === 'operator sign-out');
    assert.equal(row.target, `operator ${id}`);
  });
});

describe('the last admin', () => {
  it('keeps the role and the account, until there is another one', async () => {
    await add('ana', 'admin');
    assert.match(await fail('operator', 'role', 'ana', '--role', 'viewer'), /the last admin/);
    assert.match(await fail('operator', 'disable', 'ana'), /the last admin/);
    await add('eva', 'admin');
    assert.notEqual((await json('operator', 'disable', 'ana')).disabled_at, null);
  });

  it('who can sign in keeps them where the others have set no factors', async () => {
    await desk.enrolled('ana', 'admin');
    await add('eva', 'admin');
    assert.match(await fail('operator', 'disable', 'ana'), /the last admin who can sign in/);
  });

  it('is not removed by two changes at the same moment', async () => {
    for (let i = 0; i < 5; i += 1) {
      await database.query('DELETE FROM operators');
      await add('ana', 'admin');
      await add('eva', 'admin');
      const codes = await Promise.all(
        ['ana', 'eva'].map(async (login) => (await run('operator', 'disable', login)).code),
      );
      assert.deepEqual(codes.toSorted(), [0, 1]);
    }
  });
});

describe('operator reset-factors and disable', () => {
  it('end the sessions at once, and the password works no more', async () => {
    for (const command of ['reset-factors', 'disable']) {
      const { signIn, login } = await desk.enrolled(`op-${command}`, 'viewer');
      const visitor = await signIn();
      await run('operator', command, login);
      assert.equal((await visitor.ask('GET', '/api/session')).status, 401);
      const again = await desk
        .visitor()
        .ask('POST', '/api/session', { login, password: 'seven wet umbrellas' });
      assert.equal(again.status, 401);
    }
  });

  it('refuse a disabled operator', async () => {
    await add('ana', 'viewer');
    await run('operator', 'disable', 'ana');
    for (const args of [
      ['reset-factors', 'ana'],
      ['sign-out', 'ana'],
      ['disable', 'ana'],
      ['role', 'ana', '--role', 'admin'],
    ]) {
      assert.match(await fail('operator', ...args), /the operator ana is disabled/);
    }
    assert.match(
      await fail('operator', 'add', '--login', 'ana', '--role', 'viewer'),
      /an operator ana already, who is disabled: take another login/,
    );
  });

  it('are recorded by the id', async () => {
    const { id } = await add('ana', 'viewer');
    await run('operator', 'reset-factors', 'ana');
    await run('operator', 'disable', 'ana');
    const acts = (await json('audit', 'list')).filter(
      ({ target }: { target: string | null }) => target?.split(':')[0] === `operator ${id}`,
    );
    assert.deepEqual(
      acts.map(({ act }: { act: string }) => act),
      ['operator disable', 'operator reset-factors', 'operator add'],
    );
  });
});
