/** The page of the console in a real browser. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { TOTP } from 'otpauth';
import { DESKTOP, PHONE, skip } from '../support/browser.ts';
import { PASSWORD } from '../support/console.ts';
import { consoleInBrowser, EMPTY_QUEUE, NO_PROPOSALS } from '../support/console-browser.ts';
import { check } from '../support/page-faults.ts';

/** The most bytes that a browser gets before it shows the page. */
const FIRST_LOAD = 200_000;

describe('the console in a browser', { skip }, async () => {
  if (skip) return;
  const { store, desk, visit } = await consoleInBrowser([...EMPTY_QUEUE, NO_PROPOSALS]);

  it('an operator enrols by a link whose token leaves the address, signs in by keyboard alone, and signs nobody out but herself (D48)', async () => {
    const { token } = await desk.invite('ana.maria', 'reviewer');
    const bea = await desk.enrolled('bea', 'reviewer');
    await visit(
      { ...PHONE, locale: 'en-US' },
      async (page) => {
        await page.getByRole('heading', { name: 'Set up your account' }).waitFor();
        assert.equal(page.url(), `${desk.url()}/`);
        await page.getByText(/12 to 128 characters that nobody would guess/).waitFor();
        await check(page, 'enrol');
        await page.getByText('This is the account ana.maria.').waitFor();
        // Before anything is sent: the service would answer the same in one language alone.
        for (const [password, said] of [
          ['my ana.maria umbrella', 'must not contain your login, ana.maria.'],
          ['iloveyou1234', 'is a known one, or easy to guess'],
        ] as const) {
          await page.getByLabel('Password').fill(password);
          await page.getByRole('alert').getByText(said).waitFor();
        }
        await page.getByLabel('Password').fill('short');
        assert.equal(await page.getByRole('alert').count(), 0);
        await page.keyboard.press('Enter');
        await page.getByRole('alert').getByText('12 characters or more').waitFor();
        await check(page, 'password-fault');
        await page.getByLabel('Password').fill(PASSWORD);
        await page.keyboard.press('Enter');
        const key = await page.getByText(/^[A-Z2-7]{32}$/).textContent();
        await check(page, 'app');
        const totp = new TOTP({ secret: key! });
        await page.getByLabel('Code of the authenticator app').fill(totp.generate());
        await page.keyboard.press('Enter');
        await page.getByRole('heading', { name: 'Recovery codes' }).waitFor();
        await check(page, 'codes');
        const recovery = await page.getByRole('listitem').first().textContent();
        const codes = await page.getByRole('listitem').allTextContents();
        const text = `Recovery codes, ${desk.url()}\nEach code signs you in once without the app. Keep them in a safe place: they are not shown again.\n\n${codes.join('\n')}\n`;
        const download = page.waitForEvent('download');
        await page.getByRole('button', { name: 'Save the codes as a file' }).press('Enter');
        const file = await download;
        assert.equal(file.suggestedFilename(), 'recovery-codes.txt');
        assert.equal(readFileSync((await file.path())!, 'utf8'), text);
        await page.getByRole('status').getByText('are in the file').waitFor();
        await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
        await page.getByRole('button', { name: 'Copy the codes' }).press('Enter');
        await page.getByRole('status').getByText('The codes are copied.').waitFor();
        assert.equal(await page.evaluate('navigator.clipboard.readText()'), text);
        await page.getByRole('button', { name: 'I kept the codes' }).press('Enter');

        await page.getByLabel('Login').fill('ana.maria');
        await page.keyboard.press('Tab');
        await page.keyboard.type('not the password');
        await page.keyboard.press('Enter');
        await page.getByRole('alert').getByText('is wrong').waitFor();
        await check(page, 'wrong');
        await page.getByLabel('Password').fill(PASSWORD);
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Use a recovery code' }).press('Enter');
        await page.getByLabel('Recovery code').fill(recovery!);
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
        await check(page, 'signed-in');
        // Bea signs in in another tab, before this one asks anything.
        await page.route(/\/api\/(review-queue|proposals)/, () => {});
        const [name, value] = (await bea.signIn()).cookie!.split('=', 2);
        await page.context().addCookies([{ name: name!, value: value!, url: desk.url() }]);
        await page.getByRole('button', { name: 'Sign out', exact: true }).press('Enter');
        await page.getByRole('button', { name: 'Account: bea' }).waitFor();
        await page.getByRole('button', { name: 'Sign out', exact: true }).press('Enter');
        await page.getByLabel('Login').waitFor();
        const kept =
          'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.search, location.hash])';
        assert.equal(await page.evaluate(kept), '[{},{},"","",""]');
        // The link is used up: the page says so before anything is typed, and what to do.
        await page.goto(`${desk.url()}/#token=${token}`);
        await page.getByRole('alert').getByText('was used, or ended. Ask an admin for a new one.').waitFor();
        assert.equal(await page.getByLabel('Password').count(), 0);
        await check(page, 'used-link');
        await page.getByRole('button', { name: 'Sign in' }).press('Enter');
        await page.getByLabel('Login').waitFor();
        // The same address but for the fragment: the browser loads nothing by itself.
        assert.equal(page.url(), `${desk.url()}/`);
        await page.goto(`${desk.url()}/#token=${token}`);
        await page.getByRole('alert').getByText('was used, or ended. Ask an admin for a new one.').waitFor();
      },
      // For passwords and the link that are refused, before the sign-in, and for the tab that shows ana, not bea.
      { path: `/#token=${token}`, expected: /40[014]/ },
    );
  });

  it('the second step says whose code it wants, leads back to the first one, and says where its time is over (D48)', async () => {
    const ana = await desk.enrolled('ana.lucia', 'reviewer');
    const eva = await desk.enrolled('eva.lucia', 'reviewer');
    await visit(
      { ...PHONE, locale: 'en-US' },
      async (page) => {
        const give = async (login: string) => {
          await page.getByLabel('Login').fill(login);
          await page.getByLabel('Password').fill(PASSWORD);
          await page.keyboard.press('Enter');
        };
        await give(` ${eva.login.toUpperCase()}`);
        await page.getByText(`You are signing in as ${eva.login}.`).waitFor();
        assert.deepEqual([page.url(), await page.title()], [`${desk.url()}/`, 'Ventanilla']);
        await check(page, 'code');
        await page.getByRole('button', { name: 'Another account' }).press('Enter');
        await give(ana.login);
        await page.getByText(`You are signing in as ${ana.login}.`).waitFor();
        // The page knows it also where it was loaded again.
        await page.reload();
        await page.getByText(`You are signing in as ${ana.login}.`).waitFor();
        for (const [language, text] of [
          ['es', `Inicias sesión como ${ana.login}.`],
          ['pt', `Você está entrando como ${ana.login}.`],
          ['en', `You are signing in as ${ana.login}.`],
        ] as const) {
          await page.getByRole('banner').getByRole('combobox').selectOption(language);
          await page.getByText(text).waitFor();
        }
        const code = page.getByLabel('Code of the authenticator app');
        await code.fill('000000');
        await page.keyboard.press('Enter');
        await page.getByRole('alert').getByText('is wrong').waitFor();
        // The time for the code is over: no code is right any more, so the page asks for the password.
        await store.database.query('DELETE FROM operator_sessions WHERE operator_id = $1', [ana.id]);
        await code.fill(await ana.nextCode());
        await page.keyboard.press('Enter');
        await page.getByRole('alert').getByText('This sign-in is over. Begin again.').waitFor();
        await check(page, 'code-over');
        await give(ana.login);
        await code.fill(await ana.nextCode());
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: `Account: ${ana.login}` }).waitFor();
      },
      { expected: /401/ },
    );
  });

  it('speaks three languages, which the browser chooses or the operator', async () => {
    await visit(
      { ...DESKTOP, locale: 'pt-BR' },
      async (page) => {
        await page.getByRole('heading', { name: 'Entrar' }).waitFor();
        await page.getByLabel('Idioma').selectOption('es');
        await page.getByRole('heading', { name: 'Iniciar sesión' }).waitFor();
        assert.equal(await page.evaluate('document.documentElement.lang'), 'es');
        await page.reload();
        await page.getByRole('heading', { name: 'Iniciar sesión' }).waitFor();
        await check(page, 'sign-in');
      },
      { expected: /401/ },
    );
  });

  it('its policy refuses a script and a style of a text, and markup from a text', async () => {
    await visit(
      DESKTOP,
      async (page) => {
        const refused = await page.evaluate(`new Promise((resolve) => {
          const refused = [];
          addEventListener('securitypolicyviolation', ({ effectiveDirective }) => {
            if (refused.push(effectiveDirective) === 2) resolve(refused.sort().join(' '));
          });
          document.body.append(Object.assign(document.createElement('style'), { textContent: 'p {}' }));
          try { document.body.innerHTML = '<p>'; } catch {}
        })`);
        assert.equal(refused, 'require-trusted-types-for style-src-elem');
      },
      { expected: /401|Content Security Policy|TrustedHTML/ },
    );
  });

  it('loads at most 200,000 bytes at first, and no page that few roles see', async () => {
    await visit(
      DESKTOP,
      async (page) => {
        await page.getByLabel('Login').waitFor();
        const loads = `JSON.stringify([...performance.getEntriesByType('navigation'),
          ...performance.getEntriesByType('resource')].filter(({ name }) => !name.includes('/api/'))
          .map(({ name, transferSize }) => [name, transferSize]))`;
        const files: [string, number][] = JSON.parse((await page.evaluate(loads)) as string);
        const bytes = files.reduce((sum, [, size]) => sum + size, 0);
        assert.ok(files.some(([name]) => name.endsWith('.css')) && bytes > 50_000, `${bytes} bytes`);
        assert.ok(bytes <= FIRST_LOAD, `${bytes} bytes`);
        assert.ok(!files.some(([name]) => name.includes('lead-page')));
      },
      { expected: /401/ },
    );
  });
});
