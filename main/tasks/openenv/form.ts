/**
 * Values with {names} in them: the form of an action, the arguments of a reset, the message that an observation becomes.
 * `{name}` alone keeps the value's own type; inside a longer text it is written out. `{a.b}` is the field b of a;
 * `{completion:last-number}` takes a part of a text.
 */
import { isJsonObject } from '../../io/json.ts';
import { jsonIn } from '../../text/answers.ts';
import { lastNumber } from '../../text/numbers.ts';
import { FIELD_NAME, shownField } from '../folder/template.ts';

const PART = `(?:\\.[\\p{ID_Continue}]+)*`;
const NAMED = `\\{(${FIELD_NAME}${PART})((?::[^{}:\\s]+)*)\\}`;
const PLACE = new RegExp(`\\{\\{([^{}]*)\\}\\}|${NAMED}`, 'gu');
const ALONE = new RegExp(`^${NAMED}$`, 'u');

/** What the model wrote can't become an action: it reads why. */
export class FormFault extends Error {}

type Take = (text: string) => unknown;

const takes: Readonly<Record<string, Take>> = {
  trim: (text) => text.trim(),
  lower: (text) => text.toLowerCase(),
  'first-line': (text) => text.trim().split('\n')[0]?.trim() ?? '',
  'last-line': (text) => text.trim().split('\n').at(-1)?.trim() ?? '',
  'last-number': (text) => lastNumber(text) ?? missing('a number'),
  json: (text) => jsonIn(text) ?? missing('JSON'),
  code: (text) => /```[^\n`]*\n([\s\S]*?)```/.exec(text)?.[1] ?? text,
};

function missing(what: string): never {
  throw new FormFault(`expected ${what} in the answer`);
}

/** Their names; `<tag>` takes what stands between the last of these tags. */
export const takeNames: readonly string[] = Object.keys(takes);

const TAG = /^<([A-Za-z][\w-]*)>$/;

/** Whether `:name` is known. */
export function isTake(name: string): boolean {
  return Object.hasOwn(takes, name) || TAG.test(name);
}

function taken(name: string, value: unknown): unknown {
  const text = shownField(value);
  const [, tag] = TAG.exec(name) ?? [];
  if (tag === undefined) return (takes[name] ?? ((same: string) => same))(text);
  const end = text.lastIndexOf(`</${tag}>`);
  const start = end < 0 ? -1 : text.lastIndexOf(`<${tag}>`, end);
  return start < 0 ? missing(`<${tag}>…</${tag}>`) : text.slice(start + tag.length + 2, end).trim();
}

/** A {name} of a form. */
export interface Place {
  /** With dots. */
  readonly name: string;
  readonly takes: readonly string[];
}

/** Every {name} in the texts of a form. */
export function placesIn(form: unknown): Place[] {
  if (typeof form === 'string')
    return Array.from(form.matchAll(PLACE), ([, , name, after]) => ({ name, after })).flatMap(({ name, after }) =>
      name === undefined ? [] : [{ name, takes: takesOf(after) }],
    );
  if (Array.isArray(form)) return form.flatMap(placesIn);
  return isJsonObject(form) ? Object.values(form).flatMap(placesIn) : [];
}

function takesOf(after: string | undefined): string[] {
  return (after ?? '').split(':').filter((name) => name !== '');
}

/** What a {name} stands for; undefined: nothing. */
export type Lookup = (name: string) => unknown;

/** The form with its places filled in, once and verbatim. Throws a `FormFault` where a part of a text isn't there. */
export function fillForm(form: unknown, lookup: Lookup): unknown {
  if (Array.isArray(form)) return form.map((item) => fillForm(item, lookup));
  if (isJsonObject(form))
    return Object.fromEntries(Object.entries(form).map(([name, value]) => [name, fillForm(value, lookup)]));
  if (typeof form !== 'string') return form;
  const [only] = ALONE.test(form) ? placesIn(form) : [];
  return only === undefined ? fillText(form, lookup) : filled(only, lookup);
}

/** The same of a text, which stays one. */
export function fillText(form: string, lookup: Lookup): string {
  return form.replace(PLACE, (_, literal: string | undefined, name: string, after: string) =>
    literal === undefined ? shownField(filled({ name, takes: takesOf(after) }, lookup)) : `{${literal}}`,
  );
}

function filled({ name, takes: all }: Place, lookup: Lookup): unknown {
  return all.reduce((value, take) => taken(take, value), lookup(name));
}

/** The value at a name with dots; undefined: there is none. */
export function valueAt(value: unknown, name: string): unknown {
  return name.split('.').reduce<unknown>((inner, part) => {
    if (Array.isArray(inner)) return inner[Number(part)];
    return isJsonObject(inner) && Object.hasOwn(inner, part) ? inner[part] : undefined;
  }, value);
}
