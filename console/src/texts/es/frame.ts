import { counted } from '../../../../src/ground/base/counted.ts';
import type { Texts } from '../en/index.ts';

export const frame: Texts['frame'] = {
  skip: 'Ir al contenido',
  pages: 'Páginas',
  pageNames: {
    queue: 'Cola',
    proposals: 'Propuestas',
    reconsiderations: 'Reconsideraciones',
    lead: 'Supervisión',
    policies: 'Políticas',
  },
  toConfirm: 'por confirmar',
  language: 'Idioma',
  account: 'Cuenta',
  roles: { viewer: 'observador', reviewer: 'revisor', admin: 'administrador' },
  signOut: 'Cerrar sesión',
  signOutEverywhere: 'Cerrar todas las sesiones',
  sendingFirst: 'Enviando lo que decidiste…',
  unsentTitle: 'Sin enviar',
  unsentNote: 'Lo último que hiciste no se ha enviado. Al cerrar sesión se descarta.',
  signOutAnyway: 'Cerrar sesión y descartarlo',
  stay: 'Quedarse',
  loading: 'Cargando…',
  cancel: 'Cancelar',
  close: 'Cerrar',
  notFound: 'Esta página no existe.',
  broken: 'Esta página no se puede mostrar. Puede haber una versión nueva.',
  reload: 'Cargarla',
  noAnswer: 'El servicio no responde. Revisa la conexión e inténtalo de nuevo.',
  ended: 'La sesión terminó. Inicia sesión de nuevo.',
  notProved: 'No se envió: esto necesita un inicio de sesión de los últimos cinco minutos.',
  forbidden: 'Tu rol no permite esto.',
  failed: 'El servicio falló. Inténtalo de nuevo.',
  throttled: (minutes) =>
    `Demasiados intentos. Inténtalo de nuevo en ${counted(minutes, 'minuto', 'minutos')}.`,
  busy: 'Otra persona está entrando en este momento. Inténtalo de nuevo.',
};
