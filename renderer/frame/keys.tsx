/** Keyboard: each screen says which keys it has; `?` shows them all. */
import { Kbd, Modal, Table } from '@mantine/core';
import { createContext, type ReactNode, useContext, useEffect, useMemo, useRef, useState } from 'react';
import { navigate } from './hash-location.ts';
import { IsRehearsed } from './is-rehearsed.ts';
import { screens } from './screens.ts';

export interface ScreenKey {
  /** As the event has it: `j`, `ArrowLeft`, ` `. */
  readonly key: string;
  /** What it does: "Next step". */
  readonly label: string;
  readonly run: () => void;
}

interface Keys {
  add(keys: readonly ScreenKey[]): () => void;
  /** Shows them all. */
  help(): void;
  /** Those of the screen on show. */
  current(): readonly ScreenKey[];
}

const KeysContext = createContext<Keys>({ add: () => () => undefined, help: () => undefined, current: () => [] });

/** The keys of the screen on show; they rest while someone types, in an open list, and in a dialog. */
export function useKeys(keys: readonly ScreenKey[]): void {
  const { add } = useContext(KeysContext);
  const isRehearsed = useContext(IsRehearsed);
  useEffect(() => (isRehearsed ? undefined : add(keys)), [add, keys, isRehearsed]);
}

/** Shows the keys, from elsewhere than the keyboard. */
export function useKeysHelp(): () => void {
  return useContext(KeysContext).help;
}

type Groups = readonly (readonly ScreenKey[])[];

/** Reads the keys of the screen on show, when they are wanted. */
export function useCurrentKeys(): () => readonly ScreenKey[] {
  return useContext(KeysContext).current;
}

export function KeysProvider({ children }: { readonly children: ReactNode }) {
  const active = useRef<Groups>([]);
  // What is shown of them: nothing is drawn for the keys that come and go with each screen.
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
    let going = false;
    const press = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTaken(event.key, event.target)) return;
      const { key } = event;
      const screen = going ? screens.find((known) => known.key === key) : undefined;
      const bound = going ? undefined : active.current.flat().findLast((known) => known.key === key);
      going = key === 'g' && !going;
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
      <Modal opened={help.open} onClose={() => setHelp(({ groups }) => ({ open: false, groups }))} title="Keys">
        <KeyTable title="This screen" rows={help.groups.flat().map(({ key, label }) => [named(key), label])} />
        <KeyTable
          title="Everywhere"
          rows={[
            ['Ctrl K', 'Go to anything, do anything'],
            ['?', 'These keys'],
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
  return key === ' ' ? 'Space' : key.replace('Arrow', '').toUpperCase();
}

/** Fields that take no text: letters pressed there are the screen's. */
const TEXTLESS = ['checkbox', 'radio', 'range', 'button', 'submit', 'reset', 'file', 'color'];

/** Whether a key belongs to where it was pressed: text to what takes text, all to a dialog, the others to a field. */
function isTaken(key: string, target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('[role="dialog"], [role="listbox"], [role="menu"]') !== null) return true;
  const field = target.closest('input, textarea, select');
  if (field === null) return target.isContentEditable;
  const takesText =
    field instanceof HTMLInputElement
      ? !field.readOnly && !TEXTLESS.includes(field.type)
      : field instanceof HTMLTextAreaElement;
  // An arrow moves a slider or a choice; a space ticks a box.
  return takesText || key.length > 1 || key === ' ' || target.getAttribute('aria-expanded') === 'true';
}
