/** The subjects below a conversation. Where one is not there yet, an operator does its part. */
import type { Channel } from '../../messages/channels/channel.ts';
import type { Vault } from '../../seal/vault.ts';
import { formatMoney, formatPercent } from '../../signing/rules/money.ts';
import type { Offer } from '../../signing/rules/offer.ts';
import { checkAnswer } from '../../signing/uses/check-answer.ts';
import type { SigningContext } from '../../signing/uses/context.ts';
import { makeContract } from '../../signing/uses/make-contract.ts';
import { offerOf } from '../../signing/uses/price.ts';
import { sendCode } from '../../signing/uses/send-code.ts';
import { recordEvidence, signContract, withdraw } from '../../signing/uses/sign-contract.ts';
import type { OfferShown } from '../rules/input.ts';
import type { EvidenceEntry, Later, Performer, Signing } from './ports.ts';

/** What the work beside the conversations needs. */
export interface Neighbours {
  readonly signing: SigningContext;
  readonly channel: Pick<Channel, 'uploadMedia'>;
}

const CODE_MINUTES = 10;
const AGAIN_MS = 30_000;

/** Documents, incomes, offers, contracts and codes. */
export function performerOf({ signing, channel }: Neighbours): Performer {
  return {
    readDocument: async () => 'operator',
    checkIncome: async () => 'operator',
    async offer({ applicationId, locale }) {
      const offer = await offerOf(signing, applicationId);
      return offer.kind === 'blocked' ? null : shownOffer(offer, locale);
    },
    async makeContract({ applicationId, signal }) {
      const made = await makeContract(signing, applicationId);
      if (made.kind === 'blocked') return null;
      if (made.kind === 'retry') return later(made.reason);
      const { bytes, filename, sha256 } = made;
      const uploaded = await channel.uploadMedia({ bytes, filename, contentType: 'application/pdf' }, signal);
      if (uploaded.kind === 'uploaded') return { sha256, mediaId: uploaded.mediaId, filename };
      return uploaded.kind === 'retry' ? later(uploaded.reason) : null;
    },
    async sendCode({ applicationId, locale, signal }) {
      const sent = await sendCode(signing, applicationId, signal);
      const way = sent.kind === 'sent' && sent.way === 'channel' ? sameChat(locale) : 'SMS';
      return { result: sent.kind, way, minutes: CODE_MINUTES };
    },
  };
}

function later(reason: string): Later {
  return { retryAfterMs: AGAIN_MS, reason };
}

function shownOffer(offer: Offer, locale: string): OfferShown {
  const money = (text: string) => formatMoney(text, offer.currency, locale);
  return {
    amount: money(offer.amount),
    installment: money(offer.installment),
    months: `${offer.months}`,
    total: money(offer.total),
    rate: formatPercent(offer.annualRate, locale),
    rateName: offer.rateName,
    lender: offer.lender,
  };
}

/** A code into the same chat is no second way, and the person reads where it comes. */
function sameChat(locale: string): string {
  if (locale.startsWith('pt')) return 'esta conversa';
  return locale.startsWith('en') ? 'this chat' : 'este chat';
}

/** Answers, signatures and evidence, in the transaction of a turn. */
export function signingOf(vault: Vault): Signing {
  return {
    checkAnswer: (session, id, question, text) => checkAnswer(session, vault, id, question, text),
    sign: (session, id, acceptance) => signContract(session, vault, id, acceptance),
    withdraw: (session, id) => withdraw(session, vault, id),
    recordEvidence: (session, id, entries) => recordEvidence(session, vault, id, entries.map(toEvidence)),
  };
}

function toEvidence({ kind, at, turn, input, messageIndex, sha256 }: EvidenceEntry) {
  return { kind, at, facts: { turn, input, message_index: messageIndex, sha256 } };
}
