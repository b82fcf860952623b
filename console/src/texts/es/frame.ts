import type { Texts } from '../texts.ts';

export const frame: Texts['frame'] = {
  skip: 'Ir al contenido',
  pages: 'Páginas',
  pageNames: { queue: 'Cola', proposals: 'Propuestas', lead: 'Supervisión' },
  language: 'Idioma',
  signedIn: 'Has iniciado sesión',
  role: 'Rol',
  roles: { viewer: 'lector', reviewer: 'revisor', admin: 'administrador' },
  signOut: 'Cerrar sesión',
  loading: 'Cargando…',
  tryAgain: 'Intentar de nuevo',
  cancel: 'Cancelar',
  close: 'Cerrar',
  notFound: 'Esta página no existe.',
  broken: 'Hay una versión nueva de esta página.',
  reload: 'Cargarla',
  noAnswer: 'El servicio no responde. Revisa la conexión e inténtalo de nuevo.',
  ended: 'La sesión terminó. Inicia sesión de nuevo.',
  forbidden: 'Tu rol no permite esto.',
  failed: 'El servicio falló. Inténtalo de nuevo.',
  throttled: 'Demasiados intentos. Espera un momento e inténtalo de nuevo.',
};
