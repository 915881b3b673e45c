/** The contract's implementation: one file per resource, each procedure a few lines over a service. */
import { api } from '../context.ts';
import { app } from './app.ts';
import { comparisons } from './comparisons.ts';
import { config } from './config.ts';
import { datasets } from './datasets.ts';
import { models } from './models.ts';
import { native } from './native.ts';
import { playground } from './playground.ts';
import { replies } from './replies.ts';
import { runs } from './runs.ts';
import { samples } from './samples.ts';
import { settings } from './settings.ts';
import { stages } from './stages.ts';
import { texts } from './texts.ts';

export const router = api.router({
  app,
  comparisons,
  config,
  datasets,
  models,
  native,
  playground,
  replies,
  runs,
  samples,
  settings,
  stages,
  texts,
});
