/** JSON files of model folders. */
import { join } from 'node:path';
import { inputError } from '../errors.ts';
import { parseJson, parseJsonAsSpelled } from '../io/json.ts';
import { LARGEST_TEXT, readRegular } from '../io/read-file.ts';
import { refusePointer } from './git-lfs.ts';

/** Settings take kilobytes: reading what is much larger would hold up whoever lists models. */
const LARGEST_SETTINGS = 2 ** 20;

/** Reads a JSON file of settings that anybody may have made. */
export function readSettings(file: string): unknown {
  return readJson(file, LARGEST_SETTINGS);
}

/** Reads config.json to write its fields again: transformers refuses 30 where a class has 30.0. */
export function readConfigToCopy(folder: string): Readonly<Record<string, unknown>> {
  const file = join(folder, 'config.json');
  return readJson(file, LARGEST_SETTINGS, parseJsonAsSpelled) as Readonly<Record<string, unknown>>;
}

/** Reads a JSON file of a model folder, of `most` bytes at most; errors name the file. */
export function readJson(file: string, most = LARGEST_TEXT, parse = parseJson): unknown {
  let text: string;
  try {
    text = readRegular(file, most).toString('utf8');
  } catch (cause) {
    const missing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    throw Object.assign(
      inputError(
        missing ? 'MODEL_FILE_MISSING' : 'MODEL_FILE_UNREADABLE',
        `${file}: ${missing ? 'expected this file of a Hugging Face model folder, but it is not there' : `can't be read (${(cause as Error).message})`}`,
        'Check the model folder; it needs config.json, tokenizer.json and model.safetensors (or its shards).',
      ),
      { cause },
    );
  }
  refusePointer(text, file);
  try {
    return parse(text);
  } catch (cause) {
    throw Object.assign(
      inputError(
        'BAD_JSON',
        `${file}: not valid JSON (${(cause as Error).message})`,
        'Copy or download the file again; an interrupted transfer can truncate it.',
      ),
      { cause },
    );
  }
}
