import { deflateSync } from 'node:zlib'
import type { FileErrorCode } from '../../plugins/files/contract.ts'
import {
  docxParts,
  paragraph,
  pdfFrom,
  pdfOf,
  pdfOfStreams,
  sheetRow,
  streamOf,
  xlsxParts,
  zipOf,
} from './documents.ts'

export interface HostileDocument {
  readonly title: string
  readonly name: string
  make(): Buffer
  /** `read` where it is harmless after all. */
  readonly ends: FileErrorCode | 'read'
}

/**
 * The ends that a hostile document may have: on a machine that holds the child for half a minute, what takes memory
 * without end reaches the limit of time first.
 */
export function possibleEnds({ ends }: Pick<HostileDocument, 'ends'>): readonly string[] {
  return ends === 'out_of_memory' ? [ends, 'timed_out'] : [ends]
}

const MIB = 1024 * 1024
const DEEP = 100_000

/** Nine levels of ten each: a thousand million times what it stands for. */
const LAUGHS = `<!DOCTYPE lolz [<!ENTITY l0 "lol">${Array.from(
  { length: 9 },
  (_, level) => `<!ENTITY l${level + 1} "${`&l${level};`.repeat(10)}">`,
).join('')}]>`

const ENCRYPT = `<< /Filter /Standard /V 1 /R 2 /P -4 /O <${'41'.repeat(32)}> /U <${'42'.repeat(32)}> >>`

/** The directory at the end tells another size than what the entries inflate to. */
function lyingZip(parts: Readonly<Record<string, string | Uint8Array>>, size: number): Buffer {
  const zip = zipOf(parts)
  for (let at = zip.indexOf('PK\x01\x02'); at >= 0; at = zip.indexOf('PK\x01\x02', at + 4)) {
    if (zip.readUInt32LE(at + 24) > size) zip.writeUInt32LE(size, at + 24)
  }
  return zip
}

function oleOf(stream: string): Buffer {
  const header = Buffer.from('d0cf11e0a1b11ae1', 'hex')
  return Buffer.concat([
    header,
    Buffer.alloc(1016),
    Buffer.from(stream, 'utf16le'),
    Buffer.alloc(512),
  ])
}

function pagesTree(pages: string): Buffer {
  return pdfFrom(['<< /Type /Catalog /Pages 2 0 R >>', pages])
}

const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')

export const HOSTILE: readonly HostileDocument[] = [
  {
    title: 'a zip bomb by its ratio',
    name: 'a.docx',
    make: () => zipOf({ ...docxParts(''), 'word/document.xml': Buffer.alloc(64 * MIB, ' ') }),
    ends: 'too_large_inside',
  },
  {
    title: 'a zip bomb by its sum',
    name: 'a.xlsx',
    make() {
      const part = Buffer.alloc(4 * MIB, ' ')
      const parts = Array.from({ length: 33 }, (_, index) => [`xl/part${index}.xml`, part] as const)
      return zipOf({ ...xlsxParts({ One: '' }), ...Object.fromEntries(parts) })
    },
    ends: 'too_large_inside',
  },
  {
    title: 'a zip bomb whose directory lies',
    name: 'a.docx',
    make: () => lyingZip(docxParts(paragraph('x'.repeat(64 * MIB))), 4096),
    ends: 'damaged',
  },
  {
    title: 'a zip of a million entries',
    name: 'a.docx',
    make() {
      // The directory names one entry again and again.
      const zip = zipOf({ 'a.xml': '' })
      const at = zip.indexOf('PK\x01\x02')
      const end = zip.indexOf('PK\x05\x06')
      const entry = zip.subarray(at, end)
      const last = Buffer.from(zip.subarray(end))
      last.writeUInt16LE(65_000, 8)
      last.writeUInt16LE(65_000, 10)
      last.writeUInt32LE(entry.length * 65_000, 12)
      return Buffer.concat([zip.subarray(0, at), ...Array<Buffer>(65_000).fill(entry), last])
    },
    ends: 'too_large_inside',
  },
  {
    title: 'a billion laughs',
    name: 'a.docx',
    make: () => zipOf(docxParts(paragraph('&l9;'), LAUGHS)),
    ends: 'damaged',
  },
  {
    title: 'a billion laughs in a spreadsheet',
    name: 'a.xlsx',
    make() {
      const parts = xlsxParts({ One: sheetRow(1, ['&l9;']) })
      const path = 'xl/worksheets/sheet1.xml'
      return zipOf({ ...parts, [path]: parts[path]?.replace('?>', `?>${LAUGHS}`) ?? '' })
    },
    ends: 'damaged',
  },
  {
    title: `XML of ${DEEP} nested elements`,
    name: 'a.docx',
    make: () =>
      zipOf(
        docxParts(
          `${'<w:sdt><w:sdtContent>'.repeat(DEEP / 2)}${paragraph('deep')}${'</w:sdtContent></w:sdt>'.repeat(DEEP / 2)}`,
        ),
      ),
    ends: 'too_complex',
  },
  {
    title: 'a cell in the last row and column',
    name: 'a.xlsx',
    make: () =>
      zipOf(
        xlsxParts({
          One: '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>',
        }),
      ),
    ends: 'out_of_memory',
  },
  {
    title: 'an encrypted docx',
    name: 'a.docx',
    make: () => oleOf('EncryptedPackage'),
    ends: 'encrypted',
  },
  {
    title: 'an encrypted PDF',
    name: 'a.pdf',
    make: () => pdfOf(['secret'], '/Encrypt 6 0 R /ID [<00> <00>]', [ENCRYPT]),
    ends: 'encrypted',
  },
  {
    title: 'a PDF of one page that says it has a million',
    name: 'a.pdf',
    make: () =>
      pdfFrom([
        '<< /Type /Catalog /Pages 2 0 R >>',
        '<< /Type /Pages /Kids [3 0 R] /Count 1000000 >>',
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>',
      ]),
    ends: 'no_text',
  },
  {
    title: 'a PDF with a million pages',
    name: 'a.pdf',
    make: () =>
      pdfFrom([
        '<< /Type /Catalog /Pages 2 0 R >>',
        `<< /Type /Pages /Kids [${'3 0 R '.repeat(1_000_000)}] /Count 1000000 >>`,
        '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>',
      ]),
    ends: 'too_many_pages',
  },
  {
    title: 'a PDF whose page tree is a loop',
    name: 'a.pdf',
    make: () => pagesTree('<< /Type /Pages /Kids [2 0 R] /Count 5 >>'),
    ends: 'damaged',
  },
  {
    title: `a PDF whose page tree is ${DEEP} levels deep`,
    name: 'a.pdf',
    make: () =>
      pdfFrom([
        '<< /Type /Catalog /Pages 2 0 R >>',
        ...Array.from(
          { length: DEEP },
          (_, level) => `<< /Type /Pages /Kids [${level + 3} 0 R] /Count 1 >>`,
        ),
        '<< /Type /Page /MediaBox [0 0 9 9] >>',
      ]),
    ends: 'no_text',
  },
  {
    title: 'a PDF whose page inflates without end',
    name: 'a.pdf',
    make() {
      const once = deflateSync(Buffer.alloc(640 * MIB, ' '), { level: 9 })
      const twice = deflateSync(once, { level: 9 })
      return pdfOfStreams([streamOf(twice, '/Filter [/FlateDecode /FlateDecode]')])
    },
    ends: 'out_of_memory',
  },
  {
    title: 'a PDF that was cut off',
    name: 'a.pdf',
    make: () => pdfOf(['a page that is not there']).subarray(0, 60),
    ends: 'damaged',
  },
  {
    title: 'a PDF of pictures',
    name: 'a.pdf',
    make: () => pdfOf(['', '']),
    ends: 'no_text',
  },
  { title: 'a picture called docx', name: 'a.docx', make: () => png, ends: 'wrong_type' },
  { title: 'a zip called PDF', name: 'a.pdf', make: () => zipOf({ a: 'b' }), ends: 'wrong_type' },
  { title: 'a zip called docx', name: 'a.docx', make: () => zipOf({ a: 'b' }), ends: 'wrong_type' },
  {
    title: 'a spreadsheet called docx',
    name: 'a.docx',
    make: () => zipOf(xlsxParts({ One: '' })),
    ends: 'wrong_type',
  },
  {
    title: 'an old document called docx',
    name: 'a.docx',
    make: () => oleOf('WordDocument'),
    ends: 'wrong_type',
  },
  {
    title: `HTML of ${DEEP} nested tags`,
    name: 'a.html',
    make: () => Buffer.from(`<html>${'<div><b>'.repeat(DEEP / 2)}deep inside`),
    ends: 'read',
  },
  {
    title: `JSON nested ${DEEP} deep`,
    name: 'a.json',
    make: () => Buffer.from(`${'['.repeat(DEEP)}1${']'.repeat(DEEP)}`),
    ends: 'too_complex',
  },
  {
    title: 'JSON that was cut off',
    name: 'a.json',
    make: () => Buffer.from('{"a": [1, 2'),
    ends: 'damaged',
  },
  {
    title: 'CSV with one line of 20 MiB',
    name: 'a.csv',
    make: () => Buffer.alloc(20 * MIB, 'cell,'),
    ends: 'too_complex',
  },
  {
    title: 'CSV with one cell of 20 MiB',
    name: 'a.csv',
    make: () => Buffer.from(`a,b\n"${'x'.repeat(20 * MIB)}`),
    ends: 'too_complex',
  },
  {
    title: 'more text than may be kept',
    name: 'a.txt',
    make: () => Buffer.alloc(40 * MIB, 'text '),
    ends: 'too_large_inside',
  },
]
