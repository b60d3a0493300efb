/** `/docs/reference.js`: search and copy buttons, both only with script. */
export const SCRIPT = `const box = document.getElementById('search')
const found = document.getElementById('found')
const articles = [...document.querySelectorAll('.family article')]
const groups = document.querySelectorAll('.family, nav section')
const records = document.getElementById('records')

function search() {
  const words = box.value.toLowerCase().split(/\\s+/).filter(Boolean)
  const fits = (article) => {
    const text = (article.id + ' ' + article.textContent).toLowerCase()
    return words.every((word) => text.includes(word))
  }
  for (const article of articles) article.hidden = !fits(article)
  for (const item of document.querySelectorAll('[data-of]')) {
    item.hidden = document.getElementById(item.dataset.of).hidden
  }
  for (const group of groups) {
    const parts = [...group.querySelectorAll('article, [data-of]')]
    group.hidden = words.length > 0 && parts.every((part) => part.hidden)
  }
  records.hidden = words.length > 0
  const left = articles.filter((article) => !article.hidden).length
  found.textContent = words.length === 0 ? '' : left + ' of ' + articles.length + ' operations'
}

async function copy(button, code) {
  try {
    await navigator.clipboard.writeText(code.textContent)
    button.textContent = 'Copied'
  } catch {
    // Without permission, or without https: selected text takes one key press to copy.
    getSelection().selectAllChildren(code)
    button.textContent = 'Selected'
  }
}

for (const figure of document.querySelectorAll('figure')) {
  const button = document.createElement('button')
  const told = document.createElement('span')
  told.setAttribute('role', 'status')
  told.textContent = 'Copy'
  button.type = 'button'
  button.append(told)
  button.addEventListener('click', () => copy(told, figure.querySelector('code')))
  figure.append(button)
}

document.querySelector('search').hidden = false
box.addEventListener('input', search)
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.target === box || event.ctrlKey || event.metaKey) return
  event.preventDefault()
  box.focus()
})
addEventListener('hashchange', () => {
  const target = document.getElementById(location.hash.slice(1))
  if (target === null || target.offsetParent !== null) return
  box.value = ''
  search()
  target.scrollIntoView()
})
`
