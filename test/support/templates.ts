import type { Ast } from 'angular-html-parser'
import { parse } from 'angular-html-parser'
import type { Template, TemplateFile } from '../../daemon/families/apps/templates.ts'
import { readTemplates } from '../../daemon/families/apps/templates.ts'

export interface Element {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly text: string
}

export const templates = await readTemplates()

export const textOf = ({ bytes }: TemplateFile): string => Buffer.from(bytes).toString('utf8')
export const filesOf = (template: Template, ending: string): readonly TemplateFile[] =>
  template.files.filter(({ path }) => path.endsWith(ending))

/** The elements of a page in their order. Throws where a tag is not closed or closes nothing. */
export function elementsOf(html: string): readonly Element[] {
  const { rootNodes, errors } = parse(html)
  const [error] = errors
  if (error !== undefined) throw new Error(error.toString())
  return rootNodes.flatMap(elementsWithin)
}

function elementsWithin(node: Ast.Node): readonly Element[] {
  if (node.kind !== 'element') return []
  if (!node.isVoid && node.endSourceSpan === null) throw new Error(`${node.name} is not closed`)
  const attributes = new Map(node.attrs.map(({ name, value }) => [plain(name), value]))
  return [
    { name: plain(node.name), attributes, text: textWithin(node) },
    ...node.children.flatMap(elementsWithin),
  ]
}

/** The parser calls a `style` within an image `:svg:style`. */
const plain = (name: string): string => name.replace(/^:\w+:/, '').toLowerCase()

function textWithin(node: Ast.Node): string {
  if (node.kind === 'text') return node.value
  return node.kind === 'element' ? node.children.map(textWithin).join('') : ''
}
