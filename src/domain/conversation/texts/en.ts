/** The default texts of a conversation in English (docs/conversation.md, "The flow of a brand"). Data alone. */
import type { TextKey } from '../flow.ts';
import type { Choice } from '../input.ts';

export const BUTTONS_EN: Readonly<Record<Choice, string>> = {
  yes: 'Yes, I agree',
  no: 'No, thank you',
  done: 'I sent everything',
  skip: 'Go on without',
  connect: 'Connect my account',
  accept: 'I accept',
  decline: 'I do not accept',
  resend: 'Send another code',
  person: 'Talk to a person',
  go_on: 'Go on',
  stop: 'Stop messages',
  right: 'Yes, that is right',
  change: 'Change the list',
};

export const TEXTS_EN: Readonly<Record<TextKey, string>> = {
  consent:
    'Hello. This is the assistant of Ventanilla, for {partner}. To go on: do you agree that {lender} uses your data and ' +
    'the documents that you send here only to {purposes}? You may see them, correct them, ask for their deletion and ' +
    'take this consent back: {data_rights}. Privacy notice: {privacy_notice}',
  earnings:
    'Please send us proof of your income of the last three months: statements or reports of the platform, as PDF or ' +
    'photo. You can send several.',
  debts:
    'Now tell us which debts you want to put together into one installment. Write one a line, with the creditor and the ' +
    'balance:\nBlue Bank 1500000\nNu 800 thousand\nYou can also send the statement as PDF or photo. Or go on without.',
  debts_right: 'These are your debts:\n{debts}\nThey add up to {sum}. Is this right?',
  summary:
    'This is your offer, with all its costs:\nAmount: {amount}\nPaid out: {net}, on {disbursement}. Of that, to your creditors: {creditors}; to you: {to_applicant}\n' +
    'Monthly installment: {installment}\nInstallments: {months}, the first on {first_due}\nFees and insurance: {fees}. Taxes: {taxes}\nTotal to pay: {total}\n' +
    '{interest_rate_name}: {interest_rate}\n{rate_name}: {rate}\nLate interest: {late_rate}\nLender: {lender}\nValid until {valid_until}\nWithdrawal after signing: {withdrawal}\nDo you want to see the contract?',
  contract:
    'This is your contract. Please read it before you decide. Its fingerprint, to check that nobody changes it, is: ' +
    '{hash}. Do you accept this contract?',
  last_four:
    'To sign, write the last four characters of your identity document. Do not write the whole number.',
  code: 'We sent you a code of six digits by {way}. Write it here within {minutes} minutes.',
  open_link:
    'To learn your income, open this link and connect your account. The link is yours alone and expires soon: do not ' +
    'share it. When you have finished, write DONE. If you prefer not to, write NO.',
  enter_code:
    'Your bank sent you a code. Write it here: we use it once and do not keep it. If you did not get it, write ANOTHER ' +
    'CODE. If you prefer not to, write NO.',
  earnings_again: 'Send your proof of income here, as PDF or photo.',
  debts_again: 'Write your debts, one a line (Blue Bank 1500000), send the statement, or go on without.',
  debts_right_again: 'Is the list of your debts right? If not, tap the button or write the list again.',
  summary_again: 'Do you want to see the contract of your offer?',
  contract_again: 'Do you accept the contract that we sent? To accept, tap the button or write ACCEPT.',
  code_again: 'Write here the code of six digits that we sent you.',
  open_link_again:
    'Open the link that we sent and write DONE when you have finished. If it does not work any more, write ANOTHER LINK.',
  person_hint: 'If you prefer to talk to a person, write AGENT.',
  not_understood: 'Sorry, I did not understand your message.',
  no_hurry: 'All right, there is no hurry. We go on here whenever you like.',
  offer_person: 'I still do not understand. If you like, a person can help you.',
  stop_or_go_on: 'We want to get this right: shall we stop writing to you, or go on? Please tap a button.',
  handed_over: 'Done. A person of the team will write to you in this chat.',
  wrong_person:
    'Thank you for telling us, and sorry. We will not write about this application any more. A person of the team ' +
    'will check the number.',
  costs_changed:
    'The terms have changed since you saw the offer. Here are the current ones, before the contract.',
  tap_first:
    'Hello. Thank you for writing about the application with {partner}. To go on in this chat, tap the button.',
  given_back: 'Hello again. We go on with your application.',
  reminder: 'Your application with {partner} is still open. This step is missing:',
  outlook:
    'For now we calculate a loan of {amount} in {months} installments of about {installment}. The final offer comes after ' +
    'your documents.',
  amount_too_small: 'The smallest loan that we can offer is {limit}, and your application is for less.',
  amount_too_large: 'The largest loan that we can offer is {limit}, and your application is for more.',
  other_currency: 'Your application is in another currency: here we lend in {limit} alone.',
  id_number_short: 'The ID number of your application is not complete, so we cannot make a contract.',
  files_received: 'We received your files ({count}) and are checking them. Do you have more?',
  files_needed: 'To go on we need at least one file that can be read.',
  file_not_needed: 'We need no files at this step.',
  too_many_files: 'We have enough files for this step. The others were not kept.',
  media_not_read:
    'We cannot read voice messages, videos or stickers. Send a PDF or a photo, or write your answer.',
  file_gone: 'We could not download one of your files. Please send it again.',
  file_too_large: 'One of your files is too large. Please send a smaller one.',
  file_wrong_type: 'One of your files is not a PDF or a photo that we can open.',
  file_locked: 'One of your files has a password. Please send it without one.',
  file_infected: 'We do not accept one of your files because it is not safe.',
  file_unreadable: 'We could not read one of your files. Please send all of it, in good light.',
  file_other_person: 'One of your files has the name of another person. Please send your own.',
  file_by_person: 'We have read many files of yours today. We keep this one, and a person will look at it.',
  file_rejected: 'We looked at your files. Of those that you sent, we cannot accept number {numbers}.',
  file_accepted: 'We looked again at file number {numbers} of those that you sent: we can use it.',
  debts_change: 'Of course, let us change it. Please write the whole list again.',
  debts_unclear:
    'I did not understand these lines: {numbers}. Please write the list again, with the creditor and the balance in digits: Blue Bank 1500000.',
  debts_other_currency:
    'These lines are in another currency: {numbers}. Please write the list again, in the currency of your application.',
  debts_twice: 'These lines repeat a debt: {numbers}. Please write the list again, with each debt once.',
  debts_too_many:
    'We can take up to 20 debts here. Please write the list again, with those that you want to put together.',
  debts_by_person:
    'Your offer was made with the debts that you confirmed. To change them, write AGENT and a person helps you.',
  still_reading: 'We are still reading your files. We will write in a moment.',
  checking: 'Thank you. We are checking your information and will write here.',
  in_review: 'Your application is in review. We will write here when there is an answer.',
  approved: 'Good news! Your application was approved.',
  person_will_write: 'A person of the team will look at your case and write to you in this chat.',
  source_again: 'We could not see your account yet.',
  answer_wrong: 'That does not match. Please check it and write it again.',
  code_expired: 'The code has expired.',
  code_replaced: 'The code before does not count any more.',
  code_not_sent: 'We could not send the code.',
  sending_code: 'Thank you. We are sending you a code.',
  withdraw_too_late:
    'The time to withdraw from this contract is over. A person of the team will write to you in this chat.',
  withdrawal_right:
    'If you change your mind, you may withdraw without reasons until {until}: write WITHDRAW in this chat.',
  withdrawal_word:
    'If you want to withdraw from the contract, write only the word WITHDRAW in this chat, until {until}.',
  signed_copy:
    'This is your signed contract, with the certificate of the signature. Its fingerprint is: {hash}.',
  schedule_copy: 'Your loan is paid out. This is the final schedule of your installments, with their dates.',
  signed:
    'Done! Your contract is signed. We send it to you in this chat. Thank you for trusting {partner} and Ventanilla.',
  after_signed:
    'Your contract is signed, and you have it in this chat. We do not see here when the money is paid out.',
  declined: 'Understood. We do not go on with your application in this chat. Thank you for your time.',
  withdrawn: 'Understood. We recorded that you withdraw.',
  expired: 'We did not hear from you and closed this conversation. If you want to go on, write AGENT.',
  closed: 'This conversation is closed. If you need something, write AGENT.',
};
