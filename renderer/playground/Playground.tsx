/** The Playground screen: two texts, a task's record, or a chat, each with several models side by side. */
import { useEffect } from 'react';
import { useSearch } from 'wouter';
import { Segments } from '../components/Segments.tsx';
import { Chat } from './chat/Chat.tsx';
import { type Form, useForm } from './form.ts';
import { Prompts } from './Prompts.tsx';

export function Playground() {
  const [form, onForm] = useForm();
  const isAskedToChat = new URLSearchParams(useSearch()).has('chat');
  useEffect(() => {
    if (isAskedToChat) onForm({ mode: 'chat' });
  }, [isAskedToChat, onForm]);
  const modes = (
    <Segments
      aria-label="Prompt"
      data={[
        { value: 'texts', label: 'Two texts' },
        { value: 'record', label: 'A task’s record' },
        { value: 'chat', label: 'Chat' },
      ]}
      value={form.mode}
      onChange={(mode) => onForm({ mode })}
    />
  );
  return isPrompts(form) ? <Prompts {...{ form, onForm, modes }} /> : <Chat modes={modes} />;
}

function isPrompts(form: Form): form is Form & { readonly mode: 'texts' | 'record' } {
  return form.mode !== 'chat';
}
