import type { Texts } from '../en/index.ts';

export const proposals: Texts['proposals'] = {
  title: 'Propuestas',
  lists: 'Listas de propuestas',
  none: 'No hay ninguna.',
  application: 'Solicitud',
  act: 'Acto',
  reason: 'Motivo',
  by: 'De',
  at: 'Hecha',
  state: 'Estado',
  second: 'Segundo',
  actions: 'Acciones',
  confirmed: 'Confirmada.',
  declined: 'Declinada.',
  undone: 'Deshecha.',
  ownProposal: 'Nadie confirma una propuesta propia.',
  moved: 'Esta propuesta ya no está abierta.',
};
