import type { Texts } from '../texts.ts';

export const signIn: Texts['signIn'] = {
  title: 'Iniciar sesión',
  login: 'Usuario',
  password: 'Contraseña',
  next: 'Siguiente',
  signingIn: (login) => `Inicias sesión como ${login}.`,
  code: 'Código de la app de autenticación',
  recoveryCode: 'Código de recuperación',
  useRecoveryCode: 'Usar un código de recuperación',
  useApp: 'Usar la app de autenticación',
  finish: 'Iniciar sesión',
  other: 'Otra cuenta',
  wrong: 'El usuario, la contraseña o el código es incorrecto.',
  enrolTitle: 'Configura tu cuenta',
  choosePassword: (shortest, longest, different) =>
    `Elige una contraseña de ${shortest} a ${longest} caracteres, ${different} o más de ellos distintos. No debe contener tu usuario.`,
  scan: 'Escanea esta imagen con tu app de autenticación y escribe el código que muestra.',
  qrCode: 'Código QR para la app de autenticación',
  key: 'Clave, para escribirla en lugar de la imagen',
  confirm: 'Confirmar',
  codesTitle: 'Códigos de recuperación',
  codesNote:
    'Cada código permite entrar una vez sin la app. Guárdalos en un lugar seguro: no se muestran de nuevo.',
  done: 'Ya guardé los códigos',
  badLink: 'El enlace es incorrecto, ya se usó o venció. Pide uno nuevo a un administrador.',
  hasAccount: 'Si tu cuenta ya está configurada, inicia sesión.',
  badPassword: 'Esta contraseña no cumple una de estas reglas.',
  badCode: 'Este código es incorrecto. Revisa la hora de tu teléfono.',
  againTitle: 'Inicia sesión de nuevo',
  againNote: 'Esto necesita un inicio de sesión de los últimos cinco minutos.',
  wrongProof: 'La contraseña o el código es incorrecto.',
  prove: 'Continuar',
  ended: (login) => `La sesión de ${login} terminó. Inicia sesión para seguir donde estabas.`,
  unsent: 'Lo último que hiciste aún no se ha enviado. Se envía al iniciar sesión. Otra cuenta lo descarta.',
  atProvider: 'Entrar con',
  toProvider: 'Entrar con el proveedor de identidad',
  inOtherTab: 'Inicia sesión en otra pestaña y vuelve aquí.',
  bound:
    'Iniciaste sesión con el proveedor de identidad. Ahora agrega esta cuenta a una app de autenticación.',
  outcomes: {
    again: 'Iniciaste sesión de nuevo. Cierra esta pestaña y continúa en la otra.',
    over: 'Este inicio de sesión terminó. Empieza de nuevo.',
    unknown: 'Ninguna cuenta está vinculada a esta identidad. Pide un enlace a un administrador.',
    no_link: 'El enlace es incorrecto, ya se usó o venció. Pide uno nuevo a un administrador.',
    taken: 'Otra cuenta está vinculada a esta identidad. Abre el enlace de nuevo y entra con otra identidad.',
    no_second_factor:
      'El proveedor de identidad no pidió un segundo factor, y tu cuenta no tiene una app de autenticación.',
    not_again: 'No era la misma cuenta, o la sesión terminó. Intenta de nuevo.',
    declined:
      'El proveedor de identidad no te dejó entrar. Intenta de nuevo. Si llegaste por un enlace, ábrelo otra vez.',
    invalid:
      'La respuesta del proveedor de identidad no es válida. Intenta de nuevo o avisa a un administrador.',
    away: 'El proveedor de identidad no responde. Intenta de nuevo o avisa a un administrador.',
  },
};
