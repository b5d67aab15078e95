/**
 * The HTML form of a graph: a list of files with their sources, derived files and states, a search field
 * and a filter. It loads nothing and sends nothing: the policy allows only what stands in the page. The
 * data lies in it as JSON in which `<` cannot occur, and the script writes text nodes only, so that a file's
 * name can never become markup.
 */
import { withoutDirectionSigns } from '../../text/data.ts'
import type { GraphOutput } from '../verbs/graph.ts'

const style = `
:root { color-scheme: light dark; --line: #8884; --soft: #888; --suspect: #c22; --chain: #b60; --unverified: #777; --clean: #283 }
@media (prefers-color-scheme: dark) { :root { --suspect: #f77; --chain: #fa5; --unverified: #aaa; --clean: #7c8 } }
* { box-sizing: border-box }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif }
header { position: sticky; top: 0; padding: 1rem 1.5rem; display: flex; gap: 1rem; align-items: center; flex-wrap: wrap; background: Canvas; border-bottom: 1px solid var(--line) }
h1 { font-size: 1.1rem; margin: 0 }
input[type=search] { flex: 1 1 14rem; font: inherit; padding: .4rem .7rem; border: 1px solid var(--line); border-radius: .4rem; background: transparent; color: inherit }
label { display: flex; gap: .4rem; align-items: center }
main { padding: 1rem 1.5rem 4rem; max-width: 70rem }
article { padding: .6rem 0; border-bottom: 1px solid var(--line) }
article > button { all: unset; cursor: pointer; font: 600 .95rem ui-monospace, monospace; overflow-wrap: anywhere }
article > button:focus-visible { outline: 2px solid; outline-offset: 3px }
.state { font-size: .8rem; margin-left: .6rem }
.suspect { color: var(--suspect) } .chain { color: var(--chain) } .unverified { color: var(--unverified) } .clean { color: var(--clean) }
ul { margin: .2rem 0 0; padding-left: 1.4rem; list-style: none }
li { font: .85rem ui-monospace, monospace; overflow-wrap: anywhere }
li a { color: inherit }
li i { color: var(--soft); font-style: normal }
#count { color: var(--soft) }
`

const script = `
const data = JSON.parse(document.getElementById('data').textContent)
const search = document.getElementById('search'), only = document.getElementById('only')
const list = document.getElementById('list'), count = document.getElementById('count')
const up = new Map(), down = new Map()
for (const edge of data.edges) {
  if (!up.has(edge.from)) up.set(edge.from, [])
  up.get(edge.from).push(edge)
  if (!down.has(edge.to)) down.set(edge.to, [])
  down.get(edge.to).push(edge)
}
const make = (tag, name, text) => {
  const element = document.createElement(tag)
  if (name) element.className = name
  if (text !== undefined) element.textContent = text
  return element
}
const link = id => {
  const a = make('a', '', id)
  a.href = '#'
  a.addEventListener('click', event => { event.preventDefault(); search.value = id; show() })
  return a
}
const row = (arrow, id, edge) => {
  const item = make('li')
  const anchor = edge.anchor === null ? '' : '#' + edge.anchor
  const section = edge.section === null ? '' : ' \u00a7 ' + edge.section
  const isSource = id === edge.to
  item.append(make('i', '', (isSource ? section.trim() + ' ' : anchor + ' ').trimStart() + arrow + ' '), link(id))
  item.append(make('i', '', isSource ? anchor : section))
  const bad = edge.state === 'suspect'
  item.append(' ', make('span', bad ? 'suspect' : edge.state === 'clean' ? 'clean' : 'unverified', edge.reason || edge.state))
  return item
}
const show = () => {
  const wanted = search.value.trim().toLowerCase()
  const nodes = data.nodes.filter(node =>
    (!only.checked || node.state === 'suspect' || (down.get(node.id) || []).some(edge => edge.state === 'suspect')) &&
    (wanted === '' || node.id.toLowerCase().includes(wanted)))
  list.replaceChildren(...nodes.slice(0, 1000).map(node => {
    const article = make('article')
    const name = make('button', '', node.id)
    name.addEventListener('click', () => { search.value = node.id; show() })
    article.append(name, make('span', 'state ' + node.state, node.missing ? 'missing' : node.child ? node.state : 'source'))
    const rows = make('ul')
    for (const edge of up.get(node.id) || []) rows.append(row('\\u2190', edge.to, edge))
    for (const edge of down.get(node.id) || []) rows.append(row('\\u2192', edge.from, edge))
    article.append(rows)
    return article
  }))
  count.textContent = nodes.length + ' of ' + data.nodes.length + ' files' + (nodes.length > 1000 ? ', the first 1000 shown' : '')
}
search.addEventListener('input', show)
only.addEventListener('change', show)
show()
`

export function graphPage({ nodes, edges, cycles }: GraphOutput): string {
  const data = withoutDirectionSigns(JSON.stringify({ nodes, edges, cycles })).replace(/[<>&\u2028\u2029]/g, sign => {
    return `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>keel: documents and their sources</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>Documents and their sources</h1>
<input id="search" type="search" placeholder="Search files" aria-label="Search files" autofocus>
<label><input id="only" type="checkbox"> only suspects</label>
<span id="count" role="status"></span>
</header>
<main id="list"></main>
<script id="data" type="application/json">${data}</script>
<script>${script}</script>
</body>
</html>
`
}
