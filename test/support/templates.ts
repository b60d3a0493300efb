import type { ParserOptions } from 'prettier'
import { parsers } from 'prettier/plugins/html'
import type { Template, TemplateFile } from '../../daemon/families/apps/templates.ts'
import { readTemplates } from '../../daemon/families/apps/templates.ts'

interface HtmlNode {
  readonly name?: string
  readonly value?: string
  readonly attrs?: readonly { readonly name: string; readonly value: string | null }[]
  readonly children?: readonly HtmlNode[]
}

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
export async function elementsOf(html: string): Promise<readonly Element[]> {
  const root = (await parsers.html.parse(html, {} as ParserOptions)) as HtmlNode
  const elements: Element[] = []
  function visit(node: HtmlNode): void {
    const attributes = new Map(node.attrs?.map(({ name, value }) => [name, value ?? '']))
    if (node.attrs) elements.push({ name: node.name ?? '', attributes, text: textWithin(node) })
    node.children?.forEach(visit)
  }
  visit(root)
  return elements
}

const textWithin = ({ value = '', children = [] }: HtmlNode): string =>
  value + children.map(textWithin).join('')
