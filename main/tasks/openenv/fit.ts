/** Whether a task's forms fit the schemas that a server gives of its actions and observations. */
import { isJsonObject } from '../../io/json.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import { placesIn } from './form.ts';
import type { Description } from './messages.ts';
import type { OpenEnvSpec } from './spec.ts';

/** What a message can name beside the fields of an observation. */
const OTHERS = ['observation', 'reward', 'done', 'state'];
/** Every action and observation has them. */
const COMMON = ['metadata', 'reward', 'done'];

/** What the forms lack or have too much, a sentence each. */
export function fitFaults(
  { action, message }: Pick<OpenEnvSpec, 'action' | 'message'>,
  { action: actions, observation: observations }: Pick<Description, 'action' | 'observation'>,
): string[] {
  return [...actionFaults(action, actions), ...messageFaults(message, observations)];
}

function actionFaults(action: OpenEnvSpec['action'], schema: Description['action']): string[] {
  const known = fieldsOf(schema);
  if (known === null || typeof action === 'string') return [];
  const strange = Object.keys(action).filter((name) => !known.includes(name));
  const missing = listed(schema?.required).filter((name) => !Object.hasOwn(action, name));
  return [
    // A schema that allows others names those that it knows only.
    ...(schema?.additionalProperties === false ? strange : []).map(
      (name) =>
        `environment.action has "${name}", which the server's actions don't have${didYouMean(nearestName(name, known)) || `; they have ${named(known)}`}`,
    ),
    ...missing.map((name) => `environment.action lacks "${name}", which the server's actions need`),
  ];
}

function messageFaults(message: string, schema: Description['observation']): string[] {
  const known = fieldsOf(schema);
  if (known === null) return [];
  const all = [...known, ...OTHERS];
  return placesIn(message).flatMap(({ name }) => {
    const [field = ''] = name.split('.');
    if (all.includes(field)) return [];
    return [
      `environment.message names {${field}}, which the server's observations don't have${didYouMean(nearestName(field, all)) || `; they have ${named(known)}`}`,
    ];
  });
}

/** The names in a schema; null: it says nothing of them. */
function fieldsOf(schema: Description['action']): string[] | null {
  return schema !== null && isJsonObject(schema.properties) ? Object.keys(schema.properties) : null;
}

function named(fields: readonly string[]): string {
  const own = fields.filter((name) => !COMMON.includes(name));
  return own.length === 0 ? 'none of their own' : own.join(', ');
}

function listed(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** The form of an action that the model writes out whole. */
export const WHOLE_ACTION = '{completion:json}';

/** A first form for a server: what its one required field of a plain type needs, otherwise the whole action as JSON. */
export function suggestedAction(schema: Description['action']): OpenEnvSpec['action'] {
  const properties = schema !== null && isJsonObject(schema.properties) ? schema.properties : {};
  const required = listed(schema?.required);
  const [name] = required.length > 0 ? required : Object.keys(properties).filter((field) => !COMMON.includes(field));
  const { type } = (name !== undefined && isJsonObject(properties[name]) ? properties[name] : {}) as { type?: unknown };
  if (name === undefined || required.length > 1) return WHOLE_ACTION;
  if (type === 'integer' || type === 'number') return { [name]: '{completion:last-number}' };
  return type === 'string' ? { [name]: '{completion:trim}' } : { [name]: '{completion:json}' };
}

/** A first template for what the model reads: the observation's own fields. */
export function suggestedMessage(schema: Description['observation']): string {
  const properties = schema !== null && isJsonObject(schema.properties) ? schema.properties : {};
  const own = Object.entries(properties).filter(([name]) => !COMMON.includes(name));
  const texts = own.filter(([, value]) => isJsonObject(value) && value.type === 'string');
  const [only] = texts;
  if (only !== undefined && texts.length === 1) return `{${only[0]}}`;
  return own.length === 0 ? '{observation}' : own.map(([name]) => `${name}: {${name}}`).join('\n');
}
