/** Information from the files of a model folder, without creating tensors: the host may use this. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { contextLength, type ModelConfig, readModelConfig } from '../../model/config.ts';
import { weightFiles } from '../../model/weight-files.ts';

export { checkSound, damageOf } from '../../model/checksums.ts';
export { contextLength, readModelConfig };

/** The configuration of a full model with all its files; otherwise an error that says what is missing. */
export function checkModelFolder(folder: string): ModelConfig {
  if (!existsSync(join(folder, 'config.json')))
    throw inputError(
      'MODEL_FILE_MISSING',
      `${folder}: expected a Hugging Face model folder with a config.json, but there is none`,
      'Choose the folder that contains config.json, tokenizer.json and the weights.',
    );
  const config = readModelConfig(folder);
  const missing = ['tokenizer.json', ...weightFiles(folder)].find((name) => !existsSync(join(folder, name)));
  if (missing === undefined) return config;
  throw inputError(
    'MODEL_FILE_MISSING',
    `${folder}: the file ${missing} is missing`,
    'Copy or download the whole model folder.',
  );
}
