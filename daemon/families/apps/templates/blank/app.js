// What the page does. This example writes the date, in the words of the reader's own language.
const today = new Date().toLocaleDateString(undefined, { dateStyle: 'full' })

document.querySelector('#today').textContent = `Today is ${today}.`
