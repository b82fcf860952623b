/** Writes the link by which somebody chooses the factors of an account (docs/operators.md). Reads the noted place. */
import type { Whose } from '../../../domain/operator/session.ts';
import type { Cli } from '../../../program/cli/command.ts';
import { writeJson, writeOutput } from '../../../program/cli/output.ts';
import {
  consoleOrigin,
  DATA_DIR,
  enrolmentLink,
  knowsConsole,
  knowsPortal,
  portalOrigin,
} from '../settings.ts';
import { notedPlace } from '../uses/console-place.ts';

const PAGES = {
  operator: { name: 'console', knows: knowsConsole, origin: consoleOrigin },
  partner: { name: 'portal', knows: knowsPortal, origin: portalOrigin },
} as const;

interface Told {
  readonly told: string;
  /** The account, for JSON. */
  readonly shown: object;
  readonly json: boolean | undefined;
}

/** The link leads to the page at which the account signs in: that of `whose`. */
export async function writeInvited(
  { roles, io }: Cli,
  whose: Whose,
  token: string,
  { told, shown, json }: Told,
): Promise<void> {
  const setting = await roles.settings();
  const { name, knows, origin } = PAGES[whose];
  const noted = knows(setting) ? null : await notedPlace(setting(DATA_DIR), whose);
  const link = enrolmentLink(noted ?? origin(setting), token);
  if (json) return writeJson(io, { ...shown, link });
  await writeOutput(io, `${told}\n`);
  await writeOutput(io, `The link to choose the factors works for 24 hours, once:\n${link}\n`);
  if (!knows(setting) && noted === null) {
    await writeOutput(
      io,
      `The link begins with the usual origin of the ${name} here. Where the service named another one at its start, put that one in its place: another program may be at the usual one, and the link is a secret.\n`,
    );
  }
}
