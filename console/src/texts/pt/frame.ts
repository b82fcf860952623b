import type { Texts } from '../texts.ts';

export const frame: Texts['frame'] = {
  skip: 'Ir para o conteúdo',
  pages: 'Páginas',
  pageNames: { queue: 'Fila', proposals: 'Propostas', lead: 'Supervisão' },
  language: 'Idioma',
  signedIn: 'Você entrou',
  role: 'Função',
  roles: { viewer: 'leitor', reviewer: 'revisor', admin: 'administrador' },
  signOut: 'Sair',
  loading: 'Carregando…',
  tryAgain: 'Tentar de novo',
  cancel: 'Cancelar',
  close: 'Fechar',
  notFound: 'Esta página não existe.',
  broken: 'Há uma versão nova desta página.',
  reload: 'Carregá-la',
  noAnswer: 'O serviço não responde. Verifique a conexão e tente de novo.',
  ended: 'A sessão terminou. Entre de novo.',
  forbidden: 'Sua função não permite isto.',
  failed: 'O serviço falhou. Tente de novo.',
  throttled: 'Tentativas demais. Espere um momento e tente de novo.',
};
