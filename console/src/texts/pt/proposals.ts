import type { Texts } from '../en/index.ts';

export const proposals: Texts['proposals'] = {
  title: 'Propostas',
  lists: 'Listas de propostas',
  none: 'Não há nenhuma.',
  application: 'Solicitação',
  act: 'Ato',
  reason: 'Motivo',
  by: 'De',
  at: 'Feita',
  state: 'Situação',
  second: 'Segundo',
  actions: 'Ações',
  confirmed: 'Confirmada.',
  declined: 'Recusada.',
  undone: 'Desfeita.',
  ownProposal: 'Ninguém confirma a própria proposta.',
  moved: 'Esta proposta não está mais aberta.',
};
