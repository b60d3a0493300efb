import type { OptionalPackage } from '../packages.ts'
import { missingPackages } from '../packages.ts'
import type { FileType } from './contract.ts'

/** The content types of the built-in processor, by what names end with. */
const BY_EXTENSION: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  html: 'text/html',
  htm: 'text/html',
  xhtml: 'text/html',
  md: 'text/markdown',
  markdown: 'text/markdown',
  csv: 'text/csv',
  tsv: 'text/tab-separated-values',
  json: 'application/json',
  txt: 'text/plain',
}

/** The types of the built-in reader, as refusals name them. */
const FILE_TYPES: readonly FileType[] = Object.entries({
  pdf: BY_EXTENSION['pdf'],
  docx: BY_EXTENSION['docx'],
  xlsx: BY_EXTENSION['xlsx'],
  html: BY_EXTENSION['html'],
  markdown: BY_EXTENSION['md'],
  csv: BY_EXTENSION['csv'],
  tsv: BY_EXTENSION['tsv'],
  json: BY_EXTENSION['json'],
  text: BY_EXTENSION['txt'],
}).map(([label, media_type = '']) => ({ media_type, label }))

/** Packages that read a type, by its label; the others need none of their own. */
const PACKAGES: Readonly<Record<string, readonly OptionalPackage[]>> = {
  pdf: ['unpdf'],
  docx: ['mammoth', 'fflate'],
  xlsx: ['read-excel-file', 'fflate'],
  csv: ['csv-parse'],
  tsv: ['csv-parse'],
}

/** The types whose packages are installed. */
export function readableTypes(): readonly FileType[] {
  return FILE_TYPES.filter(({ label }) => missingPackages(PACKAGES[label] ?? []).length === 0)
}

/** Types that cannot be read here, and the packages that would read them. */
export interface Unreadable {
  readonly types: readonly string[]
  readonly packages: readonly OptionalPackage[]
}

export function unreadableTypes(): Unreadable {
  const readable = readableTypes()
  const types = FILE_TYPES.filter((type) => !readable.includes(type)).map(({ label }) => label)
  return { types, packages: missingPackages(types.flatMap((label) => PACKAGES[label] ?? [])) }
}

type Form = 'pdf' | 'zip' | 'ole' | 'text' | 'binary' | 'foreign'

/** What the content of a type looks like; an encrypted docx or xlsx is an OLE container. */
const FORMS: Readonly<Record<string, readonly Form[]>> = {
  pdf: ['pdf'],
  docx: ['zip', 'ole'],
  xlsx: ['zip', 'ole'],
}

const MAGIC: readonly (readonly [bytes: string, Form])[] = [
  ['%PDF-', 'pdf'],
  ['PK\x03\x04', 'zip'],
  ['PK\x05\x06', 'zip'],
  ['\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'ole'],
  ['\x89PNG', 'foreign'],
  ['\xff\xd8\xff', 'foreign'],
  ['GIF8', 'foreign'],
  ['\x1f\x8b', 'foreign'],
  ['\x7fELF', 'foreign'],
  ['Rar!', 'foreign'],
  ['7z\xbc\xaf', 'foreign'],
  ['%!PS', 'foreign'],
  ['{\\rtf', 'foreign'],
]

/** Byte order marks; text in UTF-16 is full of NULs, and no less text. */
const MARKED = /^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)/
const HTML = /^(\xef\xbb\xbf)?\s*(<!doctype html|<html)[\s>]/i
/** Readers of PDF look for the header in the first 1024 bytes. */
const PDF_HEADER_WITHIN = 1024

export type Sniffed =
  | { readonly type: string }
  | { readonly code: 'unsupported_media_type' | 'wrong_type' }

/** Tells what a file is by its first bytes and its name, or with which code it is refused. */
export function sniff(name: string, head: Uint8Array): Sniffed {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString('latin1')
  const form = formOf(text)
  const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  const named = Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined
  if (named !== undefined) {
    if (head.length === 0) return { type: named }
    return fits(extension, form, text) ? { type: named } : { code: 'wrong_type' }
  }
  if (form === 'pdf') return { type: 'application/pdf' }
  if (form !== 'text') return { code: 'unsupported_media_type' }
  return { type: HTML.test(text) ? 'text/html' : 'text/plain' }
}

function fits(extension: string, form: Form, head: string): boolean {
  if (extension === 'pdf' && head.slice(0, PDF_HEADER_WITHIN).includes('%PDF-')) return true
  return (FORMS[extension] ?? ['text', 'binary']).includes(form)
}

function formOf(head: string): Form {
  for (const [bytes, form] of MAGIC) if (head.startsWith(bytes)) return form
  return MARKED.test(head) || !head.includes('\0') ? 'text' : 'binary'
}
