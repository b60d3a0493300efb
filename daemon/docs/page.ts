import { methodName } from '../client/client.ts'
import type { ApiDocument, ApiOperation, Placed, Schema } from './api-document.ts'
import { formsOf, operationsOf, recordOf } from './api-document.ts'
import { curlOf } from './curl.ts'
import { answeredFields, givenFields, printFields, typeOf } from './fields.ts'
import type { Markup } from './html.ts'
import { html, joined } from './html.ts'

/** The reference of an API as one page: readable without script, searchable with it. */
export function referencePage(document: ApiDocument): string {
  const { info, servers, tags, components } = document
  const baseUrl = servers[0]?.url ?? ''
  const operations = operationsOf(document)
  const families = tags.map(({ name }) => ({
    name,
    operations: operations.filter((operation) => operation.tags.includes(name)),
  }))
  const records = Object.keys(components.schemas).sort()
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>${info.title}: API reference</title>
        <link rel="stylesheet" href="docs/reference.css" />
        <script type="module" src="docs/reference.js"></script>
      </head>
      <body>
        <a class="skip" href="#content">Skip to the operations</a>
        <nav aria-label="Operations">
          <p class="title"><a href="#top">${info.title}</a></p>
          <search hidden>
            <label for="search">Search</label>
            <input
              id="search"
              type="search"
              autocomplete="off"
              spellcheck="false"
              placeholder="Press / to search"
            />
            <p id="found" role="status"></p>
          </search>
          ${families.map(printIndex)}
          <section>
            <h2><a href="#records">Records</a></h2>
            <ul>
              ${records.map((name) => html`<li><a href="#record-${name}">${name}</a></li> `)}
            </ul>
          </section>
        </nav>
        <main id="content">
          <header id="top">
            <h1>API reference</h1>
            <p>${info.description ?? ''} The base address is <code>${baseUrl}</code>.</p>
            <p>
              <a href="v1/openapi.json">OpenAPI document</a> · <a href="docs/errors">Error codes</a>
            </p>
          </header>
          ${families.map(
            ({ name, operations }) =>
              html`<section class="family" id="family-${name}">
                <h2>${name}</h2>
                ${operations.map((operation) => printOperation(operation, document))}
              </section> `,
          )}
          <section id="records">
            <h2>Records</h2>
            ${records.map((name) => printRecordOf(name, document))}
          </section>
        </main>
      </body>
    </html> `.text
}

function printIndex({
  name,
  operations,
}: {
  readonly name: string
  readonly operations: readonly Placed[]
}): Markup {
  return html`<section>
    <h2><a href="#family-${name}">${name}</a></h2>
    <ul>
      ${operations.map(
        ({ operationId, summary }) =>
          html`<li data-of="${operationId}"><a href="#${operationId}">${summary}</a></li> `,
      )}
    </ul>
  </section> `
}

function printOperation(operation: Placed, document: ApiDocument): Markup {
  const { operationId, summary, method, path } = operation
  return html`<article id="${operationId}">
    <h3><a href="#${operationId}">${summary}</a></h3>
    <p class="route">
      <span class="method" data-method="${method}">${method}</span> <code>${path}</code>
    </p>
    <p class="facts">
      ${whoMay(operation)} · <code>client.${methodName(operationId).join('.')}</code>
    </p>
    ${PARAMETER_LOCATIONS.map(([location, caption]) => printParameters(operation, location, caption))}
    ${printBody(operation, document)} ${printCode('Request', curlOf(operation, document))}
    ${printAnswer(operation, document)} ${printRefusals(operation)}
  </article> `
}

const PARAMETER_LOCATIONS = [
  ['path', 'Path'],
  ['query', 'Query'],
] as const

function printParameters(
  { parameters = [] }: ApiOperation,
  location: string,
  caption: string,
): Markup {
  const fields = parameters
    .filter((parameter) => parameter.in === location)
    .map(({ name, required, schema }) => ({
      name,
      need: required === true ? ('required' as const) : ('' as const),
      schema,
    }))
  return printFields(caption, fields)
}

function printBody({ requestBody }: ApiOperation, document: ApiDocument): readonly Markup[] {
  if (requestBody === undefined) return []
  const { 'application/json': json, 'multipart/form-data': parts } = requestBody.content
  const optional = requestBody.required === true ? '' : ', optional'
  const bodies = [
    ...(json === undefined ? [] : [{ kind: 'Body', ...json }]),
    ...(parts === undefined ? [] : [{ kind: 'Parts of a multipart body', ...parts }]),
  ]
  return bodies.flatMap(({ kind, schema }, which) =>
    formsOf(schema, document).map((form, at) => {
      const caption = at > 0 ? 'Or instead' : which > 0 ? `Or: ${kind}` : kind + optional
      return printFields(caption, givenFields(form))
    }),
  )
}

/** The allowed callers, by security schemes of which one is enough. */
function whoMay({ security }: ApiOperation): Markup {
  if (security.length === 0) return html`For everyone`
  const ways = security.flatMap(Object.entries<readonly string[]>).map(([scheme, scopes]) => {
    const [scope] = scopes
    const holder = HOLDERS[scheme] ?? scheme
    return scope === undefined ? html`${holder}` : html`${holder} with <code>${scope}</code>`
  })
  return html`For ${joined(ways, ', ')}`
}

const HOLDERS: Readonly<Record<string, string>> = {
  developerKey: 'a key',
  session: 'a signed-in user',
  operator: 'the operator',
}

function printAnswer({ responses }: ApiOperation, document: ApiDocument): Markup {
  const [status = '', answer] = Object.entries(responses).find(([code]) => code < '300') ?? []
  const content = answer?.content?.['application/json']
  if (content === undefined) return html``
  return html`<details>
    <summary>Answer <code>${status}</code></summary>
    ${
      recordOf(content.schema) === undefined
        ? printRecord(content.schema, document)
        : html`<p>${typeOf(content.schema)}</p>`
    }
    ${printCode('Example', JSON.stringify(content.example, null, 2))}
  </details>`
}

function printRefusals({ responses }: ApiOperation): Markup {
  const refusals = Object.entries(responses).filter(([status]) => status >= '400')
  return html`<details>
    <summary>Errors</summary>
    <dl>
      ${refusals.map(
        ([status, { description }]) =>
          html`<div>
            <dt>${status}</dt>
            <dd>
              ${joined(
                description
                  .split(', ')
                  .map((code) => html`<a href="docs/errors#${code}"><code>${code}</code></a>`),
                ' ',
              )}
            </dd>
          </div> `,
      )}
    </dl>
  </details>`
}

function printRecordOf(name: string, document: ApiDocument): Markup {
  const { [name]: schema = {} } = document.components.schemas
  return html`<article id="record-${name}">
    <h3><a href="#record-${name}">${name}</a></h3>
    ${printRecord(schema, document)}
  </article> `
}

function printRecord(schema: Schema, document: ApiDocument): readonly Markup[] {
  return formsOf(schema, document).map((form) => printFields('Fields', answeredFields(form)))
}

function printCode(caption: string, text: string): Markup {
  return html`<figure>
    <figcaption>${caption}</figcaption>
    <pre tabindex="0"><code>${text}</code></pre>
  </figure>`
}
