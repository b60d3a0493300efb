/** Markup that is inserted unescaped. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Markup | readonly Part[]

/**
 * Markup with interpolated values; a value that is not markup is escaped.
 *
 * @example
 * html`<p>${'a < b'}</p>`.text // <p>a &lt; b</p>
 */
export function html(pieces: TemplateStringsArray, ...values: readonly Part[]): Markup {
  // Indentation of the source is removed from the page.
  const [first = '', ...others] = pieces.map((piece) => piece.replaceAll(/\n\s*/g, '\n'))
  return new Markup(first + others.map((piece, at) => print(values[at] ?? '') + piece).join(''))
}

/** Markup parts joined by a separator. */
export function joined(parts: readonly Part[], separator: string): Markup {
  return new Markup(parts.map(print).join(print(separator)))
}

function print(part: Part): string {
  if (part instanceof Markup) return part.text
  if (typeof part === 'object') return part.map(print).join('')
  return String(part).replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? '')
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
