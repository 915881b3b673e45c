/**
 * A text of tokens, each with the probability that the model gave it: on hover, and as a tint. Tokens are drawn in blocks
 * that never change once they are full, so that a growing answer costs no more than its last block.
 */

import { memo, type PointerEvent, useState } from 'react';
import { createPortal } from 'react-dom';
import type { ChatToken } from '../../../main/api/contract/index.ts';
import aligned from '../../components/Aligned.module.css';
import { visible } from '../../components/visible.ts';
import classes from './Chat.module.css';
import { percent, visibleToken } from './probabilities.ts';

export interface TokenTextProps {
  readonly tokens: readonly ChatToken[];
  readonly growing: boolean;
  readonly tinted: boolean;
}

const BLOCK = 64;

interface Hovered {
  readonly token: ChatToken;
  readonly place: DOMRect;
}

export function TokenText({ tokens, growing, tinted }: TokenTextProps) {
  const [hovered, setHovered] = useState<Hovered | null>(null);
  const hover = ({ target }: PointerEvent): void => {
    const index = target instanceof HTMLElement ? target.dataset.token : undefined;
    const token = index === undefined ? undefined : tokens[Number(index)];
    setHovered(token === undefined ? null : { token, place: (target as HTMLElement).getBoundingClientRect() });
  };
  const starts = Array.from({ length: Math.ceil(tokens.length / BLOCK) }, (_, i) => i * BLOCK);
  return (
    <>
      <p
        className={`own-direction ${aligned.plain} ${classes.tokens}`}
        data-tinted={tinted || undefined}
        onPointerOver={hover}
        onPointerLeave={() => setHovered(null)}
      >
        {starts.map((start) => (
          <Block key={start} {...{ tokens, start }} end={Math.min(tokens.length, start + BLOCK)} />
        ))}
        {growing && <span className={aligned.cursor} aria-hidden="true" />}
      </p>
      {hovered !== null && createPortal(<TokenHint {...hovered} />, document.body)}
    </>
  );
}

interface BlockProps {
  readonly tokens: readonly ChatToken[];
  readonly start: number;
  readonly end: number;
}

const Block = memo(
  ({ tokens, start, end }: BlockProps) => (
    <span>
      {tokens.slice(start, end).map(({ text, logprob }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: tokens are identified by their place only
        <span key={i} data-token={start + i} data-likely={likeliness(logprob)}>
          {visible(text)}
        </span>
      ))}
    </span>
  ),
  (before, after) =>
    before.start === after.start &&
    before.end === after.end &&
    before.tokens[before.start] === after.tokens[after.start] &&
    before.tokens[before.end - 1] === after.tokens[after.end - 1],
);

/** How likely a token was, in four levels for its tint; undefined: as good as certain. */
function likeliness(logprob: number): 'fair' | 'low' | 'rare' | undefined {
  const p = Math.exp(logprob);
  if (!(p < 0.9)) return undefined;
  if (p >= 0.5) return 'fair';
  return p >= 0.15 ? 'low' : 'rare';
}

const HINT_WIDTH = 220;

function TokenHint({ token, place }: Hovered) {
  const isBelow = place.top < 190;
  const others = token.top.filter((other) => other.token !== token.token);
  return (
    <div
      role="tooltip"
      className={classes.hint}
      style={{
        width: HINT_WIDTH,
        left: Math.max(4, Math.min(window.innerWidth - HINT_WIDTH - 4, place.left)),
        ...(isBelow ? { top: place.bottom + 4 } : { bottom: window.innerHeight - place.top + 4 }),
      }}
    >
      {[token, ...others].map(({ token: text, logprob }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two tokens can look alike
        <div key={i} className={classes.likely} data-chosen={i === 0 || undefined}>
          <code>{visibleToken(text)}</code>
          <span className="num">{percent(logprob)}</span>
          <span className={classes.bar} style={{ width: `${100 * Math.exp(logprob)}%` }} />
        </div>
      ))}
    </div>
  );
}
