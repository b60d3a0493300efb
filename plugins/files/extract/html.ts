import { Tokenizer } from 'htmlparser2'
import type { Segment } from '../chunk.ts'
import { SectionReader } from './sections.ts'

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
