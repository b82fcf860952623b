import type { Texts } from '../en/index.ts';

export const keyboard: Texts['keyboard'] = {
  button: 'Teclado',
  title: 'Atalhos do teclado',
  switch: 'Os atalhos de uma tecla estão ativos',
  note: 'Não fazem nada enquanto você digita e enquanto há um diálogo aberto. O ajuste fica neste navegador.',
  key: 'Tecla',
  does: 'O que faz',
  keys: {
    'j / k': 'Linha seguinte ou anterior, ou seção de uma solicitação',
    'o / Enter': 'Abrir a linha',
    x: 'Selecionar a linha, ou tirá-la da seleção',
    n: 'Pegar e abrir a próxima solicitação; na caixa de entrada, a próxima pessoa',
    q: 'Voltar à fila',
    a: 'Aprovar: a solicitação, ou as linhas selecionadas',
    r: 'Rejeitar: a solicitação, ou as linhas selecionadas',
    d: 'Desembolsar',
    p: 'Adiar',
    '1 … 0': 'No diálogo: escolher o código do motivo e propor',
    u: 'Desfazer a última decisão que pode ser desfeita',
    c: 'Mostrar a proposta e confirmá-la',
    '/': 'Buscar uma solicitação, uma pessoa, um parceiro ou um usuário',
    '?': 'Esta ajuda',
  },
};
