/**
 * Markdown that strangers wrote, as elements. No text becomes markup, no picture is loaded, and a link leads only to
 * http, https or mailto. What is not understood stays text.
 */
import type { ComponentChild } from 'preact'

const MOST = 50_000
/** Quotes in quotes, and marks in marks, up to this depth. Below it they stay text. */
const DEEPEST = 8

export function Markdown({ text }: { readonly text: string }) {
  return <div class="md">{blocksOf(text.slice(0, MOST), 0)}</div>
}

type Make = (found: RegExpExecArray, depth: number) => ComponentChild

/** Each pattern matches at the beginning of the rest, and makes one block of it. */
const blocks: readonly (readonly [RegExp, Make])[] = [
  [/^(`{3,}|~{3,})[^\n]*\n([\s\S]*?)(?:\n\1[^\n]*(?=\n|$)|$)/, ([, , code]) => <pre>{code}</pre>],
  [/^#{1,6} +([^\n]+?)(?: #+)?(?=\n|$)/, ([, title = '']) => <h4>{inline(title)}</h4>],
  [/^(?:-{3,}|\*{3,}|_{3,}) *(?=\n|$)/, () => <hr />],
  [/^(?:\|[^\n]*\|[ \t]*(?:\n|$)){2,}/, ([rows]) => <Table rows={rows} />],
  [/^(?:[-*+] [^\n]*(?:\n {2,}[^\n]+)*(?:\n|$))+/, ([list]) => <ul>{itemsOf(list, /^[-*+] /)}</ul>],
  [
    /^(?:\d{1,9}[.)] [^\n]*(?:\n {2,}[^\n]+)*(?:\n|$))+/,
    ([list]) => <ol>{itemsOf(list, /^\d+[.)] /)}</ol>,
  ],
  [
    /^(?:>[^\n]*(?:\n|$))+/,
    ([quote], depth) => <blockquote>{blocksOf(quote.replace(/^> ?/gm, ''), depth + 1)}</blockquote>,
  ],
  [/^[^\n]+(?:\n(?![#>|]|[-*+] |\d+[.)] |`{3}|~{3})[^\n]+)*/, ([text]) => <p>{inline(text)}</p>],
]

function blocksOf(text: string, depth: number): readonly ComponentChild[] {
  if (depth > DEEPEST) return [text]
  const made: ComponentChild[] = []
  let rest = text.replace(/\r\n?/g, '\n')
  for (;;) {
    rest = rest.replace(/^(?:[ \t]*\n)+/, '')
    if (rest.trim() === '') return made
    const [found, make] = firstOf(blocks, rest)
    made.push(make(found, depth))
    rest = rest.slice(found[0].length)
  }
}

/** The last pattern matches every text that is not empty. */
function firstOf(table: typeof blocks, text: string): readonly [RegExpExecArray, Make] {
  for (const [pattern, make] of table) {
    const found = pattern.exec(text)
    if (found !== null) return [found, make]
  }
  throw new Error('a paragraph matches every text')
}

function itemsOf(list: string, mark: RegExp): readonly ComponentChild[] {
  return list
    .replace(/\n$/, '')
    .split(/\n(?! {2})/)
    .map((item, index) => (
      <li key={index}>{inline(item.replace(mark, '').replace(/\n {2,}/g, '\n'))}</li>
    ))
}

function Table({ rows }: { readonly rows: string }) {
  const cells = rows
    .trim()
    .split('\n')
    .map((row) =>
      row
        .trim()
        .replace(/^\||\|$/g, '')
        .split('|'),
    )
  const isRule = (row: readonly string[]): boolean => row.every((cell) => /^ *:?-+:? *$/.test(cell))
  const [head = [], ...others] = cells
  return (
    <table>
      <thead>
        <tr>
          {head.map((cell, index) => (
            <th key={index}>{inline(cell.trim())}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {others
          .filter((row) => !isRule(row))
          .map((row, index) => (
            <tr key={index}>
              {row.map((cell, place) => (
                <td key={place}>{inline(cell.trim())}</td>
              ))}
            </tr>
          ))}
      </tbody>
    </table>
  )
}

const spans =
  /(?<code>`+)(?<inCode>[^`]|[^`][\s\S]{0,1000}?[^`])\k<code>(?!`)|!?\[(?<label>[^\]\n]{0,500})\]\((?<address>[^\s)]{1,2000})(?: "[^"\n]*")?\)|(?<mark>\*\*|__)(?=\S)(?<strong>[^\n]{1,1000}?)(?<=\S)\k<mark>|(?<![\w*])(?<em>[*_])(?=\S)(?<soft>[^*_\n]{1,1000}?)(?<=\S)\k<em>(?![\w*])/

function inline(text: string, depth = 0): readonly ComponentChild[] {
  if (depth > DEEPEST) return [text]
  const made: ComponentChild[] = []
  let rest = text
  for (;;) {
    const found = spans.exec(rest)
    if (found === null) return [...made, rest]
    if (found.index > 0) made.push(rest.slice(0, found.index))
    made.push(spanOf(found, depth + 1))
    rest = rest.slice(found.index + found[0].length)
  }
}

function spanOf({ 0: whole, groups = {} }: RegExpExecArray, depth: number): ComponentChild {
  const { inCode, label, address, strong, soft } = groups
  if (inCode !== undefined) return <code>{inCode}</code>
  if (strong !== undefined) return <strong>{inline(strong, depth)}</strong>
  if (soft !== undefined) return <em>{inline(soft, depth)}</em>
  // A picture would ask another server. Its address stays text.
  if (address === undefined || !isSafe(address) || whole.startsWith('!')) return whole
  return (
    <a href={address} rel="noopener noreferrer nofollow" target="_blank">
      {label === undefined || label === '' ? address : inline(label, depth)}
    </a>
  )
}

function isSafe(address: string): boolean {
  return /^(?:https?:\/\/|mailto:)/i.test(address)
}
