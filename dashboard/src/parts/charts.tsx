/** Small charts: inline SVG from counted rows. Each says its figures in words, too. */
import type { ComponentChildren } from 'preact'
import type { OverviewSpan } from '../../../src/wire/ops/server.ts'
import { When } from './times.tsx'

const outcomes = [
  ['completed', 'c-done'],
  ['canceled', 'c-off'],
  ['failed', 'c-fail'],
] as const

const HEIGHT = 100
const SLOT = 10
const BAR = 7

/** Bars of what ended, by outcome, and a line of what started. */
export function StartedAndEnded({
  spans,
  isCut,
}: {
  readonly spans: readonly OverviewSpan[]
  readonly isCut: boolean
}) {
  const ended = (span: OverviewSpan): number => span.completed + span.canceled + span.failed
  const most = Math.max(1, ...spans.map((span) => Math.max(span.started, ended(span))))
  const y = (count: number): number => HEIGHT - (HEIGHT * count) / most
  const line = spans.map(({ started }, index) => `${index * SLOT + SLOT / 2},${y(started)}`)
  const sum = (of: (span: OverviewSpan) => number): number =>
    spans.reduce((all, span) => all + of(span), 0)
  const width = spans.length * SLOT
  return (
    <>
      <header>
        <h2>Started and ended</h2>
        <span class="push key">
          {outcomes.map(([name, fill]) => (
            <span key={name}>
              <svg viewBox="0 0 10 10" aria-hidden="true">
                <rect class={fill} width="10" height="10" rx="2" />
              </svg>
              {name}
            </span>
          ))}
          <span>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <path class="c-line" d="M0 5h10" />
            </svg>
            started
          </span>
        </span>
      </header>
      <div class="pad">
        <div class="plot">
          <div>
            <svg
              class="chart"
              viewBox={`0 0 ${width} ${HEIGHT}`}
              preserveAspectRatio="none"
              role="img"
              aria-label={`Started ${sum(({ started }) => started)}, completed ${sum(({ completed }) => completed)}, canceled ${sum(({ canceled }) => canceled)}, failed ${sum(({ failed }) => failed)}`}
            >
              {[0, HEIGHT / 2, HEIGHT].map((at) => (
                <line key={at} class="c-grid" x1="0" x2={width} y1={at} y2={at} />
              ))}
              {spans.map((span, index) => (
                <Bars key={span.at} span={span} x={index * SLOT} scale={HEIGHT / most} />
              ))}
              <polyline class="c-line" points={line.join(' ')} />
            </svg>
            <div class="axis" aria-hidden="true">
              {spans[0] !== undefined && <When at={spans[0].at} />}
              {spans[12] !== undefined && <When at={spans[12].at} />}
              <span>now</span>
            </div>
          </div>
          <div class="y" aria-hidden="true">
            <span>{most}</span>
            <span>{most % 2 === 0 ? most / 2 : ''}</span>
            <span>0</span>
          </div>
        </div>
        <Table spans={spans} />
        {isCut && <p class="small quiet">More tasks changed than were counted.</p>}
      </div>
    </>
  )
}

function Bars(props: { readonly span: OverviewSpan; readonly x: number; readonly scale: number }) {
  const { span, x, scale } = props
  let top = HEIGHT
  return (
    <>
      {outcomes.map(([name, fill]) => {
        const height = span[name] * scale
        top -= height
        if (height === 0) return null
        return (
          <rect
            key={name}
            class={fill}
            x={x + (SLOT - BAR) / 2}
            y={top}
            width={BAR}
            height={height}
          />
        )
      })}
    </>
  )
}

function Table({ spans }: { readonly spans: readonly OverviewSpan[] }) {
  return (
    <details class="figures">
      <summary>The figures</summary>
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            <th scope="col" class="num">
              Started
            </th>
            {outcomes.map(([name]) => (
              <th key={name} scope="col" class="num">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {spans.map((span) => (
            <tr key={span.at}>
              <th scope="row">
                <When at={span.at} />
              </th>
              <td class="num">{span.started}</td>
              {outcomes.map(([name]) => (
                <td key={name} class="num">
                  {span[name]}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}

const classes = ['< 5 m', '30 m', '2 h', '8 h', '1 d', 'more']
const TALL = 48

/** How long people have been waited for. */
export function Histogram({ waits }: { readonly waits: readonly number[] }) {
  const most = Math.max(1, ...waits)
  const words = waits.map((count, index) => `${count} ${classes[index]}`).join(', ')
  return (
    <div>
      <div class="histo" role="img" aria-label={`How long they have waited: ${words}`}>
        {waits.map((count, index) => {
          const height = count === 0 ? 1.5 : Math.max(4, (TALL * count) / most)
          return (
            <div key={classes[index]}>
              <b>{count === 0 ? '–' : count}</b>
              <svg viewBox={`0 0 10 ${TALL}`} preserveAspectRatio="none" aria-hidden="true">
                <rect
                  class={count === 0 ? 'c-off' : 'c-ask'}
                  y={TALL - height}
                  width="10"
                  height={height}
                />
              </svg>
              <span>{classes[index]}</span>
            </div>
          )
        })}
      </div>
    </div>
  )
}

/** One line of a list by size: a name, a figure, and a bar. */
export function Meter(props: {
  readonly share: number
  readonly fill: string
  readonly value: string
  readonly aside?: string
  readonly children: ComponentChildren
}) {
  const { share, fill, value, aside, children } = props
  return (
    <li class="meter">
      <span class="cut">{children}</span>
      <span class="nowrap">
        {aside !== undefined && <span class="quiet small">{aside} </span>}
        {value}
      </span>
      <svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        <rect class={fill} width={Math.max(1, 100 * share)} height="6" />
      </svg>
    </li>
  )
}
