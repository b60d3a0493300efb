/** Makes an HTML element with a text or other elements in it. */
export function element(name, attributes = {}, ...content) {
  return fill(document.createElement(name), attributes, content)
}

/** The same for the parts of a drawing. */
export function shape(name, attributes = {}, ...content) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', name), attributes, content)
}

function fill(made, attributes, content) {
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value)
  made.append(...content)
  return made
}
