/** Which reward models a run is scored by, as its checkpoints note them: by others it would be another run. */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { inputError } from '../../errors.ts';
import { describeFile } from '../../io/describe-file.ts';
import { describeWeights } from '../policy/starting-weights.ts';
import type { TrainerStart } from '../protocol/start.ts';

type Scored = Pick<TrainerStart, 'rewardAccess'>;

/** What a score depends on beside the weights. */
const FILES = ['config.json', 'tokenizer.json', 'tokenizer_config.json', 'chat_template.jinja'];

/** They are read once: a folder that is changed meanwhile doesn't change the model in memory. */
const described = new WeakMap<Scored, Readonly<Record<string, string>>>();

/** A hash of each reward model's files, by component. */
export function describeRewardModels(start: Scored): Readonly<Record<string, string>> {
  const known = described.get(start);
  if (known !== undefined) return known;
  const models = Object.entries(start.rewardAccess?.models ?? {});
  const found = Object.fromEntries(models.map(([component, folder]) => [component, describe(folder)]));
  described.set(start, found);
  return found;
}

function describe(folder: string): string {
  const files = FILES.filter((name) => existsSync(join(folder, name)));
  const about = [describeWeights([folder]), ...files.map((name) => [name, describeFile(join(folder, name))])];
  return createHash('sha256').update(JSON.stringify(about)).digest('hex').slice(0, 16);
}

/** Refuses to resume `checkpoint` with other reward models than it notes. */
export function checkRewardModels(checkpoint: string, noted: Readonly<Record<string, string>>, start: Scored): void {
  for (const [component, model] of Object.entries(describeRewardModels(start))) {
    if (noted[component] === undefined || noted[component] === model) continue;
    throw inputError(
      'OTHER_MODEL',
      `${checkpoint}: the model of the reward "${component}", ${start.rewardAccess?.models[component]}, has other files now; its scores would make it another run`,
      'Put the model back as it was, or start a new run from the checkpoint.',
    );
  }
}
