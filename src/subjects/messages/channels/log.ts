/**
 * A channel that writes each message to the log and sends nothing, for a rehearsal with real batches (docs/messages.md,
 * "Channels").
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { Channel } from '../../../domain/message/channel.ts';

/** Accepts every message under a new id. The log line names the application, never the applicant. */
export function logChannel(log: Logger): Channel {
  return {
    async send({ applicationId, attempt, type, template }) {
      const channelMessageId = `log.${randomUUID()}`;
      log.info(
        {
          application_id: applicationId,
          attempt,
          type,
          template: template.name,
          channel_message_id: channelMessageId,
        },
        'message would go out',
      );
      return { kind: 'accepted', channelMessageId };
    },
    async sendReply({ applicationId, attempt }) {
      const channelMessageId = `log.${randomUUID()}`;
      log.info(
        { application_id: applicationId, attempt, channel_message_id: channelMessageId },
        'reply would go out',
      );
      return { kind: 'accepted', channelMessageId };
    },
    async markRead() {},
    // Nobody can send a file to a log.
    async fetchMedia() {
      return { kind: 'gone' };
    },
    async uploadMedia() {
      return { kind: 'uploaded', mediaId: `log.${randomUUID()}` };
    },
  };
}
