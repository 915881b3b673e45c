/** What the test and the double tell each other over the process's channel. */

/** How the double behaves, given to it in BRAID_DOUBLE. */
export interface DoubleOptions {
  readonly userData: string;
  /** Whether this start gets the place of the one instance. */
  readonly first: boolean;
  /** The resources folder of a packed app; null: a checkout. */
  readonly packed: string | null;
  /** Answers to message boxes and open dialogs, in order; without one they are cancelled. */
  readonly answers: readonly number[];
  readonly chosen: readonly (readonly string[])[];
  /** The work areas of the screens. */
  readonly screens: readonly {
    readonly x: number;
    readonly y: number;
    readonly width: number;
    readonly height: number;
  }[];
}

/** A frame that says it is ready; null: it is gone. */
export type FrameKind = { readonly origin: string; readonly inside: boolean } | null;

export type Order =
  | { readonly kind: 'emit'; readonly target: Target; readonly event: string; readonly args: readonly unknown[] }
  | { readonly kind: 'frame-ready'; readonly frame: FrameKind }
  | { readonly kind: 'port'; readonly port: number; readonly data: unknown }
  | { readonly kind: 'close-port'; readonly port: number }
  | { readonly kind: 'menu'; readonly label: string }
  | { readonly kind: 'fetch'; readonly url: string; readonly method: string }
  | { readonly kind: 'permission'; readonly name: string; readonly url: string }
  | { readonly kind: 'open-window'; readonly url: string }
  | { readonly kind: 'request'; readonly url: string }
  | { readonly kind: 'answer'; readonly answers: readonly number[]; readonly chosen: readonly (readonly string[])[] }
  | { readonly kind: 'focus'; readonly focused: boolean }
  | { readonly kind: 'click-notification'; readonly index: number };

export type Target = 'app' | 'window' | 'contents';

export type Report =
  /** Something was asked of Electron. */
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly unknown[] }
  /** What an order came to. */
  | { readonly kind: 'done'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'port'; readonly port: number; readonly data: unknown };
