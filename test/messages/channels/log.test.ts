import assert from 'node:assert/strict';
import { test } from 'node:test';
import pino from 'pino';
import { logChannel } from '../../../src/subjects/messages/channels/log.ts';
import { aMessage, NAME, PHONE } from './messages.ts';

test('the log channel accepts every message under a new id and logs the application, never the applicant', async () => {
  const lines: string[] = [];
  const channel = logChannel(pino({ base: null }, { write: (line: string) => void lines.push(line) }));
  const message = aMessage({ attempt: 3 });
  const signal = new AbortController().signal;
  const results = [await channel.send(message, signal), await channel.send(message, signal)];
  const ids = results.map((result) => {
    assert.ok(result.kind === 'accepted');
    return result.channelMessageId;
  });
  assert.equal(new Set(ids).size, 2);
  assert.equal(lines.length, 2);
  const { level, time, ...line } = JSON.parse(lines[0] as string);
  assert.deepEqual(line, {
    application_id: message.applicationId,
    attempt: 3,
    type: 'offer',
    template: 'ventanilla_offer',
    channel_message_id: ids[0],
    msg: 'message would go out',
  });
  for (const word of [NAME, PHONE.slice(3), '6.000.000', 'Hola']) {
    assert.ok(!lines.join('').includes(word), word);
  }
});
