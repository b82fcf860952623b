/** The dialog that writes from any phone, also from one that got no message. */
import { send } from './requests.js';

const byId = (id) => document.getElementById(id);

/** `show` gets the phone that wrote. */
export function startStranger(show) {
  byId('stranger-open').addEventListener('click', () => byId('stranger').showModal());
  byId('stranger-close').addEventListener('click', () => byId('stranger').close());
  byId('stranger-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const phone = `+${byId('stranger-phone').value.replace(/\D/g, '')}`;
    try {
      await send('text', { phone, body: byId('stranger-text').value.trim() });
    } catch {
      byId('stranger-problem').textContent =
        'The service did not take this. Write the phone with + and the country code.';
      return;
    }
    byId('stranger-problem').textContent = '';
    byId('stranger-text').value = '';
    byId('stranger').close();
    show(phone);
  });
}
