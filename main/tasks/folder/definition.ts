/** task.yaml: what a task's records are, how they are prompted, and what its reward consists of. */
import { type Document, isMap, isScalar } from 'yaml';
import { z } from 'zod';
import { type FileFault, faultsError } from '../../io/text-file.ts';
import { type ParsedYaml, parseYaml } from '../../io/yaml.ts';
import { chatRole } from '../../samples/chat-message.ts';
import { faultsIn, meantName } from '../../text/field-faults.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import type { OutsideSpec } from '../external/access.ts';
import { checkExternal, type ExternalSpec } from '../external/spec.ts';
import { outsideToolShape, toolPart, toolSpec, toolSpecFaults } from '../external/tool-spec.ts';
import { ENVIRONMENT } from '../openenv/spec.ts';
import { shown } from '../record-faults.ts';
import { taskShows } from '../task.ts';
import { checkEnvironment, type EnvironmentDefinition } from './environment-definition.ts';
import { FIELD_NAME, fieldsIn } from './template.ts';

/** The file's name. */
export const TASK_FILE = 'task.yaml';

const fieldTypes = ['text', 'number', 'boolean', 'list', 'object', 'messages'] as const;
export type FieldType = (typeof fieldTypes)[number];

const NAME_FAULT = { error: 'expected a name of at most 100 letters, digits and _' };
const name = z
  .string()
  .max(100, NAME_FAULT)
  .regex(/^[A-Za-z_]\w*$/, NAME_FAULT);
/** A column's own name, in any script. */
const fieldName = z
  .string()
  .max(100, NAME_FAULT)
  .regex(new RegExp(`^${FIELD_NAME}$`, 'u'), NAME_FAULT);
const text = z.string().min(1);

/** What the model may call: a function of tools.ts, a command or an address. */
const toolSchema = z.strictObject({
  name,
  description: text,
  /** JSON Schema of its arguments. */
  parameters: z.record(z.string(), z.unknown()).default({ type: 'object', properties: {} }),
  ...outsideToolShape,
});

const schema = z.strictObject({
  title: text.max(200),
  // A record may lack a field with a question mark.
  fields: z.record(fieldName, z.enum(fieldTypes.flatMap((type) => [type, `${type}?`] as const))),
  prompt: text.optional(),
  system: text.optional(),
  messages: z
    .array(z.strictObject({ role: chatRole.exclude(['tool']), content: text }))
    .min(1)
    .optional(),
  target: text.optional(),
  max_completion_length: z.int().min(1).optional(),
  // A weight, or a component that isn't reward.ts's.
  rewards: z.record(name, z.unknown()).default({ reward: 1 }),
  highest_reward: z.number().nullable().default(null),
  success_threshold: z.number(),
  check: name.optional(),
  show: z.enum(taskShows).default('plain'),
  environment: z.unknown().optional(),
  tools: z.array(toolSchema).min(1).max(64).optional(),
  /** Turns of the model that call tools; TRL's name. */
  max_tool_calling_iterations: z.int().min(1).max(63).optional(),
  time_limit_ms: z.int().min(1).max(600_000).default(1000),
  memory_limit_mb: z.int().min(1).max(256).default(32),
});

type Parsed = Readonly<z.infer<typeof schema>>;

/** A checked task.yaml. */
export interface TaskDefinition extends Omit<Parsed, 'rewards' | 'environment'> {
  /** undefined: a completion is one turn. */
  readonly environment?: EnvironmentDefinition;
  /** The weight of each component. */
  readonly rewards: Readonly<Record<string, number>>;
  /** Components that reward.ts doesn't give. */
  readonly external: Readonly<Record<string, ExternalSpec>>;
}

const fields = Object.keys(schema.shape);
/** The same by what other tools, or a quick writer, call it. */
const elsewhere = {
  template: 'prompt',
  system_prompt: 'system',
  weights: 'rewards',
  reward: 'rewards',
  components: 'rewards',
  threshold: 'success_threshold',
  max_tokens: 'max_completion_length',
  answer: 'target',
  reference: 'target',
  env: 'environment',
  max_turns: 'environment',
  functions: 'tools',
  max_tool_calls: 'max_tool_calling_iterations',
  environment_factory: 'environment',
};
/** The same inside an entry of `messages`. */
const messageNames = { fields: ['role', 'content'], elsewhere: { text: 'content', from: 'role' } };
/** Everything that a task reaches outside the sandbox: components of its reward, tools, its environment's server. */
export function outsideParts({
  external,
  environment,
  tools = [],
}: Pick<TaskDefinition, 'external' | 'environment' | 'tools'>): Readonly<Record<string, OutsideSpec>> {
  const server = environment?.server ?? null;
  const called = tools.flatMap((tool) => {
    const spec = toolSpec(tool);
    return spec === null ? [] : [[toolPart(tool.name), spec] as const];
  });
  return { ...external, ...(server !== null && { [ENVIRONMENT]: server }), ...Object.fromEntries(called) };
}

const REMEDY = 'Fix these lines; docs/tasks.md describes task.yaml.';

/** The field whose conversation is the prompt: `prompt: '{messages}'`; undefined: the prompt is made of fields. */
export function conversationField({ prompt, fields }: Pick<TaskDefinition, 'prompt' | 'fields'>): string | undefined {
  const [, field = ''] = /^\{([^{}]+)\}$/.exec(prompt?.trim() ?? '') ?? [];
  return Object.hasOwn(fields, field) && isMessages(fields[field]) ? field : undefined;
}

function isMessages(type: string | undefined): boolean {
  return type?.replace('?', '') === 'messages';
}

/** A fault of a task.yaml; of what is missing, the line of the nearest place around it. */
export type DefinitionFault = Omit<FileFault, 'file'>;

/** Checks the text of a task.yaml; the error lists every fault with its line. `file`: its name in messages. */
export function parseDefinition(file: string, content: string): TaskDefinition {
  const checked = checkDefinition(content);
  if ('definition' in checked) return checked.definition;
  throw faultsError(
    'BAD_TASK',
    checked.faults.map((fault) => ({ file, ...fault })),
    REMEDY,
  );
}

type CheckedDefinition = { readonly definition: TaskDefinition } | { readonly faults: readonly DefinitionFault[] };

/** The newest one: opening a task checks the same text several times. */
let newest: { readonly content: string; readonly checked: CheckedDefinition } | null = null;

/** The same with the faults as they are. */
export function checkDefinition(content: string): CheckedDefinition {
  if (newest?.content !== content) newest = { content, checked: shortened(check(content)) };
  return newest.checked;
}

/** What faults quote may be as long as the file. */
function shortened(checked: CheckedDefinition): CheckedDefinition {
  if ('definition' in checked) return checked;
  const cut = (reason: string): string => (reason.length <= 500 ? reason : `${reason.slice(0, 500)}…`);
  return { faults: checked.faults.map(({ line, reason }) => ({ line, reason: cut(reason) })) };
}

function check(content: string): CheckedDefinition {
  const yaml = parseYaml(content);
  if (yaml.faults.length > 0) return { faults: yaml.faults };
  const lines = lineFinder(yaml);
  const result = schema.safeParse(yaml.document.toJS(), { reportInput: true });
  if (!result.success) return { faults: schemaFaults(result.error, lines) };
  const components = readComponents(result.data, lines, content);
  const played = readEnvironment(result.data, lines);
  const faults = [...components.faults, ...played.faults, ...inconsistencies(result.data, lines, content)];
  const { rewards, external } = components;
  const { environment: _, ...plain } = result.data;
  return faults.length > 0
    ? { faults }
    : { definition: { ...plain, rewards, external, ...(played.environment && { environment: played.environment }) } };
}

/** Faults that are reported: each takes a guess at what was meant and a search for its line. */
const MOST_FAULTS = 20;

/** What to write for a required field. */
const EXAMPLES: Readonly<Record<string, string>> = {
  title: 'title: My task',
  fields: 'fields: { question: text, answer: text }',
  success_threshold: 'success_threshold: 1',
};

function schemaFaults({ issues }: z.ZodError, lines: LineFinder): DefinitionFault[] {
  const unknown = issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys' ? issue.keys.slice(0, MOST_FAULTS) : [],
  );
  // A misspelt field is missing under its right name as well.
  const meant = unknown.map((key) => meantName(key, { fields, elsewhere }));
  return issues
    .filter(({ path: [first], input }) => input !== undefined || !meant.includes(String(first)))
    .slice(0, MOST_FAULTS)
    .flatMap((issue) =>
      faultsIn({ issues: [issue] }, issue.path[0] === 'messages' ? messageNames : { fields, elsewhere }).map(
        ({ field, message }) => {
          const { path } = issue;
          if (path.length === 0) return { line: lines.of(field === '' ? [] : [field]), reason: message };
          const named = `"${shortName(path.join('.'))}"`;
          if (issue.input !== undefined) return { line: lines.of(path), reason: `${named}: ${message}` };
          const example = EXAMPLES[path.join('.')];
          const how = example === undefined ? '' : `, for example \`${example}\``;
          return { line: lines.of(path), reason: `${named} is missing: ${message}${how}` };
        },
      ),
    );
}

/** What is declared of a conversation, and the component that its server gives. */
function readEnvironment({ environment: given, ...task }: Parsed, lines: LineFinder) {
  if (given === undefined) return { faults: [] };
  const { environment, faults: found } = checkEnvironment(given, task.fields);
  const faults = found.map(({ path, reason }): DefinitionFault => {
    return { line: lines.of(['environment', ...path]), reason: `environment: ${reason}` };
  });
  if (task.max_completion_length === undefined)
    faults.push({
      line: lines.of(['environment']),
      reason: 'expected "max_completion_length" beside "environment": the tokens of all turns and answers together',
    });
  if (environment?.server != null) {
    const own = Object.values(task.rewards).filter((value) => typeof value === 'number');
    if (own.length !== 1 || Object.hasOwn(task.rewards, ENVIRONMENT))
      faults.push({
        line: lines.of(['rewards']),
        reason: `expected one weight in "rewards", which is that of the server's reward, and no component called "${ENVIRONMENT}"`,
      });
  }
  return { faults, ...(environment !== null && { environment }) };
}

/** The components of the reward: their weights, and what is declared of those that reward.ts doesn't give. */
function readComponents({ rewards, fields: own }: Parsed, lines: LineFinder, content: string) {
  const weights: Record<string, number> = {};
  const external: Record<string, ExternalSpec> = {};
  const faults: DefinitionFault[] = [];
  const known = [...Object.keys(own), 'id'];
  for (const [component, value] of Object.entries(rewards)) {
    if (faults.length >= MOST_FAULTS) break;
    const path = ['rewards', component];
    if (typeof value === 'number' && Number.isFinite(value)) weights[component] = value;
    else if (typeof value !== 'object' || value === null || Array.isArray(value))
      faults.push({
        line: lines.of(path),
        reason: `"${path.join('.')}": expected a number (its weight) or an object with a kind of reward, got ${shown(value)}`,
      });
    else {
      const checked = checkExternal(value as Readonly<Record<string, unknown>>, known);
      if ('faults' in checked)
        for (const { path: inside, reason } of checked.faults) {
          const [, named] = /names (\{[^}]+\})/.exec(reason) ?? [];
          const at = [...path, ...inside];
          const line = named === undefined ? lines.of(at) : lines.ofText(at, named, content);
          faults.push({ line, reason: `${component}: ${reason}` });
        }
      else {
        weights[component] = checked.weight;
        external[component] = checked.spec;
      }
    }
  }
  return { rewards: weights, external, faults };
}

/** Settings that are valid on their own but don't fit together. */
function inconsistencies(task: Parsed, lines: LineFinder, content: string): DefinitionFault[] {
  const known = [...Object.keys(task.fields), 'id'];
  const faults: DefinitionFault[] = [];
  const fault = (path: readonly PropertyKey[], reason: string): void =>
    void faults.push({ line: lines.of(path), reason });

  const templates: (readonly [readonly PropertyKey[], string | undefined])[] = [
    [['prompt'], task.prompt],
    [['system'], task.system],
    [['target'], task.target],
    ...(task.messages ?? []).map(({ content }, i) => [['messages', i, 'content'], content] as const),
  ];
  const names = new Set(known);
  const unknown = templates.flatMap(([path, template]) =>
    fieldsIn(template ?? '').flatMap((field) => (names.has(field) ? [] : [[path, field] as const])),
  );
  for (const [path, field] of unknown.slice(0, MOST_FAULTS))
    faults.push({
      line: lines.ofText(path, `{${field}}`, content),
      reason: `"${path[0] as string}" names {${shortName(field)}}, which is not in "fields"${didYouMean(nearestName(field, known))}`,
    });
  const conversation = conversationField(task);
  for (const [field, type] of Object.entries(task.fields))
    if (isMessages(type) && field !== conversation)
      fault(
        ['fields', field],
        `expected \`prompt: '{${shortName(field)}}'\` alone with "${shortName(field)}", as a conversation is the whole prompt`,
      );
  // A record's `messages` are the ones that are made of it, and so is its `prompt`.
  if (Object.hasOwn(task.fields, 'messages') && conversation !== 'messages')
    fault(
      ['fields', 'messages'],
      'only a conversation can be called "messages": `messages: messages` with `prompt: \'{messages}\'`; map the column to another name',
    );
  if (
    Object.hasOwn(task.fields, 'prompt') &&
    conversation !== 'prompt' &&
    (task.system !== undefined || task.prompt?.trim() !== '{prompt}')
  )
    fault(
      ['fields', 'prompt'],
      'expected `prompt: \'{prompt}\'` alone with a field called "prompt", or another name for the field',
    );
  if (task.prompt === undefined && task.messages === undefined)
    fault([], `expected "prompt" or "messages": what the model is given, for example \`prompt: '{${known[0]}}'\``);
  if (task.prompt !== undefined && task.messages !== undefined)
    fault(['messages'], 'expected either "prompt" or "messages", got both');
  if (task.messages !== undefined && task.messages.at(-1)?.role !== 'user')
    fault(['messages'], 'expected the last message to be of the user, which the model then answers');
  for (const [path, reason] of toolFaults(task)) fault(path, reason);
  for (const [path, reason] of metricFaults(task)) fault(path, reason);
  if (Object.keys(task.rewards).length === 0) fault(['rewards'], 'expected at least one component of the reward');
  const hasTarget = task.target !== undefined || conversation !== undefined;
  if (!hasTarget && task.max_completion_length === undefined)
    fault(
      [],
      'expected "max_completion_length" in tokens, for example `max_completion_length: 64`: without a "target" it can\'t be computed',
    );
  if (!hasTarget && (task.show === 'aligned' || task.show === 'beside'))
    fault(['show'], `expected a "target" to show completions ${task.show} it`);
  return faults;
}

/** What evaluations say of the whole reward, under these names. */
const WHOLE: readonly string[] = ['reward', 'success', 'failed'];

/** Names under which an evaluation would have two numbers. */
function metricFaults({ rewards, check }: Parsed): (readonly [readonly PropertyKey[], string])[] {
  const components = Object.keys(rewards);
  const several = components.length > 1 ? components : [];
  const why = 'is what evaluations call a number of the whole reward: give it another name';
  const faults = several
    .filter((component) => WHOLE.includes(component))
    .map((component) => [['rewards', component], `"${component}" beside other components ${why}`] as const);
  if (check === undefined || ![...WHOLE, ...several].includes(check)) return faults;
  const taken = WHOLE.includes(check) ? why : 'would be confused with that component: give it another name';
  return [...faults, [['check'], `a check called "${check}" ${taken}`]];
}

function toolFaults({ tools = [], environment, max_completion_length, max_tool_calling_iterations }: Parsed) {
  const faults: (readonly [readonly PropertyKey[], string])[] = [];
  if (tools.length === 0 && max_tool_calling_iterations !== undefined)
    faults.push([
      ['max_tool_calling_iterations'],
      '"max_tool_calling_iterations" is for "tools", and there are none: did you mean "environment"?',
    ]);
  if (tools.length === 0) return faults;
  if (environment !== undefined) faults.push([['tools'], 'expected either "tools" or "environment", got both']);
  if (max_completion_length === undefined)
    faults.push([
      ['tools'],
      'expected "max_completion_length" beside "tools": the tokens of all turns and results together',
    ]);
  for (const [i, tool] of tools.entries()) {
    const { name, parameters } = tool;
    for (const { path, reason } of toolSpecFaults(tool)) faults.push([['tools', i, ...path], `${name}: ${reason}`]);
    if (tools.findIndex((other) => other.name === name) < i)
      faults.push([['tools', i], `expected one tool called "${name}", got two`]);
    if (name === 'step')
      faults.push([['tools', i], 'a tool can\'t be called "step", as an environment\'s function is']);
    if (parameters.type !== 'object')
      faults.push([
        ['tools', i, 'parameters'],
        `expected the "parameters" of ${name} to be of type object, as JSON Schema has it`,
      ]);
  }
  return faults;
}

/** A name as a message quotes it. */
function shortName(name: string): string {
  return name.length <= 100 ? name : `${name.slice(0, 100)}…`;
}

interface LineFinder {
  /** The line where a value stands; of its nearest parent if it isn't there. */
  of(path: readonly PropertyKey[]): number;
  /** The line of a text inside a value, which may have many. */
  ofText(path: readonly PropertyKey[], text: string, content: string): number;
}

function lineFinder({ document, lineAt }: ParsedYaml): LineFinder {
  const of = (path: readonly PropertyKey[]): number => lineAt(offsetOf(document, path));
  return {
    of,
    ofText: (path, text, content) => {
      const at = content.indexOf(text, offsetOf(document, path));
      return at < 0 ? of(path) : lineAt(at);
    },
  };
}

/** Where a value's key stands, of a list's item the item; of what isn't there, the nearest parent. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  const last = path.at(-1);
  if (last === undefined) return document.contents?.range?.[0] ?? 0;
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && key.value === last);
    if (isScalar(pair?.key) && pair.key.range) return pair.key.range[0];
  }
  const item: unknown = document.getIn(path, true);
  const range = typeof item === 'object' && item !== null && 'range' in item ? (item.range as number[] | null) : null;
  return range?.[0] ?? offsetOf(document, path.slice(0, -1));
}
