/** Short replies to posts, as a training task. */
import { type InverseDocumentFrequency, inverseDocumentFrequency, stems } from '../../text/terms.ts';
import { splitWords } from '../../text/words.ts';
import type { Answer, Task, TaskMetrics, TextSimilarity } from '../task.ts';
import { replyPrompt } from './prompt.ts';
import { parseReplyRecord, type ReplyRecord } from './record.ts';
import { defaultWeights, lexicalSimilarity, referenceOverlap, replyRewards, scoreReply } from './reward.ts';

/** The reply task with a given measure of similarity between post and reply. */
function taskWith(similarity: TextSimilarity): Task<ReplyRecord> {
  return {
    name: 'reply',
    rewardNames: replyRewards,
    rewardWeights: defaultWeights,
    // No reply gets full marks in all six in practice, so there is no maximum to measure against.
    highestReward: null,
    hasTargets: true,
    mainMetric: 'reward',
    show: 'beside',
    maxCompletionLength: null,
    check: {
      name: 'reference_overlap',
      measure: (answers) => answers.map(({ record, completion }) => referenceOverlap(record.reply, completion)),
    },
    parseRecord: parseReplyRecord,
    quoted: (record) => [record.post],
    // A record's own prompt stays.
    withPrompt: (record, template) =>
      record.prompt === replyPrompt(record.post) ? { ...record, prompt: replyPrompt(record.post, template) } : record,
    target: (record) => record.reply,
    score: (answers) => judged(answers, similarity).map(({ components }) => ({ components, failure: null })),
    measure: (answers) => judged(answers, similarity).map(measureReply),
    close: () => undefined,
    fit: (records, meaning) => {
      if (meaning !== undefined) return taskWith(meaning);
      return taskWith(
        lexical(inverseDocumentFrequency(records.flatMap(({ post, reply }) => [stems(post), stems(reply)]))),
      );
    },
  };
}

const lexical =
  (idf: InverseDocumentFrequency): TextSimilarity =>
  (pairs) =>
    pairs.map(([post, reply]) => lexicalSimilarity(post, reply, idf));

interface Judged extends Pick<Answer<ReplyRecord>, 'record' | 'completion'> {
  readonly components: ReturnType<typeof scoreReply>;
}

/** Answers with their components, all at once: an encoder takes many texts together. */
function judged(answers: readonly Answer<ReplyRecord>[], similarity: TextSimilarity): Judged[] {
  const similar = similarity(answers.map(({ record, completion }) => [record.post, completion]));
  return answers.map(({ record, completion }, i) => {
    const components = scoreReply(record.post, completion, similar[i] ?? 0);
    return { record, completion, components };
  });
}

/** The reward as the default weights sum it, its components, and what no component rewards. */
function measureReply({ record, completion, components }: Judged): TaskMetrics {
  const reward = replyRewards.reduce((sum, name, i) => sum + (defaultWeights[i] ?? 0) * components[name], 0);
  return {
    reward,
    ...components,
    reference_overlap: referenceOverlap(record.reply, completion),
    words: splitWords(completion).length,
  };
}

/** The reply task: a heuristic reward of six components. Until it is fitted, all words have the same weight. */
export const replyTask: Task<ReplyRecord> = taskWith(lexical(inverseDocumentFrequency([])));
