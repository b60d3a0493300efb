/**
 * Reads a table from CSV text: the first line has the names of the columns.
 * A column is a number column when all its values are numbers, but for empty ones.
 */
export function parseCsv(text) {
  const separator = findSeparator(text)
  const [names, ...lines] = splitLines(text.replace(/^\uFEFF/, ''), separator)
  if (names === undefined || lines.length === 0) {
    throw new Error('The file needs a line with names and at least one line with values.')
  }
  const columns = names.map((name, index) => {
    const values = lines.map((line) => toNumber(line[index], separator))
    const isNumber = values.some(Number.isFinite) && !values.some(Number.isNaN)
    return { name: name.trim() || `Column ${index + 1}`, index, isNumber }
  })
  const rows = lines.map((line) =>
    columns.map(({ index, isNumber }) =>
      isNumber ? toNumber(line[index], separator) : (line[index] ?? '').trim(),
    ),
  )
  return { columns, rows }
}

/** The sign that the first line has most of. */
function findSeparator(text) {
  const [firstLine] = text.split(/\r?\n/, 1)
  const count = (sign) => firstLine.split(sign).length
  return [',', ';', '\t'].reduce((best, sign) => (count(sign) > count(best) ? sign : best))
}

/** A number, null for nothing, NaN for anything else. Between semicolons, 1,5 is a number. */
function toNumber(value = '', separator) {
  const text = separator === ';' ? value.trim().replace(',', '.') : value.trim()
  if (text === '') return null
  const number = /^[-+]?\d*\.?\d+$/.test(text) ? Number(text) : NaN
  return Number.isFinite(number) ? number : NaN
}

/** Splits the text into lines of fields. Separators and line breaks within quotes are text. */
function splitLines(text, separator) {
  const lines = []
  let line = []
  let field = ''
  let isQuoted = false

  function endLine() {
    line.push(field)
    if (line.length > 1 || field.trim() !== '') lines.push(line)
    line = []
    field = ''
  }

  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at]
    if (isQuoted) {
      const isDoubled = sign === '"' && text[at + 1] === '"'
      if (sign !== '"' || isDoubled) field += sign
      else isQuoted = false
      if (isDoubled) at += 1
    } else if (sign === '"' && field === '') isQuoted = true
    else if (sign === separator) {
      line.push(field)
      field = ''
    } else if (sign === '\n') endLine()
    else if (sign !== '\r') field += sign
  }
  if (isQuoted) throw new Error('A quotation mark in the file is never closed.')
  endLine()
  return lines
}
