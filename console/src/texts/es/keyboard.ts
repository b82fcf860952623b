import type { Texts } from '../en/index.ts';

export const keyboard: Texts['keyboard'] = {
  button: 'Teclado',
  title: 'Atajos del teclado',
  switch: 'Los atajos de una tecla están activos',
  note: 'No hacen nada mientras escribes y mientras hay un diálogo abierto. El ajuste queda en este navegador.',
  key: 'Tecla',
  does: 'Qué hace',
  keys: {
    'j / k': 'Fila siguiente o anterior, o sección de una solicitud',
    'o / Enter': 'Abrir la fila',
    x: 'Seleccionar la fila, o quitarla de la selección',
    n: 'Tomar y abrir la siguiente solicitud; en la bandeja, la siguiente persona',
    q: 'Volver a la cola',
    a: 'Aprobar: la solicitud, o las filas seleccionadas',
    r: 'Rechazar: la solicitud, o las filas seleccionadas',
    d: 'Desembolsar',
    p: 'Aplazar',
    '1 … 0': 'En el diálogo: elegir el código del motivo y proponer',
    u: 'Deshacer la última decisión que se puede deshacer',
    c: 'Mostrar la propuesta y confirmarla',
    '/': 'Buscar una solicitud, una persona, un aliado o un usuario',
    '?': 'Esta ayuda',
  },
};
