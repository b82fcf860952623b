/**
 * Builds what the uses of contracts work with from the variables of the process: terms, certificate, document store,
 * and the way of codes (docs/signing.md). Reads the files of the terms and of the certificate.
 */
import type { Terms } from '../../domain/loan/terms.ts';
import type { Channel } from '../../domain/message/channel.ts';
import type { Clock } from '../../ground/base/clock.ts';
import { describeError } from '../../ground/base/describe-error.ts';
import type { ReadSetting } from '../../ground/base/setting.ts';
import { ToldError } from '../../ground/base/told-error.ts';
import type { Database } from '../../ground/postgres/database.ts';
import type { ServiceContext } from '../../program/subject/subject.ts';
import { openStore } from '../documents/open.ts';
import type { Sealer } from './pdf/seal.ts';
import type { CodeResult, CodeSender, CodeWay } from './senders/code-sender.ts';
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
import { FromFiles } from './uses/from-files.ts';
import { loadTerms } from './uses/load-terms.ts';

/** The terms and the sealer of a process, each as last read from its files. */
export interface SigningFiles {
  readonly terms: FromFiles<Terms | null>;
  readonly sealer: FromFiles<Sealer | null>;
}

/** One for the whole process, whichever part of it asks, so that a changed file is read once and refused once. */
const OPENED = new WeakMap<Database, Promise<SigningFiles>>();

/** The files of this process. Throws a `ToldError` if a setting, the terms or the certificate are wrong. */
export function signingFiles(
  { database, clock }: Pick<ServiceContext, 'database' | 'clock'>,
  setting: ReadSetting,
): Promise<SigningFiles> {
  let files = OPENED.get(database);
  if (files === undefined) {
    files = openFiles(setting, clock);
    OPENED.set(database, files);
    // A file that is mended is read again.
    files.catch(() => OPENED.delete(database));
  }
  return files;
}

async function openFiles(setting: ReadSetting, clock: Clock): Promise<SigningFiles> {
  const [source, certificate] = [setting(TERMS_FILE), setting(SIGNING_CERTIFICATE_FILE)];
  const key = setting(SIGNING_KEY_FILE);
  const sealing = certificate !== null && 'path' in certificate ? [certificate.path] : [];
  return {
    terms: await FromFiles.open(typeof source === 'object' ? [source.path] : [], () => loadTerms(source)),
    sealer: await FromFiles.open([...sealing, ...(key === null ? [] : [key])], () =>
      openSealer(setting, clock),
    ),
  };
}

/** For a process that makes contracts. Throws a `ToldError` if a setting, the terms or the certificate are wrong. */
export async function openSigning(
  setting: ReadSetting,
  around: Pick<SigningContext, 'database' | 'vault' | 'log'> & {
    readonly clock: Clock;
    readonly channel: Partial<Channel>;
    /** Called with the result of each code. */
    readonly onCode: (way: CodeWay, result: CodeResult['kind']) => void;
  },
): Promise<SigningContext> {
  const { clock, channel, onCode, ...rest } = around;
  const { terms, sealer } = await signingFiles(around, setting);
  return {
    ...rest,
    store: await openStore(setting, clock),
    get terms() {
      return terms.value;
    },
    get sealer() {
      return sealer.value;
    },
    sender: counted(await openSender(setting, clock, channel), onCode),
    codesAnHour: setting(CODES_AN_HOUR),
  };
}

/** For a process that makes the final PDFs. Throws a `ToldError` as `openSigning` does. */
export async function openFinishing(
  setting: ReadSetting,
  { clock, ...around }: Pick<FinishContext, 'database' | 'vault'> & { readonly clock: Clock },
): Promise<FinishContext> {
  const { sealer } = await signingFiles({ database: around.database, clock }, setting);
  return {
    ...around,
    store: await openStore(setting, clock),
    get sealer() {
      return sealer.value;
    },
  };
}

function counted(
  sender: CodeSender | null,
  onCode: (way: CodeWay, result: CodeResult['kind']) => void,
): CodeSender | null {
  if (sender === null) return null;
  const { way } = sender;
  return {
    way,
    send: async (code, signal) => {
      const result = await sender.send(code, signal);
      onCode(way, result.kind);
      return result;
    },
  };
}

/** The sealer of this process; null: no certificate is set. Throws a `ToldError` that names the file and the rule. */
async function openSealer(setting: ReadSetting, clock: Clock): Promise<Sealer | null> {
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
    'path' in source
      ? await readIdentity(source.path, key as string)
      : await demoIdentity(source.dataDir, clock);
  const url = setting(TSA_URL);
  return sealerOf(identity, url === null ? null : { url, clock });
}

/** What sends the codes; null: codes have no way. */
async function openSender(
  setting: ReadSetting,
  clock: Clock,
  channel: Partial<Channel>,
): Promise<CodeSender | null> {
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
    return smsCodes(settings, clock);
  } catch (error) {
    throw new ToldError(`SMS_AUTH_TOKEN cannot be part of a request: ${describeError(error)}`);
  }
}
