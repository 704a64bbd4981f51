/** What the machine can do at best, measured beside the rows: their ratios mean something, their figures alone do not. */
import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { elapsed } from './turns.mjs'

/** How long each write of 4 KiB over itself takes to be durable, in milliseconds: what a lone commit cannot beat. */
export function fdatasyncTimes(directory, ms) {
  const file = join(directory, 'fdatasync')
  const page = Buffer.alloc(4_096, 1)
  const fd = openSync(file, 'w')
  const times = []
  try {
    writeSync(fd, page, 0, page.length, 0)
    fdatasyncSync(fd)
    const started = performance.now()
    while (elapsed(started) < ms) {
      const before = performance.now()
      writeSync(fd, page, 0, page.length, 0)
      fdatasyncSync(fd)
      times.push(elapsed(before))
    }
  } finally {
    closeSync(fd)
    rmSync(file)
  }
  return times
}

/** Writes per second. */
export function fdatasyncRate(directory, ms) {
  const times = fdatasyncTimes(directory, ms)
  return (times.length * 1_000) / times.reduce((sum, time) => sum + time, 0)
}

const text = JSON.stringify({
  type: 'step',
  key: 'step:search#1',
  name: 'search',
  attempt: 1,
  result: { offers: [1, 2, 3].map((n) => ({ n, flight: `AY 13${n}`, price: 99.5 * n, seats: 4 })) },
  topLevel: true,
  seq: 4,
  at: 1_700_000_000_000,
})

/** Milliseconds to parse a record of about 300 bytes: the least a rebuilt run can cost per record. */
export function parseTime(ms) {
  let parsed = 0
  const started = performance.now()
  while (elapsed(started) < ms) {
    for (let i = 0; i < 1_000; i++) JSON.parse(text)
    parsed += 1_000
  }
  return elapsed(started) / parsed
}
