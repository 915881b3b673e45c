/** Every migration, oldest first; released migrations are never edited; a change is a new file. */
import { initial } from './001-initial.ts';
import { stages } from './002-stages.ts';
import { comparisons } from './003-comparisons.ts';
import { sampleParts } from './004-sample-parts.ts';
import { summaries } from './005-summaries.ts';
import { keptFacts } from './006-kept-facts.ts';
import { promptGroups } from './007-prompt-groups.ts';
import { taskText } from './008-task-text.ts';
import { runNotes } from './009-run-notes.ts';
import { externalRewards } from './010-external-rewards.ts';
import { queueAndSweeps } from './012-queue-and-sweeps.ts';
import { textTags } from './013-text-tags.ts';
import { conversations } from './014-conversations.ts';
import { metStages } from './015-met-stages.ts';
import { keptConversations } from './016-kept-conversations.ts';
import { promptMessages } from './017-prompt-messages.ts';
import { episodeParts } from './018-episode-parts.ts';
import type { Migration } from './migration.ts';

export const migrations: readonly Migration[] = [
  initial,
  stages,
  comparisons,
  sampleParts,
  summaries,
  keptFacts,
  promptGroups,
  taskText,
  runNotes,
  externalRewards,
  queueAndSweeps,
  textTags,
  conversations,
  metStages,
  keptConversations,
  promptMessages,
  episodeParts,
];
