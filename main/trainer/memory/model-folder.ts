/** Information from the files of a model folder, without creating tensors: the host may use this. */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { inputError } from '../../errors.ts';
import { contextLength, type ModelConfig, readModelConfig } from '../../model/config.ts';
import { otherWeights, weightFiles } from '../../model/weight-files.ts';

export { ADDITIONAL_TEMPLATES } from '../../model/chat-template.ts';
export { checkSound, damageOf, missingFile } from '../../model/checksums.ts';
export { FAMILIES } from '../../model/model-types.ts';
export { textPartOf } from '../../model/text-part.ts';
export { contextLength, otherWeights, readModelConfig };

/** The configuration of a full model with all its files; otherwise an error that says what is missing. */
export function checkModelFolder(folder: string): ModelConfig {
  refuseAdapter(folder);
  if (!existsSync(join(folder, 'config.json'))) {
    const other = otherWeights(namesIn(folder));
    throw inputError(
      'MODEL_FILE_MISSING',
      `${folder}: expected a Hugging Face model folder with a config.json, but there is ${other === null ? 'none' : `only ${other.what}`}`,
      other?.remedy ?? 'Choose the folder that contains config.json, tokenizer.json and the weights.',
    );
  }
  const config = readModelConfig(folder);
  const missing = ['tokenizer.json', ...weightFiles(folder)].find((name) => !existsSync(join(folder, name)));
  if (missing === undefined) return config;
  throw inputError(
    'MODEL_FILE_MISSING',
    `${folder}: the file ${missing} is missing`,
    'Copy or download the whole model folder.',
  );
}

/** An adapter isn't a model by itself: the error says where it belongs. */
export function refuseAdapter(folder: string): void {
  if (existsSync(join(folder, 'config.json')) || !existsSync(join(folder, 'adapter_config.json'))) return;
  throw inputError(
    'ADAPTER_ALONE',
    `${folder}: expected a whole model, got an adapter alone (adapter_config.json)`,
    'Start a run from it (from_checkpoint), or merge it into its base model first.',
  );
}

/** The files of a folder; of a file its own name. */
export function namesIn(path: string): readonly string[] {
  if (!existsSync(path)) return [];
  return statSync(path).isDirectory() ? readdirSync(path) : [basename(path)];
}
