import { Tokenizer } from 'htmlparser2'
import type { Segment } from '../chunk.ts'
import { createHeadingPath } from '../text.ts'

const ignored = (): void => undefined

/**
 * A section each: a heading with what follows up to the next one. Reads tag by tag and builds no tree,
 * so that depth costs nothing.
 */
export function htmlSegments(html: string): readonly Segment[] {
  const reader = new SectionReader()
  let name = ''
  const tokenizer = new Tokenizer(
    { decodeEntities: true, recognizeSelfClosing: true },
    {
      onopentagname(start, end) {
        name = html.slice(start, end).toLowerCase()
        reader.open(name)
      },
      onselfclosingtag() {
        reader.close(name)
      },
      onclosetag(start, end) {
        reader.close(html.slice(start, end).toLowerCase())
      },
      ontext(start, end) {
        reader.text(html.slice(start, end))
      },
      ontextentity(codepoint) {
        reader.text(String.fromCodePoint(codepoint))
      },
      onattribdata: ignored,
      onattribend: ignored,
      onattribentity: ignored,
      onattribname: ignored,
      oncdata: ignored,
      oncomment: ignored,
      ondeclaration: ignored,
      onend: ignored,
      onopentagend: ignored,
      onprocessinginstruction: ignored,
    },
  )
  tokenizer.write(html)
  tokenizer.end()
  return reader.end()
}

/** Elements without visible text. */
const SILENT = new Set(['script', 'style', 'noscript', 'template'])
/** Elements with a line break before and after them; all others are inline. */
const LINES = new Set(
  (
    'address article aside blockquote br dd div dl dt fieldset figcaption footer form header hr ' +
    'li main nav option section title tr'
  ).split(' '),
)
/** Elements with an empty line before and after them. */
const PARAGRAPHS = new Set(['p', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'pre', 'table', 'ul', 'ol'])
const HEADING = /^h([1-6])$/
const MAX_TITLE = 1000

/** Collects the text of tags as they come, a segment for each section. */
export class SectionReader {
  readonly #segments: Segment[] = []
  readonly #path = createHeadingPath()
  #heading: string | null = null
  #parts: string[] = []
  /** Line breaks before the next text. */
  #breaks = 0
  #blank = true
  #pre = 0
  #silent = { name: '', depth: 0 }
  #title: { readonly name: string; text: string } | undefined

  open(name: string): void {
    if (this.#silent.depth > 0) {
      if (name === this.#silent.name) this.#silent.depth++
      return
    }
    if (SILENT.has(name)) {
      this.#silent = { name, depth: 1 }
      return
    }
    if (HEADING.test(name)) {
      this.#endTitle()
      this.#endSection()
      this.#title = { name, text: '' }
    }
    if (name === 'pre') this.#pre++
    if ((name === 'td' || name === 'th') && this.#breaks === 0 && this.#parts.length > 0) {
      this.#parts.push(' | ')
      this.#blank = true
    }
    this.#break(name)
  }

  close(name: string): void {
    if (this.#silent.depth > 0) {
      if (name === this.#silent.name) this.#silent.depth--
      return
    }
    if (HEADING.test(name)) this.#endTitle()
    if (name === 'pre' && this.#pre > 0) this.#pre--
    this.#break(name)
  }

  text(raw: string): void {
    if (this.#silent.depth > 0) return
    let text = this.#pre > 0 ? raw : raw.replace(/\s+/g, ' ')
    if (this.#pre === 0 && (this.#blank || this.#breaks > 0)) text = text.replace(/^ /, '')
    if (text === '') return
    if (this.#title !== undefined && this.#title.text.length < MAX_TITLE) this.#title.text += text
    if (this.#breaks > 0 && this.#parts.length > 0) this.#parts.push('\n'.repeat(this.#breaks))
    this.#parts.push(text)
    this.#breaks = 0
    this.#blank = /\s$/.test(text)
  }

  end(): readonly Segment[] {
    this.#endTitle()
    this.#endSection()
    return this.#segments
  }

  #endTitle(): void {
    if (this.#title === undefined) return
    this.#heading = this.#path.enter(Number(this.#title.name.slice(1)), this.#title.text) || null
    this.#title = undefined
  }

  #break(name: string): void {
    if (PARAGRAPHS.has(name)) this.#breaks = 2
    else if (LINES.has(name)) this.#breaks = Math.max(this.#breaks, 1)
  }

  #endSection(): void {
    if (this.#parts.length === 0) return
    const text = `${this.#parts.join('')}\n\n`
    this.#segments.push({ text, heading: this.#heading, page: null })
    this.#parts = []
    this.#breaks = 0
    this.#blank = true
  }
}
