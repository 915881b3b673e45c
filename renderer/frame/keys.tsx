/** Keyboard shortcuts: each screen registers its keys; `?` lists them all. */
import { Kbd, Modal, Table } from '@mantine/core';
import {
  createContext,
  type ReactNode,
  useContext,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react';
import { navigate } from './hash-location.ts';
import { IsPrerendering } from './is-prerendering.ts';
import { createKeySequence } from './key-sequence.ts';
import { latinKey } from './latin-key.ts';
import { screens } from './screens.ts';
import { isTaken } from './taken-keys.ts';

export interface ScreenKey {
  /** As in KeyboardEvent.key: `j`, `ArrowLeft`, ` `. */
  readonly key: string;
  /** What it does: "Next step". */
  readonly label: string;
  readonly run: () => void;
}

interface Keys {
  add(keys: readonly ScreenKey[]): () => void;
  /** Opens the list of shortcuts. */
  help(): void;
  /** The current screen's keys. */
  current(): readonly ScreenKey[];
}

const KeysContext = createContext<Keys>({ add: () => () => undefined, help: () => undefined, current: () => [] });

/** Registers the current screen's keys. They are ignored while typing, in an open list and in a dialog. */
export function useKeys(keys: readonly ScreenKey[]): void {
  const { add } = useContext(KeysContext);
  const isPrerendering = useContext(IsPrerendering);
  // Before the screen is painted: a key works as soon as it is seen.
  useLayoutEffect(() => (isPrerendering ? undefined : add(keys)), [add, keys, isPrerendering]);
}

/** Opens the list of shortcuts from elsewhere, such as a menu. */
export function useKeysHelp(): () => void {
  return useContext(KeysContext).help;
}

type Groups = readonly (readonly ScreenKey[])[];

/** Returns a getter for the current screen's keys. */
export function useCurrentKeys(): () => readonly ScreenKey[] {
  return useContext(KeysContext).current;
}

export function KeysProvider({ children }: { readonly children: ReactNode }) {
  const active = useRef<Groups>([]);
  // Only what the dialog shows is state, so registering keys causes no render.
  const [help, setHelp] = useState<{ readonly open: boolean; readonly groups: Groups }>({ open: false, groups: [] });
  const value = useMemo<Keys>(() => {
    const set = (groups: Groups): void => {
      active.current = groups;
      setHelp((before) => (before.open ? { open: true, groups } : before));
    };
    return {
      add: (keys) => {
        set([...active.current, keys]);
        return () => set(active.current.filter((group) => group !== keys));
      },
      help: () => setHelp({ open: true, groups: active.current }),
      current: () => active.current.flat(),
    };
  }, []);
  useEffect(() => {
    const sequence = createKeySequence();
    const press = (event: KeyboardEvent): void => {
      const key = latinKey(event);
      // Also what an element has handled, and the keys of an input method.
      const isOther = event.defaultPrevented || event.isComposing || event.ctrlKey || event.metaKey || event.altKey;
      if (isOther || isTaken(key, event.target)) {
        sequence.reset();
        return;
      }
      const place = sequence.take(key, event.timeStamp, event.repeat);
      if (place === 'ignored') return;
      const screen = place === 'second' ? screens.find((known) => known.key === key) : undefined;
      const bound = place === 'first' ? active.current.flat().findLast((known) => known.key === key) : undefined;
      if (screen !== undefined) navigate(screen.path);
      else if (key === '?') value.help();
      else if (bound !== undefined) {
        event.preventDefault();
        bound.run();
      }
    };
    window.addEventListener('keydown', press);
    return () => window.removeEventListener('keydown', press);
  }, [value]);
  return (
    <KeysContext.Provider value={value}>
      {children}
      <Modal
        opened={help.open}
        onClose={() => setHelp(({ groups }) => ({ open: false, groups }))}
        title="Keyboard shortcuts"
      >
        <KeyTable title="This screen" rows={help.groups.flat().map(({ key, label }) => [named(key), label])} />
        <KeyTable
          title="Everywhere"
          rows={[
            ['Ctrl K', 'Open the command palette'],
            ['?', 'Show these shortcuts'],
            ...screens.map(({ key, label }) => [`g ${key}`, label] as const),
          ]}
        />
      </Modal>
    </KeysContext.Provider>
  );
}

function KeyTable({ title, rows }: { readonly title: string; readonly rows: readonly (readonly [string, string])[] }) {
  if (rows.length === 0) return null;
  return (
    <Table mb="md">
      <Table.Caption style={{ captionSide: 'top', textAlign: 'left' }}>{title}</Table.Caption>
      <Table.Tbody>
        {rows.map(([keys, label]) => (
          <Table.Tr key={keys + label}>
            <Table.Td w={90}>
              {keys.split(' ').map((key) => (
                <Kbd key={key} mr={4}>
                  {key}
                </Kbd>
              ))}
            </Table.Td>
            <Table.Td>{label}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}

function named(key: string): string {
  return key === ' ' ? 'Space' : key.replace('Arrow', '');
}
