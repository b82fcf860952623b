/** Puts together what the uses of contracts work with, from the variables of the process. */
import { describeError } from '../base/describe-error.ts';
import type { ReadSetting } from '../base/setting.ts';
import { ToldError } from '../base/told-error.ts';
import { openStore } from '../documents/open.ts';
import type { Channel } from '../messages/channels/channel.ts';
import type { Sealer } from './pdf/seal.ts';
import type { CodeSender } from './senders/code-sender.ts';
import {
  CODE_TEMPLATE,
  CODE_WAY,
  CODES_AN_HOUR,
  SIGNING_CERTIFICATE_FILE,
  SIGNING_KEY_FILE,
  SMS_ACCOUNT_SID,
  SMS_API_URL,
  SMS_AUTH_TOKEN,
  SMS_FROM,
  TERMS_FILE,
  TSA_URL,
} from './settings.ts';
import type { SigningContext } from './uses/context.ts';
import type { FinishContext } from './uses/finish-contract.ts';
import { loadTerms } from './uses/load-terms.ts';

/** For a process that makes contracts. Throws a `ToldError` where a setting or the terms are wrong. */
export async function openSigning(
  setting: ReadSetting,
  around: Pick<SigningContext, 'database' | 'vault' | 'log'> & { readonly channel: Partial<Channel> },
): Promise<SigningContext> {
  const { channel, ...rest } = around;
  return {
    ...rest,
    store: await openStore(setting),
    terms: await loadTerms(setting(TERMS_FILE)),
    sealer: await openSealer(setting),
    sender: await openSender(setting, channel),
    codesAnHour: setting(CODES_AN_HOUR),
  };
}

/** For a process that finishes signed contracts. */
export async function openFinishing(
  setting: ReadSetting,
  around: Pick<FinishContext, 'database' | 'vault'>,
): Promise<FinishContext> {
  return { ...around, store: await openStore(setting), sealer: await openSealer(setting) };
}

/** The sealer of this process; null: no certificate is set. Throws a `ToldError` that names the file and the rule. */
async function openSealer(setting: ReadSetting): Promise<Sealer | null> {
  const source = setting(SIGNING_CERTIFICATE_FILE);
  const key = setting(SIGNING_KEY_FILE);
  if (source !== null && 'path' in source) {
    if (key === null) throw new ToldError('SIGNING_KEY_FILE is required with SIGNING_CERTIFICATE_FILE');
  } else if (key !== null) throw new ToldError('SIGNING_CERTIFICATE_FILE is required with SIGNING_KEY_FILE');
  if (source === null) return null;
  const [{ sealerOf }, { readIdentity }, { demoIdentity }] = await Promise.all([
    import('./pdf/seal.ts'),
    import('./pdf/identity.ts'),
    import('./pdf/demo-identity.ts'),
  ]);
  const identity =
    'path' in source ? await readIdentity(source.path, key as string) : await demoIdentity(source.dataDir);
  return sealerOf(identity, setting(TSA_URL));
}

/** The way of the codes; null: there is none. */
async function openSender(setting: ReadSetting, channel: Partial<Channel>): Promise<CodeSender | null> {
  const way = setting(CODE_WAY);
  if (way === 'none') return null;
  if (way === 'channel' || way === 'simulator') {
    const { codeWay, sendCode } = channel;
    if (codeWay === undefined || sendCode === undefined) return null;
    if (way === 'simulator' && codeWay !== 'simulator') return null;
    const { channelCodes } = await import('./senders/channel-codes.ts');
    return channelCodes({ codeWay, sendCode: sendCode.bind(channel) }, setting(CODE_TEMPLATE));
  }
  const { smsCodes } = await import('./senders/sms.ts');
  const required = (name: string, value: string | null): string => {
    if (value === null) throw new ToldError(`${name} is required with CODE_WAY=sms`);
    return value;
  };
  const settings = {
    apiUrl: setting(SMS_API_URL),
    accountSid: required('SMS_ACCOUNT_SID', setting(SMS_ACCOUNT_SID)),
    authToken: required('SMS_AUTH_TOKEN', setting(SMS_AUTH_TOKEN)),
    from: required('SMS_FROM', setting(SMS_FROM)),
  };
  try {
    return smsCodes(settings);
  } catch (error) {
    throw new ToldError(`SMS_AUTH_TOKEN cannot be part of a request: ${describeError(error)}`);
  }
}
