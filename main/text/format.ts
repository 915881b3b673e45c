/** How durations, sizes and differences are written in messages and reports. */

/** A duration in at most two units: 42 s, 3 min 10 s, 2 h 5 min. */
export function formatDuration(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}

/** The time of one step or part of it: two digits below a minute (0.42 s, 42 s), then as a duration. */
export function formatStepTime(seconds: number): string {
  return seconds < 59.5 ? `${seconds.toPrecision(2)} s` : formatDuration(seconds);
}

/** What steps take, those of a warm-up apart, and evaluations. */
export function pacesInWords(paces: {
  readonly secondsPerStep: number;
  readonly limitSecondsPerStep?: number;
  readonly warmUpSecondsPerStep?: number;
  readonly secondsPerEvaluation?: number;
  readonly withoutRewards?: boolean;
}): string {
  const { secondsPerStep, limitSecondsPerStep: limit, warmUpSecondsPerStep: warmUp, secondsPerEvaluation } = paces;
  const most = limit === undefined ? '' : ` (${formatStepTime(limit)} where completions reach their limit)`;
  const own = `${formatStepTime(secondsPerStep)} per step${most}`;
  const before = warmUp === undefined ? [] : [`${formatStepTime(warmUp)} in the warm-up`];
  const held = secondsPerEvaluation === undefined ? [] : [`${formatStepTime(secondsPerEvaluation)} per evaluation`];
  const apart = paces.withoutRewards ? ['plus what rewards outside the sandbox take'] : [];
  return [own, ...before, ...held, ...apart].join(', ');
}

/** How long completions may get, and how many of those that were sampled first would be cut off. */
export function limitInWords(event: {
  readonly maxCompletionLength: number;
  readonly sampled?: { readonly completions: number; readonly cut: number } | undefined;
}): string {
  const { maxCompletionLength: limit, sampled } = event;
  const seen = sampled === undefined ? '' : ` (${sampled.cut} of ${sampled.completions} sampled first are cut off)`;
  return `completions of up to ${counted(limit, 'token')}${seen}`;
}

/** A size in MiB, in GiB from 1 GiB, in KiB below half a MiB. */
export function formatBytes(bytes: number): string {
  if (bytes > 0 && bytes < 2 ** 19) return `${Math.ceil(bytes / 2 ** 10)} KiB`;
  const gib = bytes / 2 ** 30;
  return gib >= 1 ? `${gib.toFixed(1)} GiB` : `${Math.round(bytes / 2 ** 20)} MiB`;
}

/** Money: $12.40; two digits of what is below a cent: $0.0064. */
export function formatMoney(amount: number, currency = ''): string {
  return `${currency}${amount > 0 && amount < 0.00995 ? Number(amount.toPrecision(2)) : amount.toFixed(2)}`;
}

/** A count with its noun: 1 step, 1200 steps; `plural` for a noun that takes more than an s. */
export function counted(count: number, noun: string, plural = `${noun}s`): string {
  return `${count} ${count === 1 ? noun : plural}`;
}

/** What happened, then what to do; a message has no full stop of its own unless it is a sentence. */
export function withRemedy(message: string, remedy: string | null | undefined): string {
  if (remedy == null) return message;
  return `${message}${/[.!?…]$/.test(message) ? '' : '.'} ${remedy}`;
}

/** A difference with its sign, plus where it rounds to 0: +0.120, −0.030; – if it is not a number. */
export function signed(value: number, digits = 3): string {
  if (!Number.isFinite(value)) return '–';
  const size = Math.abs(value).toFixed(digits);
  return `${value < 0 && Number(size) !== 0 ? '−' : '+'}${size}`;
}
