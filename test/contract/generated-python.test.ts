/** Python types made from the OpenAPI documents read and write the examples. */
import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { namedFields } from '../../src/domain/application/fields.ts';
import { DECISIONS } from '../../src/domain/scorecard/scorecard.ts';
import { LANGUAGES } from '../../src/ground/base/language.ts';
import { PUSH_WEBHOOKS } from '../../src/subjects/events/push/openapi.ts';
import { batchExamples } from '../../src/wire/contract/examples.ts';
import { openApi } from '../../src/wire/contract/openapi.ts';
import { DECISION_NAMES } from '../../src/wire/contract/response.ts';
import { missing, toolFile } from '../support/tools.ts';

const run = promisify(execFile);
const fields = namedFields('messaging');
const noPython = spawnSync('python3', ['--version']).status !== 0 && 'python3 is not installed';
const skip = missing('quicktype') || noPython;

/** Of the registered applications in the example of every outcome, one for each decision. */
const SCORES = [100, 47, 26];

/** Reads and writes a batch, reads an answer, and sends an application with a name alone. */
const PROGRAM = `
import json, sys
from made import Application, BatchAnswerPro, Batch
sent, answer, name = json.loads(sys.argv[1])
assert Batch.from_dict(sent).to_dict() == sent
read = BatchAnswerPro.from_dict(answer)
for members in vars(read).values():
    for member in members if isinstance(members, list) else []:
        if hasattr(member, 'score'): print(member.score, member.decision.value)
try:
    Application.from_dict({ name: 'Ana' })
except (AssertionError, ValueError):
    print('incomplete')
`;

it('quicktype makes Python types that read and write the examples', { skip }, async (t) => {
  const root = await mkdtemp(join(tmpdir(), 'ventanilla-python-'));
  t.after(() => rm(root, { recursive: true, force: true }));
  await writeFile(join(root, 'program.py'), PROGRAM);
  for (const language of LANGUAGES) {
    await writeFile(
      join(root, 'made.py'),
      await pythonOf(openApi({ basePath: '', fields, language, webhooks: PUSH_WEBHOOKS })),
    );
    const [first, mixed] = batchExamples(fields, 'PRO', language);
    const name = language === 'en' ? 'name' : 'nombre';
    const given = JSON.stringify([first.request, mixed?.answer, name]);
    const { stdout } = await run('python3', ['program.py', given], { cwd: root });
    const scores = DECISIONS.map(
      (decision, index) => `${SCORES[index]} ${DECISION_NAMES[language][decision]}`,
    );
    assert.deepEqual(stdout.trim().split('\n'), [...scores, 'incomplete']);
  }
});

/** The Python module for batches and their answers. quicktype reads JSON Schema, which the components are. */
async function pythonOf(document: object): Promise<string> {
  const { quicktype, InputData, JSONSchemaInput } = await import(pathToFileURL(toolFile('quicktype')).href);
  const text = JSON.stringify(document).replaceAll('#/components/schemas/', '#/definitions/');
  const { schemas } = JSON.parse(text).components;
  const input = new JSONSchemaInput(undefined);
  for (const name of ['Batch', 'BatchAnswerPro']) {
    const schema = JSON.stringify({ $ref: `#/definitions/${name}`, definitions: schemas });
    await input.addSource({ name, schema });
  }
  const inputData = new InputData();
  inputData.addInput(input);
  const { lines } = await quicktype({ inputData, lang: 'python' });
  return lines.join('\n');
}
