import { application } from './application.ts';
import { codes } from './codes.ts';
import { decide } from './decide.ts';
import { desk } from './desk.ts';
import { frame } from './frame.ts';
import { inbox } from './inbox.ts';
import { keyboard } from './keyboard.ts';
import { lead } from './lead.ts';
import { proposals } from './proposals.ts';
import { queue } from './queue.ts';
import { reconsiderations } from './reconsiderations.ts';
import { signIn } from './sign-in.ts';

export const en = {
  application,
  codes,
  decide,
  desk,
  frame,
  inbox,
  keyboard,
  lead,
  proposals,
  queue,
  reconsiderations,
  signIn,
};

/** English has the list: a text that another language lacks is an error of types. */
export type Texts = typeof en;
