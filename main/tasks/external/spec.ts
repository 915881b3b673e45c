/**
 * A component of the reward that isn't computed by reward.ts: a command, an HTTP endpoint, a judge, a classifier or a
 * sentence encoder. In task.yaml it is an object with its weight and a key of its kind.
 */
import { z } from 'zod';
import { checkAddress, isPlain } from '../../io/address.ts';
import { faultsIn, type KnownNames, meantName } from '../../text/field-faults.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import { fieldsIn } from '../folder/template.ts';

const text = z.string().min(1);
const weight = z.number();
const timeout_s = z.number().positive().max(3600);
const batch_size = z.int().min(1).max(1024);
/** Whether each completion comes with all of its prompt's. */
const group = z.boolean();
const requests = {
  timeout_s: timeout_s.default(60),
  /** Requests under way at a time. */
  concurrency: z.int().min(1).max(64).default(4),
  /** Further attempts after a failed one that may succeed later. */
  retries: z.int().min(0).max(10).default(3),
  allow_plain_http: z.boolean().default(false),
};
/** For a million tokens, in the currency of the settings. */
const price = z.strictObject({ input: z.number().min(0), output: z.number().min(0) });

const schemas = {
  command: z.strictObject({
    weight,
    command: z.array(z.string()).min(1),
    files: z.array(text).max(32).default([]),
    timeout_s: timeout_s.default(60),
    batch_size: batch_size.default(64),
    group: group.default(false),
  }),
  http: z.strictObject({
    weight,
    http: text,
    batch_size: batch_size.default(16),
    group: group.default(false),
    ...requests,
  }),
  judge: z.strictObject({
    weight,
    judge: text,
    model: text,
    rubric: text,
    system: text.optional(),
    scale: z.tuple([z.number(), z.number()]).default([1, 10]),
    temperature: z.number().min(0).max(2).default(0),
    max_tokens: z.int().min(1).max(100_000).default(512),
    price_per_million: price.optional(),
    ...requests,
  }),
  classifier: z.strictObject({
    weight,
    classifier: text,
    input: text.optional(),
    label: z.union([z.int().min(0), text]).optional(),
    output: z.enum(['logit', 'probability']).default('logit'),
  }),
  encoder: z.strictObject({ weight, encoder: text, compare_to: text }),
};

export type ExternalKind = keyof typeof schemas;
const externalKinds = Object.keys(schemas) as readonly ExternalKind[];

type Fields<K extends ExternalKind> = Readonly<Omit<z.infer<(typeof schemas)[K]>, 'weight'>>;
export type CommandSpec = { readonly kind: 'command' } & Fields<'command'>;
export type HttpSpec = { readonly kind: 'http' } & Fields<'http'>;
export type JudgeSpec = { readonly kind: 'judge' } & Fields<'judge'>;
export type ClassifierSpec = { readonly kind: 'classifier' } & Fields<'classifier'>;
export type EncoderSpec = { readonly kind: 'encoder' } & Fields<'encoder'>;
/** A component as task.yaml declares it, without its weight. */
export type ExternalSpec = CommandSpec | HttpSpec | JudgeSpec | ClassifierSpec | EncoderSpec;

/** A fault inside a component: where, from the component's own object, and what. */
export interface SpecFault {
  readonly path: readonly PropertyKey[];
  readonly reason: string;
}

/** Of one component. */
const MOST_FAULTS = 20;

/** The same fields by what other tools call them. */
const elsewhere = {
  cmd: 'command',
  script: 'command',
  python: 'command',
  reward_funcs: 'command',
  custom_reward_function: 'command',
  url: 'http',
  endpoint: 'http',
  template: 'rubric',
  prompt: 'rubric',
  timeout: 'timeout_s',
  price: 'price_per_million',
  max_completion_tokens: 'max_tokens',
  path: 'classifier',
  reward_model: 'classifier',
  target: 'compare_to',
};

/** Fields beside those of the record that a rubric, an input or a comparison can name; COMPLETIONS: only a rubric. */
const ANSWER_FIELDS = ['prompt', 'completion'];
const COMPLETIONS = 'completions';

/** Whether a judge is asked once for all completions of a prompt: its rubric names them, and not the one. */
export function judgesGroups({ rubric }: Pick<JudgeSpec, 'rubric'>): boolean {
  return !fieldsIn(rubric).includes('completion');
}

/** Checks one component; `known`: the record's fields. */
export function checkExternal(
  value: Readonly<Record<string, unknown>>,
  known: readonly string[],
): { readonly weight: number; readonly spec: ExternalSpec } | { readonly faults: readonly SpecFault[] } {
  const kinds = externalKinds.filter((kind) => kind in value);
  const [kind] = kinds;
  if (kind === undefined) return { faults: [unknownKind(value)] };
  if (kinds.length > 1)
    return { faults: [{ path: [kinds[1] ?? ''], reason: `expected one kind of reward, got ${kinds.join(' and ')}` }] };
  const schema = schemas[kind];
  const parsed = schema.safeParse(value, { reportInput: true });
  if (!parsed.success) return { faults: schemaFaults(parsed.error, { fields: Object.keys(schema.shape), elsewhere }) };
  const { weight: own, ...fields } = parsed.data;
  const spec = { kind, ...fields } as ExternalSpec;
  const faults = [...addressFaults(spec), ...templateFaults(spec, known), ...otherFaults(spec)];
  return faults.length > 0 ? { faults } : { weight: own, spec };
}

function unknownKind(value: Readonly<Record<string, unknown>>): SpecFault {
  const [strange] = Object.keys(value).filter((key) => key !== 'weight');
  const meant = strange === undefined ? undefined : meantKind(strange);
  return {
    path: strange === undefined ? [] : [strange],
    reason: `expected a number (the weight of a component that reward.ts gives) or one of ${externalKinds.join(', ')}${
      strange === undefined ? '' : `, got "${strange}"${didYouMean(meant)}`
    }`,
  };
}

function meantKind(key: string): string | undefined {
  const other = Object.hasOwn(elsewhere, key) ? elsewhere[key as keyof typeof elsewhere] : undefined;
  return externalKinds.find((kind) => kind === other) ?? nearestName(key, externalKinds);
}

function schemaFaults(error: z.ZodError, names: KnownNames): SpecFault[] {
  // A misspelt field is missing under its right name as well.
  const misspelt = error.issues
    .flatMap((issue) => (issue.code === 'unrecognized_keys' ? issue.keys : []))
    .map((key) => meantName(key, names));
  const isNews = ({ code, path: [first], input }: z.core.$ZodIssue): boolean =>
    !(code === 'invalid_type' && input === undefined && misspelt.includes(String(first)));
  return error.issues
    .filter(isNews)
    .slice(0, MOST_FAULTS)
    .flatMap((issue) =>
      faultsIn(new z.ZodError([issue]), names).map(({ field, message }) => {
        const path = issue.code === 'unrecognized_keys' ? [...issue.path, field] : issue.path;
        if (path.length === 0 || message.includes(`"${field}"`)) return { path, reason: message };
        const isMissing = issue.input === undefined;
        return { path, reason: `"${path.join('.')}"${isMissing ? ' is missing' : ''}: ${message}` };
      }),
    );
}

/** Where a component sends what it is given; null: nowhere. */
export function addressOf(spec: ExternalSpec): string | null {
  if (spec.kind === 'http') return spec.http;
  return spec.kind === 'judge' ? spec.judge : null;
}

/** A component's address, checked; plain http elsewhere has to be allowed in task.yaml. */
export function checkedAddress(text: string, allowPlain: boolean): URL {
  return checkAddress(text, allowPlain, {
    code: 'BAD_REWARD_ADDRESS',
    insecureCode: 'REWARD_NOT_SECURE',
    what: 'the key and every completion',
    password: "Keep the key on the task's screen.",
    plain:
      'Use https or an SSH tunnel to this machine; plain http needs "allow_plain_http: true" here and your consent.',
  });
}

function addressFaults(spec: ExternalSpec): SpecFault[] {
  const address = addressOf(spec);
  if (address === null || (spec.kind !== 'http' && spec.kind !== 'judge')) return [];
  try {
    const url = checkedAddress(address, spec.allow_plain_http);
    if (spec.allow_plain_http && !isPlain(url))
      return [{ path: ['allow_plain_http'], reason: '"allow_plain_http" is for plain http on another machine only' }];
    return [];
  } catch (error) {
    const { message, remedy } = error as Error & { readonly remedy?: string };
    return [{ path: [spec.kind], reason: [message, ...(remedy === undefined ? [] : [remedy])].join('. ') }];
  }
}

/** The texts with {fields}, by their key. */
function templatesOf(spec: ExternalSpec): Readonly<Record<string, string | undefined>> {
  if (spec.kind === 'judge') return { rubric: spec.rubric, system: spec.system };
  if (spec.kind === 'classifier') return { input: spec.input };
  return spec.kind === 'encoder' ? { compare_to: spec.compare_to } : {};
}

function templateFaults(spec: ExternalSpec, known: readonly string[]): SpecFault[] {
  const names = [...known, ...ANSWER_FIELDS, ...(spec.kind === 'judge' ? [COMPLETIONS] : [])];
  const isKnown = new Set(names);
  const unknown = Object.entries(templatesOf(spec)).flatMap(([key, template]) =>
    fieldsIn(template ?? '')
      .filter((field) => !isKnown.has(field))
      .slice(0, MOST_FAULTS)
      .map((field) => ({
        path: [key],
        reason: `"${key}" names {${field}}, which is not in "fields"${didYouMean(nearestName(field, names))}`,
      })),
  );
  const needing =
    spec.kind === 'judge' ? 'rubric' : spec.kind === 'classifier' && spec.input !== undefined ? 'input' : null;
  const template = needing === null ? '' : (templatesOf(spec)[needing] ?? '');
  if (needing === null || fieldsIn(template).includes('completion')) return unknown;
  // A field of the record comes first.
  if (spec.kind === 'judge' && fieldsIn(template).includes(COMPLETIONS) && !known.includes(COMPLETIONS)) return unknown;
  const others = spec.kind === 'judge' ? `, or {${COMPLETIONS}}, all of the prompt's` : '';
  const reason = `expected "${needing}" to contain {completion}, which it is about${others}`;
  return [...unknown, { path: [needing], reason }];
}

function otherFaults(spec: ExternalSpec): SpecFault[] {
  if (spec.kind === 'judge' && !(spec.scale[0] < spec.scale[1]))
    return [{ path: ['scale'], reason: '"scale": expected the lowest and then the highest score, such as [1, 10]' }];
  if (spec.kind !== 'command') return [];
  if (spec.command[0] === '') return [{ path: ['command'], reason: '"command": expected a program and its arguments' }];
  return spec.files
    .filter((file) => !isInside(file))
    .map((file) => ({ path: ['files'], reason: `"files": expected a file of the task's folder, got "${file}"` }));
}

/** Whether a relative path stays in its folder, on every system. */
export function isInside(file: string): boolean {
  return !/^[\\/]|^[A-Za-z]:|\0/.test(file) && !file.split(/[\\/]/).some((part) => part === '..' || part === '');
}
