/** The flow of a brand that has no flow of its own (docs/conversation.md, "The flow of a brand"). Data alone. */
import type { Flow } from './flow.ts';
import { BUTTONS_EN, TEXTS_EN } from './texts/en.ts';
import { BUTTONS_ES, TEXTS_ES } from './texts/es.ts';
import { BUTTONS_PT, TEXTS_PT } from './texts/pt.ts';

export const DEFAULT_FLOW: Flow = {
  texts: { es: TEXTS_ES, pt: TEXTS_PT, en: TEXTS_EN },
  buttons: { es: BUTTONS_ES, pt: BUTTONS_PT, en: BUTTONS_EN },
  steps: { earnings: true, debts: true, connect: false },
  reminders: { before_window_ends_hours: 2, template_after_hours: 26 },
  limits: { expire_after_hours: 24 * 7, files: 12 },
};
