/**
 * Whether a model can write what it is trained to write: each target is encoded, decoded and compared with itself. What a
 * tokenizer has no token for, or writes in another way, no training can bring back.
 */
import { inputError } from '../../errors.ts';
import { loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts';
import { type Task, type TaskRecord, totalReward } from '../../tasks/task.ts';
import { type LostWord, type Unwritable, unwritableInWords } from '../../text/unwritable.ts';
import { splitWords } from '../../text/words.ts';
import { endsItself, promptTokens, type TokenRecord } from '../batching/prompts.ts';
import { learnsTargets, type TrainConfig } from '../config/config.ts';
import { highestReward } from '../monitor/watch-settings.ts';
import type { SessionTokens } from './encode-start.ts';

/** A record's tokens, the target's without its end token. */
interface Encoded {
  readonly target: string;
  readonly targetIds: readonly number[];
  readonly promptIds: readonly number[];
}

/** Different words that are kept as examples, of each kind. */
const EXAMPLES = 3;

/** What a tokenizer can't give back of records. */
export function findUnwritable(
  tokenizer: Pick<Tokenizer, 'decode' | 'encodeText' | 'unknownId'>,
  records: Iterable<Encoded>,
): Unwritable {
  const { unknownId } = tokenizer;
  const examples = new Map<string, LostWord>();
  const found = { words: 0, unknown: 0, changed: 0, targets: 0, spacing: 0, promptTokens: 0, unknownPromptTokens: 0 };
  for (const { target, targetIds, promptIds } of records) {
    found.promptTokens += promptIds.length;
    if (unknownId !== null) found.unknownPromptTokens += promptIds.filter((id) => id === unknownId).length;
    if (target === '') continue;
    // As they stand in the text: a letter and its accent may have no tokens where both in one character have.
    const words = target.split(/\p{White_Space}+/u).filter((word) => word !== '');
    found.targets++;
    found.words += words.length;
    const written = tokenizer.decode(targetIds);
    if (written === target) continue;
    const lost = wordsWithout(words, splitWords(written));
    if (lost.length === 0 && spacingOf(written) !== spacingOf(target)) found.spacing++;
    for (const word of lost) {
      const ids = tokenizer.encodeText(word);
      const isUnknown = unknownId !== null && ids.includes(unknownId);
      if (isUnknown) found.unknown++;
      else found.changed++;
      const known = [...examples.values()].filter(({ becomes }) => (becomes === null) === isUnknown);
      if (known.length < EXAMPLES && !examples.has(word))
        examples.set(word, { word, becomes: isUnknown ? null : tokenizer.decode(ids).trim() });
    }
  }
  return { ...found, examples: [...examples.values()] };
}

/** The same of records that no run has yet, for the tokenizer of a model's folder. */
export function unwritableForModel(folder: string, task: Task, records: readonly TaskRecord[]): Unwritable {
  const tokenizer = loadTokenizer(folder);
  return findUnwritable(
    tokenizer,
    records.map((record) => ({
      target: task.target(record),
      targetIds: tokenizer.encodeText(task.target(record)),
      promptIds: promptTokens(tokenizer, task, record),
    })),
  );
}

/** The same of a run's records. */
export function unwritableOf({ tokenizer, records, evalRecords }: SessionTokens, task: Task): Unwritable {
  return findUnwritable(
    tokenizer,
    [...records, ...evalRecords].map((one) => ({
      target: task.target(one.record),
      targetIds: textIds(one, tokenizer, task),
      promptIds: one.promptIds,
    })),
  );
}

/** The tokens of a target's text: what a chat template puts around it is its own. */
function textIds({ record, targetIds }: TokenRecord, tokenizer: Tokenizer, task: Task): readonly number[] {
  return endsItself(task, record) ? tokenizer.encodeText(task.target(record)) : targetIds.slice(0, -1);
}

/** Targets whose reward is compared: the first of those that don't come back as they are. */
const COMPARED = 256;
/** Beyond this share there is little left to fine-tune on. */
const LOST_TARGETS = 0.25;

/** Why such texts can't be learned, in a sentence; null: they can. `scores`: whether the task may be asked for rewards. */
export function outOfReach(tokens: SessionTokens, task: Task, config: TrainConfig, scores: boolean): string | null {
  const found = unwritableOf(tokens, task);
  const what = unwritableInWords(found);
  const losing = scores ? losesReward(tokens, task, config) : null;
  const lost = found.unknown + found.changed;
  if (losing !== null) return `The full reward is out of reach: ${lost + found.spacing > 0 ? what : otherForm(losing)}`;
  if (!learnsTargets(config) || lost <= LOST_TARGETS * found.words) return null;
  return `The targets can't be learned: ${what}`;
}

/** What to do about it. */
export const OUT_OF_REACH_REMEDY =
  'Use a model whose tokenizer can write these texts, or set allow_unwritable_words to true to train anyway.';

/** Refuses records that can't be learned, unless the user has agreed. */
export function checkWritable(tokens: SessionTokens, task: Task, config: TrainConfig, scores: boolean): void {
  if (config.allow_unwritable_words) return;
  const reason = outOfReach(tokens, task, config, scores);
  if (reason !== null) throw inputError('UNWRITABLE_WORDS', reason, OUT_OF_REACH_REMEDY);
}

/** A target, and what comes back of it. */
interface Written {
  readonly record: TaskRecord;
  readonly target: string;
  readonly written: string;
}

/** A perfect target that gets less as the model would write it; null: there is none. */
function losesReward(
  { tokenizer, records, evalRecords }: SessionTokens,
  task: Task,
  config: TrainConfig,
): Written | null {
  if (task.environment !== undefined) return null;
  const targets: Written[] = [];
  const changed: Written[] = [];
  for (const encoded of [...records, ...evalRecords]) {
    const { record } = encoded;
    const target = task.target(record);
    if (target === '') continue;
    const one = { record, target, written: tokenizer.decode(textIds(encoded, tokenizer, task)) };
    if (targets.length < COMMON) targets.push(one);
    if (one.written !== target && changed.length < COMPARED) changed.push(one);
  }
  if (changed.length === 0) return null;
  const weighted = { rewardNames: task.rewardNames, rewardWeights: config.reward_weights ?? task.rewardWeights };
  const rewards = (of: readonly Written[], text: 'target' | 'written'): readonly number[] =>
    task
      .score(of.map((one) => ({ record: one.record, completion: one[text], tokens: 1, finish: 'stop' })))
      .map(({ components }) => totalReward(weighted, components));
  const highest = highestReward(task, config.reward_weights) ?? commonReward(rewards(targets, 'target'));
  if (highest === null) return null;
  const [perfect, written] = [rewards(changed, 'target'), rewards(changed, 'written')];
  // A target that isn't perfect, such as a reply of a person, isn't what the reward asks for. NaN: it failed.
  return (
    changed.find((_, i) => {
      const [most = Number.NaN, now = Number.NaN] = [perfect[i], written[i]];
      return most >= highest - SMALL && now < most - SMALL;
    }) ?? null
  );
}

/** Targets that show whether all get the same reward. */
const COMMON = 32;
const SMALL = 1e-6;

/** Of a task that names no highest reward: that of its targets, where they all get the same; null: they don't. */
function commonReward([first = Number.NaN, ...others]: readonly number[]): number | null {
  return others.every((reward) => Math.abs(reward - first) <= SMALL) ? first : null;
}

/** Why a reward may differ although every word comes back. */
function otherForm({ target, written }: Written): string {
  const isSame = target.normalize('NFC') === written.normalize('NFC');
  const how = isSame ? 'in another Unicode form' : `as ${shown(written)}`;
  return `this tokenizer gives back ${shown(target)} ${how}, which the reward counts as another text; words() of 'braid' compares words in one form`;
}

function shown(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}

/** The words of the first list that the second lacks, as often as it lacks them. */
function wordsWithout(words: readonly string[], others: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const word of others) left.set(word, (left.get(word) ?? 0) + 1);
  return words.filter((word) => {
    const composed = word.normalize('NFC');
    const count = left.get(composed) ?? 0;
    if (count > 0) left.set(composed, count - 1);
    return count === 0;
  });
}

/** The white space between words; that at the ends is a matter of the prompt. */
function spacingOf(text: string): string {
  return text.trim().replace(/\P{White_Space}+/gu, '.');
}
