/** The files of documents at the desk: recorded before they are opened, and data whatever they hold (D48). */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import Value from 'typebox/value';
import { machineClock } from '../../src/ground/base/clock.ts';
import { documentRoutes } from '../../src/subjects/desk/routes/documents.ts';
import { DocumentFile } from '../../src/subjects/desk/routes/work-forms.ts';
import { MOST_REVEALS_AN_HOUR, MOST_SHOWN_BYTES } from '../../src/subjects/desk/rules/queue.ts';
import { pdfOf, png } from '../documents/files.ts';
import { documentStage, shownText } from '../documents/support.ts';
import { startTestConsole, type Visitor } from '../support/console.ts';

const HOSTILE = `../../<script>alert(1)</script>"\r\nX: y.html`;
const stage = await documentStage();
const { apply, sent, receive, database, runtime, vault, dataDir, files } = stage;
const desk = await startTestConsole(
  stage,
  documentRoutes({ database: runtime, vault, clock: machineClock }, async () => ({
    store: files,
    readText: shownText(),
  })),
);
const viewer = await (await desk.enrolled('vera', 'viewer')).signIn();
const ruth = await desk.enrolled('ruth', 'reviewer');
const reviewer = await ruth.signIn();

const picture = png(3, 2);
async function aDocument(
  bytes = picture,
  changes: Parameters<typeof sent>[2] = { claimedType: 'image/png' },
) {
  const application = await apply();
  const { documentId } = await receive(sent(application, bytes, { filename: HOSTILE, ...changes }));
  return { application, id: documentId! };
}
const reveal = (
  visitor: Visitor,
  of: { application: number; id: number | string },
  reason = 'is it readable',
) => visitor.ask('POST', `/api/applications/${of.application}/documents/${of.id}/reveal`, { reason });
const acts = async () =>
  (
    await database.query(
      "SELECT actor, target, application_id, reason FROM operator_events WHERE act = 'application reveal' ORDER BY id",
    )
  ).rows;

describe('the file of a document', () => {
  it('is shown with the type of its content and nothing of its name, and was recorded before', async () => {
    const document = await aDocument();
    const { status, headers, body } = await reveal(reviewer, document);
    assert.equal(status, 200);
    assert.match(headers.get('content-type')!, /^application\/json/);
    assert.ok(Value.Check(DocumentFile, body), JSON.stringify([...Value.Errors(DocumentFile, body)]));
    assert.equal(body.content_type, 'image/png');
    assert.ok(Buffer.from(body.bytes, 'base64').equals(picture));
    assert.ok(!JSON.stringify(body).includes('script'));
    assert.deepEqual((await acts()).at(-1), {
      ...{ actor: `operator ${ruth.id}`, target: `document ${document.id}` },
      ...{ application_id: `${document.application}`, reason: 'is it readable' },
    });
    assert.deepEqual(desk.failures, []);
  });

  it('of a PDF has its text, with the lines that were counted, and nothing else of the PDF', async () => {
    const statement = [
      ['Rodar Colombia S.A.S.', 'CERTIFICADO DE INGRESOS'],
      ['Conductor: Ana María Pérez Gómez'],
      ['Documento: CC 52.345.678'],
      ['Fecha de expedición: 12/11/2026'],
      ['Agosto de 2026', '200', '$ 1.111.111,00'],
      ['Ingresos por mes'],
      ['Agosto de 2026', '212', '$ 2.310.400,00'],
      ['Septiembre de 2026', '198', '$ 2.184.950,50'],
      ['Total del periodo', '410', '$ 4.495.350,50'],
      ['<script>alert(1)</script>'],
    ];
    const read = await aDocument(pdfOf([statement]), { claimedType: 'application/pdf' });
    const { status, body } = await reveal(reviewer, read);
    assert.equal(status, 200, JSON.stringify(body));
    assert.ok(Value.Check(DocumentFile, body), JSON.stringify([...Value.Errors(DocumentFile, body)]));
    const lines: { text: string; month: string | null }[] = body.lines ?? [];
    assert.deepEqual(
      lines.map(({ text }) => text.replace(/ +/g, ' ')),
      statement.map((cells) => cells.join(' ')),
    );
    const counted = lines.filter(({ month }) => month !== null);
    assert.deepEqual(
      counted.map(({ month }) => month),
      ['2026-08', '2026-09'],
    );
    assert.match(counted[0]!.text, /2\.310\.400,00/);
    assert.match(counted[1]!.text, /2\.184\.950,50/);
    assert.equal(body.counted, 2);
    await database.query('UPDATE documents SET reading = NULL WHERE id = $1', [read.id]);
    const unread = (await reveal(reviewer, read)).body;
    assert.deepEqual([unread.lines.length, unread.counted], [statement.length, null], 'nobody read it');

    assert.deepEqual(desk.failures, []);
  });

  it('of a picture and of a scan has no text, also where a scan has a few words of its own, and no count', async () => {
    const footer = ['Escaneado con CamScanner', 'Página 1 de 1'];
    for (const [bytes, claimedType] of [
      [png(4, 4), 'image/png'],
      [pdfOf([[]]), 'application/pdf'],
      [pdfOf([[footer]]), 'application/pdf'],
    ] as const) {
      const { body } = await reveal(reviewer, await aDocument(bytes, { claimedType }));
      assert.deepEqual([body.lines, body.counted], [null, null]);
    }
    assert.deepEqual(desk.failures, []);
  });

  it('belongs to its application, and is refused to a viewer, to nobody and without a reason: nothing is recorded', async () => {
    const [document, other] = [await aDocument(png(5, 5)), await aDocument(png(6, 6))];
    const before = await acts();
    for (const unknown of [other.id, 999_999, '0', 'x', '9'.repeat(30)]) {
      const { status, body } = await reveal(reviewer, { application: document.application, id: unknown });
      assert.deepEqual([status, body.error], [404, 'the application has no such document'], `${unknown}`);
    }
    assert.equal((await reveal(viewer, document)).status, 403);
    assert.equal((await reveal(desk.visitor(), document)).status, 401);
    for (const reason of ['', 'x', 'two\nlines', 'x'.repeat(501)])
      assert.equal((await reveal(reviewer, document, reason)).status, 400);
    assert.deepEqual(await acts(), before);
  });

  it('is refused where there is none, where it is missing or too large, and where it does not open', async () => {
    const refused = await aDocument(Buffer.from('<html>'), { claimedType: 'text/html' });
    const none = await reveal(reviewer, refused);
    assert.equal(none.status, 409);
    assert.match(none.body.error, /refused before it was stored/);
    const [missing, large, damaged] = [
      await aDocument(png(7, 7)),
      await aDocument(png(8, 8)),
      await aDocument(png(9, 9)),
    ];
    await database.query('UPDATE documents SET missing_at = now() WHERE id = $1', [missing.id]);
    assert.match((await reveal(reviewer, missing)).body.error, /missing in the store/);
    await database.query('UPDATE documents SET bytes = $2 WHERE id = $1', [large.id, MOST_SHOWN_BYTES + 1]);
    assert.match((await reveal(reviewer, large)).body.error, /document show \d+ --output/);
    const { rows } = await database.query('SELECT file_key FROM documents WHERE id = $1', [damaged.id]);
    writeFileSync(join(dataDir, 'documents', rows[0].file_key), 'not sealed');
    const cut = await reveal(reviewer, damaged);
    assert.equal(cut.status, 409);
    assert.match(cut.body.error, /does not open/);
  });

  it('is not opened where the record cannot be written', async () => {
    const document = await aDocument(png(10, 10));
    await database.query('ALTER TABLE operator_events RENAME TO operator_events_away');
    try {
      const { status, body } = await reveal(reviewer, document);
      assert.deepEqual([status, Object.keys(body)], [500, ['error']]);
    } finally {
      await database.query('ALTER TABLE operator_events_away RENAME TO operator_events');
      desk.failures.length = 0;
    }
  });

  it(`counts with the reveals of applications: ${MOST_REVEALS_AN_HOUR} an hour, at one moment too`, async () => {
    const document = await aDocument(png(11, 11));
    const eager = await desk.enrolled('eager', 'reviewer');
    const visitor = await eager.signIn();
    for (let done = 0; done < MOST_REVEALS_AN_HOUR - 1; done += 1)
      assert.equal((await reveal(visitor, document)).status, 200);
    const last = await Promise.all([1, 2, 3].map(() => reveal(visitor, document)));
    assert.deepEqual(last.map(({ status }) => status).toSorted(), [200, 429, 429]);
    assert.ok(Number(last.find(({ status }) => status === 429)!.headers.get('retry-after')) > 0);
  });
});
