/** What ends the rendering of a template. */
type Kind = 'TypeError' | 'ValueError' | 'LookupError' | 'OverflowError' | 'UndefinedError' | 'TemplateError';

/** An error that Python would raise here. */
export class PyError extends Error {
  readonly kind: Kind;
  constructor(kind: Kind, message: string) {
    super(message);
    this.kind = kind;
  }
}

export function typeError(message: string): never {
  throw new PyError('TypeError', message);
}

/** Something that Jinja2 can do and this can't: a template is computed as there, or not at all. */
export function refuse(what: string): never {
  throw new PyError('TemplateError', `${what} isn't supported in chat templates here`);
}
