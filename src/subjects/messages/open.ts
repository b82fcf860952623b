/**
 * Opens the contact windows of this process, from its settings (docs/contact-windows.md). Reads the operator's file.
 */
import { type ContactWindows, windowState } from '../../domain/message/contact-window.ts';
import type { Country } from '../../ground/base/country-data.ts';
import type { ServiceContext } from '../../program/subject/subject.ts';
import { CONTACT_WINDOWS_FILE } from './settings.ts';
import { loadContactWindows } from './uses/load-contact-windows.ts';

type Source = Pick<ServiceContext, 'setting' | 'clock'>;

/** The contact windows. Rejects with a `ToldError` if the operator's file is refused. */
export function openContactWindows({ setting, clock }: Source): Promise<ContactWindows> {
  return loadContactWindows(setting(CONTACT_WINDOWS_FILE), new Date(clock.nowMs()));
}

/**
 * Whether a reminder may go to a phone of the country at a time; null: an unknown country. Rejects as
 * `openContactWindows`.
 */
export async function openReminderWindow(
  source: Source,
): Promise<(country: Country | null, at: Date) => boolean> {
  const windows = await openContactWindows(source);
  return (country, at) => windowState(windows, country, 'reminder', at).open;
}
