/** The files that people send on the simulator's page. */
import { hash } from 'node:crypto';
import { toApplicationId } from '../../domain/application/ids.ts';
import type { MediaKind } from '../../domain/message/channel-event.ts';
import type { Phone } from '../../domain/phone/phone.ts';
import { phoneIndexOf } from '../../seal/blind-indexes.ts';
import { searchApplications } from '../applications/sql/application-search.ts';
import type { SimulatorContext } from './context.ts';
import { type MadeUp, madeUpFile } from './made-up-files.ts';
import { readOwners } from './owners.ts';
import { now, saidNow } from './said-now.ts';

/** A file as its sender names it. */
export interface SentFile {
  readonly mediaId: string;
  readonly media: MediaKind;
  /** Pictures and voice messages have no name. */
  readonly filename: string | null;
  readonly caption: string | null;
}

/** Sends a file that the simulator keeps. Returns false if there is no such file. */
export async function sendFile(
  context: SimulatorContext,
  phone: Phone,
  { mediaId, media, filename, caption }: SentFile,
): Promise<boolean> {
  const file = context.simulator.files.get(mediaId);
  if (file === null) return false;
  const shown = { mediaId, filename: filename ?? file.filename };
  const said = await saidNow(context, phone, { text: caption ?? '', file: shown });
  const { messageId, at } = said;
  await context.simulator.say(said, {
    kind: 'file',
    from: phone,
    ...{ messageId, at, media, mediaId, filename, caption },
    claimedType: file.contentType,
    claimedSha256: hash('sha256', file.bytes, 'hex'),
    contextMessageId: null,
  });
  return true;
}

/** Makes up a file for the newest application of a phone and sends it. Returns false where the phone has none. */
export async function sendMadeUp(context: SimulatorContext, phone: Phone, what: MadeUp): Promise<boolean> {
  const { database, vault, simulator } = context;
  const phones = [phoneIndexOf(vault, phone)];
  for await (const { id } of searchApplications(database, vault, { phones })) {
    const owner = (await readOwners(database, vault, [toApplicationId(id)]))[0];
    if (owner === undefined) return false;
    const { media, ...file } = madeUpFile(what, owner, await now(context));
    const filename = media === 'document' ? file.filename : null;
    return sendFile(context, phone, { mediaId: simulator.files.keep(file), media, filename, caption: null });
  }
  return false;
}
