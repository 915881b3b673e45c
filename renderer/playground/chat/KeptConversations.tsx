/** The conversations that are kept: opened, renamed, exported, deleted. */
import { Menu, Modal, Table, TextInput } from '@mantine/core';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ConversationHeading, KeptConversation } from '../../../main/api/contract/index.ts';
import { api, client } from '../../api/client.ts';
import { Confirm } from '../../components/Confirm.tsx';
import { DialogForm } from '../../components/DialogForm.tsx';
import { Empty, Failed } from '../../components/Feedback.tsx';
import { ago, counted } from '../../components/format.ts';
import { MoreMenu } from '../../components/MoreMenu.tsx';
import { PlainButton } from '../../components/PlainButton.tsx';
import { useDiscardQuestion } from '../../components/use-discard-question.tsx';
import classes from './Chat.module.css';
import { fromKept } from './conversation.ts';
import { exportChat } from './export-chat.ts';

export interface KeptConversationsProps {
  readonly opened: boolean;
  readonly onClose: () => void;
  readonly onOpen: (kept: KeptConversation) => void;
  readonly onRemoved: (id: number) => void;
  readonly nameOf: (ref: string) => string;
}

export function KeptConversations({ opened, onClose, onOpen, onRemoved, nameOf }: KeptConversationsProps) {
  const list = useQuery(api.chat.list.queryOptions({ enabled: opened }));
  const [deleting, setDeleting] = useState<ConversationHeading | null>(null);
  const [renaming, setRenaming] = useState<ConversationHeading | null>(null);
  const open = useMutation({ mutationFn: (id: number) => client.chat.open({ id }), onSuccess: onOpen });
  const save = useMutation({
    mutationFn: async (id: number) => {
      const { title, conversation } = await client.chat.open({ id });
      exportChat(title, fromKept(conversation), nameOf);
    },
  });
  const remove = useMutation({
    mutationFn: async () => {
      if (deleting === null) return;
      await client.chat.remove({ id: deleting.id });
      onRemoved(deleting.id);
      await list.refetch();
    },
    onSuccess: () => setDeleting(null),
  });
  return (
    <>
      <Modal
        opened={opened}
        onClose={onClose}
        closeOnEscape={deleting === null && renaming === null}
        title="Kept conversations"
        size="lg"
      >
        {list.error !== null && (
          <Failed what="The conversations can't be listed" error={list.error} onRetry={() => void list.refetch()} />
        )}
        {[open.error, save.error].map(
          // biome-ignore lint/suspicious/noArrayIndexKey: one place for each action
          (error, i) => error !== null && <Failed key={i} error={error} />,
        )}
        {list.data?.length === 0 && (
          <Empty title="No conversation is kept yet">
            <p>Keep in the chat stores a conversation in this workspace, and whatever is said in it later.</p>
          </Empty>
        )}
        {list.data !== undefined && list.data.length > 0 && (
          <Table>
            <Table.Thead>
              <Table.Tr>
                <Table.Th>Conversation</Table.Th>
                <Table.Th ta="right">Turns</Table.Th>
                <Table.Th ta="right">Changed</Table.Th>
                <Table.Th>
                  <span className="visually-hidden">Actions</span>
                </Table.Th>
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {list.data.map((kept) => (
                <Table.Tr key={kept.id}>
                  <Table.Td className={classes.title}>
                    <PlainButton className="own-direction" onClick={() => open.mutate(kept.id)}>
                      {kept.title}
                    </PlainButton>
                  </Table.Td>
                  <Table.Td ta="right" className="num">
                    {kept.turns}
                  </Table.Td>
                  <Table.Td ta="right" className="soft">
                    {ago(kept.updatedAt)}
                  </Table.Td>
                  <Table.Td w={30}>
                    <MoreMenu label={`Actions for ${kept.title}`}>
                      {() => (
                        <>
                          <Menu.Item onClick={() => setRenaming(kept)}>Rename …</Menu.Item>
                          <Menu.Item onClick={() => save.mutate(kept.id)}>Export as JSONL</Menu.Item>
                          <Menu.Item onClick={() => setDeleting(kept)}>Delete …</Menu.Item>
                        </>
                      )}
                    </MoreMenu>
                  </Table.Td>
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        )}
      </Modal>
      {renaming !== null && (
        <Rename kept={renaming} onRenamed={() => void list.refetch()} onClose={() => setRenaming(null)} />
      )}
      <Confirm
        opened={deleting !== null}
        title="Delete the conversation?"
        action="Delete"
        dangerous
        mutation={remove}
        onClose={() => setDeleting(null)}
      >
        <p>
          “{deleting?.title}” with {counted(deleting?.turns ?? 0, 'turn')} is deleted. Records that were made of it
          stay.
        </p>
      </Confirm>
    </>
  );
}

interface RenameProps {
  readonly kept: ConversationHeading;
  readonly onRenamed: () => void;
  readonly onClose: () => void;
}

function Rename({ kept, onRenamed, onClose }: RenameProps) {
  const [title, setTitle] = useState(kept.title);
  const rename = useMutation({
    mutationFn: () => client.chat.rename({ id: kept.id, title }),
    onSuccess: () => {
      onRenamed();
      onClose();
    },
  });
  const discard = useDiscardQuestion({
    isChanged: () => title !== kept.title && !rename.isPending && !rename.isSuccess,
    close: onClose,
  });
  return (
    <DialogForm
      title="Rename the conversation"
      action="Rename"
      what="It could not be renamed"
      disabled={title.trim() === ''}
      mutation={rename}
      {...{ discard, onClose }}
    >
      <TextInput
        label="Title"
        maxLength={500}
        value={title}
        data-autofocus
        onChange={({ currentTarget }) => setTitle(currentTarget.value)}
      />
    </DialogForm>
  );
}
