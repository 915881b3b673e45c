/** The task.yaml of a task for an OpenEnv server: forms by its schemas, and what the model reads about them. */
import { Document, isMap, isScalar } from 'yaml';
import { isJsonObject } from '../../io/json.ts';
import { FIELD_NAME } from '../../tasks/folder/template.ts';
import { suggestedAction } from '../../tasks/openenv/fit.ts';
import type { Description } from '../../tasks/openenv/messages.ts';
import type { OpenEnvSpec } from '../../tasks/openenv/spec.ts';

export interface ServedTaskForm {
  readonly url: string;
  /** The template of what the model reads. */
  readonly message: string;
  /** Whether the same seed began in the same way twice. */
  readonly isFixed: boolean;
  readonly maxTurns: number;
}

/** The file, with what the server says of its fields in comments. */
export function servedTaskText(description: Description, { url, message, isFixed, maxTurns }: ServedTaskForm): string {
  const action = suggestedAction(description.action);
  const document = new Document({
    title: (description.name ?? 'OpenEnv').slice(0, 200),
    fields: isFixed ? { seed: 'number', start: 'text' } : { seed: 'number' },
    system: literal([description.description, answerText(action, description)].filter(Boolean).join('\n\n')),
    prompt: isFixed ? '{start}' : 'Begin.',
    environment: {
      openenv: url,
      action,
      message,
      ...(isFixed && { start: 'start' }),
      max_turns: maxTurns,
      max_turn_tokens: 128,
    },
    max_completion_length: 1024,
    rewards: { reward: 1 },
    success_threshold: 1,
  });
  const environment = document.get('environment', true);
  comment(environment, 'action', ` The server's actions: ${fieldsText(description.action)}`);
  comment(environment, 'message', ` Its observations: ${fieldsText(description.observation)}`);
  if (!isFixed)
    comment(
      environment,
      'openenv',
      ' Two resets with the same seed began differently, so no prompt shows the beginning.',
    );
  return document.toString({ lineWidth: 0 });
}

function comment(map: unknown, name: string, text: string): void {
  const pair = isMap(map) ? map.items.find(({ key }) => isScalar(key) && key.value === name) : undefined;
  if (isScalar(pair?.key)) pair.key.commentBefore = text;
}

/** What the server says of itself isn't a template. */
function literal(text: string): string {
  return text.replace(new RegExp(`\\{(${FIELD_NAME})\\}`, 'gu'), '{{$1}}');
}

/** How the model has to answer. */
function answerText(action: OpenEnvSpec['action'], { action: schema }: Description): string {
  if (typeof action === 'string') return `Answer with one JSON object, the action: ${fieldsText(schema)}`;
  const [[name = '', form] = []] = Object.entries(action);
  if (form === '{completion:last-number}') return `Answer with a number: ${fieldsText(schema, name)}`;
  return form === '{completion:json}'
    ? `Answer in JSON: ${fieldsText(schema, name)}`
    : `What you answer is taken as ${fieldsText(schema, name)}`;
}

/** The fields of a schema in one line: `guess (integer, required): from 0 to 9`. */
function fieldsText(schema: Description['action'], only?: string): string {
  const properties = isJsonObject(schema?.properties) ? schema.properties : {};
  const required: readonly unknown[] = Array.isArray(schema?.required) ? schema.required : [];
  const texts = Object.entries(properties).flatMap(([name, given]) => {
    if (only === undefined ? ['metadata', 'reward', 'done'].includes(name) : name !== only) return [];
    const { type, description } = isJsonObject(given) ? given : {};
    const kind = [typeof type === 'string' ? type : 'any', ...(required.includes(name) ? ['required'] : [])].join(', ');
    return [
      `${name} (${kind})${typeof description === 'string' ? `: ${description.replaceAll(/\s+/g, ' ').slice(0, 200)}` : ''}`,
    ];
  });
  return texts.length === 0 ? 'of no known form' : texts.join('; ');
}
