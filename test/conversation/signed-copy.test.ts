/** The signed contract with its certificate comes into the chat, once (D46). */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { it } from 'node:test';
import type { ApplicationId } from '../../src/domain/application/ids.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { verifyContract } from '../../src/subjects/signing/uses/verify-contract.ts';
import { APPROVED } from '../support/applicant.ts';
import { testDatabase } from '../support/database.ts';
import { testSigning } from '../support/signing.ts';
import { signingChat } from '../support/signing-chat.ts';

const store = await testDatabase();
const { database } = store;
const signing = await testSigning(store);
const { context, codes, json, folder } = signing;
let { sealer } = context;
const changing = {
  ...context,
  get sealer() {
    return sealer;
  },
};
const chat = await signingChat(store, signing, changing);
const { applicantAt, settle, faults, simulator, toTheCode, signed } = chat;
type Somebody = Awaited<ReturnType<typeof applicantAt>>;

/** The replies with a document, after the contract that was shown. */
async function copies(somebody: Somebody) {
  const [, ...after] = (await somebody.replies()).filter(({ document }) => document !== undefined);
  return after.map(({ text, document }) => ({ text, file: simulator.files.get(document!.mediaId)! }));
}

/** The next try comes at once. */
const hurry = () => database.query('UPDATE conversation_work SET due_at = now(), leased_until = NULL');

it('D46: the signed contract comes into the chat, byte for byte as operators write it', async () => {
  const ana = await signed();
  const [copy, ...more] = await copies(ana);
  assert.ok(copy, String(faults));
  assert.equal(more.length, 0);
  const path = join(folder, 'signed.pdf');
  await json('contract', 'show', `${ana.id}`, '--output', path);
  assert.deepEqual(copy.file.bytes, await readFile(path));
  assert.equal(copy.file.contentType, 'application/pdf');
  const sha256 = hash('sha256', copy.file.bytes);
  assert.ok(copy.text.replaceAll(' ', '').includes(sha256), copy.text);
  const verified = await verifyContract(context, ana.id as ApplicationId);
  assert.deepEqual(
    verified?.checks.filter(({ fault }) => fault !== null),
    [],
  );
  await ana.write('hola');
  await ana.write('gracias');
  assert.equal((await copies(ana)).length, 1, 'once');
});

/** What the channel says of the newest copy. */
async function copyIs(somebody: Somebody, status: 'failed' | 'uncertain' | 'delivered'): Promise<void> {
  const index = (await somebody.replies()).findLastIndex(({ document }) => document !== undefined);
  await database.query(
    `UPDATE replies SET status = $2, delivered_at = CASE WHEN $3 THEN now() END WHERE application_id = $1
     AND turn = (SELECT turn FROM replies WHERE application_id = $1 ORDER BY turn OFFSET $4 LIMIT 1)`,
    [somebody.id, status, status === 'delivered', index],
  );
}
/** An operator's text does not arrive. */
async function operatorFails(somebody: Somebody): Promise<void> {
  await json('conversation', 'say', `${somebody.id}`, 'Le escribo en un momento.');
  await database.query(
    `UPDATE replies SET status = 'failed' WHERE application_id = $1
     AND turn = (SELECT max(turn) FROM replies WHERE application_id = $1)`,
    [somebody.id],
  );
}

it('D46: a copy that did not arrive comes again with the next message, whatever was said after it', async () => {
  const eva = await signed();
  await copyIs(eva, 'failed');
  await eva.write('gracias');
  assert.equal((await copies(eva)).length, 2);
  await eva.write('hola');
  assert.equal((await copies(eva)).length, 2);
  // The answer to "hola" came meanwhile, and then an operator's.
  await copyIs(eva, 'failed');
  await eva.write('asesor');
  assert.equal((await copies(eva)).length, 3);
  await operatorFails(eva);
  await eva.write('gracias');
  assert.equal((await copies(eva)).length, 3, 'the text of an operator is no copy');
});

it('D46: a copy that arrives while it is made again comes once', async () => {
  const leo = await signed();
  await copyIs(leo, 'uncertain');
  await chat.hear(await leo.textEvent('gracias'));
  await takeTurns(chat.context);
  const { rows } = await database.query('SELECT work FROM conversation_work WHERE application_id = $1', [
    leo.id,
  ]);
  assert.deepEqual(rows, [{ work: 'finish_contract' }]);
  await copyIs(leo, 'delivered');
  await settle();
  assert.equal((await copies(leo)).length, 1);
});

it('D43: what is known after a signature is kept where the rows of a turn make it fail', async () => {
  const leo = await signed();
  const { state: before } = await leo.row();
  assert.ok(before.copyTurn !== null && before.withdrawableUntilMs !== null);
  await chat.hear(await leo.textEvent('hola'));
  const recordEvidence = async () => {
    throw new TypeError('a row');
  };
  await takeTurns({ ...chat.context, signing: { ...chat.context.signing, recordEvidence } });
  const { state: after } = await leo.row();
  assert.equal(await leo.place(), 'signed operator');
  const kept = ({ optedOut, withdrawableUntilMs, signedCopy, copyTurn }: typeof after) => [
    ...[optedOut, withdrawableUntilMs, signedCopy, copyTurn],
  ];
  assert.deepEqual(kept(after), kept(before));
  await copyIs(leo, 'failed');
  await leo.write('gracias');
  assert.equal((await copies(leo)).length, 2);
});

it('D46: where no certificate is set the copy comes when there is one', async () => {
  const certificate = context.sealer;
  const bea = await applicantAt(APPROVED);
  await toTheCode(bea);
  sealer = null;
  await bea.write(codes.last);
  assert.deepEqual([await bea.place(), await copies(bea)], ['signed service', []]);
  sealer = certificate;
  await hurry();
  await settle();
  assert.equal((await copies(bea)).length, 1, String(faults));
});

it('D46: whoever wants no more messages, or withdraws, gets no copy', async () => {
  const certificate = context.sealer;
  for (const word of ['STOP', 'RETRACTO']) {
    const somebody = await applicantAt(APPROVED);
    await toTheCode(somebody);
    sealer = null;
    await somebody.write(codes.last);
    await somebody.write(word);
    sealer = certificate;
    await hurry();
    await settle();
    assert.deepEqual(await copies(somebody), [], word);
    const { rows } = await database.query('SELECT FROM conversation_work WHERE application_id = $1', [
      somebody.id,
    ]);
    assert.equal(rows.length, 0, 'no work is left');
  }
});
