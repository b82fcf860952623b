/**
 * The errors of the embedded server, whose messages operators read. Types, and the text for a path that cannot be used.
 * Pure.
 */
import { errorCode } from '../base/describe-error.ts';
import { ToldError } from '../base/told-error.ts';

/** A problem of the embedded server that operators can solve: the message is for them. */
export class EmbeddedError extends ToldError {
  override readonly name = 'EmbeddedError';
}

/** The server cannot start because its disk is full. */
export class DiskFullError extends EmbeddedError {}

/** The error to throw if `path`, which is under DATA_DIR, cannot be used. */
export function explainPath(error: unknown, path: string): unknown {
  switch (errorCode(error)) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new EmbeddedError(
        `DATA_DIR cannot be used: ${path} (${errorCode(error)}); make it writable for this user or set DATA_DIR to another directory`,
      );
    case 'EEXIST':
    case 'ENOTDIR':
      return new EmbeddedError(`DATA_DIR is not a directory: ${path}`);
    case 'ENOSPC':
    case 'EDQUOT':
      return new EmbeddedError(`no space left under DATA_DIR: ${path}`);
    default:
      return error;
  }
}
