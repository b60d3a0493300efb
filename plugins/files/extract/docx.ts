import mammoth from 'mammoth'
import type { Segment } from '../chunk.ts'
import { htmlSegments } from './html.ts'
import type { ExtractLimits } from './command.ts'
import { repackOffice } from './zip.ts'

const MAIN =
  /wordprocessingml\.(document|template)\.main\+xml|word\.(document|template)\.macroEnabled/i

export async function docxSegments(
  bytes: Uint8Array,
  limits: ExtractLimits,
): Promise<readonly Segment[]> {
  const { value } = await mammoth.convertToHtml(
    { buffer: repackOffice(bytes, MAIN, limits) },
    {
      externalFileAccess: false,
      convertImage: mammoth.images.imgElement(async () => ({ src: '' })),
    },
  )
  return htmlSegments(value)
}
