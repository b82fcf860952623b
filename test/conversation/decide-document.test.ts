/** An operator's decision on a document reaches the conversation: files of a real store and reader (D43, D44). */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { it } from 'node:test';
import type { ChannelEvent } from '../../src/domain/message/channel-event.ts';
import { machineClock } from '../../src/ground/base/clock.ts';
import { performerOf } from '../../src/subjects/conversation/uses/neighbours.ts';
import { takeTurns } from '../../src/subjects/conversation/uses/turns.ts';
import { openIncome } from '../../src/subjects/income/open.ts';
import { statementPdf } from '../../src/subjects/simulator/made-up-files.ts';
import { pdfOfObjects } from '../documents/files.ts';
import { ANA, documentStage, newestMonths } from '../documents/support.ts';
import { APPROVED } from '../support/applicant.ts';
import { beforeStatement } from '../support/before-statement.ts';
import { conversationsOf, goodPerformer, performDue } from '../support/conversations.ts';
import { eventually } from '../support/eventually.ts';
import { waitingSessions } from '../support/waiting-sessions.ts';

const stage = await documentStage();
const { database, runtime, vault, dataDir, simulator, json, run, keyId } = stage;
const income = openIncome(({ read }) => read(undefined, { dataDir, ownDatabase: true }), {
  database: runtime,
  vault,
  clock: machineClock,
});
const real = performerOf({
  ...{ documents: stage.context, income },
  ...{ signing: undefined as never, channel: simulator },
});
const performer = goodPerformer({ readDocument: real.readDocument, checkIncome: real.checkIncome });
const chat = await conversationsOf(stage, keyId, { performer });
const { today, months } = await newestMonths(database);
const INCOME = 2_300_000;
type Applicant = Awaited<ReturnType<typeof chat.applicantAt>>;

/** A person who is asked for statements. */
async function atEarnings(changes: object = {}): Promise<Applicant> {
  const ana = await chat.applicantAt({
    ...{ ...APPROVED, name: ANA.name, id_number: ANA.idNumber, income: INCOME },
    ...changes,
  });
  await ana.tap();
  await ana.choose(0);
  return ana;
}
const statement = (name: string = ANA.name) =>
  Buffer.concat([
    statementPdf({
      ...{ layout: 'rodar-co-1', ...ANA, name, issued: today },
      months: Object.fromEntries(months.map((month) => [month, INCOME])),
    }),
    Buffer.from(`\n%${randomUUID()}`),
  ]);
async function send(ana: Applicant, ...files: Buffer[]): Promise<void> {
  const events: ChannelEvent[] = [];
  for (const bytes of files) {
    const mediaId = simulator.files.keep({ bytes, contentType: 'application/pdf', filename: 'extracto.pdf' });
    events.push(await ana.fileEvent(mediaId));
  }
  await chat.hear(...events);
  await chat.skipPause();
  await chat.settle();
}
/** The ids of an applicant's documents, in the order of their messages. */
const documentsOf = async ({ id }: Applicant): Promise<string[]> => {
  const { rows } = await database.query<{ id: string }>(
    `SELECT d.id FROM documents d JOIN document_inputs m ON m.document_id = d.id
       JOIN conversation_inputs i ON i.message_index = m.input_index WHERE d.application_id = $1 ORDER BY i.id`,
    [id],
  );
  return rows.map((row) => row.id);
};
async function decide(act: 'accept' | 'reject', document: string): Promise<void> {
  await json('document', act, document, '--reason', 'test');
  await chat.settle();
}
const last = async (ana: Applicant) => (await ana.replies()).at(-1)?.text ?? '';
const usableOf = async (ana: Applicant) => (await ana.row()).state.usable.earnings;
const windowClosed = ({ id }: Applicant) =>
  database.query(
    "UPDATE conversations SET heard_at = now() - interval '25 hours' WHERE application_id = $1",
    [id],
  );

it('D43: the person hears once which file was not accepted, and what to send; the others count', async () => {
  const ana = await atEarnings();
  await send(ana, statement(), statement('Luis Ruiz'), statement());
  const before = (await ana.replies()).length;
  const documents = await documentsOf(ana);
  assert.deepEqual([documents.length, await usableOf(ana)], [3, 3]);
  await decide('reject', documents[1]!);
  assert.match(await last(ana), /^Revisamos tus archivos\. De los que enviaste, no .*número 2\.\n\nEnvíanos/);
  assert.deepEqual([(await ana.replies()).length, await usableOf(ana)], [before + 1, 2]);
  assert.match((await run('conversation', 'show', `${ana.id}`)).out, /operator: document_decided rejected 2/);
  // What is rejected already is refused, and nobody hears it twice.
  assert.match((await run('document', 'reject', documents[1]!, '--reason', 'x')).err, /rejected already/);
  assert.equal((await ana.replies()).length, before + 1);
  await ana.write('Ya envié todo');
  assert.equal(await ana.place(), 'debts service');
});

it('D43: a file has its number among all that the person sent, also those that became no document of their own', async () => {
  const ana = await chat.applicantAt({
    ...APPROVED,
    name: ANA.name,
    id_number: ANA.idNumber,
    income: INCOME,
  });
  await ana.tap();
  const [first, third] = [statement(), statement()];
  // Too early, then twice, and a voice between them.
  await send(ana, first);
  await ana.choose(0);
  await send(ana, first, first);
  await chat.hear({ ...(await ana.fileEvent()), media: 'audio' } as ChannelEvent);
  await chat.settle();
  await send(ana, third);
  const documents = [...new Set(await documentsOf(ana))];
  assert.equal(documents.length, 2);
  await decide('reject', documents[1]!);
  assert.match(await last(ana), /no podemos aceptar el número 4\./);
  await decide('reject', documents[0]!);
  assert.match(await last(ana), /no podemos aceptar el número 2, 4\./);
  assert.deepEqual((await ana.row()).state.files, { earnings: 0, debts: 0 }, 'no file of these can be used');
  await decide('accept', documents[1]!);
  assert.match(await last(ana), /número 4 de los que enviaste: sí nos sirve/);
});

it('D43: "I sent everything" with rejected files alone asks again, and an accepted one lets the person go on', async () => {
  const ana = await atEarnings();
  await send(ana, statement());
  const [document] = await documentsOf(ana);
  await decide('reject', document!);
  await ana.write('Ya envié todo');
  assert.match(await last(ana), /al menos un archivo[\s\S]*Envíanos/);
  assert.equal(await ana.place(), 'earnings service');
  await decide('accept', document!);
  assert.match(await last(ana), /número 1 de los que enviaste: sí nos sirve/);
  assert.equal(await usableOf(ana), 1);
  await ana.write('Ya envié todo');
  await ana.write('omitir');
  assert.equal(await ana.place(), 'summary service');
});

it('D43: a person hears it in the language of the conversation', async () => {
  const ana = await atEarnings();
  await database.query("UPDATE conversations SET language = 'pt' WHERE application_id = $1", [ana.id]);
  await send(ana, statement());
  const [document] = await documentsOf(ana);
  await decide('reject', document!);
  assert.match(await last(ana), /Revisamos seus arquivos\. .*não podemos aceitar o número 1\./);
});

it('D43: after the channel’s window one template goes out, and the person who writes hears it', async () => {
  const ana = await atEarnings();
  await send(ana, statement());
  const [document] = await documentsOf(ana);
  const before = (await ana.replies()).length;
  await windowClosed(ana);
  await decide('reject', document!);
  assert.equal((await ana.replies()).length, before);
  const reminders = await database.query(
    "SELECT FROM messages_of(ARRAY[$1::bigint + 2::bigint ^ 55]::bigint[]) WHERE type = 'reminder'",
    [ana.id],
  );
  assert.equal(reminders.rowCount, 1);
  await ana.write('hola');
  assert.match(await last(ana), /^Revisamos tus archivos[\s\S]*número 1[\s\S]*Envíanos/);
  await ana.write('Ya envié todo');
  assert.doesNotMatch(await last(ana), /Revisamos/);
});

it('D44: given back without a usable file the conversation asks for statements, and the check begins anew', async () => {
  const ana = await atEarnings();
  await send(ana, statement('Luis Ruiz'));
  await ana.write('Ya envié todo');
  await ana.write('omitir');
  assert.equal(await ana.place(), 'checking operator');
  const [document] = await documentsOf(ana);
  const before = (await ana.replies()).length;
  await decide('reject', document!);
  assert.deepEqual([await ana.place(), (await ana.replies()).length], ['checking operator', before]);
  await json('conversation', 'give-back', `${ana.id}`);
  await chat.settle();
  assert.equal(await ana.place(), 'earnings service');
  assert.match(await last(ana), /^Hola de nuevo[\s\S]*número 1\.\n\nEnvíanos/);
  await send(ana, statement());
  await ana.write('Ya envié todo');
  await ana.write('omitir');
  assert.equal(await ana.place(), 'summary service');
});

it('D44: nobody goes on to the contract with an income that a rejected file confirmed', async () => {
  const ana = await atEarnings();
  await send(ana, statement(), statement());
  await ana.write('Ya envié todo');
  await ana.write('omitir');
  assert.equal(await ana.place(), 'summary service');
  const offer = (await ana.replies()).at(-1)!;
  const [document] = await documentsOf(ana);
  const { out } = await run('document', 'reject', document!, '--reason', 'forged');
  assert.match(out, /income of application \d+ is not confirmed\. Run conversation give-back \d+/);
  await chat.settle();
  assert.match(await last(ana), /Una persona/);
  await ana.tap(offer.buttons[0]!.payload);
  assert.equal(await ana.place(), 'checking operator');
  await json('conversation', 'give-back', `${ana.id}`);
  await chat.settle();
  assert.equal(await ana.place(), 'summary service');
});

it('D43: a file that the service refused before is told once, also where an operator rejects it too', async () => {
  const ana = await atEarnings();
  const damaged = pdfOfObjects(['<< /Type /Pages /Count 5 /Kids [2 0 R 2 0 R] >>']);
  await send(ana, statement(), damaged);
  const documents = await documentsOf(ana);
  const before = (await ana.replies()).length;
  await decide('reject', documents[1]!);
  assert.deepEqual([(await ana.replies()).length, await usableOf(ana)], [before, 1]);
});

it('D43: a decision after the end, or without a conversation, is a decision on the document alone', async () => {
  const ana = await atEarnings();
  await send(ana, statement());
  await ana.write('me arrepentí');
  const { turn } = await ana.row();
  const [document] = await documentsOf(ana);
  await decide('reject', document!);
  assert.deepEqual([(await ana.row()).turn, await ana.place()], [turn, 'withdrawn service']);
  const alone = await stage.receive(stage.sent(await stage.apply(), statement()));
  await decide('reject', `${alone.documentId}`);
  const { rows } = await database.query('SELECT state FROM documents WHERE id = $1', [alone.documentId]);
  assert.deepEqual(rows, [{ state: 'rejected' }]);
});

/** Two files, the second of which is read, and the conversation has not heard of it yet when `act` decides. */
const BETWEEN: Readonly<Record<string, (act: () => Promise<unknown>) => Promise<unknown>>> = {
  'before its work ends': async (act) => {
    const works = {
      ...chat.works,
      database: beforeStatement(chat.works.database, 'DELETE FROM conversation_work', act),
      clock: machineClock,
    };
    return performDue(works, 'files');
  },
  'before its turn': async (act) => {
    await chat.perform('files');
    return act();
  },
  'while its turn is under way': async (act) => {
    await chat.perform('files');
    let acting: Promise<unknown> | undefined;
    // The decision waits for the turn, so its own end comes after the commit.
    const begin = async () => {
      acting = act();
      await eventually('the decision waits for the turn', async () => {
        const waiting = await waitingSessions(database);
        return waiting.some(({ query }) => query.includes('FROM conversations')) || undefined;
      });
    };
    await takeTurns({
      ...chat.context,
      database: beforeStatement(chat.context.database, 'write_turns', begin),
    });
    return acting;
  },
};

for (const [when, between] of Object.entries(BETWEEN)) {
  for (const which of [0, 1]) {
    it(`D43: the decision on file ${which + 1} right after file 2 was read, ${when}, counts each usable file once`, async () => {
      const ana = await atEarnings();
      await send(ana, statement());
      const mediaId = simulator.files.keep({
        ...{ bytes: statement(), contentType: 'application/pdf', filename: 'extracto.pdf' },
      });
      await chat.hear(await ana.fileEvent(mediaId));
      await chat.skipPause();
      await takeTurns(chat.context);
      await between(async () => {
        const document = (await documentsOf(ana))[which]!;
        await json('document', 'reject', document, '--reason', 'test');
      });
      await chat.settle();
      const { usable, files, reading } = (await ana.row()).state;
      assert.deepEqual([usable.earnings, files.earnings, reading], [1, 1, 0]);
      await decide('accept', (await documentsOf(ana))[which]!);
      assert.deepEqual([await usableOf(ana), (await ana.row()).state.files.earnings], [2, 2]);
    });
  }
}
