import { zipSync } from 'fflate'

/** A PDF of numbered objects, the first being the catalog, with a true cross-reference table. */
export function pdfFrom(objects: readonly (string | Buffer)[], trailer = ''): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const offsets: number[] = []
  let length = parts[0]?.length ?? 0
  const add = (part: string | Buffer): void => {
    const bytes = Buffer.from(part)
    parts.push(bytes)
    length += bytes.length
  }
  objects.forEach((object, index) => {
    offsets.push(length)
    add(`${index + 1} 0 obj\n`)
    add(object)
    add('\nendobj\n')
  })
  const table = offsets.map((at) => `${String(at).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  const start = length
  add(`xref\n0 ${size}\n0000000000 65535 f \n${table}`)
  add(`trailer\n<< /Size ${size} /Root 1 0 R ${trailer} >>\nstartxref\n${start}\n%%EOF\n`)
  return Buffer.concat(parts)
}

const FONT = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'

export function streamOf(content: string | Buffer, entries = ''): Buffer {
  const bytes = Buffer.from(content)
  const head = `<< /Length ${bytes.length} ${entries} >>\nstream\n`
  return Buffer.concat([Buffer.from(head), bytes, Buffer.from('\nendstream')])
}

/** A PDF with a page for each content stream. */
export function pdfOfStreams(
  streams: readonly Buffer[],
  trailer = '',
  more: string[] = [],
): Buffer {
  const kids = streams.map((_, index) => `${4 + index * 2} 0 R`).join(' ')
  const pages = streams.flatMap((stream, index) => [
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${5 + index * 2} 0 R /Resources << /Font << /F1 3 0 R >> >> >>`,
    stream,
  ])
  return pdfFrom(
    [
      '<< /Type /Catalog /Pages 2 0 R >>',
      `<< /Type /Pages /Kids [${kids}] /Count ${streams.length} >>`,
      FONT,
      ...pages,
      ...more,
    ],
    trailer,
  )
}

/** A PDF with a page for each text, a line of it for each line. */
export function pdfOf(pages: readonly string[], trailer = '', more: string[] = []): Buffer {
  const streams = pages.map((text) => {
    const lines = text.split('\n').map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`)
    return streamOf(`BT /F1 12 Tf 14 TL 72 720 Td ${lines.join(' ')} ET`)
  })
  return pdfOfStreams(streams, trailer, more)
}

export function zipOf(parts: Readonly<Record<string, string | Uint8Array>>): Buffer {
  const entries = Object.entries(parts).map(([name, content]) => [name, Buffer.from(content)])
  return Buffer.from(zipSync(Object.fromEntries(entries) as Record<string, Uint8Array>))
}

const XML = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
const TYPES = 'http://schemas.openxmlformats.org/package/2006/content-types'
const RELATIONS = 'http://schemas.openxmlformats.org/package/2006/relationships'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const WORD = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main'
const SHEET = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const OPENXML = 'application/vnd.openxmlformats-officedocument'

function contentTypes(overrides: Readonly<Record<string, string>>): string {
  const rows = Object.entries(overrides).map(
    ([part, type]) => `<Override PartName="/${part}" ContentType="${OPENXML}.${type}+xml"/>`,
  )
  return `${XML}<Types xmlns="${TYPES}"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/>${rows.join('')}</Types>`
}

/** A relation `rId1` and so on for each: its type, its target, and whether that lies outside. */
export function relationsOf(
  relations: readonly (readonly [type: string, target: string, external?: boolean])[],
): string {
  const rows = relations.map(
    ([type, target, external = false], index) =>
      `<Relationship Id="rId${index + 1}" Type="${OFFICE}/${type}" Target="${target}"${external ? ' TargetMode="External"' : ''}/>`,
  )
  return `${XML}<Relationships xmlns="${RELATIONS}">${rows.join('')}</Relationships>`
}

/** The parts of a DOCX; `prolog` stands before its root element. */
export function docxParts(body: string, prolog = ''): Record<string, string> {
  return {
    '[Content_Types].xml': contentTypes({
      'word/document.xml': 'wordprocessingml.document.main',
      'word/styles.xml': 'wordprocessingml.styles',
    }),
    '_rels/.rels': relationsOf([['officeDocument', 'word/document.xml']]),
    'word/_rels/document.xml.rels': relationsOf([['styles', 'styles.xml']]),
    'word/styles.xml': `${XML}<w:styles xmlns:w="${WORD}"><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style><w:style w:type="paragraph" w:styleId="Heading2"><w:name w:val="heading 2"/></w:style></w:styles>`,
    'word/document.xml': `${XML}${prolog}<w:document xmlns:w="${WORD}" xmlns:r="${OFFICE}"><w:body>${body}</w:body></w:document>`,
  }
}

export function paragraph(text: string, style = ''): string {
  const properties = style === '' ? '' : `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>`
  return `<w:p>${properties}<w:r><w:t xml:space="preserve">${text}</w:t></w:r></w:p>`
}

/** The parts of an XLSX: a sheet for each name, with the XML of its rows. */
export function xlsxParts(sheets: Readonly<Record<string, string>>): Record<string, string> {
  const names = Object.keys(sheets)
  const path = (index: number): string => `worksheets/sheet${index + 1}.xml`
  const parts: Record<string, string> = {
    '[Content_Types].xml': contentTypes({
      'xl/workbook.xml': 'spreadsheetml.sheet.main',
      ...Object.fromEntries(
        names.map((_, index) => [`xl/${path(index)}`, 'spreadsheetml.worksheet']),
      ),
    }),
    '_rels/.rels': relationsOf([['officeDocument', 'xl/workbook.xml']]),
    'xl/_rels/workbook.xml.rels': relationsOf(names.map((_, index) => ['worksheet', path(index)])),
    'xl/workbook.xml': `${XML}<workbook xmlns="${SHEET}" xmlns:r="${OFFICE}"><sheets>${names
      .map((name, index) => `<sheet name="${name}" sheetId="${index + 1}" r:id="rId${index + 1}"/>`)
      .join('')}</sheets></workbook>`,
  }
  names.forEach((name, index) => {
    parts[`xl/${path(index)}`] =
      `${XML}<worksheet xmlns="${SHEET}"><sheetData>${sheets[name] ?? ''}</sheetData></worksheet>`
  })
  return parts
}

/** A row of text and numbers, counted from 1. */
export function sheetRow(number: number, cells: readonly (string | number)[]): string {
  const written = cells.map((cell, index) => {
    const at = `r="${String.fromCharCode(65 + index)}${number}"`
    return typeof cell === 'number'
      ? `<c ${at}><v>${cell}</v></c>`
      : `<c ${at} t="inlineStr"><is><t>${cell}</t></is></c>`
  })
  return `<row r="${number}">${written.join('')}</row>`
}
