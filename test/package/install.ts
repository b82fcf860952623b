/** The packages of `npm pack` in a project of their own, as their users install them. */
import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before } from 'node:test';
import { promisify } from 'node:util';
import { REPOSITORY } from '../support/sources.ts';

const run = promisify(execFile);
/** Files and folders that a fresh clone does not have. */
const UNTRACKED = new Set(['.git', '.env', 'data', 'dist', 'node_modules']);

export interface Package {
  /** The tarball of `npm pack`. */
  readonly tarball: string;
  /** A folder with the tarball installed and nothing else. */
  readonly project: string;
  /** The installed package. */
  readonly installed: string;
}

/**
 * Packs a folder of a fresh clone and installs the tarball. Call this at the top of a file; the paths exist once its
 * tests run. `prepare` writes the project's files and returns the arguments of npm.
 */
export async function packed(
  folder: string,
  prepare: (project: string, tarball: string) => Promise<string[]>,
): Promise<Package> {
  const { name, version } = JSON.parse(await readFile(join(REPOSITORY, folder, 'package.json'), 'utf8'));
  const root = await mkdtemp(join(tmpdir(), 'ventanilla-package-'));
  const project = join(root, 'project');
  const tarball = join(root, `${name}-${version}.tgz`);
  before(async () => {
    const clone = join(root, 'clone');
    await cloneTo(clone);
    await run('npm', ['pack', '--pack-destination', root], { cwd: join(clone, folder) });
    await rm(clone, { recursive: true });
    await mkdir(project);
    const command = await prepare(project, tarball);
    await run('npm', [...command, '--no-audit', '--no-fund'], { cwd: project });
  });
  after(() => rm(root, { recursive: true, force: true }));
  return { tarball, project, installed: join(project, 'node_modules', name) };
}

/** A copy of the repository as a fresh clone after `npm ci`. */
async function cloneTo(clone: string): Promise<void> {
  await mkdir(clone);
  const isTracked = (path: string) =>
    !path
      .slice(REPOSITORY.length)
      .split('/')
      .some((part) => UNTRACKED.has(part));
  for (const entry of await readdir(REPOSITORY)) {
    if (isTracked(`/${entry}`)) {
      await cp(join(REPOSITORY, entry), join(clone, entry), { recursive: true, filter: isTracked });
    }
  }
  await symlink(join(REPOSITORY, 'node_modules'), join(clone, 'node_modules'));
}

/**
 * Writes a project that installs the service with the versions of the repository's lock file. npm has these in its
 * cache after `npm ci`, so the install needs no network.
 */
export async function projectOfService(project: string, tarball: string): Promise<string[]> {
  const { packages, ...head } = JSON.parse(await readFile(join(REPOSITORY, 'package-lock.json'), 'utf8'));
  const { devDependencies: _, workspaces: __, ...ventanilla } = packages[''];
  const { overrides } = JSON.parse(await readFile(join(REPOSITORY, 'package.json'), 'utf8'));
  const dependencies = { ventanilla: `file:${tarball}` };
  const needed = Object.entries<{ dev?: boolean; link?: boolean }>(packages).filter(
    ([path, { dev, link }]) => /^node_modules\/(?!node-)/.test(path) && !dev && !link,
  );
  const lock = {
    ...head,
    packages: {
      '': { dependencies },
      'node_modules/ventanilla': { ...ventanilla, resolved: `file:${tarball}` },
      ...Object.fromEntries(needed),
    },
  };
  await writeFile(join(project, 'package-lock.json'), JSON.stringify(lock));
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, dependencies, overrides }));
  return ['ci', '--prefer-offline'];
}
