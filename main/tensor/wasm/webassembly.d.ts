/** The part of the WebAssembly API that Braid uses. TypeScript ships it only within the DOM library, which Node lacks. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
    readonly [Symbol.toStringTag]: string;
  }

  class Memory {
    constructor(descriptor: { initial: number; maximum: number; shared: true });
    readonly buffer: SharedArrayBuffer;
  }

  class Instance {
    constructor(module: Module, imports: { env: { memory: Memory } });
    readonly exports: Readonly<Record<string, unknown>>;
  }
}
