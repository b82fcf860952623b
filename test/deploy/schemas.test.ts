/** compose.yaml and deploy/kubernetes have the form that the published schemas ask for. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Ajv2019 } from 'ajv/dist/2019.js';
import { parse, parseAllDocuments } from 'yaml';
import { REPOSITORY } from '../support/sources.ts';
import { missing, toolFile } from '../support/tools.ts';

const read = (path: string) => readFileSync(join(REPOSITORY, path), 'utf8');

describe('compose.yaml', { skip: missing('compose schema') }, () => {
  /** The faults of a file. `id` names parts of the schema, in a form that draft 2019-09 does not have. */
  function faultsOf(file: object): string[] {
    const { $schema: _, ...schema } = JSON.parse(
      readFileSync(toolFile('compose schema'), 'utf8'),
      (key, value) => (key === 'id' && typeof value === 'string' ? undefined : value),
    );
    const ajv = new Ajv2019({ strict: false, validateFormats: false, allErrors: true });
    const isFit = ajv.compile(schema);
    isFit(file);
    return (isFit.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
  }

  it('is fit by the schema of the Compose specification', () => {
    const file = parse(read('compose.yaml'), { merge: true });
    // The content of a config in the file itself came to the specification after this schema.
    for (const config of Object.values<{ content?: string }>(file.configs)) delete config.content;
    assert.deepEqual(faultsOf(file), []);
    file.services.database.imagee = 'postgres';
    assert.deepEqual(faultsOf(file), ['/services/database must NOT have additional properties']);
  });
});

interface Model {
  validate(): void;
}

describe('the Kubernetes base', { skip: missing('kubernetes models') }, () => {
  const { resources } = parse(read('deploy/kubernetes/kustomization.yaml')) as { resources: string[] };
  const objects = resources.flatMap((file) =>
    parseAllDocuments(read(`deploy/kubernetes/${file}`)).map((document) => document.toJS()),
  );

  async function check(object: { apiVersion: string; kind: string }): Promise<void> {
    const folder = dirname(toolFile('kubernetes models'));
    const file = pathToFileURL(join(folder, object.apiVersion, `${object.kind}.js`)).href;
    const Kind = (await import(file))[object.kind] as new (object: unknown) => Model;
    new Kind(object).validate();
  }

  it('each object has the fields of its kind', async () => {
    assert.ok(objects.length > 5);
    for (const object of objects) await check(object);
    const deployment = structuredClone(objects.find(({ kind }) => kind === 'Deployment'));
    delete deployment.spec.selector;
    await assert.rejects(check(deployment), /selector/);
    deployment.spec.selector = { matchLabels: {} };
    deployment.spec.template.spec.containers[0].resources.limits.memory = true;
    await assert.rejects(check(deployment), /memory/);
  });
});
