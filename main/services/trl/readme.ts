/** The README.md of an exported folder. */
import type { TrainConfig } from '../../trainer/config/config.ts';
import { missingFields, type NotCarried } from './fields.ts';

export interface ReadmeFacts {
  readonly config: TrainConfig;
  readonly task: string;
  readonly model: string;
  /** How its weights are quantised; null: they aren't. */
  readonly quantised: string | null;
  readonly train: number;
  readonly test: number;
  readonly maxCompletionLength: number;
  readonly notCarried: readonly NotCarried[];
}

export function readmeText(facts: ReadmeFacts): string {
  const { config, task, model, quantised, train, test, maxCompletionLength, notCarried } = facts;
  const listed = new Set<string>(notCarried.map(({ field }) => field));
  const idle = Object.keys(missingFields).filter((field) => !listed.has(field));
  const rows = notCarried.map(({ field, value, instead }) => `- \`${field}: ${JSON.stringify(value)}\`: ${instead}`);
  return `# A stage of Braid for TRL

Task ${task}, ${train} training records, ${test} held out, completions of at most ${maxCompletionLength} tokens, ${config.max_steps} steps.

\`\`\`sh
pip install -r requirements.txt
python train.py
\`\`\`

It trains \`${model}\`; on another machine give its folder or its name on the Hugging Face Hub: \`python train.py --model NAME\`. Then, where the history is:

\`\`\`sh
npm run braid -- import-run THIS_FOLDER
\`\`\`

## What is in it

| file | content |
|---|---|
| \`train.py\` | TRL's GRPOTrainer with the arguments of \`settings.json\` |
| \`reward.py\` | asks Braid for rewards: one Node process, JSON lines in and out (\`braid task serve-reward\`). Braid must be on the machine: where it isn't at the place in \`settings.json\`, set \`BRAID_HOME\` to its folder, and \`BRAID_NODE\` to Node 22.18 or newer if \`node\` is another |
| \`train.jsonl\`, \`test.jsonl\` | \`prompt\`: the text as Braid sends it, through the model's chat template if it has one. \`prompt_ids\`: its token ids, which \`train.py\` uses as they are. \`record\`: for the reward |
| \`run.yaml\` | the configuration in Braid, for the import |
| \`tasks/\`, \`adapter/\` | the task's text and the adapter that the stage starts from, where it has them |

## Not carried over

${rows.length === 0 ? 'Nothing that this configuration sets.' : rows.join('\n')}

TRL doesn't have these either, but they are at their defaults: ${idle.map((field) => `\`${field}\``).join(', ')}.

## What differs

${quantised === null ? '' : `- The model's weights are quantised (${quantised}), which Braid unpacks. transformers needs the method's own package for them, and can't read MLX's: \`braid merge\` writes the model unpacked, for \`python train.py --model\`.\n`}- Held-out evaluations (\`eval_steps\`) sample at the run's temperature; Braid's are greedy. After the import, \`braid evaluate\` measures the checkpoints as usual.
- \`gradient_checkpointing: null\` is off here. \`base_weights\` other than float32 means bfloat16 on a GPU that has it, else float32; \`compute_dtype: bfloat16\` is TRL's \`bf16\`.
- With N processes (\`accelerate launch\`) a step has N times as many completions: divide \`gradient_accumulation_steps\` in \`settings.json\`.
- The random numbers are PyTorch's: the same seed draws other completions.
`;
}
