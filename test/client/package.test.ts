/** The published package: its files, that it runs, and that it has types. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { PATIENCE_MS } from '../support/eventually.ts';
import { testService } from '../support/service.ts';
import { REPOSITORY } from '../support/sources.ts';
import { missing, toolFile } from '../support/tools.ts';
import { CLIENT, packedClient, run } from './packed.ts';
import { inputs, stored } from './support.ts';

const bounded = { timeout: PATIENCE_MS };

const service = await testService();
const { tarball, project, installed } = await packedClient();
const readJson = (...path: string[]) => JSON.parse(readFileSync(join(...path), 'utf8'));

it('the sources import only each other, and each is short and has a header', () => {
  const names = readdirSync(join(CLIENT, 'src'));
  assert.ok(names.length >= 8);
  for (const name of names) {
    const text = readFileSync(join(CLIENT, 'src', name), 'utf8');
    for (const [, specifier] of text.matchAll(/\bfrom\s+'([^']+)'|\bimport\s*\(/g)) {
      assert.ok(names.includes(String(specifier).replace(/^\.\//, '')), `${name} imports ${specifier}`);
    }
    assert.ok(text.split('\n').length <= 200, name);
    assert.match(text, /^\/\*\*/, name);
    assert.doesNotMatch(text, /\b(TODO|FIXME|console\.)/, name);
  }
});

it('the package needs no other package, and holds only JavaScript and types', () => {
  const { dependencies, peerDependencies, optionalDependencies } = readJson(installed, 'package.json');
  assert.deepEqual([dependencies, peerDependencies, optionalDependencies], [undefined, undefined, undefined]);
  assert.deepEqual(readdirSync(installed).sort(), ['LICENSE', 'README.md', 'dist', 'package.json']);
  const names = readdirSync(join(installed, 'dist'), { recursive: true, encoding: 'utf8' });
  assert.deepEqual(names.filter((name) => !/\.(js|d\.ts)$/.test(name)).sort(), [
    'cjs',
    join('cjs', 'package.json'),
  ]);
});

it('the client is built by the TypeScript of the repository, from either lock file', () => {
  const pinned = readJson(REPOSITORY, 'package.json').devDependencies.typescript;
  assert.deepEqual(readJson(CLIENT, 'package.json').devDependencies, { typescript: pinned });
  const { packages } = readJson(CLIENT, 'package-lock.json');
  assert.equal(packages['node_modules/typescript'].version, pinned);
});

it('publint finds nothing in the tarball', { ...bounded, skip: missing('publint') }, async () => {
  const { stdout } = await run(process.execPath, [toolFile('publint'), tarball, '--strict']);
  assert.match(stdout, /All good/);
});

it('arethetypeswrong finds nothing in the tarball', { ...bounded, skip: missing('attw') }, async () => {
  const { stdout } = await run(process.execPath, [toolFile('attw'), tarball, '--no-color']);
  assert.match(stdout, /No problems found/);
});

it('every export has a docstring', () => {
  for (const name of ['client', 'errors', 'events', 'options', 'webhook', 'wire']) {
    const text = readFileSync(join(installed, 'dist', `${name}.d.ts`), 'utf8');
    assert.deepEqual(text.match(/(?<!\*\/\n)^export (?!\{\}).*/gm) ?? [], [], name);
  }
});

const program = `const client = new VentanillaClient({ url: process.env.URL, apiKey: process.env.KEY });
  client.submit(JSON.parse(process.env.INPUTS)).then(async (outcomes) => {
    console.log(outcomes.map(({ kind }) => kind).join(), (await client.quota()).used24h, VentanillaError.name);
    const event = await verifyWebhook(process.env.BODY, JSON.parse(process.env.HEADERS), process.env.SECRET);
    console.log(event.type, event.data.idNumber);
  });`;
const SECRET = `whsec_${Buffer.alloc(32, 1).toString('base64')}`;
const BODY = JSON.stringify({
  id: 'evt_1',
  type: 'application.interested',
  timestamp: '2026-11-22T10:00:00.000+00:00',
  data: { id: 346, id_number: '1020304050' },
});

function signedHeaders(): Record<string, string> {
  const now = new Date();
  return {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(SECRET).sign('evt_1', now, BODY),
  };
}

const IMPORTS = {
  'program.mjs': "import { VentanillaClient, VentanillaError, verifyWebhook } from 'ventanilla-client';",
  'program.cjs': "const { VentanillaClient, VentanillaError, verifyWebhook } = require('ventanilla-client');",
};
for (const [version, node, skip] of [
  ['20', toolFile('node 20'), missing('node 20')],
  ['24', process.execPath, false],
] as const) {
  it(`programs import and require the installed package on Node ${version}`, {
    ...bounded,
    skip,
  }, async () => {
    assert.match((await run(node, ['--version'])).stdout, new RegExp(`^v${version}\\.`));
    for (const [name, head] of Object.entries(IMPORTS)) {
      const { apiKey, partnerId } = await service.addPartner();
      await writeFile(join(project, name), `${head}\n${program}`);
      const pushed = { BODY, HEADERS: JSON.stringify(signedHeaders()), SECRET };
      const env = { URL: `${service.url}/PRO`, KEY: apiKey, INPUTS: JSON.stringify(inputs(2)), ...pushed };
      const { stdout, stderr } = await run(node, [name], { cwd: project, env });
      assert.equal(
        stdout,
        'registered,registered 2 VentanillaError\napplication.interested 1020304050\n',
        name,
      );
      assert.equal(stderr, '', name);
      assert.equal(await stored(service.database, partnerId), 2);
    }
  });
}

const TYPED = `import { type Application, type Outcome, type PartnerEvent, VentanillaClient, verifyWebhook } from 'ventanilla-client';
  const client = new VentanillaClient({ url: '', apiKey: '' });
  export async function f(list: Application[]): Promise<number[]> {
    const outcomes: Outcome[] = await client.submit(list);
    for await (const { index, outcome } of client.stream(list)) {
      if (outcome.kind === 'registered') index satisfies number;
      // @ts-expect-error an invalid one has no score
      if (outcome.kind === 'invalid') outcome.score;
    }
    return outcomes.map((outcome) => (outcome.kind === 'quota_exceeded' ? outcome.remaining : 0));
  }
  export function of(event: PartnerEvent): string | null {
    switch (event.type) {
      case 'application.status_changed': {
        const to: 'pending_signature' | 'in_review' | 'rejected' | 'disbursed' = event.data.to;
        return event.data.reasonCode === 'suspected_fraud' ? to : event.data.idNumber;
      }
      case 'application.interested':
        // @ts-expect-error only a changed status has a reason
        return event.data.reasonCode;
      case 'message.failed':
        return event.data.message;
      case 'income.verified':
      case 'conversation.ended':
        return event.data.outcome;
      case 'unknown':
        return event.sentType;
      default:
        // @ts-expect-error an event of a conversation has an outcome only where it ended or an income was checked
        return event.data.outcome;
    }
  }
  export async function g(request: Request, nodes: { headers: Record<string, string | string[] | undefined> }) {
    const event = await verifyWebhook(await request.text(), request.headers, ['', '']);
    if (event.type !== 'endpoint.test') of(event);
    return verifyWebhook(new Uint8Array(), nodes.headers, '', { toleranceSeconds: 60, now: new Date() });
  }`;
const RESOLUTIONS = { node16: 'node16', nodenext: 'nodenext', bundler: 'esnext' };
for (const [compiler, tsc, skip] of [
  ['TypeScript 5', toolFile('typescript 5'), missing('typescript 5')],
  ['the repository’s TypeScript', join(REPOSITORY, 'node_modules/typescript/bin/tsc'), false],
] as const) {
  it(`${compiler} finds the types, and they need none of Node`, { ...bounded, skip }, async () => {
    const files = ['typed.mts', 'typed.cts'];
    for (const name of files) await writeFile(join(project, name), TYPED);
    const compilerOptions = {
      noEmit: true,
      strict: true,
      target: 'es2022',
      lib: ['es2022', 'dom'],
      types: [],
    };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }));
    for (const [resolution, module] of Object.entries(RESOLUTIONS)) {
      const how = ['--module', module, '--moduleResolution', resolution];
      const compiled = run(process.execPath, [tsc, '-p', project, ...how]);
      const said = await compiled.then(
        () => 'compiles',
        ({ stdout }) => stdout,
      );
      assert.equal(said, 'compiles', resolution);
    }
  });
}
