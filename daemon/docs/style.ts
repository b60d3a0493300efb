/** `/docs/reference.css`, for the reference and the error codes. */
export const STYLE = `:root {
  color-scheme: light dark;
  --text: light-dark(#1b1f24, #e6e8eb);
  --quiet: light-dark(#57606a, #9aa4af);
  --page: light-dark(#ffffff, #15181c);
  --raised: light-dark(#f5f7f9, #1d2126);
  --line: light-dark(#d8dee4, #30363d);
  --accent: light-dark(#0a58ca, #7ab4ff);
  --mark: light-dark(#fff3c4, #4d3f10);
  scroll-padding-top: 1rem;
}
* {
  box-sizing: border-box;
}
[hidden] {
  display: none;
}
body {
  margin: 0;
  background: var(--page);
  color: var(--text);
  font: 1rem/1.6 system-ui, sans-serif;
}
body:has(> nav) {
  display: grid;
  grid-template-columns: 18rem minmax(0, 1fr);
}
a {
  color: var(--accent);
  text-decoration: none;
}
a:hover {
  text-decoration: underline;
}
:focus-visible {
  outline: 3px solid var(--accent);
  outline-offset: 2px;
}
code,
pre {
  font: 0.875em/1.6 ui-monospace, monospace;
}
.skip {
  position: absolute;
  left: -100vw;
}
.skip:focus {
  left: 1rem;
  top: 1rem;
  padding: 0.5rem 1rem;
  background: var(--page);
}
nav {
  position: sticky;
  top: 0;
  height: 100vh;
  padding: 1.5rem 1.25rem;
  overflow-y: auto;
  border-right: 1px solid var(--line);
  background: var(--raised);
  font-size: 0.875rem;
}
nav h2 {
  margin: 1.25rem 0 0.25rem;
  font-size: 0.75rem;
  letter-spacing: 0.06em;
  text-transform: uppercase;
}
nav h2 a {
  color: var(--quiet);
}
nav ul {
  margin: 0;
  padding: 0;
  list-style: none;
}
nav li a {
  display: block;
  padding: 0.2rem 0;
  color: var(--text);
}
.title {
  margin: 0 0 1rem;
  font-size: 1.125rem;
  font-weight: 600;
}
.title a {
  color: inherit;
}
label {
  font-weight: 600;
}
input {
  width: 100%;
  min-height: 2.5rem;
  padding: 0.25rem 0.75rem;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  background: var(--page);
  color: inherit;
  font: inherit;
}
#found {
  min-height: 1.5rem;
  margin: 0.25rem 0 0;
  color: var(--quiet);
}
main {
  max-width: 56rem;
  padding: 2.5rem clamp(1.25rem, 5vw, 4rem) 6rem;
}
h1 {
  margin: 0;
  font-size: 2rem;
}
main h2 {
  margin: 3.5rem 0 0;
  font-size: 1.375rem;
  text-transform: capitalize;
}
h3 {
  margin: 0;
  font-size: 1.125rem;
}
h3 a {
  color: inherit;
}
article {
  padding: 1.75rem 0;
  border-bottom: 1px solid var(--line);
}
article:target h3 {
  background: var(--mark);
}
.route {
  margin: 0.5rem 0 0;
  overflow-wrap: anywhere;
}
.method {
  display: inline-block;
  min-width: 4.25rem;
  padding: 0 0.5rem;
  border: 1px solid var(--line);
  border-radius: 0.25rem;
  font: 600 0.75rem/1.6 ui-monospace, monospace;
  text-align: center;
}
.method[data-method='DELETE'] {
  border-style: dashed;
}
.facts,
.limit,
caption,
figcaption {
  color: var(--quiet);
  font-size: 0.875rem;
}
.facts {
  margin: 0.25rem 0 1rem;
}
.need {
  margin-left: 0.25rem;
  color: var(--quiet);
  font-size: 0.75rem;
  font-weight: 400;
}
.wide {
  margin: 0.75rem 0;
  overflow-x: auto;
}
table {
  width: 100%;
  border-collapse: collapse;
  font-size: 0.875rem;
}
caption {
  padding-bottom: 0.25rem;
  text-align: left;
}
th,
td {
  padding: 0.4rem 1rem 0.4rem 0;
  border-top: 1px solid var(--line);
  text-align: left;
  vertical-align: top;
}
thead {
  position: absolute;
  clip-path: inset(50%);
}
figure {
  position: relative;
  margin: 0.75rem 0;
}
pre {
  margin: 0.25rem 0 0;
  padding: 0.75rem 1rem;
  border: 1px solid var(--line);
  border-radius: 0.375rem;
  background: var(--raised);
  overflow-x: auto;
}
figure button {
  position: absolute;
  top: 0;
  right: 0;
  border: 0;
  background: none;
  color: var(--accent);
  font: inherit;
  font-size: 0.875rem;
  cursor: pointer;
}
summary {
  width: fit-content;
  color: var(--accent);
  font-size: 0.875rem;
  cursor: pointer;
}
dl div {
  display: flex;
  gap: 1rem;
  font-size: 0.875rem;
}
dd {
  margin: 0;
  overflow-wrap: anywhere;
}
@media (max-width: 60rem) {
  body:has(> nav) {
    display: block;
  }
  nav {
    position: static;
    height: auto;
    max-height: 60vh;
    border-right: 0;
    border-bottom: 1px solid var(--line);
  }
}
@media print {
  nav,
  figure button {
    display: none;
  }
}
`
