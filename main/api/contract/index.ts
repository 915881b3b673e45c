/**
 * The typed contract between pages and their host. The host implements it in ../router; pages import
 * its types only.
 */
import { app } from './app.ts';
import { chat } from './chat.ts';
import { comparisons } from './comparisons.ts';
import { config } from './config.ts';
import { datasets } from './datasets.ts';
import { engines } from './engines.ts';
import { folders } from './folders.ts';
import { imports } from './imports.ts';
import { models } from './models.ts';
import { native } from './native.ts';
import { playground } from './playground.ts';
import { queue } from './queue.ts';
import { replies } from './replies.ts';
import { reports } from './reports.ts';
import { runs } from './runs.ts';
import { samples } from './samples.ts';
import { settings } from './settings.ts';
import { stages } from './stages.ts';
import { sweeps } from './sweeps.ts';
import { tasks } from './tasks.ts';
import { texts } from './texts.ts';

/** The types of answers, too: a page imports this file and nothing else of main/. */
export type * from './types.ts';

export const contract = {
  app,
  chat,
  comparisons,
  config,
  datasets,
  engines,
  folders,
  imports,
  models,
  native,
  playground,
  queue,
  replies,
  reports,
  runs,
  samples,
  settings,
  stages,
  sweeps,
  tasks,
  texts,
};

export type Contract = typeof contract;
