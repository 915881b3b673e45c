/** Prompt templates from files. */

import { basename, extname } from 'node:path';
import { inputError } from '../../errors.ts';
import { parseJson } from '../../io/json.ts';
import { jsonPlaces } from '../../io/json-places.ts';
import { faultsError, lineOf, readTextFile } from '../../io/text-file.ts';
import { checkTemplate, type PromptTemplate } from '../../tasks/interleave/prompt.ts';

/** A template takes 1 kB. */
const MOST_BYTES = 2 ** 20;
const REMEDY = 'Give {"name", "version", "text"} as .json, or the text alone as .txt.';

/** Reads a template: JSON with name, version and text, or plain text named after its file. */
export function readTemplate(file: string): PromptTemplate {
  const content = readTextFile(file, MOST_BYTES);
  if (content.kind === 'bad') throw faultsError('BAD_TEMPLATE', [content.fault], REMEDY);
  const extension = extname(file);
  if (extension !== '.json')
    return checkTemplate({ name: basename(file, extension), version: 1, text: content.value.trimEnd() });
  return checkTemplate(fromJson(file, content.value));
}

function fromJson(file: string, content: string): PromptTemplate {
  let value: unknown;
  try {
    value = parseJson(content);
  } catch {
    const { fault } = jsonPlaces(content);
    const line = fault === null ? null : lineOf(content, fault.offset);
    throw faultsError('BAD_TEMPLATE', [{ file, line, reason: `not JSON: ${fault?.reason ?? 'unreadable'}` }], REMEDY);
  }
  const { name, version = 1, text } = (value ?? {}) as Partial<Record<keyof PromptTemplate, unknown>>;
  if (typeof name === 'string' && typeof version === 'number' && typeof text === 'string')
    return { name, version, text };
  throw inputError('BAD_TEMPLATE', `${file}: expected "name" and "text" to be strings and "version" a number`, REMEDY);
}
