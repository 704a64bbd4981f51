/** The table people read. */

const QUIET = 0.3

export function format(measured, { node, system, processor, memoryGiB, quick }) {
  const head = ['what', 'ours', 'against', '', 'score', 'bar', 'goal', '']
  const body = measured.flatMap((row) => linesOf(row).map((line) => cells(row, line)))
  const widths = head.map((_, i) => Math.max(...[head, ...body].map((row) => row[i].length)))
  const text = (row) =>
    row
      .map((cell, i) => pad(cell, widths[i], i))
      .join('  ')
      .trimEnd()
  const rule = widths.map((width) => '─'.repeat(width)).join('──')
  return [
    `\nNode ${node}, ${processor}, ${memoryGiB} GiB, ${system}${quick ? ', --quick' : ''}`,
    'Scores are ratios (or differences) within this run; the figures alone say little about another machine.\n',
    text(head),
    rule,
    ...body.map(text),
    '',
  ].join('\n')
}

export function summary(measured) {
  const lines = measured.flatMap(linesOf)
  const judged = lines.filter(({ bar }) => bar !== undefined)
  const loud = measured.filter(({ otherCpu = 0 }) => otherCpu > QUIET).map(({ row }) => row)
  const failed = measured.filter(({ error }) => error !== undefined).map(({ row }) => row)
  return [
    ...(loud.length === 0
      ? []
      : [`~ others used more than ${QUIET} of a core: ${loud.join(', ')}`]),
    ...(failed.length === 0 ? [] : [`failed: ${failed.join(', ')}`]),
    `${judged.filter(reaches('bar')).length} of ${judged.length} bars reached, ` +
      `${lines.filter(reaches('goal')).length} of ${lines.filter(({ goal }) => goal !== undefined).length} goals`,
  ].join('\n')
}

export function isMissed(row) {
  return row.error !== undefined
}

function linesOf({ lines = [] }) {
  return lines
}

function cells({ otherCpu = 0 }, { what, ours, against, score, bar, goal, better }) {
  const limit = (value) =>
    value === undefined ? '' : `${better === 'more' ? '≥' : '≤'} ${short(value)}`
  return [
    `${otherCpu > QUIET ? '~ ' : ''}${what}`,
    quantity(ours),
    against === undefined ? '' : quantity(against),
    against?.what ?? '',
    quantity(score),
    limit(bar),
    limit(goal),
    verdict({ score, bar, goal, better }),
  ]
}

function verdict(line) {
  if (reaches('goal')(line)) return 'goal'
  if (line.bar === undefined) return ''
  return reaches('bar')(line) ? 'ok' : 'MISSED'
}

/** @param mark `bar` or `goal` */
function reaches(mark) {
  return ({ score, better, [mark]: limit }) => {
    if (limit === undefined) return false
    // A goal of nothing is reached by what cannot be told from it.
    const value = limit === 0 ? Math.round(score.value) : score.value
    return better === 'more' ? value >= limit : value <= limit
  }
}

function quantity({ value, unit }) {
  if (unit === 'B') return `${short(value / 1e6)} MB`
  return `${short(value)} ${unit}`
}

function short(value) {
  if (value === 0) return '0'
  const size = Math.abs(value)
  if (size >= 1_000) return Math.round(value).toLocaleString('en')
  return String(Number(value.toPrecision(size >= 100 ? 3 : 2)))
}

function pad(cell, width, column) {
  return column === 0 || column === 3 ? cell.padEnd(width) : cell.padStart(width)
}
