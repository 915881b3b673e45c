import { listModels } from '../../services/model-list.ts';
import { api } from '../context.ts';

export const models = {
  list: api.models.list.handler(({ context }) => listModels(context.app)),
};
