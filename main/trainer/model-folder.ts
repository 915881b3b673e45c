/** What the files of a model folder say, read without making a tensor: the host may ask this too. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../errors.ts';
import { type ModelConfig, readModelConfig } from '../model/config.ts';
import { parameterShapes } from '../model/model.ts';
import { weightFiles } from '../model/weight-files.ts';

export { readModelConfig };

/** The configuration of a whole model whose files are all there; else an error that says what is missing. */
export function checkModelFolder(folder: string): ModelConfig {
  if (!existsSync(join(folder, 'config.json')))
    throw inputError(
      'MODEL_FILE_MISSING',
      `${folder}: expected a Hugging Face model folder with a config.json, there is none`,
      'Choose the folder that holds config.json, tokenizer.json and the weights.',
    );
  const config = readModelConfig(folder);
  const missing = ['tokenizer.json', ...weightFiles(folder)].find((name) => !existsSync(join(folder, name)));
  if (missing === undefined) return config;
  throw inputError(
    'MODEL_FILE_MISSING',
    `${folder}: expected the file ${missing}, it is not there`,
    'Copy or download the whole model folder.',
  );
}

/** Numbers in all weights of a model. */
export function parameterTotal(config: ModelConfig): number {
  return [...parameterShapes(config).values()].reduce((sum, shape) => sum + shape.reduce((a, b) => a * b, 1), 0);
}
