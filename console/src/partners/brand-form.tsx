/** The fields of a brand. A field that is empty, or not ticked as its own, leaves its part out. */
import { type ReactNode, useId } from 'react';
import type { TemplateKind } from '../../../src/domain/message/notify.ts';
import type { MessageLanguage } from '../../../src/domain/message/outgoing-message.ts';
import type { Brand } from '../../../src/domain/partner/brand.ts';
import type { BrandReply } from '../../../src/subjects/partners/routes/brand.ts';
import { Card } from '../base-ui/card.tsx';
import styles from './brand.module.css';
import { type Path, partAt, withPart } from './brand-parts.ts';
import { type Fault, faultWords, useBrandTexts } from './brand-texts.ts';

/** The languages of messages: the pages take no more of the service's code than types. */
const MESSAGE_LANGUAGES = ['es', 'pt'] as const satisfies readonly MessageLanguage[];

interface Form {
  readonly brand: Brand;
  readonly defaults: BrandReply['defaults'];
  readonly faults: readonly Fault[];
  readonly onChange: (brand: Brand) => void;
}

interface BrandFormProps extends Form {
  readonly kind: TemplateKind;
  /** The choice of the kind of message whose fields are shown. */
  readonly kinds: ReactNode;
  /** The text of the conversation's changes can be read. */
  readonly isJson: boolean;
  readonly onJson: (is: boolean) => void;
}

export function BrandForm({ kind, kinds, isJson, onJson, ...form }: BrandFormProps) {
  const texts = useBrandTexts();
  const { defaults } = form;
  return (
    <div className={styles.form}>
      <Elsewhere faults={form.faults} kind={kind} />
      <Card title={texts.rules}>
        <div className={styles.fields}>
          <TextField {...form} path={['partner']} label={texts.partner} instead={defaults.partner} />
          <TextField {...form} path={['contract']} label={texts.contract} instead="" />
          <Choice {...form} path={['rejected_reasons']} label={texts.rejectedReasons} unlessSaid={false} />
          <Choice {...form} path={['after_review']} label={texts.afterReview} unlessSaid />
          <Conversation {...form} isJson={isJson} onJson={onJson} />
        </div>
      </Card>
      <Card title={texts.kinds[kind]} beside={kinds}>
        <div key={kind} className={styles.fields}>
          {MESSAGE_LANGUAGES.map((language) => (
            <OfLanguage key={language} {...form} kind={kind} language={language} />
          ))}
          <TextField
            {...form}
            path={['templates', kind, 'name']}
            label={texts.templateName}
            instead={defaults.templates[kind].name}
          />
          {MESSAGE_LANGUAGES.map((language) => (
            <TextField
              key={language}
              {...form}
              path={['templates', kind, 'languages', language]}
              label={texts.templateCode(texts.languages[language])}
              instead={defaults.templates[kind].languages[language]}
            />
          ))}
          <Parameters {...form} kind={kind} />
        </div>
      </Card>
    </div>
  );
}

const nameOf = (path: Path) => path.join('.');

/** The faults of a place, and those of the parts of a list there. */
function faultsAt(faults: readonly Fault[], path: Path): readonly Fault[] {
  const name = nameOf(path);
  return faults.filter((fault) => fault.path === name || fault.path.startsWith(`${name}[`));
}

function FaultList({ id, faults }: { id: string; faults: readonly Fault[] }) {
  const texts = useBrandTexts();
  if (faults.length === 0) return null;
  return (
    <ul id={id} className={styles.faults}>
      {faults.map((fault) => {
        const words = faultWords(fault, texts);
        return words === null ? (
          <li key={`${fault.path} ${fault.text}`} lang="en">
            {fault.path}: {fault.text}
          </li>
        ) : (
          <li key={`${fault.path} ${fault.code}`}>{words}</li>
        );
      })}
    </ul>
  );
}

/** Faults of what no field of this page shows now. */
function Elsewhere({ faults, kind }: { faults: readonly Fault[]; kind: TemplateKind }) {
  const texts = useBrandTexts();
  const isHere = ({ path }: Fault) => {
    const [part = '', of = ''] = path.split('.');
    if (['texts', 'buttons', 'templates'].includes(part)) return of === kind && path !== `${part}.${of}`;
    return part !== '';
  };
  const others = faults.filter((fault) => !isHere(fault));
  if (others.length === 0) return null;
  return (
    <ul className={styles.faults}>
      {others.map((fault) => (
        <li key={`${fault.path} ${fault.code}`}>
          {texts.elsewhere(fault.path === '' ? texts.whole : fault.path)}:{' '}
          {faultWords(fault, texts) ?? fault.text}
        </li>
      ))}
    </ul>
  );
}

interface FieldProps extends Form {
  readonly path: Path;
  readonly label: string;
}

interface TextFieldProps extends FieldProps {
  /** What it has where it is left out. */
  readonly instead: string;
  readonly hint?: string;
  readonly rows?: number;
}

function TextField({ brand, faults, onChange, path, label, instead, hint, rows }: TextFieldProps) {
  const id = useId();
  const own = faultsAt(faults, path);
  const value = partAt(brand, path);
  const field = {
    id: `${id}field`,
    value: typeof value === 'string' ? value : '',
    placeholder: instead,
    autoComplete: 'off',
    spellCheck: rows !== undefined,
    'aria-invalid': own.length > 0,
    'aria-describedby': own.length > 0 ? id : undefined,
    onChange: ({ target }: { target: { value: string } }) =>
      onChange(withPart(brand, path, target.value === '' ? undefined : target.value)),
  };
  return (
    <div>
      <label htmlFor={field.id}>
        {label}
        {rows === undefined ? <input {...field} /> : <textarea rows={rows} {...field} />}
      </label>
      {hint && <p className={styles.hint}>{hint}</p>}
      <FaultList id={id} faults={own} />
    </div>
  );
}

/** `unlessSaid`: what holds where the brand leaves it out. */
function Choice({
  brand,
  faults,
  onChange,
  path,
  label,
  unlessSaid,
}: FieldProps & { readonly unlessSaid: boolean }) {
  const id = useId();
  const value = partAt(brand, path) ?? unlessSaid;
  return (
    <div>
      <label className={styles.choice}>
        <input
          type="checkbox"
          checked={value === true}
          onChange={({ target }) =>
            onChange(withPart(brand, path, target.checked === unlessSaid ? undefined : target.checked))
          }
        />
        {label}
      </label>
      <FaultList id={id} faults={faultsAt(faults, path)} />
    </div>
  );
}

function OfLanguage({
  kind,
  language,
  ...form
}: Form & { readonly kind: TemplateKind; readonly language: MessageLanguage }) {
  const texts = useBrandTexts();
  const { defaults } = form;
  const names = defaults.templates[kind].parameters.map((name) => `{${name}}`).join(', ');
  return (
    <fieldset className={styles.language}>
      <legend>{texts.languages[language]}</legend>
      <TextField
        {...form}
        path={['texts', kind, language]}
        label={texts.text}
        instead={defaults.texts[kind][language]}
        hint={texts.placeholders(names)}
        rows={6}
      />
      <Buttons {...form} path={['buttons', kind, language]} instead={defaults.buttons[kind][language]} />
    </fieldset>
  );
}

const MOST_BUTTONS = [0, 1, 2];

/** Own titles, or those of the default. */
function Buttons({
  brand,
  faults,
  onChange,
  path,
  instead,
}: Form & { readonly path: Path; readonly instead: readonly string[] }) {
  const texts = useBrandTexts();
  const id = useId();
  const value = partAt(brand, path);
  const titles = Array.isArray(value) ? (value as string[]) : null;
  const own = faultsAt(faults, path);
  const set = (index: number, title: string) => {
    const next = MOST_BUTTONS.map((at) => (at === index ? title : (titles?.[at] ?? '')));
    onChange(withPart(brand, path, next.slice(0, next.findLastIndex((one) => one !== '') + 1)));
  };
  return (
    <div>
      <label className={styles.choice}>
        <input
          type="checkbox"
          checked={titles !== null}
          onChange={({ target }) =>
            onChange(withPart(brand, path, target.checked ? [...instead] : undefined))
          }
        />
        {texts.ownButtons}
      </label>
      {titles !== null && (
        <div className={styles.buttons}>
          {MOST_BUTTONS.map((index) => (
            <label key={index}>
              {texts.button(index + 1)}
              <input
                autoComplete="off"
                value={titles[index] ?? ''}
                aria-invalid={own.length > 0}
                aria-describedby={own.length > 0 ? id : undefined}
                onChange={({ target }) => set(index, target.value)}
              />
            </label>
          ))}
        </div>
      )}
      <FaultList id={id} faults={own} />
    </div>
  );
}

/** Own parameters in order, or those of the default. */
function Parameters({ brand, defaults, faults, onChange, kind }: Form & { readonly kind: TemplateKind }) {
  const texts = useBrandTexts();
  const id = useId();
  const path = ['templates', kind, 'parameters'];
  const value = partAt(brand, path);
  const names = Array.isArray(value) ? (value as string[]) : null;
  const own = faultsAt(faults, path);
  const listOf = (text: string) => text.split(/[\s,]+/).filter((name) => name !== '');
  return (
    <div>
      <label className={styles.choice}>
        <input
          type="checkbox"
          checked={names !== null}
          onChange={({ target }) =>
            onChange(
              withPart(brand, path, target.checked ? [...defaults.templates[kind].parameters] : undefined),
            )
          }
        />
        {texts.ownParameters}
      </label>
      {names !== null && (
        <label>
          {texts.parameters}
          {/* What is typed stays as it is: a comma at its end is no parameter yet. */}
          <input
            autoComplete="off"
            spellCheck={false}
            defaultValue={names.join(', ')}
            aria-invalid={own.length > 0}
            aria-describedby={own.length > 0 ? id : undefined}
            onChange={({ target }) => onChange(withPart(brand, path, listOf(target.value)))}
          />
        </label>
      )}
      <FaultList id={id} faults={own} />
    </div>
  );
}

const CONVERSATION = ['conversation'];

/** Whether there is one, and its changes as the brand's file has them. */
function Conversation({
  brand,
  faults,
  onChange,
  isJson,
  onJson,
}: Form & { readonly isJson: boolean; readonly onJson: (is: boolean) => void }) {
  const texts = useBrandTexts();
  const id = useId();
  const flow = partAt(brand, CONVERSATION);
  const own = faults.filter(({ path }) => path.split('.')[0] === 'conversation');
  const typed = (text: string) => {
    const changes = text.trim() === '' ? undefined : objectIn(text);
    onJson(changes !== null);
    if (changes !== null) onChange(withPart(brand, CONVERSATION, changes));
  };
  return (
    <div>
      <label className={styles.choice}>
        <input
          type="checkbox"
          checked={flow !== false}
          onChange={({ target }) => {
            onJson(true);
            onChange(withPart(brand, CONVERSATION, target.checked ? undefined : false));
          }}
        />
        {texts.talks}
      </label>
      {flow !== false && (
        <label>
          {texts.flow}
          <textarea
            rows={3}
            spellCheck={false}
            className={styles.json}
            defaultValue={flow === undefined ? '' : JSON.stringify(flow, null, 2)}
            aria-invalid={!isJson || own.length > 0}
            aria-describedby={own.length > 0 ? id : undefined}
            onChange={({ target }) => typed(target.value)}
          />
        </label>
      )}
      {!isJson && <p role="alert">{texts.noJson}</p>}
      <FaultList id={id} faults={own} />
    </div>
  );
}

/** The object of a JSON text; null: it is none. */
function objectIn(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && !Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}
