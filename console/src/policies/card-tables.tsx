/** A policy as tables: the attributes of each criterion, the bands, the limits. Fields change it where it may change. */
import type { PolicyDocument } from '../../../src/domain/scorecard/document.ts';
import { CRITERIA, type Criterion, MAX_POINTS } from '../../../src/domain/scorecard/scorecard.ts';
import { countsOf, limitedBy, type OpenCube } from '../../../src/domain/scorecard/what-if.ts';
import type { CardReply, FindingReply } from '../../../src/subjects/policies/routes/forms.ts';
import card from '../base-ui/card.module.css';
import { Card, Facts } from '../base-ui/card.tsx';
import { RowBar } from '../charts/row-bar.tsx';
import { useFormat } from '../format/format.ts';
import { useLanguage, useTexts } from '../texts/texts.ts';
import { withBand, withLimit, withPoints } from './edits.ts';
import { attributeName, findingText, limitName, limitValue, type Naming } from './names.ts';
import styles from './policies.module.css';
import { usePolicyTexts } from './policy-texts.ts';

export interface CardTablesProps {
  readonly document: PolicyDocument;
  /** The last days' applications; null: they are not counted. */
  readonly cube: OpenCube | null;
  readonly reasons: CardReply['reasons'];
  readonly findings: readonly FindingReply[];
  /** What a change makes; null: nothing may change. */
  readonly onChange: ((document: PolicyDocument) => void) | null;
  /** With a slider beside each field; limits then stand at the values of the cube. */
  readonly sliders?: boolean;
}

export function useNaming(): Naming {
  return { policies: usePolicyTexts(), texts: useTexts(), format: useFormat() };
}

export function CardTables(props: CardTablesProps) {
  return (
    <>
      {CRITERIA.map((criterion) => (
        <CriterionTable key={criterion} {...props} criterion={criterion} />
      ))}
      <Bands {...props} />
      <Limits {...props} />
    </>
  );
}

function CriterionTable({ criterion, ...props }: CardTablesProps & { criterion: Criterion }) {
  const { document, cube, reasons, onChange, sliders = false } = props;
  const naming = useNaming();
  const language = useLanguage();
  const { policies, texts, format } = naming;
  const { attributes } = document.characteristics[criterion];
  const shares = cube === null ? null : peopleOf(cube, criterion, document);
  const place = `characteristics.${criterion}`;
  return (
    <Card
      title={texts.codes.criteria[criterion]}
      beside={
        <span className={card.quiet}>
          {policies.most} {MAX_POINTS[criterion]}
        </span>
      }
    >
      <Found {...props} place={place} exact />
      <table className={card.table}>
        <thead>
          <tr>
            <th scope="col">
              {sliders ? policies.attribute : `${policies.attribute} ${policies.reasonText}`}
            </th>
            <th scope="col">{policies.points}</th>
            {!sliders && <th scope="col">{policies.people}</th>}
          </tr>
        </thead>
        <tbody>
          {attributes.map((attribute, index) => {
            const name = attributeName(criterion, attribute, naming);
            const share = shares?.[index] ?? null;
            return (
              <tr key={name}>
                <th scope="row">
                  {name}
                  {!sliders && criterion !== 'channel' && (
                    <p className={card.quiet}>
                      {reasons.find(({ code }) => code === attribute.reason)?.[language] ?? policies.noReason}
                    </p>
                  )}
                  {!sliders && (
                    <RowBar end={MAX_POINTS[criterion]} parts={[{ value: attribute.points, kind: 'got' }]} />
                  )}
                  <Found {...props} place={`${place}.attributes.${index}`} />
                </th>
                <td>
                  {onChange === null ? (
                    format.number(attribute.points)
                  ) : (
                    <NumberField
                      label={`${policies.points}: ${texts.codes.criteria[criterion]}, ${name}`}
                      value={attribute.points}
                      most={MAX_POINTS[criterion]}
                      slider={sliders}
                      onChange={(points) => onChange(withPoints(document, criterion, index, points))}
                    />
                  )}
                </td>
                {!sliders && <td>{share === null ? '—' : format.percent(share)}</td>}
              </tr>
            );
          })}
        </tbody>
      </table>
    </Card>
  );
}

/** The share of the applications that have each attribute; null: nobody is there. */
function peopleOf(cube: OpenCube, criterion: Criterion, document: PolicyDocument): number[] | null {
  if (cube.applications === 0) return null;
  if (criterion === 'channel') return [1];
  const counts = countsOf(cube)[criterion];
  if (criterion === 'payment_capacity') return counts.map((count) => count / cube.applications);
  return document.characteristics[criterion].attributes.map(
    ({ is }) =>
      is.reduce((sum, value) => sum + (counts[cube.values[criterion].indexOf(value)] ?? 0), 0) /
      cube.applications,
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly value: number;
  readonly most: number;
  readonly slider: boolean;
  readonly onChange: (value: number) => void;
}

/** A whole number from 0 to `most`: what is outside stays at the bound. */
function NumberField({ label, value, most, slider, onChange }: NumberFieldProps) {
  const change = (text: string) => {
    const number = Math.round(Number(text));
    if (text !== '' && Number.isFinite(number)) onChange(Math.min(Math.max(number, 0), most));
  };
  const field = (
    <input
      type="number"
      className={styles.field}
      aria-label={label}
      inputMode="numeric"
      min={0}
      max={most}
      step={1}
      value={value}
      onChange={({ target }) => change(target.value)}
    />
  );
  if (!slider) return field;
  return (
    <div className={styles.slider}>
      <input
        type="range"
        aria-label={label}
        min={0}
        max={most}
        step={1}
        value={value}
        onChange={({ target }) => change(target.value)}
      />
      {field}
    </div>
  );
}

const BANDS = ['approved', 'in_review'] as const;

function Bands({ sliders = false, ...props }: CardTablesProps) {
  const { document, onChange } = props;
  const policies = usePolicyTexts();
  const format = useFormat();
  const names = { approved: policies.approvedFrom, in_review: policies.reviewFrom };
  return (
    <Card title={policies.bands}>
      <Found {...props} place="decision" />
      <Facts
        facts={BANDS.map((band) => [
          names[band],
          onChange === null ? (
            format.number(document.decision[band])
          ) : (
            <NumberField
              key={band}
              label={names[band]}
              value={document.decision[band]}
              most={100}
              slider={sliders}
              onChange={(score) => onChange(withBand(document, band, score))}
            />
          ),
        ])}
      />
    </Card>
  );
}

function Limits({ sliders = false, ...props }: CardTablesProps) {
  const { document, cube, reasons, onChange } = props;
  const naming = useNaming();
  const { policies, format } = naming;
  const language = useLanguage();
  const { months, monthly_rate } = document.reference_installment;
  return (
    <Card title={policies.limits}>
      <Found {...props} place="limits" exact />
      {document.limits.map((limit, index) => {
        const rejected = cube === null ? null : limitedBy(cube, limit);
        const name = `${limitName(limit, naming)} (${limit.id})`;
        return (
          <div key={limit.id}>
            <Facts
              facts={[
                [
                  name,
                  onChange === null || cube === null || !sliders ? (
                    limitValue(limit, format)
                  ) : (
                    <LimitSlider
                      key="slider"
                      label={name}
                      steps={limit.usd === undefined ? cube.shares : cube.usd}
                      value={limit.usd ?? limit.installments_of_income ?? ''}
                      onChange={(value) => onChange(withLimit(document, index, value))}
                    />
                  ),
                ],
                [
                  policies.rejects,
                  rejected === null || cube === null || cube.applications === 0
                    ? '—'
                    : `${format.number(rejected)} (${format.percent(rejected / cube.applications)})`,
                ],
              ]}
            />
            {!sliders && (
              <p className={card.quiet}>{reasons.find(({ code }) => code === limit.reason)?.[language]}</p>
            )}
            <Found {...props} place={`limits.${index}`} />
          </div>
        );
      })}
      {!sliders && (
        <p className={card.quiet}>
          {policies.terms}: {policies.termsOf(format.number(months), format.percent(Number(monthly_rate)))};{' '}
          {policies.ratesOf(document.rates.as_of)}
        </p>
      )}
    </Card>
  );
}

interface LimitSliderProps {
  readonly label: string;
  readonly steps: readonly string[];
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** A limit at one of the steps: the counts tell no other. */
function LimitSlider({ label, steps, value, onChange }: LimitSliderProps) {
  const format = useFormat();
  const at = Math.max(
    steps.findIndex((step) => Number(step) === Number(value)),
    0,
  );
  const text = format.number(Number(steps[at]));
  return (
    <div className={styles.slider}>
      <input
        type="range"
        aria-label={label}
        aria-valuetext={text}
        min={0}
        max={steps.length - 1}
        step={1}
        value={at}
        onChange={({ target }) => onChange(steps[Number(target.value)] ?? value)}
      />
      <output>{text}</output>
    </div>
  );
}

interface FoundProps {
  readonly findings: readonly FindingReply[];
  readonly place: string;
  /** Findings below the place are shown elsewhere. */
  readonly exact?: boolean;
}

/** The findings of a place, beside its field. */
function Found({ findings, place, exact = false }: FoundProps) {
  const found = findings.filter(
    (one) => one.place === place || (!exact && one.place.startsWith(`${place}.`)),
  );
  return found.map((one) => <FindingText key={one.code + one.place} finding={one} />);
}

export function FindingText({ finding }: { finding: FindingReply }) {
  const naming = useNaming();
  const { severity } = finding;
  return (
    <p className={styles.finding} data-severity={severity}>
      {naming.policies.severity[severity]}: {findingText(finding, naming)}
    </p>
  );
}
