/**
 * The Playground's chat: up to four models side by side, each with its own answers to what the user says. Escape stops
 * them; who listens to the screen hears finished answers.
 */
import { Button, Menu } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useMutation, useQuery } from '@tanstack/react-query';
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useSearch } from 'wouter';
import type { KeptConversation, ModelEntry } from '../../../main/api/contract/index.ts';
import { api } from '../../api/client.ts';
import { Confirm } from '../../components/Confirm.tsx';
import { Empty, Failed } from '../../components/Feedback.tsx';
import { Link } from '../../components/Link.tsx';
import { MoreButton } from '../../components/MoreMenu.tsx';
import { modelOptions } from '../../components/model-options.ts';
import { Screen } from '../../components/Screen.tsx';
import { useKeys } from '../../frame/keys.tsx';
import { AddRecord } from './AddRecord.tsx';
import classes from './Chat.module.css';
import { ChatSettings } from './ChatSettings.tsx';
import { Columns } from './Columns.tsx';
import { Composer } from './Composer.tsx';
import { answeredMessages, MAX_MODELS, type Said } from './conversation.ts';
import { exportChat } from './export-chat.ts';
import { KeptConversations } from './KeptConversations.tsx';
import { Turn } from './Turn.tsx';
import { nameModels, useChat } from './use-chat.ts';

/** `modes`: the choice between this and the other kinds of prompts. */
export function Chat({ modes }: { readonly modes: ReactNode }) {
  const [{ chat, columns, keptId, keepError, spoken }, store] = useChat();
  const models = useQuery(api.models.list.queryOptions());
  const options = useMemo(() => modelOptions(models.data ?? []), [models.data]);
  const names = useMemo(() => new Map((models.data ?? []).map(({ ref, name }) => [ref, name])), [models.data]);
  nameModels(names);
  const nameOf = (ref: string): string => names.get(ref) ?? ref;
  const [tinted, setTinted] = useState(false);
  const [isListing, setListing] = useState(false);
  /** What would replace a conversation that isn't kept. */
  const [replacing, setReplacing] = useState<{ readonly go: () => void } | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const busy = columns.some(({ state }) => state === 'asked' || state === 'answering');
  const keep = useMutation({ mutationFn: store.keep });
  const [recorded, setRecorded] = useState<readonly Said[] | null>(null);
  const actions = useMemo(
    () => ({
      ...store,
      addRecord: (turn: number, column: number) => setRecorded(answeredMessages(store.get().chat, column, turn)),
    }),
    [store],
  );
  useFirstModel(chat.models, models.data, store.join);
  const writers = useMemo(() => chat.models.map((ref) => names.get(ref) ?? ''), [chat.models, names]);
  const { scroller, follow } = useStickToEnd();
  useEffect(() => {
    if (!busy) return;
    const press = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented && !closesSomething(event.target)) store.stop();
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [busy, store]);
  useKeys(useMemo(() => [{ key: 'a', label: 'Write a message', run: () => field.current?.focus() }], []));
  const isEmpty = chat.turns.length === 0;
  const replace = (go: () => void): void => {
    if (isEmpty || keptId !== null) go();
    else setReplacing({ go });
  };
  const discard = useMutation({
    mutationFn: async () => replacing?.go(),
    onSuccess: () => setReplacing(null),
  });
  const open = (kept: KeptConversation): void => {
    setListing(false);
    replace(() => {
      follow();
      store.open(kept);
    });
  };
  return (
    <Screen
      title="Playground"
      about={<span>Talk to your models, up to four side by side</span>}
      actions={
        <>
          {modes}
          {chat.models.length < MAX_MODELS && (
            <Button
              variant="default"
              disabled={busy}
              leftSection={<IconPlus size={14} aria-hidden="true" />}
              onClick={store.addColumn}
            >
              Add model
            </Button>
          )}
          <Button
            variant="default"
            disabled={isEmpty}
            onClick={() =>
              replace(() => {
                store.clear();
                field.current?.focus();
              })
            }
          >
            New
          </Button>
          <Button
            variant="default"
            disabled={isEmpty || busy || keptId !== null}
            loading={keep.isPending}
            title={keptId === null ? undefined : 'Kept with everything that is said from now on'}
            onClick={() => keep.mutate()}
          >
            {keptId === null ? 'Keep' : 'Kept'}
          </Button>
          <MoreButton>
            {() => (
              <>
                <Menu.Item onClick={() => setListing(true)}>Kept conversations …</Menu.Item>
                <Menu.Item disabled={isEmpty} onClick={() => exportChat(chat.turns[0]?.user ?? '', chat, nameOf)}>
                  Export as JSONL
                </Menu.Item>
              </>
            )}
          </MoreButton>
        </>
      }
    >
      <div className={classes.chat}>
        <ChatSettings
          {...{ ...chat, tinted }}
          onSystem={(system) => store.set({ system })}
          onSampling={(sampling) => store.set({ sampling })}
          onTinted={setTinted}
        />
        {models.error !== null && (
          <Failed what="The models can't be listed" error={models.error} onRetry={() => void models.refetch()} />
        )}
        {(keep.error ?? keepError) !== null && (
          <Failed
            what="The conversation could not be kept"
            error={keep.error ?? keepError}
            onRetry={() => keep.mutate()}
          />
        )}
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard */}
        <section ref={scroller} className={classes.scroller} aria-label="Conversation" tabIndex={0}>
          <div className={classes.wide} style={{ '--columns': chat.models.length } as React.CSSProperties}>
            <Columns
              models={chat.models}
              {...{ options, busy }}
              onModel={(column, model) =>
                store.set({ models: chat.models.map((known, i) => (i === column ? model : known)) })
              }
              onRemove={store.removeColumn}
            />
            {isEmpty && (
              <Empty title="Say something">
                <p>
                  Each model answers in its own column and remembers its own answers. Hover over an answer to see how
                  likely each token was. Keep stores the conversation in this workspace.
                </p>
              </Empty>
            )}
            {chat.turns.map((turn, index) => {
              const after = chat.turns.length - 1 - index;
              return (
                <Turn
                  // biome-ignore lint/suspicious/noArrayIndexKey: turns are identified by their order
                  key={index}
                  {...{ turn, index, after, busy, tinted, actions }}
                  columns={after === 0 ? columns : null}
                  names={writers}
                />
              );
            })}
          </div>
        </section>
        <Composer
          {...{ busy, field }}
          missing={chat.models.every((ref) => ref === '') ? 'Choose a model' : null}
          onSend={(text) => {
            follow();
            store.send(text);
          }}
          onStop={store.stop}
          note={<SharedMachine />}
        />
        <div role="log" className="visually-hidden">
          {spoken.map((answer, i) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: two models can say the same
            <p key={i}>{answer}</p>
          ))}
        </div>
      </div>
      {recorded !== null && <AddRecord messages={recorded} onClose={() => setRecorded(null)} />}
      <KeptConversations
        opened={isListing}
        onClose={() => setListing(false)}
        onOpen={open}
        onRemoved={store.unkept}
        nameOf={nameOf}
      />
      <Confirm
        opened={replacing !== null}
        title="Discard this conversation?"
        action="Discard"
        dangerous
        mutation={discard}
        onClose={() => setReplacing(null)}
      >
        <p>It isn’t kept. Choose Cancel and then Keep to store it in this workspace.</p>
      </Confirm>
    </Screen>
  );
}

/** Whether Escape closes a dialog, a menu or a list there. */
function closesSomething(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest('[role="dialog"], [role="menu"], [aria-expanded="true"]') !== null;
}

/** The model in a link, `#/playground?chat=…`; by default the newest checkpoint, or a whole model. */
function useFirstModel(
  chosen: readonly string[],
  models: readonly ModelEntry[] | undefined,
  choose: (model: string) => void,
): void {
  const asked = new URLSearchParams(useSearch()).get('chat');
  const done = useRef<string | null>(null);
  const isUntouched = chosen.every((ref) => ref === '');
  useEffect(() => {
    const wanted = asked === null || asked === '' ? null : asked;
    if (models === undefined || done.current === (wanted ?? '') || (wanted === null && !isUntouched)) return;
    done.current = wanted ?? '';
    const usable = models.filter(({ problem }) => problem === null);
    const first = usable.find(({ kind }) => kind === 'checkpoint') ?? usable[0];
    choose(usable.find(({ ref }) => ref === wanted)?.ref ?? first?.ref ?? '');
  }, [asked, models, isUntouched, choose]);
}

/** Says that a run shares the machine with the chat. */
function SharedMachine() {
  const { data } = useQuery(api.app.status.queryOptions());
  const run =
    data?.live.find(({ state }) => state === 'running') ?? data?.elsewhere.find(({ state }) => state === 'running');
  if (run === undefined) return null;
  return (
    <span className={classes.shared}>
      <Link href={`/runs/${run.runId}`}>{run.name}</Link> is training: both are slower while models answer, and models
      are released soon after. The run’s results stay the same.
    </span>
  );
}

/** Keeps the end in view while it grows, unless the user has scrolled up. `follow` does so again. */
function useStickToEnd() {
  const scroller = useRef<HTMLElement>(null);
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const { current } = scroller;
    if (current?.firstElementChild == null) return;
    let top = 0;
    const note = (): void => {
      const { scrollTop, scrollHeight, clientHeight } = current;
      const isNear = scrollHeight - scrollTop - clientHeight < 40;
      // What grows in the meantime moves the end away, which isn't the user's doing.
      if (isNear || scrollTop < top) isAtEnd.current = isNear;
      top = scrollTop;
    };
    // Turns have their height only when they are seen first: the end is reached in several moves.
    const sizes = new ResizeObserver(() => {
      if (isAtEnd.current) current.scrollTop = current.scrollHeight;
    });
    sizes.observe(current.firstElementChild);
    current.addEventListener('scroll', note, { passive: true });
    return () => {
      sizes.disconnect();
      current.removeEventListener('scroll', note);
    };
  }, []);
  const follow = useCallback(() => {
    isAtEnd.current = true;
  }, []);
  return { scroller, follow };
}
