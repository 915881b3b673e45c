/** What is typed for a sweep, and the plan that it makes. Pure. */
import type { ConfigField } from '../../main/api/contract/index.ts';
import { listParts, numberFrom, numbersFrom, textsFrom, variablesFrom } from '../components/config-form/entry.ts';

/** One setting that varies, as typed. */
export interface VariedField {
  readonly name: string;
  /** A range is for random search. */
  readonly mode: 'values' | 'range';
  /** Of a text or number field: values as typed. */
  readonly text: string;
  /** Of a choice or switch: the chosen ones. */
  readonly chosen: readonly string[];
  readonly min: string;
  readonly max: string;
  readonly scale: 'linear' | 'log';
}

export interface PlanEntry {
  readonly name: string;
  readonly search: 'grid' | 'random';
  readonly trials: number;
  readonly seeds: string;
  readonly varied: readonly VariedField[];
  readonly halving: boolean;
  readonly minSteps: number;
  readonly factor: number;
}

export const emptyPlan: PlanEntry = {
  name: 'Sweep',
  search: 'grid',
  trials: 10,
  seeds: '42, 43, 44',
  varied: [],
  halving: false,
  minSteps: 10,
  factor: 3,
};

/** What the form opens with; a sweep over a run's settings is named after it. */
export function planFor(runId: number | undefined): PlanEntry {
  return runId === undefined ? emptyPlan : { ...emptyPlan, name: `Sweep of run ${runId}` };
}

/** Fields whose size is unknown rather than their value. */
const LOG_FIELDS: readonly string[] = ['learning_rate', 'beta', 'weight_decay', 'adam_epsilon', 'entropy_coef'];

/** A field that was just added. */
export function newField(field: ConfigField): VariedField {
  const scale = LOG_FIELDS.includes(field.name) ? 'log' : 'linear';
  return { name: field.name, mode: 'values', text: '', chosen: [], min: '', max: '', scale };
}

/** Whether a range can be drawn from. */
export function hasRange({ input }: ConfigField): boolean {
  return input.kind === 'number';
}

/** The plan as the host takes it, errors included: the host finds them. */
export function planOf(entry: PlanEntry, fields: readonly ConfigField[]): Readonly<Record<string, unknown>> {
  const random = entry.search === 'random';
  return {
    name: entry.name,
    search: entry.search,
    ...(random && { trials: entry.trials }),
    seeds: numbersFrom(entry.seeds, false),
    fields: Object.fromEntries(
      entry.varied.map((varied) => [
        varied.name,
        valuesOf(
          varied,
          random,
          fields.find(({ name }) => name === varied.name),
        ),
      ]),
    ),
    ...(entry.halving && { halving: { min_steps: entry.minSteps, factor: entry.factor } }),
  };
}

function valuesOf(varied: VariedField, random: boolean, field: ConfigField | undefined): unknown {
  if (random && varied.mode === 'range')
    return { min: numberFrom(varied.min, false), max: numberFrom(varied.max, false), scale: varied.scale };
  const nullable = field?.nullable ?? false;
  switch (field?.input.kind) {
    case 'switch':
      return varied.chosen.map((value) => (value === 'none' ? null : value === 'yes'));
    case 'choice':
      return varied.chosen;
    case 'number':
      return listParts(varied.text).map((part) => readValue(part, nullable, (text) => numberFrom(text, false)));
    case 'numbers':
      return partsOf(varied.text, /\n/).map((part) => readValue(part, nullable, (text) => numbersFrom(text, false)));
    case 'texts':
      return partsOf(varied.text, /\n/).map((part) => readValue(part, nullable, textsFrom));
    case 'choices':
      return partsOf(varied.text, /\n/).map((part) => readValue(part, nullable, (text) => partsOf(text, /[\s,]+/)));
    case 'variables':
      return partsOf(varied.text, /\n/).map((part) => readValue(part, nullable, variablesFrom));
    default:
      return partsOf(varied.text, /\n/).map((part) => readValue(part, nullable, (text) => text));
  }
}

function readValue(text: string, nullable: boolean, read: (text: string) => unknown): unknown {
  return nullable && text.toLowerCase() === 'none' ? null : read(text);
}

function partsOf(text: string, between: RegExp): string[] {
  return text.split(between).flatMap((part) => part.trim() || []);
}

/** How the values of a field are typed. */
export function typingHint({ input, nullable }: ConfigField): string {
  const none = nullable ? '; none for no value' : '';
  if (input.kind === 'number') return `Values, separated by commas${none}`;
  if (input.kind === 'numbers' || input.kind === 'choices' || input.kind === 'texts') return `One list a line${none}`;
  return `One value a line${none}`;
}
