/** The contract's implementation: one file per resource, each procedure a few lines over a service. */
import { api } from '../context.ts';
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

export const router = api.router({
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
});
