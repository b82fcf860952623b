/** The page that checks a file of applicants: it shows what `submit --dry-run` tells, and a member sends nothing. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { applicant, csvOf, fileOf, sheetsOf, xlsxOf } from '../../packages/submit/test/files.ts';
import { DESKTOP, PHONE, skip, testBrowser } from '../support/browser.ts';
import { PATIENCE_MS } from '../support/eventually.ts';
import { check } from '../support/page-faults.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
/** As the listeners of the pages say it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'";
const MOUNT = `
import { createRoot } from 'react-dom/client';
import './console/src/base.css';
import { LanguageContext } from './console/src/texts/texts.ts';
import SendPage from './portal/src/send/send-page.tsx';
const language = new URLSearchParams(location.search).get('lang') ?? 'en';
document.documentElement.lang = language;
createRoot(document.getElementById('root')).render(
  <LanguageContext value={language}>
    <main><SendPage person={{ role: 'member', partner: { country: 'CO' } }} /></main>
  </LanguageContext>,
);`;
const MARKUP = '<img src=x onerror=alert(1)>\u202eAna';
const LIST = [
  applicant(),
  applicant({ id_number: '1020304051', phone: '3005550102', income: '1.500', city: MARKUP }),
  applicant({ id_number: '1020304052', phone: '', income: '$ 3.200.000', debt_age: 'Más de 2 años' }),
  applicant({ id_number: '1020304053', phone: '+573005550104', name: 'Mu?oz', city: '=1+1' }),
].map((one) => ({ ...one, Código: '+57 300 555 0199' }));

describe('the page that checks a file', { skip, timeout: 4 * PATIENCE_MS }, async () => {
  if (skip) return;
  const { outputFiles } = await build({
    stdin: { contents: MOUNT, resolveDir: REPOSITORY, loader: 'tsx' },
    bundle: true,
    splitting: true,
    format: 'esm',
    target: 'es2022',
    jsx: 'automatic',
    platform: 'browser',
    outdir: '/',
    write: false,
    define: { 'process.env.NODE_ENV': '"production"' },
  });
  const built = new Map(outputFiles.map(({ path, contents }) => [path, contents]));
  const server = createServer(({ url = '/' }, response) => {
    const path = url.replace(/\?.*/, '');
    const type = { js: 'text/javascript', css: 'text/css' }[path.split('.').at(-1) ?? ''] ?? 'text/html';
    response.setHeader('Content-Type', `${type}; charset=utf-8`).setHeader('Content-Security-Policy', POLICY);
    if (path === '/favicon.ico') return response.writeHead(204).end();
    response.end(
      built.get(path) ??
        '<!doctype html><html><head><title>x</title><meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/stdin.css"><script type="module" src="/stdin.js"></script></head><body><div id="root"></div></body></html>',
    );
  }).listen(0);
  after(() => server.close());
  const url = `http://localhost:${(server.address() as AddressInfo).port}`;
  const visit = testBrowser(url);

  const choose = (page: Page, path: string) => page.locator('input[type=file]').setInputFiles(path);
  const choice = (page: Page, label: RegExp, option: RegExp) => answer(page, label, option);

  for (const screen of [DESKTOP, PHONE]) {
    it(`asks as submit does, shows each row and its faults, and gives the refused rows, ${screen.viewport.width} px`, async () => {
      const path = fileOf('lista.csv', csvOf(LIST));
      await visit(screen, async (page) => {
        const sent: string[] = [];
        await page.getByRole('button', { name: 'Choose a file' }).waitFor();
        await check(page, 'send-empty');
        page.on('request', (request) => sent.push(`${request.method()} ${new URL(request.url()).pathname}`));
        await choose(page, path);
        await page.getByRole('heading', { name: 'Questions' }).waitFor();
        await check(page, 'send-questions');
        await page.getByText('Only an owner sends a file.').waitFor();
        await choice(page, /point and comma/, /the comma separates/);
        await choice(page, /Más de 2 años/, /^gt2$/);
        await choice(page, /Column “Código”/, /^Leave it out$/);
        await page.getByRole('checkbox', { name: 'Only rows with faults' }).check();
        const row = page.getByRole('row', { name: /^5 / });
        await row.getByText('Mu?oz').waitFor();
        await page
          .getByRole('row', { name: /text is damaged/ })
          .last()
          .waitFor();
        await page.getByRole('checkbox', { name: 'Only rows with faults' }).uncheck();
        const second = page.getByRole('row', { name: /^3 / });
        await second.getByText('1500', { exact: true }).waitFor();
        await second.getByText('<img src=x onerror=alert(1)>', { exact: false }).waitFor();
        await check(page, 'send-read');
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name: /^Download the rows/ }).click(),
        ]);
        assert.equal(download.suggestedFilename(), 'lista.csv.rejected.csv');
        const options = ['--country', 'CO', '--decimal', 'comma', '--lang', 'en', '--ignore', 'Código'];
        const map = ['--map', 'debt_age:Más de 2 años=gt2'];
        spawnSync(process.execPath, ['src/start.js', 'submit', path, '--dry-run', ...options, ...map], {
          cwd: REPOSITORY,
        });
        assert.equal(
          readFileSync(await download.path(), 'utf8'),
          readFileSync(`${path}.rejected.csv`, 'utf8'),
        );
        assert.deepEqual(
          sent.filter((one) => !/^GET \/[\w-]+\.js$/.test(one) && !one.startsWith('GET /null')),
          [],
          'nothing is sent',
        );
      });
    });
  }

  it('reads the sheet and the row of names that a person chooses, and tells its faults in Portuguese', async () => {
    const names = Object.keys(applicant());
    const of = (changes: Parameters<typeof applicant>[0]) => Object.values(applicant(changes)).map(String);
    const path = fileOf(
      'planilhas.xlsx',
      sheetsOf(
        { name: 'Primeira', rows: [names, of({ name: 'Ana' })] },
        { name: MARKUP, rows: [names, of({ name: 'Título' }), names, of({ name: 'Bia', income: '0' })] },
      ),
    );
    await visit(
      PHONE,
      async (page) => {
        await page.getByRole('button', { name: 'Escolher um arquivo' }).waitFor();
        await choose(page, path);
        await page.getByRole('cell', { name: 'Ana', exact: true }).waitFor();
        await page.getByText('Outra planilha, ou outra linha de nomes').click();
        await page.getByLabel('Planilha').selectOption({ index: 1 });
        await page
          .getByRole('alert')
          .or(page.getByRole('cell', { name: 'Título' }))
          .first()
          .waitFor();
        await page.getByLabel('Linha com os nomes das colunas').fill('3');
        await page.getByRole('button', { name: 'Ler de novo' }).click();
        await page.getByRole('cell', { name: 'Bia', exact: true }).waitFor();
        await page.getByText('income é obrigatório e deve ser > 0 (numérico)').first().waitFor();
        await check(page, 'send-sheet');
      },
      { path: '/?lang=pt' },
    );
  });

  it('stays usable while it reads 10,000 rows of a sheet, and tells damaged files', async () => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      applicant({
        id_number: `10203${index + 10_000}3`,
        phone: `+5730055${index + 10_000}`,
        name: `Ana Gómez ${index}`,
      }),
    );
    const large = fileOf('many.xlsx', xlsxOf(many));
    const damaged = fileOf('damaged.xlsx', xlsxOf(LIST).subarray(0, 500));
    await visit(
      DESKTOP,
      async (page) => {
        await page.getByRole('button', { name: 'Elegir un archivo' }).waitFor();
        await page.evaluate(`window.turns = 0; setInterval(() => { window.turns += 1; }, 20)`);
        await choose(page, large);
        await page.getByText('1 a 25 de 10.000').waitFor();
        // A page that works in one piece has no turn until its end.
        assert.ok(Number(await page.evaluate('window.turns')) > 10);
        await page.getByRole('button', { name: 'Filas siguientes' }).click();
        await page.getByText('26 a 50 de 10.000').waitFor();
        await choose(page, damaged);
        await page
          .getByRole('alert')
          .getByText(/damaged\.xlsx: está dañado o incompleto/)
          .waitFor();
      },
      { path: '/?lang=es' },
    );
  });
});

async function answer(page: Page, label: RegExp, option: RegExp): Promise<void> {
  const select = page.getByLabel(label);
  const text = await select.locator('option').filter({ hasText: option }).first().textContent();
  await select.selectOption({ label: text ?? '' });
}
