/** Short replies to posts, as a training task. */
import { inverseDocumentFrequency, stems } from '../../text/terms.ts';
import { splitWords } from '../../text/words.ts';
import type { Task, TaskMetrics, TextSimilarity } from '../task.ts';
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
    score: (answers) =>
      answers.map(({ record, completion }) => ({
        components: scoreReply(record.post, completion, similarity),
        failure: null,
      })),
    measure: (answers) => answers.map(({ record, completion }) => measureReply(record, completion, similarity)),
    close: () => undefined,
    fit: (records, meaning) => {
      if (meaning !== undefined) return taskWith(meaning);
      return taskWith(
        lexicalSimilarity(inverseDocumentFrequency(records.flatMap(({ post, reply }) => [stems(post), stems(reply)]))),
      );
    },
  };
}

/** The reward as the default weights sum it, its components, and what no component rewards. */
function measureReply(record: ReplyRecord, completion: string, similarity: TextSimilarity): TaskMetrics {
  const components = scoreReply(record.post, completion, similarity);
  const reward = replyRewards.reduce((sum, name, i) => sum + (defaultWeights[i] ?? 0) * components[name], 0);
  return {
    reward,
    ...components,
    reference_overlap: referenceOverlap(record.reply, completion),
    words: splitWords(completion).length,
  };
}

/** The reply task: a heuristic reward of six components. Until it is fitted, all words have the same weight. */
export const replyTask: Task<ReplyRecord> = taskWith(lexicalSimilarity(inverseDocumentFrequency([])));
