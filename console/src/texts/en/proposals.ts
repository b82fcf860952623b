/** Texts of the proposals' page. */
export const proposals = {
  title: 'Proposals',
  lists: 'Lists of proposals',
  none: 'There are none.',
  application: 'Application',
  act: 'Act',
  reason: 'Reason',
  by: 'By',
  at: 'Made',
  state: 'State',
  second: 'Second',
  actions: 'Actions',
  confirmed: 'Confirmed.',
  declined: 'Declined.',
  undone: 'Undone.',
  ownProposal: 'Nobody confirms a proposal of their own.',
  moved: 'This proposal is no longer open.',
};
