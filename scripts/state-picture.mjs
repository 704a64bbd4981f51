/**
 * Draws docs/images/states.svg from the table of transitions, so that the picture cannot differ from the code.
 *
 *   node scripts/state-picture.mjs     writes the file; `npm test` fails when it is out of date
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { root } from './run.mjs'

export const file = 'docs/images/states.svg'

const WIDTH = 880
const HEIGHT = 430
const BOX = { width: 176, height: 40 }
/** Boxes of the column on the right are this far away: lines meet them at the side, not through their neighbours. */
const FAR = 300

/** The centre of each state's box. A state without a place fails the drawing. */
const places = {
  submitted: [100, 60],
  working: [390, 60],
  'paused-by-agent': [775, 60],
  'paused-by-client': [775, 125],
  'input-required': [775, 190],
  'auth-required': [775, 255],
  'user-consent-required': [775, 320],
  rejected: [100, 380],
  canceled: [290, 380],
  completed: [480, 380],
  failed: [670, 380],
}

/** Only `working` gets a line to these; the caption speaks of the other states. */
const captioned = new Set(['failed', 'canceled'])

export function statePicture(transitions, kindOf) {
  const pairs = transitions.flatMap(([from, tos]) => tos.map((to) => [from, to]))
  const drawn = pairs.filter(([from, to]) => from === 'working' || !captioned.has(to))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title text">`,
    '<title id="title">The states of a task</title>',
    `<desc id="text">${pairs.map(([from, to]) => `${from} to ${to}`).join('; ')}</desc>`,
    STYLE,
    '<defs><marker id="end" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L10 5L0 10z" class="end"/></marker></defs>',
    ...lines(drawn),
    ...Object.keys(places).map((state) => box(state, kindOf(state))),
    `<text x="${WIDTH / 2}" y="${HEIGHT - 8}" class="note">A task that has not ended can be canceled. A stopped or asking task can fail at its deadline.</text>`,
    '</svg>',
    '',
  ].join('\n')
}

const STYLE = `<style>
  svg { font: 14px system-ui, sans-serif; color: #1f2430; background: #fff }
  rect { stroke: currentColor; stroke-width: 1.2; rx: 8 }
  text { fill: currentColor; text-anchor: middle; dominant-baseline: middle }
  path.line { fill: none; stroke: currentColor; opacity: .65 }
  path.end { fill: currentColor }
  .runnable { fill: #cfe6ff } .paused { fill: #ffe9b8 } .interrupted { fill: #eadcff } .terminal { fill: #e4e7ec }
  .note { font-size: 12px; opacity: .8 }
  @media (prefers-color-scheme: dark) {
    svg { color: #e6e9f0; background: #1b1e26 }
    .runnable { fill: #1d3d5f } .paused { fill: #5a4513 } .interrupted { fill: #46306b } .terminal { fill: #383d48 }
  }
</style>`

function box(state, kind) {
  const [x, y] = places[state]
  const corner = `x="${x - BOX.width / 2}" y="${y - BOX.height / 2}"`
  return `<g><rect ${corner} width="${BOX.width}" height="${BOX.height}" class="${kind}"/><text x="${x}" y="${y}">${state}</text></g>`
}

/** One line per pair of states; a pair that goes both ways has an arrow at each end. */
function lines(pairs) {
  const known = new Set(pairs.map(String))
  return pairs
    .filter(([from, to]) => !(known.has(`${to},${from}`) && from > to))
    .map(([from, to]) => {
      const start = known.has(`${to},${from}`) ? ' marker-start="url(#end)"' : ''
      const [a, b] = [edge(places[from], places[to]), edge(places[to], places[from])]
      return `<path class="line" d="M${a.join(' ')}L${b.join(' ')}" marker-end="url(#end)"${start}/>`
    })
}

/** Where the line from one box to another leaves the first: at the middle of a side, or towards the other's centre. */
function edge([x, y], [toX, toY]) {
  const [dx, dy] = [toX - x, toY - y]
  if (Math.abs(dx) > FAR) return [x + (Math.sign(dx) * BOX.width) / 2, y]
  const share = Math.min(
    dx === 0 ? Infinity : BOX.width / 2 / Math.abs(dx),
    dy === 0 ? Infinity : BOX.height / 2 / Math.abs(dy),
  )
  return [x + dx * share, y + dy * share].map((n) => Math.round(n))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { transitions, kindOf } = await import('../dist/core/states.js')
  writeFileSync(join(root, file), statePicture(transitions, kindOf))
}
