/** The ends of a drill's messages: the log channel's lines tell what went out, the store tells what it knows. */
import { readFileSync } from 'node:fs';

/** A message as the store has it at the end. */
export interface StoredMessage {
  readonly applicationId: number;
  readonly status: string;
}

export interface Messages {
  readonly sent: number;
  /** Messages that went out more than once. */
  readonly doubled: number;
  /** Messages of which the store does not know whether they went out. */
  readonly uncertain: number;
  /** Uncertain messages that did go out. */
  readonly uncertainSent: number;
  /** Applications without a message, or with a message that is neither uncertain nor both accepted and sent. */
  readonly wrong: number;
}

/** How often each application's message went out, by the service's log. */
function sendsIn(logFile: string): Map<number, number> {
  const sends = new Map<number, number>();
  for (const line of readFileSync(logFile, 'utf8').split('\n')) {
    if (!line.includes('"message would go out"')) continue;
    const { application_id: id } = JSON.parse(line) as { application_id: number };
    sends.set(id, (sends.get(id) ?? 0) + 1);
  }
  return sends;
}

/** Compares the messages of these applications with the log. */
export function compareMessages(
  logFile: string,
  applications: readonly number[],
  messages: readonly StoredMessage[],
): Messages {
  const sends = sendsIn(logFile);
  const statuses = new Map(messages.map(({ applicationId, status }) => [applicationId, status]));
  const uncertain = messages.filter(({ status }) => status === 'uncertain');
  const isRight = (id: number) => {
    const status = statuses.get(id);
    return status === 'uncertain' || (status === 'accepted' && sends.has(id));
  };
  return {
    sent: sends.size,
    doubled: [...sends.values()].filter((count) => count > 1).length,
    uncertain: uncertain.length,
    uncertainSent: uncertain.filter(({ applicationId }) => sends.has(applicationId)).length,
    wrong: applications.filter((id) => !isRight(id)).length + messages.length - statuses.size,
  };
}
