/** What refusals mean, in the language of the page (D48). */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CONFLICTS } from '../../src/subjects/desk/rules/conflict.ts';

// By names that the compiler does not follow: the page's files need the types of a browser.
const { failureText } = await import(String('../../console/src/api/failure.ts'));
const { failedActText, tooLateText } = await import(String('../../console/src/decide/failed-act.ts'));
const { AnswerError } = await import(String('../../console/src/api/ask.ts'));

describe('a refusal with 409', async () => {
  for (const language of ['en', 'es', 'pt']) {
    const texts = (await import(String(`../../console/src/texts/${language}/index.ts`)))[language];
    const of = (code: string) => new AnswerError(409, { error: 'English words of the service', code });

    it(`has a text of its own for each code, and one for a code that the page does not know, ${language}`, () => {
      const said = CONFLICTS.map((code) => failureText(of(code), texts));
      assert.equal(new Set(said).size, CONFLICTS.length, `${said}`);
      for (const text of said) assert.doesNotMatch(text, /English words|undefined/);
      const acts = CONFLICTS.map((code) => failedActText(of(code), texts, String));
      assert.deepEqual(acts, said, 'without the facts that some have');
      assert.equal(failureText(of('newer_than_the_page'), texts), texts.desk.conflicts.illegal);
    });

    it(`names who holds it, who proposed what, and until when, ${language}`, () => {
      const facts = { by: { login: 'rosa' }, act: 'approve', until: 'TIME', error: '' };
      const text = (code: string) =>
        failedActText(new AnswerError(409, { ...facts, code }), texts, (iso: string) => `at ${iso}`);
      assert.match(text('claimed'), /rosa/);
      assert.match(text('proposed'), /rosa/);
      assert.ok(text('proposed').includes(texts.desk.proposed.approve));
      assert.match(text('withdrawable'), /at TIME/);
    });
  }
});

it('too many revealed applications say for how many minutes to wait, and of no sign-in', async () => {
  const { en } = await import(String('../../console/src/texts/en/index.ts'));
  const of = (seconds: number) =>
    failureText(new AnswerError(429, { error: '' }, seconds), en, {}, en.application.tooMany);
  assert.match(of(1_980), /^You revealed too many .* Try again in 33 minutes\.$/);
  assert.match(of(1), /^You revealed too many .* Try again in 1 minute\.$/);
});

it('an undo that is refused says how the proposal ended', async () => {
  const { en } = await import(String('../../console/src/texts/en/index.ts'));
  const said = (status: number, state?: string) =>
    tooLateText(new AnswerError(status, { error: '', code: 'not_open', state }), en);
  assert.equal(said(409, 'applied'), 'It is too late to undo this. Applied.');
  assert.equal(said(409, 'declined'), 'It is too late to undo this. Declined.');
  assert.equal(said(404), 'It is too late to undo this.');
  assert.equal(said(409, 'newer_than_the_page'), 'It is too late to undo this.');
  assert.equal(said(412), null);
});

it('a throttle says how long it lasts, and whether only somebody else is signing in', async () => {
  const { en } = await import(String('../../console/src/texts/en/index.ts'));
  const said = (seconds: number | null) => failureText(new AnswerError(429, null, seconds), en);
  assert.equal(said(895), 'Too many tries. Try again in 15 minutes.');
  assert.equal(said(60), 'Too many tries. Try again in 1 minute.');
  assert.equal(said(1), 'Somebody else is signing in at this moment. Try again.');
});
