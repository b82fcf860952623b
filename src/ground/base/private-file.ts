/**
 * Tells whether a file with secrets is open to other users; the rule is that of ssh for its keys. Pure: gets the file's
 * `stat`.
 */

const OTHERS = 0o077;

/**
 * Whether a file of this user's own gives other users a right. The file of another user is not judged: whoever mounts
 * it, such as an orchestrator, sets its rights.
 */
export function isOpenToOthers({ uid, mode }: { readonly uid: number; readonly mode: number }): boolean {
  return uid === process.getuid?.() && (mode & OTHERS) !== 0;
}

/** What is wrong with such a file, and how its owner mends it. */
export const OPEN_TO_OTHERS = 'is open to other users: make it yours alone (chmod 600)';
