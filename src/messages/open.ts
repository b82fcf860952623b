/** The contact windows of this process, from its settings (docs/contact-windows.md). */
import type { Country } from '../base/country-data.ts';
import type { ReadSetting } from '../base/setting.ts';
import { type ContactWindows, windowState } from './rules/contact-window.ts';
import { CONTACT_WINDOWS_FILE } from './settings.ts';
import { loadContactWindows } from './uses/load-contact-windows.ts';

/** Rejects with a `ContactWindowsError` where the operator's file is refused. */
export function openContactWindows(setting: ReadSetting): Promise<ContactWindows> {
  return loadContactWindows(setting(CONTACT_WINDOWS_FILE), new Date());
}

/** Whether a reminder may go to a phone of the country at a time; null: an unknown country. Rejects as above. */
export async function openReminderWindow(
  setting: ReadSetting,
): Promise<(country: Country | null, at: Date) => boolean> {
  const windows = await openContactWindows(setting);
  return (country, at) => windowState(windows, country, 'reminder', at).open;
}
