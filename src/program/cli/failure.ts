/**
 * Reports a failed command on stderr: in one line if the operator can mend it, and with what to report if the program
 * is at fault. Has the exit codes. A report holds no personal data (SECURITY.md).
 */
import { describeError, errorCode, errorFields } from '../../ground/base/describe-error.ts';
import { InDoubtError, UnavailableError } from '../../ground/base/registration-failure.ts';
import { ToldError } from '../../ground/base/told-error.ts';
import { version } from '../../ground/base/version.ts';
import { type Io, writeNote } from './output.ts';

/** The exit code after a failure that the operator can mend. */
const FAILED = 1;
/** The exit code after a fault of the program: EX_SOFTWARE of sysexits.h. */
const FAULTY = 70;

const TOLD = [ToldError, UnavailableError, InDoubtError];
/** Codes of system calls that only a fault of the program can cause. */
const WRONG_CALLS = ['EBADF', 'EFAULT', 'EINVAL', 'ENOTSOCK'];

interface Circumstances {
  /** The command without its values. */
  readonly command: string;
  readonly withStack: boolean;
  /** True for trouble of the database. */
  readonly isTrouble: (error: unknown) => boolean;
}

/** Writes the failure to stderr and returns the exit code. A report holds no value of the command or of a row. */
export function tellFailure(io: Pick<Io, 'stderr'>, error: unknown, around: Circumstances): number {
  const isFault = isFaultOfProgram(error, around.isTrouble);
  const text = isFault ? reportOf(error, around) : describeError(error);
  const stack = around.withStack ? `\n${stackOf(error)}` : '';
  // A foreign text must not begin a line that looks like one of the program.
  writeNote(io, `error: ${`${text}${stack}`.replaceAll('\n', '\n       ')}\n`);
  return isFault ? FAULTY : FAILED;
}

/** False for a mistake of the operator, and for trouble of the machine, the network, the database or the service. */
function isFaultOfProgram(error: unknown, isTrouble: Circumstances['isTrouble']): boolean {
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.some((one) => isFaultOfProgram(one, isTrouble));
  const isTold = TOLD.some((kind) => error instanceof kind);
  return !isTold && !isSystemTrouble(error) && !isTrouble(error);
}

/**
 * True for a failed system call, such as a write to a full disk. Its code is not an `ERR_...`, which Node gives to a
 * wrong argument.
 */
function isSystemTrouble(error: unknown): boolean {
  const code = errorCode(error) ?? '';
  return /^E(?!RR_)[A-Z\d_]+$/.test(code) && !WRONG_CALLS.includes(code);
}

function reportOf(error: unknown, { command, withStack }: Circumstances): string {
  const { kind, ...fields } = errorFields(error);
  const details = Object.entries(fields).map(([name, value]) => `, ${name} ${plain(value)}`);
  return [
    'This is a fault of Ventanilla, not of the command. Please report these lines; they hold no value of yours:',
    `version: ${version()}, Node ${process.version}, ${process.platform}`,
    `command: ${command}`,
    `error: ${kind}${details.join('')}`,
    withStack
      ? 'The stack below may hold personal data: read it before you pass it on.'
      : 'The same command with --debug shows the stack, which may hold personal data.',
  ].join('\n');
}

function plain(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The stack of the error, then those of its causes. */
function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const stack = error.stack ?? error.message;
  return error.cause === undefined ? stack : `${stack}\nCaused by: ${stackOf(error.cause)}`;
}
