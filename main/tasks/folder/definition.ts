/** task.yaml: what a task's records are, how they are prompted, and what its reward consists of. */
import { type Document, isMap, isScalar } from 'yaml';
import { z } from 'zod';
import { type FileFault, faultsError } from '../../io/text-file.ts';
import { type ParsedYaml, parseYaml } from '../../io/yaml.ts';
import { faultsIn } from '../../text/field-faults.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import { taskShows } from '../task.ts';
import { fieldsIn } from './template.ts';

/** The file's name. */
export const TASK_FILE = 'task.yaml';

const fieldTypes = ['text', 'number', 'boolean', 'list', 'object'] as const;
export type FieldType = (typeof fieldTypes)[number];

const name = z.string().regex(/^[A-Za-z_]\w*$/, { error: 'expected a name of letters, digits and _' });
const text = z.string().min(1);

const schema = z.strictObject({
  title: text,
  // A record may lack a field with a question mark.
  fields: z.record(name, z.enum(fieldTypes.flatMap((type) => [type, `${type}?`] as const))),
  prompt: text.optional(),
  system: text.optional(),
  messages: z
    .array(z.strictObject({ role: z.enum(['system', 'user', 'assistant']), content: text }))
    .min(1)
    .optional(),
  target: text.optional(),
  max_completion_length: z.int().min(1).optional(),
  rewards: z.record(name, z.number()).default({ reward: 1 }),
  highest_reward: z.number().nullable().default(null),
  success_threshold: z.number(),
  check: name.optional(),
  show: z.enum(taskShows).default('plain'),
  time_limit_ms: z.int().min(1).max(600_000).default(1000),
  memory_limit_mb: z.int().min(1).max(256).default(32),
});

/** A checked task.yaml. */
export type TaskDefinition = Readonly<z.infer<typeof schema>>;

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
};

const REMEDY = 'Fix these lines; docs/tasks.md describes task.yaml.';

/** Checks the text of a task.yaml; the error lists every fault with its line. `file`: its name in messages. */
export function parseDefinition(file: string, content: string): TaskDefinition {
  const yaml = parseYaml(content);
  const fail = (faults: readonly Omit<FileFault, 'file'>[]) =>
    faultsError(
      'BAD_TASK',
      faults.map((fault) => ({ file, ...fault })),
      REMEDY,
    );
  if (yaml.faults.length > 0) throw fail(yaml.faults);
  const result = schema.safeParse(yaml.document.toJS(), { reportInput: true });
  if (!result.success) {
    const lines = lineFinder(yaml);
    throw fail(
      faultsIn(result.error, { fields, elsewhere }).map(({ field, message }, i) => ({
        line: lines.of(result.error.issues[i]?.path ?? [field]) ?? lines.of([field]),
        reason: message.includes(`"${field}"`) || field === '' ? message : `"${field}": ${message}`,
      })),
    );
  }
  const faults = inconsistencies(result.data, yaml, content);
  if (faults.length > 0) throw fail(faults);
  return result.data;
}

/** Settings that are valid on their own but don't fit together. */
function inconsistencies(task: TaskDefinition, yaml: ParsedYaml, content: string): Omit<FileFault, 'file'>[] {
  const lines = lineFinder(yaml);
  const known = [...Object.keys(task.fields), 'id'];
  const faults: Omit<FileFault, 'file'>[] = [];
  const fault = (path: readonly PropertyKey[], reason: string): void =>
    void faults.push({ line: lines.of(path), reason });

  const templates: (readonly [readonly PropertyKey[], string | undefined])[] = [
    [['prompt'], task.prompt],
    [['system'], task.system],
    [['target'], task.target],
    ...(task.messages ?? []).map(({ content }, i) => [['messages', i, 'content'], content] as const),
  ];
  for (const [path, template] of templates)
    for (const field of fieldsIn(template ?? ''))
      if (!known.includes(field))
        faults.push({
          line: lines.ofText(path, `{${field}}`, content),
          reason: `"${path[0] as string}" names {${field}}, which is not in "fields"${didYouMean(nearestName(field, known))}`,
        });
  if (task.prompt === undefined && task.messages === undefined)
    fault([], 'expected "prompt" or "messages": what the model is given');
  if (task.prompt !== undefined && task.messages !== undefined)
    fault(['messages'], 'expected either "prompt" or "messages", got both');
  if (task.messages !== undefined && task.messages.at(-1)?.role !== 'user')
    fault(['messages'], 'expected the last message to be of the user, which the model then answers');
  if (Object.keys(task.rewards).length === 0) fault(['rewards'], 'expected at least one component of the reward');
  if (task.target === undefined && task.max_completion_length === undefined)
    fault([], 'expected "max_completion_length" in tokens: without a "target" it can\'t be computed');
  if (task.target === undefined && (task.show === 'aligned' || task.show === 'beside'))
    fault(['show'], `expected a "target" to show completions ${task.show} it`);
  return faults;
}

interface LineFinder {
  /** The line where a value stands; of its nearest parent if it isn't there. */
  of(path: readonly PropertyKey[]): number | null;
  /** The line of a text inside a value, which may have many. */
  ofText(path: readonly PropertyKey[], text: string, content: string): number | null;
}

function lineFinder({ document, lineAt }: ParsedYaml): LineFinder {
  const of = (path: readonly PropertyKey[]): number | null => {
    const offset = offsetOf(document, path);
    return offset === null ? null : lineAt(offset);
  };
  return {
    of,
    ofText: (path, text, content) => {
      const from = offsetOf(document, path);
      const at = from === null ? -1 : content.indexOf(text, from);
      return at < 0 ? of(path) : lineAt(at);
    },
  };
}

/** Where a value's key stands, of a list's item the item. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number | null {
  const last = path.at(-1);
  if (last === undefined) return null;
  const parent: unknown = path.length === 1 ? document.contents : document.getIn(path.slice(0, -1), true);
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && key.value === last);
    if (isScalar(pair?.key)) return pair.key.range?.[0] ?? null;
  }
  const item: unknown = document.getIn(path, true);
  const range = typeof item === 'object' && item !== null && 'range' in item ? (item.range as number[] | null) : null;
  return range?.[0] ?? offsetOf(document, path.slice(0, -1));
}
