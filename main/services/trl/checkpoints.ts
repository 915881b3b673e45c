/** The checkpoints of a TRL run, copied as checkpoints of this workspace. */
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { copyContent } from '../../io/copy-file.ts';
import { parseJson } from '../../io/json.ts';
import { readRegular } from '../../io/read-file.ts';
import type { TrainConfig } from '../../trainer/config/config.ts';
import { readAdapterFacts } from '../../trainer/memory/model-facts.ts';
import { checkSound } from '../../trainer/memory/model-folder.ts';
import { listCheckpoints } from '../../trainer/run/checkpoint.ts';
import { chatSettingsFile } from '../../trainer/stage/prompt-texts.ts';
import { parseState, STATE_FILE } from './trainer-state.ts';

const ADAPTER = 'adapter_config.json';
/** The optimiser's state, random states and arguments of PyTorch stay where they are: nothing here reads them. */
const KEPT =
  /^(adapter_model\.safetensors|adapter_config\.json|model(-\d+-of-\d+)?\.safetensors|model\.safetensors\.index\.json|config\.json|generation_config\.json|tokenizer\.json|tokenizer_config\.json|special_tokens_map\.json|chat_template\.jinja|trainer_state\.json)$/;

export interface CopiedCheckpoints {
  readonly checkpoints: readonly { readonly step: number; readonly name: string }[];
  readonly bytes: number;
  /** Those without weights in safetensors. */
  readonly skipped: readonly number[];
}

/** Copies the checkpoints of `output` into `to`; `base`: the model's folder here, null if it isn't here. */
export async function copyCheckpoints(
  output: string,
  to: string,
  config: TrainConfig,
  base: string | null,
): Promise<CopiedCheckpoints> {
  const all = listCheckpoints(output).map(({ step, path }) => ({ step, path, files: keptFiles(path) }));
  const whole = all.filter(({ files }) => files.some((name) => name.endsWith('.safetensors')));
  let bytes = 0;
  for (const { step, path, files } of whole) {
    // Checked where they lie: an error names the user's file.
    if (files.includes(ADAPTER)) readAdapterFacts(path);
    await checkSound(path);
    const target = join(to, `checkpoint-${step}`);
    mkdirSync(target);
    for (const name of files) copyContent(join(path, name), join(target, name));
    if (files.includes(STATE_FILE)) writeJson(join(target, STATE_FILE), stateOf(join(path, STATE_FILE)));
    if (files.includes(ADAPTER) && base !== null) writeJson(join(target, ADAPTER), withBase(join(path, ADAPTER), base));
    const chat = chatSettingsFile(config);
    if (chat !== null) writeFileSync(join(target, chat.name), chat.content);
    bytes += readdirSync(target).reduce((sum, name) => sum + statSync(join(target, name)).size, 0);
  }
  return {
    checkpoints: whole.map(({ step }) => ({ step, name: `checkpoint-${step}` })),
    bytes,
    skipped: all.filter((one) => !whole.includes(one)).map(({ step }) => step),
  };
}

function keptFiles(folder: string): string[] {
  return readdirSync(folder).filter((name) => KEPT.test(name) && statSync(join(folder, name)).isFile());
}

/** Without Python's NaN, which the comparison of training histories couldn't read. */
function stateOf(file: string): unknown {
  return parseState(file, readRegular(file).toString('utf8'));
}

/** The place of the base model on the machine that trained means nothing here. */
function withBase(file: string, base: string): object {
  return { ...(parseJson(readRegular(file).toString('utf8')) as object), base_model_name_or_path: base };
}

function writeJson(file: string, value: unknown): void {
  writeFileSync(file, `${JSON.stringify(value, null, 2)}\n`);
}
