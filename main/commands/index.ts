/**
 * The commands of braid. What each needs is loaded when it is run: reading the whole program for `--help` takes a second.
 */
import type { Command } from 'commander';

interface CommandEntry {
  readonly name: string;
  readonly about: string;
  /** What adds the command, with its options and action, to the program. */
  load(): Promise<(program: Command) => void>;
}

export const commands: readonly CommandEntry[] = [
  {
    name: 'demo',
    about: 'teach the bundled tiny model to interleave two texts, and compare it with its baseline',
    load: async () => (await import('./demo.ts')).registerDemo,
  },
  {
    name: 'replies',
    about: 'split, SFT, polychromic SFT, GRPO and polychromic GRPO on the bundled replies, then compare',
    load: async () => (await import('./replies.ts')).registerReplies,
  },
  {
    name: 'task',
    about: 'your own task and reward: make, check, try and compare them',
    load: async () => (await import('./task.ts')).registerTask,
  },
  {
    name: 'texts',
    about: 'the corpus of source texts',
    load: async () => (await import('./texts.ts')).registerTexts,
  },
  {
    name: 'dataset',
    about: 'generate training and test pairs for one or more word counts',
    load: async () => (await import('./dataset.ts')).registerDataset,
  },
  {
    name: 'split',
    about: 'divide a reply dataset into two phases, stratified by engagement, disjoint by post',
    load: async () => (await import('./split.ts')).registerSplit,
  },
  {
    name: 'train',
    about: 'train one stage: GRPO by default',
    load: async () => (await import('./train.ts')).registerTrain,
  },
  {
    name: 'sweep',
    about: 'train many settings and seeds as one plan: grid, random search, successive halving',
    load: async () => (await import('./sweep.ts')).registerSweep,
  },
  {
    name: 'queue',
    about: 'what waits to be trained: stages, runs and sweeps, in one order',
    load: async () => (await import('./queue.ts')).registerQueue,
  },
  {
    name: 'watch',
    about: 'follow a run of another process in the terminal: curves, verdict, completions, events',
    load: async () => (await import('./watch.ts')).registerWatch,
  },
  {
    name: 'config',
    about: 'print the full configuration of a run or a preset as YAML; without either, list the presets',
    load: async () => (await import('./config.ts')).registerConfig,
  },
  {
    name: 'engine',
    about: 'servers elsewhere that sample and train for you',
    load: async () => (await import('./engine.ts')).registerEngine,
  },
  {
    name: 'trial',
    about: 'small-scale test: 100 examples through split, supervised warm-up and GRPO; says go or no-go',
    load: async () => (await import('./trial.ts')).registerTrial,
  },
  {
    name: 'evaluate',
    about: 'evaluate a model on held-out records with greedy completions: alignment with the targets, or the reward',
    load: async () => (await import('./evaluate.ts')).registerEvaluate,
  },
  {
    name: 'compare',
    about: 'compare models on held-out records: pass@k, diversity, all metrics, significance, figures, report',
    load: async () => (await import('./compare.ts')).registerCompare,
  },
  {
    name: 'score',
    about: 'log-probabilities of given completions, token by token',
    load: async () => (await import('./score.ts')).registerScore,
  },
  {
    name: 'report',
    about: 'a run, comparison, sweep or curriculum as one HTML file that opens anywhere',
    load: async () => (await import('./report.ts')).registerReport,
  },
  {
    name: 'push',
    about: 'a trained model with its card, or a dataset, to the Hugging Face Hub',
    load: async () => (await import('./push.ts')).registerPush,
  },
  {
    name: 'export',
    about:
      'export a run for other tools (TensorBoard, CSV, parquet, Trackio, W&B, MLflow), or a stage as a folder that TRL runs',
    load: async () => (await import('./export.ts')).registerExport,
  },
  {
    name: 'import-run',
    about: 'import a run that TRL trained: metrics, completions, checkpoints',
    load: async () => (await import('./import-run.ts')).registerImportRun,
  },
  {
    name: 'merge',
    about: 'merge a checkpoint into a Hugging Face folder, and into GGUF for Ollama, LM Studio and llama.cpp',
    load: async () => (await import('./merge.ts')).registerMerge,
  },
  {
    name: 'download',
    about: 'download a model from the Hugging Face Hub into the workspace',
    load: async () => (await import('./download.ts')).registerDownload,
  },
  {
    name: 'models',
    about: 'list models, also those of other programs on this machine, and add a GGUF file or a folder',
    load: async () => (await import('./models.ts')).registerModels,
  },
  {
    name: 'bench',
    about: 'time whole GRPO steps',
    load: async () => (await import('./bench.ts')).registerBench,
  },
  {
    name: 'serve',
    about: 'run the app in a browser, on 127.0.0.1; over SSH with: ssh -L PORT:127.0.0.1:PORT HOST',
    load: async () => (await import('./serve.ts')).registerServe,
  },
  {
    name: 'serve-model',
    about: 'answer requests to a model at an OpenAI-compatible address of this machine',
    load: async () => (await import('./serve-model.ts')).registerServeModel,
  },
  {
    name: 'mcp',
    about: 'let a coding agent read experiments (Model Context Protocol over standard input and output)',
    load: async () => (await import('./mcp.ts')).registerMcp,
  },
  {
    name: 'doctor',
    about: 'check what this machine can run, and what to do if something is missing',
    load: async () => (await import('./doctor.ts')).registerDoctor,
  },
  {
    name: 'setup-native',
    about: 'set up the native backend: TensorFlow, with GPU support if there is one',
    load: async () => (await import('./setup-native.ts')).registerSetupNative,
  },
];

/** Adds all commands to the program: whole the one that the arguments name, of the others name and description. */
export async function addCommands(program: Command, args: readonly string[]): Promise<void> {
  const [first, second] = args.filter((arg) => !arg.startsWith('-'));
  const asked = first === 'help' ? second : first;
  for (const { name, about, load } of commands) {
    if (name === asked) (await load())(program);
    else program.command(name);
    program.commands.at(-1)?.description(about);
  }
}
