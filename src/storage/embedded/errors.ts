import { errorCode } from '../error-code.ts';

/** Something about the embedded server that whoever runs the service can put right: the message is for them. */
export class EmbeddedError extends Error {
  override readonly name = 'EmbeddedError';
}

/** The server cannot start for want of room on its disk. */
export class DiskFullError extends EmbeddedError {}

/** The error to throw when `path`, which is under DATA_DIR, could not be used. */
export function explainPath(error: unknown, path: string): unknown {
  switch (errorCode(error)) {
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return new EmbeddedError(
        `DATA_DIR is not ours to use: ${path} (${errorCode(error)}); make it writable for this user or set DATA_DIR to another directory`,
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
