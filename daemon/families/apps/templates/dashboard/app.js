import { showBars } from './bars.js'
import { parseCsv } from './csv.js'
import { element } from './elements.js'
import { showLine } from './line.js'
import { highest, print, sumBy, valueOf } from './sums.js'
import { showTable } from './table.js'

const MOST_BYTES = 5_000_000

const find = (selector) => document.querySelector(selector)
const value = find('#value')
const group = find('#group')
const step = find('#step')
const drop = find('#drop')
const page = find(':root')

/** The columns and rows of the file that is shown. */
let data = null

/** Shows a message, which screen readers read aloud. */
function say(text) {
  find('#status').textContent = text
}

function open(name, text) {
  try {
    data = parseCsv(text)
  } catch (error) {
    say(`Cannot show ${name}. ${error.message}`)
    return
  }
  offerColumns(data.columns)
  showTable(find('#table'), data, say)
  showNumbers()
  find('#main').hidden = false
  say(`Showing ${name}. Rows: ${print(data.rows.length)}. Columns: ${data.columns.length}.`)
}

/** Fills the choices, and starts with those that are most likely to make sense. */
function offerColumns(columns) {
  const numbers = columns.filter(({ isNumber }) => isNumber)
  const texts = columns.filter(({ isNumber }) => !isNumber)
  const option = ({ name, index }) => element('option', { value: index }, name)

  value.replaceChildren(...numbers.map(option), element('option', { value: '' }, 'Number of rows'))
  group.replaceChildren(...columns.map(option))
  step.replaceChildren(...columns.map(option))
  value.value = numbers.at(-1)?.index ?? ''
  group.value = (texts[1] ?? texts[0] ?? columns[0]).index
  step.value = (texts[0] ?? columns[0]).index
}

function showNumbers() {
  const { columns, rows } = data
  const values = value.value === '' ? null : columns[value.value]
  const name = values?.name ?? 'Number of rows'
  const total = rows.reduce((sum, row) => sum + valueOf(row, values), 0)
  const groups = sumBy(rows, columns[group.value], values)
  const steps = sumBy(rows, columns[step.value], values)

  const cards = [
    ['Rows', print(rows.length)],
    ...(values ? [[`${name}, total`, print(total)]] : []),
    ...(values ? [[`${name}, average`, print(total / rows.length)]] : []),
    [`Top ${columns[group.value].name}`, highest(groups).label],
  ]
  find('#cards').replaceChildren(
    ...cards.map(([term, text]) =>
      element('div', {}, element('dt', {}, term), element('dd', {}, text)),
    ),
  )
  showBars(find('#bars'), `${name} by ${columns[group.value].name}`, groups)
  showLine(find('#line'), `${name} by ${columns[step.value].name}`, steps)
}

for (const choice of [value, group, step]) {
  choice.addEventListener('change', () => {
    showNumbers()
    say('The numbers and charts have changed.')
  })
}

// Where the data comes from: a file that is chosen or dropped, or the sample beside this page.

async function openFile(file) {
  if (file.size > MOST_BYTES) {
    say(`${file.name} is too large. A file can have up to 5 MB.`)
    return
  }
  try {
    open(file.name, await file.text())
  } catch {
    say(`${file.name} could not be read.`)
  }
}

async function openSample() {
  try {
    const response = await fetch(new URL('./sample.csv', import.meta.url))
    if (!response.ok) throw new Error(`The server answered ${response.status}.`)
    open('the sample', await response.text())
  } catch {
    say('The sample could not be loaded. You can still open a file of your own.')
  }
}

find('#sample').addEventListener('click', openSample)

find('#file').addEventListener('change', async ({ target }) => {
  const [file] = target.files
  if (file) await openFile(file)
})

page.addEventListener('dragover', (event) => {
  event.preventDefault()
  drop.classList.add('over')
})

page.addEventListener('dragleave', (event) => {
  if (event.relatedTarget === null) drop.classList.remove('over')
})

page.addEventListener('drop', async (event) => {
  event.preventDefault()
  drop.classList.remove('over')
  const [file] = event.dataTransfer.files
  if (file) await openFile(file)
})

await openSample()
