/** Texts of the keyboard's help. */
export const keyboard = {
  button: 'Keyboard',
  title: 'Keyboard shortcuts',
  switch: 'Shortcuts of one key are on',
  note: 'They do nothing while you type and while a dialog is open. The setting stays in this browser.',
  key: 'Key',
  does: 'What it does',
  keys: {
    'j / k': 'Next or previous row',
    'o / Enter': 'Open the row',
    x: 'Select the row, or take it out of the selection',
    n: 'Claim and open the next application',
    q: 'Back to the queue',
    a: 'Approve: the application, or the selected rows',
    r: 'Reject: the application, or the selected rows',
    d: 'Disburse',
    p: 'Pend',
    '1 … 0': 'In the dialog: pick the reason code and propose',
    u: 'Undo the newest decision that can be undone',
    c: 'Show the proposal and confirm it',
    '?': 'This help',
  },
};
