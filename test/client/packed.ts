/** The packed client in a project of its own, as partners install it. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { promisify } from 'node:util';
import { REPOSITORY } from '../support/sources.ts';

export const run = promisify(execFile);
export const CLIENT = join(REPOSITORY, 'client');

export interface Packed {
  /** The tarball of `npm pack`. */
  readonly tarball: string;
  /** A folder with the tarball installed and nothing else. */
  readonly project: string;
  /** The installed package. */
  readonly installed: string;
}

/** Call this at the top of a file. The paths exist once its tests run. */
export async function packedClient(): Promise<Packed> {
  const { version } = JSON.parse(await readFile(join(CLIENT, 'package.json'), 'utf8'));
  const root = await mkdtemp(join(tmpdir(), 'ventanilla-client-'));
  const project = join(root, 'project');
  const packed: Packed = {
    tarball: join(root, `ventanilla-client-${version}.tgz`),
    project,
    installed: join(project, 'node_modules/ventanilla-client'),
  };
  before(async () => {
    // The client's folder alone, as in a clone: without an earlier build.
    const clone = join(root, 'clone');
    const ignored = ['dist', 'node_modules'].map((name) => join(CLIENT, name));
    await cp(CLIENT, clone, { recursive: true, filter: (path) => !ignored.includes(path) });
    await symlink(join(REPOSITORY, 'node_modules'), join(clone, 'node_modules'));
    await npm(clone, 'pack', '--pack-destination', root);
    await mkdir(project);
    await writeFile(join(project, 'package.json'), '{ "private": true }');
    await npm(project, 'install', '--offline', '--no-audit', '--no-fund', packed.tarball);
  });
  after(() => rm(root, { recursive: true, force: true }));
  return packed;
}

async function npm(cwd: string, ...args: readonly string[]): Promise<void> {
  await run('npm', [...args], { cwd });
}
