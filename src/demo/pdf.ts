/** Encodes one page of text as PDF 1.4: one font, a title and lines. */
const MARGIN = 72
const TOP = 740

/** @param lines Latin text; other characters become question marks */
export function encodePdf(title: string, lines: readonly string[]): Buffer {
  const text = [
    'BT',
    `/F1 20 Tf ${MARGIN} ${TOP} Td (${literal(title)}) Tj`,
    '/F1 12 Tf 0 -14 Td',
    ...lines.map((line) => `0 -20 Td (${literal(line)}) Tj`),
    'ET',
  ].join('\n')

  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>',
    `<< /Length ${Buffer.byteLength(text, 'latin1')} >>\nstream\n${text}\nendstream`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>',
  ])
}

/** The objects, then the table with the byte offset of each object. */
function assemble(objects: readonly string[]): Buffer {
  let file = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`)
  const table = file.length
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${entries.join('')}`
  file += `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R >>\nstartxref\n${table}\n%%EOF\n`
  return Buffer.from(file, 'latin1')
}

function literal(text: string): string {
  return text.replace(/[\\()]/g, (one) => `\\${one}`).replace(/[^\x20-\x7e\xa0-\xff]/g, '?')
}
