/**
 * Finds the pages of the console and of the portal: a checkout builds them if their sources changed, a package has them
 * built. Touches files and a process. ARCHITECTURE, "The house", has the rule.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../ground/base/describe-error.ts';
import { runProgram } from '../ground/embedded/program.ts';
import { type Page, readPage } from '../listeners/browser/page.ts';
import { CONSOLE_PORT, PORTAL_PORT } from '../subjects/operators/settings.ts';
import type { Config } from './config/config.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
const BUILDER = join(REPOSITORY, 'console/build.js');
/** It takes a second; a busy machine takes many. */
const BUILD_WITHIN_MS = 120_000;

/** What was found. */
export interface FoundPage {
  /** null: there is none. If a build fails, this is the page of an earlier build. */
  readonly page: Page | null;
  /** Why the build failed; null: it did not. */
  readonly failure: string | null;
}

/** For a process without the page. */
export const NO_PAGE: FoundPage = { page: null, failure: null };

/** The console’s page; never rejects. */
export async function findConsolePage({
  setting,
  databaseUrl,
}: Pick<Config, 'setting' | 'databaseUrl'>): Promise<FoundPage> {
  return setting(CONSOLE_PORT) === null && databaseUrl !== null ? NO_PAGE : find('console');
}

/** The portal’s page; never rejects. */
export async function findPortalPage({ setting }: Pick<Config, 'setting'>): Promise<FoundPage> {
  return setting(PORTAL_PORT) === null ? NO_PAGE : find('portal');
}

/** Builds the page in a process of its own, at most two minutes, and reads it. */
async function find(name: 'console' | 'portal'): Promise<FoundPage> {
  try {
    const failure = existsSync(BUILDER) ? await build(name) : null;
    return { page: await readPage(join(REPOSITORY, name, 'dist')), failure };
  } catch (error) {
    return { page: null, failure: describeError(error) };
  }
}

async function build(name: string): Promise<string | null> {
  // The builder needs none of the service's variables, which may be secrets.
  const limits = { env: {}, timeoutMs: BUILD_WITHIN_MS };
  const { status, output } = await runProgram(process.execPath, ['--disable-sigusr1', BUILDER, name], limits);
  return status === 0 ? null : output.trim();
}
