import { replyChecklist, tick } from '../../services/replies/checklist.ts';
import { chooseSample, importReplies } from '../../services/replies/data.ts';
import { replyDesk } from '../../services/replies/desk.ts';
import { startMethod } from '../../services/replies/methods.ts';
import { seedTable, startSeedReports } from '../../services/replies/over-seeds.ts';
import { postReplies } from '../../services/replies/posts.ts';
import { replyReport, reportFile } from '../../services/replies/report.ts';
import { chooseStart } from '../../services/replies/start-points.ts';
import { startReport, startSplit, startTrial, startWhole } from '../../services/replies/work.ts';
import { api } from '../context.ts';

export const replies = {
  desk: api.replies.desk.handler(({ context }) => replyDesk(context.app)),
  import: api.replies.import.handler(async ({ context, input: { name, content } }) =>
    importReplies(context.app, name, await content.arrayBuffer()),
  ),
  takeSample: api.replies.takeSample.handler(({ context }) => chooseSample(context.app)),
  split: api.replies.split.handler(({ context, input }) => startSplit(context.app, input).result),
  start: api.replies.start.handler(({ context, input: { method, seed } }) => ({
    runId: startMethod(context.app, method, seed),
  })),
  choose: api.replies.choose.handler(({ context, input }) => chooseStart(context.app, input)),
  checklist: api.replies.checklist.handler(({ context, input }) => replyChecklist(context.app, input.seed)),
  tick: api.replies.tick.handler(({ context, input }) => tick(context.app, input.name, input.ticked)),
  trial: api.replies.trial.handler(({ context, input }) => ({ jobId: startTrial(context.app, input.seed) })),
  whole: api.replies.whole.handler(({ context, input }) => ({ jobId: startWhole(context.app, input.seed) })),
  compare: api.replies.compare.handler(({ context, input }) => ({ jobId: startReport(context.app, input.seed) })),
  compareSeeds: api.replies.compareSeeds.handler(({ context }) => ({ jobId: startSeedReports(context.app) })),
  overSeeds: api.replies.overSeeds.handler(({ context }) => seedTable(context.app)),
  report: api.replies.report.handler(({ context }) => replyReport(context.app)),
  posts: api.replies.posts.handler(({ context, input }) => postReplies(context.app, input)),
  reportFile: api.replies.reportFile.handler(({ context, input }) => ({
    text: reportFile(context.app, input.file),
  })),
};
