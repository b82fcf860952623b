/**
 * Sends one-time codes by the channel of the messages: WhatsApp's authentication template, or a second phone of the
 * simulator (docs/signing.md, "The signature").
 */
import type { ContractLanguage } from '../../../domain/loan/contract-template.ts';
import type { CodeChannel } from '../../../domain/message/channel.ts';
import { codeText } from '../rules/code-text.ts';
import type { CodeSender } from './code-sender.ts';

/** The channel has no language code for Portuguese without a country. */
const LANGUAGES: Readonly<Record<ContractLanguage, string>> = { es: 'es', pt: 'pt_BR', en: 'en' };

/** `template` is the name of the approved template, in each of the languages that it is sent in. */
export function channelCodes(channel: CodeChannel, template: string): CodeSender {
  return {
    way: channel.codeWay,
    async send({ phone, code, language, lender }, signal) {
      const text = codeText(language, code, lender);
      const sent = await channel.sendCode(
        { phone, code, text, template, language: LANGUAGES[language] },
        signal,
      );
      if (sent.kind === 'accepted') return { kind: 'sent', messageId: sent.channelMessageId };
      if (sent.kind === 'uncertain') return { kind: 'sent', messageId: null };
      return { kind: sent.kind === 'retry' ? 'later' : 'failed', reason: sent.reason };
    },
  };
}
