/**
 * How the command line does what a message of the app leads to, by the error's code: messages name the app's screens, which
 * are the same for everyone, and only `braid` adds its commands.
 */
import type { BraidError } from '../errors.ts';

const NATIVE = 'npm run setup:native, or --backend wasm.';
const STAGE = '`braid train --from CHECKPOINT`.';

const HINTS: ReadonlyMap<string, string> = new Map([
  ['RUN_IS_DONE', `\`braid train --resume CHECKPOINT --steps N\`; the next stage: ${STAGE}`],
  ['BAD_CHECKPOINT', '`braid train --resume CHECKPOINT`.'],
  ['OTHER_DATASET', STAGE],
  ['OTHER_MODEL', STAGE],
  ['BAD_OPTIMIZER_STATE', STAGE],
  ['UNKNOWN_TASK', '`braid task new NAME`.'],
  ['BAD_TASK', '`braid task new NAME`.'],
  ['BAD_REWARD', '`braid task check` tells more.'],
  ['BAD_DATASET', '`braid dataset` generates pairs to interleave, `braid dataset import` imports records.'],
  ['ADAPTER_ALONE', '`braid train --from FOLDER`, `braid merge`.'],
  ['BASE_MISSING', '`braid download`, or --base DIR.'],
  ['ENGINE_UNKNOWN', '`braid engine add`.'],
  ['ENGINE_KEY_REFUSED', '`braid engine key NAME`.'],
  ['ENGINE_NOT_SECURE', '--allow-plain-http --yes.'],
  ['NO_LAUNCHER', '`braid engine launcher`.'],
  ['RAY_TOKEN_REFUSED', '`braid engine launcher NAME --token`.'],
  ['REWARD_NOT_SECURE', '--allow-plain-http.'],
  ['BAD_REWARD_ADDRESS', '`braid task key ADDRESS`.'],
  ['OUTPUT_EXISTS', '--output FOLDER.'],
  ['OUTPUT_NOT_EMPTY', '--output FOLDER.'],
  ['HUB_PUBLIC', '--public.'],
  ['NATIVE_FAILED', '--from SOURCE.'],
  ['SOURCE_MISSING', '--from SOURCE.'],
  ['NO_NATIVE_BACKEND', NATIVE],
]);

/** The line after a remedy; null: the command line has nothing to add. */
export function commandHint({ code, message }: Pick<BraidError, 'code' | 'message'>): string | null {
  const hint = OF_MESSAGES[code]?.(message) ?? HINTS.get(code);
  return hint === undefined ? null : `On the command line: ${hint}`;
}

/** Hints that need what the message names. */
const OF_MESSAGES: Readonly<Record<string, (message: string) => string | undefined>> = {
  REWARD_NOT_ALLOWED: allowing,
  MODEL_MISSING: downloading,
};

/** Of a model of the Hub. */
function downloading(message: string): string | undefined {
  const [name = '', rest] = message.split(': there is no such folder');
  return rest === undefined ? undefined : `\`braid download ${name}\`.`;
}

/** The message names what was not agreed to by its hash. */
function allowing(message: string): string {
  const found = [...message.matchAll(/, ([0-9a-f]{64})(, plain http)?\)/g)];
  const options = found.map(([, hash, plain]) => `--allow-external ${hash}${plain ? ' --allow-plain-http' : ''}`);
  return `\`braid task allow NAME\`, or ${options.length === 0 ? '--allow-external HASH' : options.join(' ')}.`;
}
