/** No command makes a store, and each one says at which place there is none. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { processRoles } from '../../src/app/process-roles.ts';
import type { ProgramRoles } from '../../src/app/role-types.ts';
import { TEST_VARIABLES } from '../support/database.ts';
import { emptyDatabaseUrl, openPool } from '../support/empty-database.ts';
import { makeRole } from '../support/runtime-role.ts';

const home = await mkdtemp(join(tmpdir(), 'no-store-'));
after(() => rm(home, { recursive: true, force: true }));

/** What the program can do with a store that is there. Every command of a subject goes by one of the first three. */
const WAYS: Readonly<Record<string, (roles: ProgramRoles) => Promise<unknown>>> = {
  operate: (roles) => roles.operate(async () => assert.fail('there is no store')),
  'operate, unchecked': (roles) => roles.operate(async () => assert.fail('there is no store'), 'unchecked'),
  observe: (roles) => roles.observe(async () => assert.fail('there is no store')),
  'backup create': async (roles) => (await roles.backups()).create(join(home, 'backups')),
};
const OF_OWN_SERVER: typeof WAYS = {
  ...WAYS,
  migrate: (roles) => roles.migrate(false),
  'migrate --distribute': (roles) => roles.migrate(true),
  'migrate --status': (roles) => roles.schema(),
};

describe('with the embedded server', () => {
  const places: readonly (readonly [string, (folder: string) => Promise<void>])[] = [
    ['a folder that is not there', (folder) => rm(folder, { recursive: true, force: true })],
    ['an empty folder', async () => {}],
    ['a folder of other files', (folder) => writeFile(join(folder, 'letter.txt'), 'dear')],
  ];
  for (const [what, prepare] of places) {
    it(`${what}: each command names it and leaves it as it is`, async () => {
      for (const [way, call] of Object.entries(OF_OWN_SERVER)) {
        const folder = await mkdtemp(join(home, 'data-'));
        await prepare(folder);
        const files = existsSync(folder) ? await readdir(folder) : null;
        await assert.rejects(
          call(processRoles({ DATA_DIR: folder, BACKUP_KEY: Buffer.alloc(32, 7).toString('base64') })),
          {
            message: `there is no store in DATA_DIR ${folder}: set DATA_DIR to that of the service, or start the service, which makes one`,
          },
        );
        assert.deepEqual(existsSync(folder) ? await readdir(folder) : null, files, way);
      }
    });
  }

  it('a file in place of the folder is told as such', async () => {
    const file = join(home, 'file');
    await writeFile(file, '');
    const roles = processRoles({ DATA_DIR: file });
    await assert.rejects(
      roles.observe(async () => {}),
      { message: `DATA_DIR is not a directory: ${file}` },
    );
  });
});

describe('with a database of one’s own', () => {
  it('an empty one: each command but migrate names it without the password, and makes no table', async () => {
    const adminUrl = await emptyDatabaseUrl();
    const owner = await makeRole(adminUrl);
    const name = new URL(adminUrl).pathname.slice(1);
    const admin = openPool(adminUrl);
    await admin.query(`ALTER DATABASE ${name} OWNER TO ${owner.name}`);
    const variables = { ...TEST_VARIABLES, CHANNEL: 'log', DATABASE_URL: owner.url };
    for (const way of ['operate', 'operate, unchecked', 'observe']) {
      await assert.rejects(WAYS[way]!(processRoles(variables)), (error: Error) => {
        assert.match(
          error.message,
          new RegExp(`^there is no store in the database ${name} .*\\(DATABASE_URL\\): `),
        );
        assert.ok(!error.message.includes(new URL(owner.url).password));
        return true;
      });
      const { rows } = await admin.query(
        "SELECT count(*)::int AS tables FROM pg_tables WHERE schemaname = 'public'",
      );
      assert.deepEqual(rows, [{ tables: 0 }], way);
    }
    const { pending } = await processRoles(variables).schema();
    assert.ok(pending.length > 0);
    const { applied } = await processRoles(variables).migrate(false);
    assert.equal(applied.length, pending.length);
    await processRoles(variables).operate(async () => {});
  });
});
