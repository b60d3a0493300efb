/** Markup that goes into a page as it is. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Markup | readonly Part[]

/**
 * Markup with values in it, each as text unless it is markup itself.
 *
 * @example
 * html`<p>${'a < b'}</p>`.text // <p>a &lt; b</p>
 */
export function html(pieces: TemplateStringsArray, ...values: readonly Part[]): Markup {
  // The indentation of the source says nothing to a reader of the page.
  const [first = '', ...others] = pieces.map((piece) => piece.replaceAll(/\n\s*/g, '\n'))
  return new Markup(first + others.map((piece, at) => print(values[at] ?? '') + piece).join(''))
}

/** Markup with a separator between each two parts. */
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
