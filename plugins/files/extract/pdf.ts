import { getDocumentProxy } from 'unpdf'
import type { Segment } from '../chunk.ts'
import { fileError } from '../contract.ts'
import type { ExtractLimits } from './command.ts'

/** A page each, in the order of the document. */
export async function* pdfSegments(
  bytes: Uint8Array,
  limits: ExtractLimits,
  progress: (done: number, total: number) => void,
): AsyncGenerator<Segment> {
  const pdf = await openPdf(bytes)
  if (pdf.numPages > limits.pages) throw fileError('too_many_pages')
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    let text = ''
    for (const item of items) if ('str' in item) text += item.hasEOL ? `${item.str}\n` : item.str
    page.cleanup()
    yield { text: `${text}\n\n`, heading: null, page: number }
    progress(number, pdf.numPages)
  }
}

async function openPdf(bytes: Uint8Array): ReturnType<typeof getDocumentProxy> {
  try {
    return await getDocumentProxy(bytes, {
      isEvalSupported: false,
      useSystemFonts: false,
      disableFontFace: true,
      enableXfa: false,
      verbosity: 0,
    })
  } catch (error) {
    const locked = error instanceof Error && error.name === 'PasswordException'
    throw fileError(locked ? 'encrypted' : 'damaged', { cause: error })
  }
}
