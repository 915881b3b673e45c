/** The task.yaml of a task for an OpenEnv server: forms by its schemas, and what the model reads about them. */

import { Document, isMap, isScalar } from 'yaml';
import { isJsonObject } from '../../io/json.ts';
import { FIELD_NAME } from '../../tasks/folder/template.ts';
import type { Description } from '../../tasks/openenv/messages.ts';
import type { OpenEnvSpec } from '../../tasks/openenv/spec.ts';
import { beginning } from '../../text/beginning.ts';
import { placeIn, type ServerChoice } from './server-choice.ts';

export interface ServedTaskForm {
  readonly server: ServerChoice;
  readonly action: OpenEnvSpec['action'];
  /** The template of what the model reads. */
  readonly message: string;
  /** Whether the same seed began in the same way twice. */
  readonly isFixed: boolean;
  readonly maxTurns: number;
}

/** The file, with what the server says of its fields in comments. */
export function servedTaskText(
  description: Description,
  { server, action, message, isFixed, maxTurns }: ServedTaskForm,
): string {
  const document = new Document({
    title: beginning(description.name ?? 'OpenEnv', 200),
    fields: isFixed ? { seed: 'number', start: 'text' } : { seed: 'number' },
    system: literal([description.description, answerText(action, description)].filter(Boolean).join('\n\n')),
    prompt: isFixed ? '{start}' : 'The environment says:',
    environment: {
      ...placeIn(server),
      action,
      message,
      ...(isFixed ? { start: 'start' } : { opens: true }),
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
      'opens',
      ' Two resets with the same seed began differently: each completion begins with the message of its own.',
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

/** A field of a server's actions or observations. */
export interface ServerField {
  readonly name: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly about: string | null;
}

/** Those of a schema, without what every action and observation has. */
export function serverFields(schema: Description['action']): ServerField[] {
  const properties = isJsonObject(schema?.properties) ? schema.properties : {};
  const required: readonly unknown[] = Array.isArray(schema?.required) ? schema.required : [];
  return Object.entries(properties).flatMap(([name, given]) => {
    if (['metadata', 'reward', 'done'].includes(name)) return [];
    const { type, description } = isJsonObject(given) ? given : {};
    return {
      name,
      type: typeof type === 'string' ? type : 'any',
      isRequired: required.includes(name),
      about: typeof description === 'string' ? description.replaceAll(/\s+/g, ' ').slice(0, 200) : null,
    };
  });
}

/** The fields of a schema in one line: `guess (integer, required): from 0 to 9`. */
function fieldsText(schema: Description['action'], only?: string): string {
  const texts = serverFields(schema)
    .filter(({ name }) => only === undefined || name === only)
    .map(({ name, type, isRequired, about }) => {
      const kind = [type, ...(isRequired ? ['required'] : [])].join(', ');
      return `${name} (${kind})${about === null ? '' : `: ${about}`}`;
    });
  return texts.length === 0 ? 'of no known form' : texts.join('; ');
}
