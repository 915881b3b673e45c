/** Prompt templates from files. */
import { basename, extname } from 'node:path';
import { inputError } from '../../errors.ts';
import { checkTemplate, type PromptTemplate } from '../../tasks/interleave/prompt.ts';
import { jsonPlaces } from '../json-places.ts';
import { faultsError, lineOf, readTextFile } from '../text-file.ts';

const REMEDY = 'Give {"name", "version", "text"} as .json, or the text alone as .txt.';

/** Reads a template: JSON with name, version and text, or a plain text whose name is the file's. */
export function readTemplate(file: string): PromptTemplate {
  const content = readTextFile(file);
  if (content.kind === 'bad') throw faultsError('BAD_TEMPLATE', [content.fault], REMEDY);
  const extension = extname(file);
  if (extension !== '.json')
    return checkTemplate({ name: basename(file, extension), version: 1, text: content.value.trimEnd() });
  return checkTemplate(fromJson(file, content.value));
}

function fromJson(file: string, content: string): PromptTemplate {
  let value: unknown;
  try {
    value = JSON.parse(content);
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
