/** What the reader of files says is in Portuguese too, for the portal. The command speaks English and Spanish. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { checkRows } from '../../src/map/check.ts';
import { serviceRules } from '../../src/map/rules.ts';
import { BulkError } from '../../src/read/bulk-error.ts';
import { applicant, csvOf, fileOf, sheetsOf, sourceOf } from '../files.ts';

const SOURCES = join(import.meta.dirname, '../../src');

test('each text about a file stands in three languages', () => {
  const paths = globSync('{read,map}/**/*.ts', { cwd: SOURCES });
  assert.ok(paths.length > 30);
  for (const path of paths) {
    const text = readFileSync(join(SOURCES, path), 'utf8');
    const count = (language: string) => text.match(new RegExp(`\\b${language}: ['\`]`, 'g'))?.length ?? 0;
    assert.equal(count('pt'), count('es'), path);
  }
});

test('faults of rows are told in Portuguese, those of the service too', async () => {
  const rows = [
    { income: '0', num_debts: '9', messaging_optin: 'talvez', phone: '12', name: '' },
    { city: 'x'.repeat(121), name: 'Jo?o' },
  ];
  const path = fileOf('lista.csv', csvOf(rows.map(applicant)));
  const source = (await sourceOf(path, { language: 'pt' })).inCountry('BR');
  const { faults } = await checkRows(source, { judge: serviceRules(source, 'PRO') });
  const told = [...faults.keys()];
  for (const expected of [
    /^name é obrigatório$/,
    /^income é obrigatório e deve ser > 0 \(numérico\)$/,
    /^num_debts é obrigatório e deve ser um de: 1, 2, 3$/,
    /^messaging_optin é obrigatório e deve ser true ou false$/,
    /^phone deve ser um número com código do país$/,
    /^city deve ser um texto de no máximo 120 caracteres$/,
    /^coluna "name": o texto está danificado/,
  ])
    assert.ok(
      told.some((text) => expected.test(text)),
      `${expected} in ${told.join(' | ')}`,
    );
});

test('a file that cannot be read is told in Portuguese, with its place', async () => {
  for (const [path, expected] of [
    [fileOf('a.xlsx', sheetsOf({ name: 'Um' })), /^a\.xlsx: a planilha "Um" está vazia$/],
    [fileOf('b.csv', 'x;y\n1;2\n'), /^b\.csv: colunas com um nome conhecido|^b\.csv: .*coluna/],
    [fileOf('c.json', '{"applications": [1'), /^c\.json, linha 1: |^c\.json: /],
  ] as const)
    await assert.rejects(
      sourceOf(path, { language: 'pt' }).then((source) => checkRows(source)),
      (error) => error instanceof BulkError && expected.test(error.words.pt ?? ''),
    );
});
