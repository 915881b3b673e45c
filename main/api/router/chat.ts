import { addRecord, recordTargets } from '../../services/chat/add-record.ts';
import { askModel } from '../../services/chat/ask.ts';
import {
  keepConversation,
  listConversations,
  openConversation,
  removeConversation,
  renameConversation,
} from '../../services/chat/kept.ts';
import { api } from '../context.ts';

export const chat = {
  ask: api.chat.ask.handler(({ context, input, signal }) => askModel(context.app, input, signal)),
  list: api.chat.list.handler(({ context }) => listConversations(context.app)),
  open: api.chat.open.handler(({ context, input }) => openConversation(context.app, input.id)),
  keep: api.chat.keep.handler(({ context, input }) => ({
    id: keepConversation(context.app, input.conversation, input.id),
  })),
  rename: api.chat.rename.handler(({ context, input }) => renameConversation(context.app, input.id, input.title)),
  remove: api.chat.remove.handler(({ context, input }) => removeConversation(context.app, input.id)),
  recordTargets: api.chat.recordTargets.handler(({ context }) => recordTargets(context.app)),
  addRecord: api.chat.addRecord.handler(({ context, input }) => addRecord(context.app, input)),
};
