/** Where other programs keep models on this machine, by the variables and settings that they read themselves. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isJsonObject, parseJson } from '../../io/json.ts';
import { readRegular } from '../../io/read-file.ts';

const FOUND_SOURCES = ['ollama', 'lm-studio', 'hugging-face', 'llama.cpp'] as const;
export type FoundSource = (typeof FOUND_SOURCES)[number];

export interface FoundPlace {
  readonly source: FoundSource;
  readonly folder: string;
}

export interface Machine {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  readonly platform: NodeJS.Platform;
}

const THIS_MACHINE: Machine = { env: process.env, home: homedir(), platform: process.platform };

/** The folders that exist. */
export function foundPlaces(machine: Machine = THIS_MACHINE): readonly FoundPlace[] {
  const { home, env } = machine;
  // An installation as a service on Linux has its own user.
  const ollama = given(env.OLLAMA_MODELS, home) ?? [join(home, '.ollama/models'), '/usr/share/ollama/.ollama/models'];
  const hub =
    given(env.HF_HUB_CACHE, home) ??
    given(env.HUGGINGFACE_HUB_CACHE, home) ??
    (given(env.HF_HOME, home) ?? [join(caches(machine), 'huggingface')]).map((folder) => join(folder, 'hub'));
  const folders: Readonly<Record<FoundSource, readonly string[]>> = {
    ollama,
    'lm-studio': lmStudio(home),
    'hugging-face': hub,
    'llama.cpp': given(env.LLAMA_CACHE, home) ?? [join(llamaCaches(machine), 'llama.cpp')],
  };
  return FOUND_SOURCES.flatMap((source) =>
    [...new Set(folders[source])].filter((folder) => existsSync(folder)).map((folder) => ({ source, folder })),
  );
}

function given(folder: string | undefined, home: string): readonly string[] | null {
  if (folder === undefined || folder === '') return null;
  return [folder.replace(/^~(?=$|[\\/])/, home)];
}

/** huggingface_hub uses this one on every system. */
function caches({ env, home }: Machine): string {
  return env.XDG_CACHE_HOME || join(home, '.cache');
}

function llamaCaches(machine: Machine): string {
  if (machine.platform === 'darwin') return join(machine.home, 'Library/Caches');
  if (machine.platform === 'win32') return machine.env.LOCALAPPDATA ?? join(machine.home, 'AppData/Local');
  return caches(machine);
}

/** Its home may have been moved, and in its settings the folder of the models. */
function lmStudio(home: string): readonly string[] {
  const moved = textOf(join(home, '.lmstudio-home-pointer'))?.trim();
  const homes = [...(moved ? [moved] : []), join(home, '.lmstudio'), join(home, '.cache/lm-studio')];
  return homes.flatMap((own) => {
    const folder = downloadsFolder(join(own, 'settings.json'));
    return [...(folder === null ? [] : [folder]), join(own, 'models')];
  });
}

function downloadsFolder(file: string): string | null {
  const text = textOf(file);
  if (text === null) return null;
  try {
    const settings = parseJson(text);
    return isJsonObject(settings) && typeof settings.downloadsFolder === 'string' ? settings.downloadsFolder : null;
  } catch {
    // Settings of a version that is laid out in another way say nothing.
    return null;
  }
}

function textOf(file: string): string | null {
  try {
    return readRegular(file, 2 ** 20).toString('utf8');
  } catch {
    return null;
  }
}
