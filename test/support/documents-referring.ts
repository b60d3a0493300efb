import { docxParts, paragraph, pdfOf, relationsOf, zipOf } from './documents.ts'
import type { HostileDocument } from './documents-hostile.ts'

const WP = 'http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing'
const A = 'http://schemas.openxmlformats.org/drawingml/2006/main'
const PIC = 'http://schemas.openxmlformats.org/drawingml/2006/picture'

function drawing(link: string): string {
  return `<w:p><w:r><w:drawing><wp:inline xmlns:wp="${WP}"><a:graphic xmlns:a="${A}"><a:graphicData><pic:pic xmlns:pic="${PIC}"><pic:blipFill><a:blip ${link}/></pic:blipFill></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p>`
}

/** Documents that ask whoever reads them to fetch this address. */
export function documentsReferringTo(url: string): readonly HostileDocument[] {
  return [
    {
      title: 'a docx with pictures and a template from elsewhere',
      name: 'linked.docx',
      make: () =>
        zipOf({
          ...docxParts(
            `${paragraph('seen')}${drawing('r:link="rId1"')}${drawing('r:link="rId3"')}`,
          ),
          'word/_rels/document.xml.rels': relationsOf([
            ['image', url, true],
            ['attachedTemplate', url, true],
            ['image', 'file:///etc/passwd', true],
          ]),
        }),
      ends: 'read',
    },
    {
      title: 'a docx with an entity from elsewhere',
      name: 'entity.docx',
      make: () => zipOf(docxParts(paragraph('&x;'), `<!DOCTYPE d [<!ENTITY x SYSTEM "${url}">]>`)),
      ends: 'damaged',
    },
    {
      title: 'a docx whose definition is elsewhere',
      name: 'dtd.docx',
      make: () => zipOf(docxParts(paragraph('a'), `<!DOCTYPE d SYSTEM "${url}">`)),
      ends: 'damaged',
    },
    {
      title: 'HTML with styles, pictures, frames and scripts from elsewhere',
      name: 'page.html',
      make: () =>
        Buffer.from(
          `<link rel=stylesheet href="${url}"><img src="${url}"><iframe src="${url}"></iframe><script src="${url}"></script>seen`,
        ),
      ends: 'read',
    },
    {
      title: 'a PDF that opens an address',
      name: 'action.pdf',
      make: () =>
        Buffer.from(
          pdfOf(['seen'])
            .toString('latin1')
            .replace(
              '<< /Type /Catalog /Pages 2 0 R >>',
              `<< /Type /Catalog /Pages 2 0 R /OpenAction << /S /URI /URI (${url}) >> >>`,
            ),
        ),
      ends: 'read',
    },
    {
      title: 'markdown with a picture from elsewhere',
      name: 'notes.md',
      make: () => Buffer.from(`![seen](${url})`),
      ends: 'read',
    },
  ]
}
