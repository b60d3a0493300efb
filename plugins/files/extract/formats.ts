import type { Segment } from '../chunk.ts'
import type { ExtractLimits } from './command.ts'

/** Tells the text of one format, as far as the limits allow. */
export type Extract = (
  bytes: Uint8Array,
  limits: ExtractLimits,
  progress: (done: number, total: number) => void,
) => Iterable<Segment> | AsyncIterable<Segment> | Promise<Iterable<Segment>>

const openxml = (kind: string): string => `application/vnd.openxmlformats-officedocument.${kind}`

/** One row per content type; only what a document needs is loaded. */
export const FORMATS: Readonly<Record<string, () => Promise<Extract>>> = {
  'application/pdf': async () => (await import('./pdf.ts')).pdfSegments,
  [openxml('wordprocessingml.document')]: async () => (await import('./docx.ts')).docxSegments,
  [openxml('spreadsheetml.sheet')]: async () => (await import('./xlsx.ts')).xlsxSegments,
  'text/html': async () => {
    const [{ htmlSegments }, { decodeText }] = await Promise.all([
      import('./html.ts'),
      import('../text.ts'),
    ])
    return (bytes) => htmlSegments(decodeText(bytes))
  },
  'text/markdown': async () => {
    const [{ markdownSegments }, { decodeText }] = await Promise.all([
      import('../text.ts'),
      import('../text.ts'),
    ])
    return (bytes) => markdownSegments(decodeText(bytes))
  },
  'text/csv': async () => (await import('./csv.ts')).csvSegments,
  'text/tab-separated-values': async () => (await import('./csv.ts')).tsvSegments,
  'application/json': async () => (await import('./json.ts')).jsonSegments,
  'text/plain': async () => {
    const { decodeText, textSegments } = await import('../text.ts')
    return (bytes) => textSegments(decodeText(bytes))
  },
}
