/** Prompt templates of the workspace. A template is never changed in place: an edit becomes its next version. */
import { z } from 'zod';
import { inputError } from '../../errors.ts';
import type { Store } from '../../store/index.ts';
import { checkTemplate, type PromptTemplate, processTemplate } from '../../tasks/interleave/prompt.ts';

const KEY = 'templates';

const stored = z.array(z.object({ name: z.string(), version: z.int().min(1), text: z.string() }));

export interface StoredTemplate extends PromptTemplate {
  /** Built in; can't be removed. */
  readonly builtIn: boolean;
}

type Settings = Pick<Store, 'settings'>;

/** Every template and version, the built-in one first, then by name, newest version first. */
export function listTemplates(store: Settings): StoredTemplate[] {
  const own = readOwn(store).sort((a, b) => a.name.localeCompare(b.name, 'en') || b.version - a.version);
  return [{ ...processTemplate, builtIn: true }, ...own.map((template) => ({ ...template, builtIn: false }))];
}

function readOwn(store: Settings): PromptTemplate[] {
  const parsed = stored.safeParse(store.settings.get(KEY) ?? []);
  return parsed.success ? parsed.data : [];
}

/** Saves a template as the next version of its name. */
export function saveTemplate(store: Settings, name: string, text: string): StoredTemplate {
  const wanted = name.trim();
  const same = listTemplates(store).filter((template) => template.name === wanted);
  const version = Math.max(0, ...same.map((template) => template.version)) + 1;
  const template = checkTemplate({ name: wanted, version, text });
  const twin = same.find((known) => known.text === text);
  if (twin !== undefined) return twin;
  store.settings.set(KEY, [...readOwn(store), template]);
  return { ...template, builtIn: false };
}

/** Removes one version; datasets made with it keep their prompts. */
export function removeTemplate(store: Settings, name: string, version: number): void {
  if (requireTemplate(store, name, version).builtIn)
    throw inputError('TEMPLATE_BUILT_IN', `The template "${name}" v${version} is built in and can't be removed`);
  store.settings.set(
    KEY,
    readOwn(store).filter((template) => template.name !== name || template.version !== version),
  );
}

/** The template of that name and version. */
export function requireTemplate(store: Settings, name: string, version: number): StoredTemplate {
  const found = listTemplates(store).find((template) => template.name === name && template.version === version);
  if (found !== undefined) return found;
  throw inputError('TEMPLATE_UNKNOWN', `There is no prompt template "${name}" v${version}`);
}
