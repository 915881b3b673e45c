/** The part of the WebAssembly API that Braid uses. TypeScript declares it only in the DOM library, which we don't use in Node. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
    readonly [Symbol.toStringTag]: string;
  }

  class Memory {
    constructor(descriptor: { initial: number; maximum: number; shared?: true });
    readonly buffer: SharedArrayBuffer;
  }

  type Imports = { readonly env: Readonly<Record<string, unknown>>; readonly [module: string]: object };

  class Instance {
    constructor(module: Module, imports: Imports);
    readonly exports: Readonly<Record<string, unknown>>;
  }
}
