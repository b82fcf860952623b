/**
 * Finds the console's page: a checkout builds it if its sources changed, a package has it built. Touches files and a
 * process. ARCHITECTURE, "The house", has the rule.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describeError } from '../ground/base/describe-error.ts';
import { runProgram } from '../ground/embedded/program.ts';
import { type Page, readPage } from '../listeners/browser/page.ts';
import { CONSOLE_PORT } from '../subjects/operators/settings.ts';
import type { Config } from './config/config.ts';

const CONSOLE = join(import.meta.dirname, '../../console');
const BUILDER = join(CONSOLE, 'build.js');
const BUILD_WITHIN_MS = 30_000;

/** What was found. */
export interface FoundPage {
  /** null: there is none. If a build fails, this is the page of an earlier build. */
  readonly page: Page | null;
  /** Why the build failed; null: it did not. */
  readonly failure: string | null;
}

/** For a process without a console. */
export const NO_PAGE: FoundPage = { page: null, failure: null };

/** Builds the page in a process of its own, at most 30 seconds, and reads it. Never rejects. */
export async function findConsolePage({
  setting,
  databaseUrl,
}: Pick<Config, 'setting' | 'databaseUrl'>): Promise<FoundPage> {
  if (setting(CONSOLE_PORT) === null && databaseUrl !== null) return NO_PAGE;
  try {
    const failure = existsSync(BUILDER) ? await build() : null;
    return { page: await readPage(join(CONSOLE, 'dist')), failure };
  } catch (error) {
    return { page: null, failure: describeError(error) };
  }
}

async function build(): Promise<string | null> {
  // The builder needs none of the service's variables, which may be secrets.
  const limits = { env: {}, timeoutMs: BUILD_WITHIN_MS };
  const { status, output } = await runProgram(process.execPath, ['--disable-sigusr1', BUILDER], limits);
  return status === 0 ? null : output.trim();
}
