/** `braid setup-native`: sets up or updates the native backend. */
import type { Command } from 'commander';
import type { Finding } from '../services/native-setup/findings.ts';
import { setUpNative } from '../services/native-setup/setup.ts';
import { hostPaths } from './host-paths.ts';
import { openProgress, type Progress } from './progress.ts';
import { type CommandContext, commandContext, withCommonOptions } from './shared.ts';
import { withInterruption } from './side-job.ts';

interface Options {
  readonly from: string;
  readonly package?: string;
  readonly addon?: string;
  readonly cpu: boolean;
}

/** Adds `setup-native` to the program. */
export function registerSetupNative(program: Command): void {
  withCommonOptions(program.command('setup-native'))
    .option(
      '--from <what>',
      'TensorFlow: auto, own (2.9.1), pip, pip:REQUIREMENT, or a wheel or C library (file, URL)',
      'auto',
    )
    .option('--package <file>', 'tarball of @tensorflow/tfjs-node-gpu, file or URL (default: installed, or by npm)')
    .option('--addon <file>', 'a prebuilt addon (tfjs_binding.node)')
    .option('--cpu', "don't use the GPU", false)
    .addHelpText('after', '\nNeeds a C++ compiler. An existing set-up is kept until the new one works.')
    .action((options: Options, command: Command) => setUp(options, command));
}

async function setUp(options: Options, command: Command): Promise<void> {
  const context = commandContext(command);
  const report = await withInterruption(context, async (signal) => {
    const meter = openMeter(context);
    try {
      return await setUpNative({
        from: options.from,
        package: options.package ?? null,
        addon: options.addon ?? null,
        sources: hostPaths().addon,
        cpu: options.cpu,
        signal,
        onStep: meter.step,
        onBytes: meter.bytes,
        onFindings: (found) => tell(context, found),
      });
    } finally {
      meter.end();
    }
  });
  if (report === null) return;
  const { tensorflow, gpu, folder, notes } = report;
  context.print(`TensorFlow ${tensorflow} works ${gpu ? 'on the GPU' : 'on the processor'}, in ${folder}.`);
  if (!gpu) for (const note of notes) context.print(`  ${note}`);
  context.out(report);
}

function tell(context: CommandContext, found: readonly Finding[]): void {
  for (const { what, missing, detail } of found) context.say(`${missing ? 'missing' : 'found'}: ${what}: ${detail}`);
}

/** One line per step, with progress under long ones. */
function openMeter(context: CommandContext) {
  const mebibyte = 2 ** 20;
  let bar: Progress | null = null;
  let label = '';
  const end = (): void => {
    bar?.end();
    bar = null;
  };
  return {
    end,
    step: (text: string): void => {
      end();
      label = text;
      context.say(text);
    },
    bytes: (done: number, total: number): void => {
      if (total < mebibyte) return;
      bar ??= openProgress({ label, total: Math.round(total / mebibyte), unit: 'MiB' }, context.quiet);
      bar.update(Math.round(done / mebibyte));
    },
  };
}
