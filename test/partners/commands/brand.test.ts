/** `ventanilla key brand` and `key issue --brand`. */
import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Credentials } from '../../../src/subjects/partners/sql/credentials.ts';
import { authenticator } from '../../../src/subjects/partners/uses/authenticate.ts';
import { commandLine } from '../../cli/harness.ts';
import { testDatabase } from '../../support/database.ts';

const store = await testDatabase();
const { run, json } = commandLine(store);
const authenticate = authenticator(store.vault, new Credentials(store.database, store.vault), () => {});
const folder = await mkdtemp(join(tmpdir(), 'ventanilla-brand-'));
after(() => rm(folder, { recursive: true }));

const { id: partner } = await json('partner', 'add', '--name', 'Acme', '--country', 'CO');

async function fileOf(brand: unknown): Promise<string> {
  const file = join(folder, 'brand.json');
  await writeFile(file, typeof brand === 'string' ? brand : JSON.stringify(brand));
  return file;
}

function issue(...more: string[]) {
  return json('key', 'issue', '--partner', `${partner}`, ...more);
}

test("a key without a brand sends the default texts in its partner's name", async () => {
  const { id } = await issue();
  const brand = await json('key', 'brand', 'show', `${id}`);
  assert.deepEqual(Object.keys(brand), [
    'partner',
    'texts',
    'buttons',
    'templates',
    'rejected_reasons',
    'after_review',
    'conversation',
  ]);
  assert.deepEqual([brand.partner, brand.after_review], ['Acme', true]);
  assert.deepEqual(brand.templates.offer, {
    name: 'ventanilla_offer',
    languages: { es: 'es', pt: 'pt_BR' },
    parameters: ['name', 'partner', 'debt'],
  });
  assert.deepEqual(brand.buttons.offer, { es: ['Me interesa'], pt: ['Tenho interesse'] });
});

test('show previews every type in both languages, as a made-up applicant reads it', async () => {
  const { id } = await issue();
  const { out } = await run('key', 'brand', 'show', `${id}`);
  assert.deepEqual(out.match(/^(approved|offer|rejected), (es|pt)$/gm), [
    'approved, es',
    'approved, pt',
    'offer, es',
    'offer, pt',
    'rejected, es',
    'rejected, pt',
  ]);
  assert.match(out, /^text +Hola, Luz Marina: Acme y Ventanilla aprobaron .* \$\u00a08\.000\.000\. /m);
  assert.match(out, /^text +Olá, João Silva: Acme e Ventanilla podem .* R\$\u00a08\.500,00\. /m);
  assert.match(out, /^buttons +\[ Tenho interesse \]$/m);
  assert.match(out, /^template +ventanilla_rejected \(pt_BR\)$/m);
  assert.match(out, /^parameters +Luz Marina \| Acme \| \$\u00a08\.000\.000$/m);
});

test('D40: show says whether applicants who got a message before get one after a review', async () => {
  const { id } = await issue();
  assert.match((await run('key', 'brand', 'show', `${id}`)).out, /^A review also sends its message/m);
  const set = await json('key', 'brand', 'set', `${id}`, await fileOf({ after_review: false }));
  assert.equal(set.after_review, false);
  assert.match(
    (await run('key', 'brand', 'show', `${id}`)).out,
    /^A review sends no message .*\(after_review\)\.$/m,
  );
});

test('D32: a brand is set and shown, rotation keeps it, and would_notify shows its template', async () => {
  const { id, api_key: apiKey } = await issue();
  const file = await fileOf({ partner: 'Acme Repartos', templates: { offer: { name: 'acme_offer' } } });
  const set = await json('key', 'brand', 'set', `${id}`, file);
  assert.deepEqual([set.partner, set.templates.offer.name], ['Acme Repartos', 'acme_offer']);
  assert.deepEqual(await json('key', 'brand', 'show', `${id}`), set);
  assert.deepEqual((await authenticate(apiKey, 'PRO'))?.templates, {
    approved: 'ventanilla_approved',
    offer: 'acme_offer',
    rejected: 'ventanilla_rejected',
    reminder: 'ventanilla_reminder',
    rejected_reasons: 'ventanilla_rejected_reasons',
  });
  const successor = await json('key', 'rotate', `${id}`);
  assert.deepEqual(await json('key', 'brand', 'show', `${successor.id}`), set);
  // The output of show can be set again.
  assert.deepEqual(await json('key', 'brand', 'set', `${id}`, await fileOf(set)), set);
  assert.match((await run('key', 'brand', 'set', `${id}`, file)).out, /^Key \d+ of Acme has its new brand/);
});

test('D32: a brand that only names templates is shown unchanged', async () => {
  const brand = { templates: { offer: 'acme_offer' } };
  const issued = await issue('--brand', await fileOf(brand));
  assert.deepEqual(issued.brand, brand);
  const credential = await authenticate(issued.api_key, 'PRO');
  assert.deepEqual(credential?.templates.offer, 'acme_offer');
  assert.deepEqual(credential?.templates.approved, 'ventanilla_approved');
});

/** One of each kind; `test/domain/partner/brand.test.ts` has every fault of a brand. */
const REFUSED: readonly (readonly [content: string, message: RegExp])[] = [
  ['{', /brand\.json must hold JSON/],
  ['{"name":"A","name":"B"}', /brand\.json must hold JSON: an object has the name "name" twice/],
  ['{"buttons": {"offer": {"es": ["a", "a"]}}}', /brand\.json: buttons\.offer\.es: has the same title twice/],
];
for (const [content, message] of REFUSED) {
  test(`issue and set both refuse it, and nothing changes: ${content}`, async () => {
    const { id } = await issue('--brand', await fileOf({ partner: 'Former' }));
    const keys = (await json('key', 'list')).length;
    const file = await fileOf(content);
    for (const command of [
      ['key', 'issue', '--partner', `${partner}`, '--brand', file],
      ['key', 'brand', 'set', `${id}`, file],
    ]) {
      const { code, out, err } = await run(...command);
      assert.deepEqual([code, out], [1, '']);
      assert.match(err, message);
    }
    assert.equal((await json('key', 'brand', 'show', `${id}`)).partner, 'Former');
    assert.equal((await json('key', 'list')).length, keys);
  });
}

test('the error names a missing file or key', async () => {
  const { id } = await issue();
  const none = join(folder, 'none.json');
  assert.match((await run('key', 'brand', 'set', `${id}`, none)).err, /none\.json cannot be read \(ENOENT\)/);
  assert.match((await run('key', 'brand', 'set', '9999', await fileOf({}))).err, /no key 9999/);
  assert.match((await run('key', 'brand', 'show', '9999')).err, /no key 9999/);
  assert.equal((await run('key', 'brand', 'set', `${id}`)).code, 2);
});
