/** The default texts of a conversation in Portuguese (docs/conversation.md, "The flow of a brand"). Data alone. */
import type { TextKey } from '../flow.ts';
import type { Choice } from '../input.ts';

export const BUTTONS_PT: Readonly<Record<Choice, string>> = {
  yes: 'Sim, autorizo',
  no: 'Não, obrigado',
  done: 'Já enviei tudo',
  skip: 'Seguir sem isso',
  connect: 'Conectar minha conta',
  accept: 'Aceito',
  decline: 'Não aceito',
  resend: 'Enviar outro código',
  person: 'Falar com alguém',
  go_on: 'Seguir',
  stop: 'Parar mensagens',
  right: 'Sim, está certo',
  change: 'Mudar a lista',
};

export const TEXTS_PT: Readonly<Record<TextKey, string>> = {
  consent:
    'Olá. Aqui é o assistente da Ventanilla, em nome de {partner}. Para seguir, você autoriza {lender} a usar os seus ' +
    'dados e os documentos que enviar aqui só para {purposes}? Você pode conhecê-los, corrigi-los, pedir que sejam ' +
    'apagados e retirar esta autorização: {data_rights}. Aviso de privacidade: {privacy_notice}',
  earnings:
    'Envie por aqui os comprovantes da sua renda dos últimos três meses: extratos ou relatórios da plataforma, em ' +
    'PDF ou foto. Pode enviar vários.',
  debts:
    'Agora diga quais dívidas você quer juntar em uma só parcela. Escreva uma por linha, com o credor e o saldo, assim:\n' +
    'Banco Azul 1.500,00\nNu 8 mil\nVocê também pode enviar o extrato em PDF ou foto. Se preferir, siga sem isso.',
  debts_right: 'Estas são as suas dívidas:\n{debts}\nSomam {sum}. Está certo?',
  summary:
    'Esta é a sua oferta, com todos os custos:\nValor: {amount}\nValor liberado: {net}, em {disbursement}. Disso, aos seus credores: {creditors}; a você: {to_applicant}\n' +
    'Parcela mensal: {installment}\nNúmero de parcelas: {months}, a primeira em {first_due}\nEncargos e seguros: {fees}. Impostos: {taxes}\nTotal a pagar: {total}\n' +
    '{interest_rate_name}: {interest_rate}\n{rate_name}: {rate}\nJuros por atraso: {late_rate}\nCredor: {lender}\nVálida até {valid_until}\nDesistência depois de assinar: {withdrawal}\nQuer ver o contrato?',
  contract:
    'Este é o seu contrato. Leia com calma antes de decidir. A impressão digital dele, para conferir que ninguém o ' +
    'mudou, é: {hash}. Você aceita este contrato?',
  last_four:
    'Para assinar, escreva os últimos quatro caracteres do seu documento de identidade. Não escreva o número completo.',
  code: 'Enviamos um código de seis dígitos por {way}. Escreva aqui em até {minutes} minutos.',
  open_link:
    'Para conhecer a sua renda, abra este link e conecte a sua conta. O link é só seu e vence logo: não o compartilhe. ' +
    'Quando terminar, escreva PRONTO. Se preferir não fazer isso, escreva NÃO.',
  enter_code:
    'O seu banco enviou um código. Escreva aqui: usamos uma única vez e não guardamos. Se não chegou, escreva OUTRO ' +
    'CÓDIGO. Se preferir não fazer isso, escreva NÃO.',
  earnings_again: 'Envie por aqui os comprovantes da sua renda, em PDF ou foto.',
  debts_again:
    'Escreva as suas dívidas, uma por linha (Banco Azul 1.500,00), envie o extrato ou siga sem isso.',
  debts_right_again:
    'A lista das suas dívidas está certa? Se não, toque no botão ou escreva a lista de novo.',
  summary_again: 'Quer ver o contrato da sua oferta?',
  contract_again: 'Você aceita o contrato que enviamos? Para aceitar, toque no botão ou escreva ACEITO.',
  code_again: 'Escreva aqui o código de seis dígitos que enviamos.',
  open_link_again:
    'Abra o link que enviamos e escreva PRONTO quando terminar. Se não funcionar mais, escreva OUTRO LINK.',
  person_hint: 'Se preferir falar com uma pessoa, escreva ATENDENTE.',
  not_understood: 'Desculpe, não entendi a sua mensagem.',
  no_hurry: 'Tudo bem, sem pressa. Quando quiser, seguimos por aqui.',
  offer_person: 'Ainda não consigo entender. Se quiser, uma pessoa pode atender você.',
  stop_or_go_on:
    'Queremos entender bem: paramos de escrever para você ou seguimos? Toque em um botão, por favor.',
  handed_over: 'Pronto. Uma pessoa da equipe vai escrever neste chat.',
  wrong_person:
    'Obrigado por avisar, e desculpe. Não escreveremos mais sobre este pedido. Uma pessoa da equipe vai conferir o ' +
    'número.',
  costs_changed: 'As condições mudaram desde que você viu a oferta. Mostramos as de agora antes do contrato.',
  tap_first:
    'Olá. Obrigado por escrever sobre o pedido com {partner}. Para seguir nesta conversa, toque no botão.',
  given_back: 'Olá de novo. Vamos seguir com o seu pedido.',
  reminder: 'O seu pedido com {partner} continua aberto. Falta este passo:',
  outlook:
    'Por agora calculamos um crédito de {amount} em {months} parcelas de cerca de {installment}. A oferta final chega depois ' +
    'de conferir os seus documentos.',
  amount_too_small: 'O menor crédito que podemos oferecer é de {limit}, e o seu pedido é de menos.',
  amount_too_large: 'O maior crédito que podemos oferecer é de {limit}, e o seu pedido é de mais.',
  other_currency: 'O seu pedido está em outra moeda: aqui só emprestamos em {limit}.',
  id_number_short:
    'O número do documento do seu pedido está incompleto, e assim não podemos fazer um contrato.',
  files_received: 'Recebemos os seus arquivos ({count}) e estamos conferindo. Tem mais?',
  files_needed: 'Para seguir precisamos de pelo menos um arquivo que dê para ler.',
  file_not_needed: 'Neste passo não precisamos de arquivos.',
  too_many_files: 'Já temos arquivos suficientes deste passo. Os outros não foram guardados.',
  media_not_read:
    'Não conseguimos ler áudios, vídeos nem figurinhas. Envie um PDF ou uma foto, ou escreva a resposta.',
  file_gone: 'Não conseguimos baixar um dos seus arquivos. Envie de novo, por favor.',
  file_too_large: 'Um dos seus arquivos é grande demais. Envie um menor, por favor.',
  file_wrong_type: 'Um dos seus arquivos não é um PDF nem uma foto que possamos abrir.',
  file_locked: 'Um dos seus arquivos tem senha. Envie sem senha, por favor.',
  file_infected: 'Não aceitamos um dos seus arquivos porque ele não é seguro.',
  file_unreadable: 'Não conseguimos ler um dos seus arquivos. Envie completo e com boa luz, por favor.',
  file_other_person: 'Um dos seus arquivos está em nome de outra pessoa. Envie o seu, por favor.',
  file_by_person: 'Hoje já lemos muitos arquivos seus. Guardamos este, e uma pessoa vai conferir.',
  file_rejected: 'Revisamos seus arquivos. Dos que você enviou, não podemos aceitar o número {numbers}.',
  file_accepted: 'Revisamos outra vez o arquivo número {numbers} dos que você enviou: ele serve.',
  debts_change: 'Claro, vamos mudar. Escreva a lista inteira de novo.',
  debts_unclear:
    'Não entendi bem estas linhas: {numbers}. Escreva a lista de novo, com o credor e o saldo em números: Banco Azul 1.500,00.',
  debts_other_currency:
    'Estas linhas estão em outra moeda: {numbers}. Escreva a lista de novo, com os saldos na moeda do seu pedido.',
  debts_twice:
    'Estas linhas repetem uma dívida: {numbers}. Escreva a lista de novo, com cada dívida uma só vez.',
  debts_too_many:
    'Por aqui podemos anotar até 20 dívidas. Escreva a lista de novo, com as que você quer juntar.',
  debts_by_person:
    'A sua oferta foi feita com as dívidas que você confirmou. Para mudar, escreva ATENDENTE e uma pessoa ajuda você.',
  still_reading: 'Ainda estamos lendo os seus arquivos. Escrevemos em um momento.',
  checking: 'Obrigado. Estamos conferindo as suas informações e escrevemos por aqui.',
  in_review: 'O seu pedido está em análise. Escrevemos por aqui quando houver uma resposta.',
  approved: 'Boas notícias! O seu pedido foi aprovado.',
  person_will_write: 'Uma pessoa da equipe vai ver o seu caso e escrever neste chat.',
  source_again: 'Ainda não conseguimos ver a sua conta.',
  answer_wrong: 'Isso não confere. Veja de novo e escreva outra vez.',
  code_expired: 'O código já venceu.',
  code_replaced: 'O código anterior não vale mais.',
  code_not_sent: 'Não conseguimos enviar o código.',
  sending_code: 'Obrigado. Estamos enviando um código.',
  withdraw_too_late:
    'O prazo para desistir deste contrato já passou. Uma pessoa da equipe vai escrever neste chat.',
  withdrawal_right:
    'Se mudar de ideia, você pode desistir sem dar motivos até {until}: escreva DESISTO neste chat.',
  withdrawal_word:
    'Se quiser desistir do contrato, escreva só a palavra DESISTO neste chat, no máximo até {until}.',
  signed_copy:
    'Este é o seu contrato assinado, com o certificado da assinatura. A impressão digital dele é: {hash}.',
  schedule_copy: 'O seu crédito já foi liberado. Este é o calendário final das suas parcelas, com as datas.',
  signed:
    'Pronto! O seu contrato está assinado. Enviamos o documento por este chat. Obrigado por confiar em {partner} e Ventanilla.',
  after_signed:
    'Seu contrato está assinado e está nesta conversa. Por aqui não vemos quando sai o pagamento.',
  declined: 'Entendido. Não seguimos com o seu pedido por este chat. Obrigado pelo seu tempo.',
  withdrawn: 'Entendido. Registramos a sua desistência.',
  expired: 'Não tivemos mais notícias suas e encerramos esta conversa. Se quiser seguir, escreva ATENDENTE.',
  closed: 'Esta conversa está encerrada. Se precisar de algo, escreva ATENDENTE.',
};
