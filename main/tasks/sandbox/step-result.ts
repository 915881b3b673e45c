/** What an environment's step gives: read in the sandbox, checked outside. */
import { z } from 'zod';
import { numberFault } from '../../float32.ts';
import { didYouMean, nearestName } from '../../text/nearest-name.ts';
import type { EnvironmentStep } from '../task.ts';
import { REWARD_FILE } from './messages.ts';
import { SandboxFault } from './quickjs.ts';

/** Characters of a message, and of a state as JSON: a conversation is kept with its run. */
const LONGEST_MESSAGE = 20_000;
const LONGEST_STATE = 100_000;

/** Calls step; its result as text, for the numbers NaN and Infinity have no JSON. */
export const STEP_DRIVER = `(() => {
  const { parse, stringify } = JSON;
  const { keys, entries } = Object;
  const typeOf = (value) => (value === null ? 'null' : typeof value);
  const told = (value) => (typeof value === 'number' ? '' + value : null);
  const rewardOf = (value) => {
    if (typeof value !== 'object' || value === null) return { type: typeOf(value), number: told(value) };
    const numbers = {};
    for (const [name, number] of entries(value)) numbers[name] = told(number);
    return { type: 'object', numbers };
  };
  return (step, turn) => {
    const value = step(parse(turn));
    if (typeof value !== 'object' || value === null) return stringify({ type: typeOf(value) });
    if (typeof value.then === 'function') return stringify({ type: 'promise' });
    const { message, reward, done, state } = value;
    const isText = typeof message === 'string';
    const text = state === undefined ? undefined : stringify(state);
    return stringify({
      type: 'object',
      keys: keys(value),
      messageType: typeOf(message),
      length: isText ? message.length : 0,
      message: isText && message.length <= ${LONGEST_MESSAGE} ? message : null,
      done: typeof done === 'boolean' ? done : null,
      reward: reward === undefined || reward === null ? null : rewardOf(reward),
      stateLength: text === undefined ? 0 : text.length,
      state: text === undefined || text.length > ${LONGEST_STATE} ? null : text,
    });
  };
})()`;

// The sandbox's text is checked too: its code can change what JSON is made of.
const number = z.string().nullable();
const rewardSchema = z.object({
  type: z.string(),
  number: number.optional(),
  numbers: z.record(z.string(), number).optional(),
});
const toldSchema = z.object({
  type: z.string(),
  keys: z.array(z.string()).default([]),
  messageType: z.string().default('undefined'),
  length: z.number().default(0),
  message: z.string().max(LONGEST_MESSAGE).nullable().default(null),
  done: z.boolean().nullable().default(null),
  reward: rewardSchema.nullable().default(null),
  stateLength: z.number().default(0),
  state: z.string().nullable().default(null),
});

type Told = z.infer<typeof toldSchema>;
type ToldReward = z.infer<typeof rewardSchema>;

const KEYS = ['message', 'reward', 'done', 'state'];

/** The step in a driver's text; throws a `SandboxFault` for anything that isn't one. */
export function stepOf(text: string, components: readonly string[]): EnvironmentStep {
  const told = toldFrom(text);
  if (told.type === 'promise') throw failed('step gave a promise (it must not be async)');
  if (told.type !== 'object') throw failed(`step gave ${named(told.type)}; expected { message, reward, done }`);
  const strange = told.keys.find((key) => !KEYS.includes(key));
  if (strange !== undefined)
    throw failed(`step gave "${strange}"${didYouMean(nearestName(strange, KEYS))}; expected { message, reward, done }`);
  const { done } = told;
  if (done === null) throw failed('expected step\'s "done" to be true or false');
  if (told.stateLength > LONGEST_STATE)
    throw failed(`step's "state" has ${told.stateLength} characters as JSON, at most ${LONGEST_STATE}`);
  return {
    message: messageOf(told, done),
    rewards: told.reward === null ? null : rewardsOf(told.reward, components),
    done,
    state: told.state === null ? null : (parsed(told.state) ?? null),
  };
}

function toldFrom(text: string): Told {
  const { data } = toldSchema.safeParse(parsed(text));
  if (data !== undefined) return data;
  throw failed('step gave a value that cannot be read');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function messageOf({ messageType, message, length }: Told, done: boolean): string | null {
  if (length > LONGEST_MESSAGE) throw failed(`step's "message" has ${length} characters, at most ${LONGEST_MESSAGE}`);
  if (message !== null && (message.trim() !== '' || done)) return message;
  if (messageType !== 'undefined' && messageType !== 'null' && messageType !== 'string')
    throw failed(`expected step's "message" to be a text, got ${named(messageType)}`);
  if (done) return null;
  throw failed('step gave no "message", and it isn\'t done: the model would have nothing to answer');
}

function rewardsOf({ type, number = null, numbers = {} }: ToldReward, components: readonly string[]) {
  const [only] = components;
  if (type === 'number' && components.length === 1 && only !== undefined) return { [only]: finite(number, 'reward') };
  if (type !== 'object') {
    const expected = components.length === 1 ? 'a number' : `an object with the numbers ${components.join(', ')}`;
    throw failed(`expected step's "reward" to be ${expected}, got ${named(type)}`);
  }
  return Object.fromEntries(
    Object.entries(numbers).map(([name, value]) => {
      if (components.includes(name)) return [name, finite(value, name)];
      throw failed(
        `step gave the component "${name}", which task.yaml doesn't name${didYouMean(nearestName(name, components))}`,
      );
    }),
  );
}

function finite(told: string | null, name: string): number {
  const number = told === null ? Number.NaN : Number(told);
  const fault = numberFault(number, told);
  if (fault === null) return number;
  throw failed(`expected step's "${name}" to be ${fault}`);
}

function named(type: string): string {
  if (type === 'undefined' || type === 'null') return 'nothing';
  return `a ${type === 'string' ? 'text' : type}`;
}

function failed(message: string): SandboxFault {
  return new SandboxFault(`${REWARD_FILE}: ${message}`, false);
}
