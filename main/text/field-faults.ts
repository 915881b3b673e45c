/** Errors of a configuration's fields in plain words: for a form beside each field, and for a command in one line. */

import type { z } from 'zod';
import { beginning } from './beginning.ts';
import { didYouMean, nearestName } from './nearest-name.ts';

/** One error in a configuration, and the field where it can be fixed. */
export interface ConfigFault {
  readonly field: string;
  readonly message: string;
  readonly remedy: string | null;
}

/** What a misspelt field can have meant. */
export interface KnownNames {
  readonly fields: readonly string[];
  /** A field by its name in other programs. */
  readonly elsewhere: Readonly<Record<string, string>>;
  /** Why a field that another program has isn't here; undefined: it is of no known program. */
  readonly whyNot?: (field: string) => string | undefined;
  /** What to do instead of giving a field a value that is refused, where that is known. */
  readonly instead?: (field: string, value: unknown) => string | undefined;
}

/** Faults that are described: whoever has more reads no further, and a file may bring any number of them. */
const MOST_FAULTS = 20;

/** Field by field. */
export function faultsIn(
  { issues }: Pick<z.ZodError, 'issues'>,
  names: KnownNames,
  most: number = MOST_FAULTS,
): ConfigFault[] {
  const all = issues.slice(0, most).flatMap((issue) => faultsOf(issue, names, most));
  return all.slice(0, most);
}

function faultsOf(issue: z.core.$ZodIssue, names: KnownNames, most: number): ConfigFault[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys
      .slice(0, most)
      .map((field) => ({ field: shortened(field), message: describeUnknown(field, names), remedy: null }));
  return [{ field: String(issue.path[0] ?? ''), message: messageOf(issue, names), remedy: null }];
}

/** In one line. */
export function described({ issues }: z.ZodError, names: KnownNames): string {
  const all = issues.slice(0, MOST_FAULTS).flatMap((issue) => describeIssue(issue, names));
  const count = issues.reduce((sum, issue) => sum + (issue.code === 'unrecognized_keys' ? issue.keys.length : 1), 0);
  const shown = all.slice(0, MOST_FAULTS);
  return `${shown.join('; ')}${count > shown.length ? `; and ${count - shown.length} more` : ''}`;
}

function describeIssue(issue: z.core.$ZodIssue, names: KnownNames): string[] {
  if (issue.code === 'unrecognized_keys')
    return issue.keys.slice(0, MOST_FAULTS).map((key) => describeUnknown(key, names));
  return [`"${issue.path.join('.')}": ${messageOf(issue, names)}`];
}

function messageOf(issue: z.core.$ZodIssue, { instead }: KnownNames): string {
  const expected = expectation(issue);
  const { input } = issue;
  if (input === undefined) return expected;
  const isMisspelt = issue.code === 'invalid_value' && typeof input === 'string';
  const meant = isMisspelt ? didYouMean(nearestName(input, issue.values.map(String))) : '';
  const advice = instead?.(String(issue.path[0] ?? ''), input);
  return `${expected}, got ${shownValue(input)}${advice === undefined ? meant : `: ${advice}`}`;
}

/** What a value should be, in plain words: the form shows them beside the field. */
export function expectation(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      return `expected ${TYPES[issue.expected] ?? issue.expected}`;
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1) return 'expected a text that is not empty';
      return `expected ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}${counted(issue.origin)}`;
    case 'too_big':
      return `expected ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}${counted(issue.origin)}`;
    case 'invalid_value':
      return `expected ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
    // Of a record's key: what is wrong with it stands inside.
    case 'invalid_key':
      return issue.issues[0]?.message ?? issue.message;
    default:
      return issue.message;
  }
}

const TYPES: Readonly<Record<string, string>> = {
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  string: 'a text',
  array: 'a list',
  object: 'fields with values',
  record: 'fields with values',
};

/** What a limit counts, if it isn't the value itself. */
function counted(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' || origin === 'set' ? ' entries' : '';
}

/** A value in a message, of a large one the beginning. */
function shownValue(value: unknown): string {
  try {
    return shortened(JSON.stringify(value) ?? String(value));
  } catch {
    // It refers to itself, or is nested more deeply than there is stack.
    return 'a value that cannot be shown';
  }
}

function shortened(text: string): string {
  return text.length <= 200 ? text : `${beginning(text, 200)}…`;
}

function describeUnknown(key: string, names: KnownNames): string {
  const why = names.whyNot?.(key);
  if (why !== undefined) return `field "${key}" isn't one of Braid's: ${why}`;
  return `unknown field "${shortened(key)}"${didYouMean(meantName(key, names))}`;
}

/** The field that an unknown one stands for, by another program's name, with or without its groups, or a misspelling. */
export function meantName(key: string, { fields, elsewhere }: KnownNames): string | undefined {
  const name = key.slice(key.lastIndexOf('.') + 1);
  return (Object.hasOwn(elsewhere, name) ? elsewhere[name] : undefined) ?? nearestName(name, fields);
}
