/**
 * Several processes on one PostgreSQL, under faults. `npm run soak` sets `LULL_SOAK=<minutes>,<seed>,<tasks>`: the long
 * run. `LULL_SOAK_OLDER` is another build of the program, which every second process runs then.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import type { Fault } from './faults.ts'
import { soak } from './soak.ts'

const everything: readonly Fault[] = [
  'kill',
  'freeze',
  'cut',
  'crash database',
  'freeze',
  'sever',
  'restart database',
  'replace',
]

const [minutes, seed, tasks = 0] = (process.env['LULL_SOAK'] ?? '').split(',').map(Number)

/** How often a long run tells how far it is. */
const TELL_MS = 30_000

if (seed === undefined) {
  it('two processes with clocks two minutes apart, which somebody sets, see 50 tasks through while they are killed', async () => {
    const { faults, counts, accounts, broken } = await soak({
      seed: 1,
      processes: 2,
      skews: [60_000, -60_000],
      steps: true,
      customers: 10,
      goesOn: (begun) => begun < 50,
      faults: ['kill'],
    })
    expect(faults).toEqual([])
    expect(counts['steps']).toBeGreaterThan(100)
    expect(accounts).toHaveLength(50)
    expect(broken.kill).toBeGreaterThan(0)
  })

  it('four processes lose nothing and do nothing twice, whatever breaks', async () => {
    const { faults, accounts, broken, lost } = await soak({
      seed: 2,
      processes: 4,
      customers: 16,
      goesOn: (begun, broke) => begun < 120 || broke < everything.length,
      faults: everything,
    })
    expect(faults).toEqual([])
    expect(accounts.length).toBeGreaterThanOrEqual(120)
    expect(Object.keys(broken).sort()).toEqual([...new Set(everything)].sort())
    expect(lost.length).toBeGreaterThan(0)
  })
} else {
  it(`runs for ${minutes} minutes with seed ${seed}`, { timeout: 0 }, async () => {
    const end = Date.now() + (minutes ?? 0) * 60_000
    let toldAt = Date.now()
    const goesOn = (begun: number, broke: number): boolean => {
      const now = Date.now()
      if (now >= toldAt + TELL_MS) {
        toldAt = now
        const left = Math.max(0, Math.ceil((end - now) / 60_000))
        process.stdout.write(`${begun} tasks, ${broke} things broken, ${left} minutes left\n`)
      }
      return now < end || begun < tasks
    }
    const older = process.env['LULL_SOAK_OLDER']
    const result = await soak({
      seed,
      processes: 4,
      steps: process.env['LULL_SOAK_STEPS'] === 'yes',
      older,
      customers: 32,
      goesOn,
      faults: everything,
    })
    const { accounts, faults, counts, broken, lost } = result
    const report = {
      seed,
      tasks: accounts.length,
      ...counts,
      ...broken,
      'leases lost': lost.length,
      faults: faults.length,
    }
    process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`)
    if (result.exhibits.length > 0) {
      const path = join(mkdtempSync(join(tmpdir(), 'lull-soak-')), 'exhibits.json')
      writeFileSync(path, JSON.stringify(result.exhibits, undefined, 2))
      process.stdout.write(`what is known of the tasks with faults: ${path}\n`)
    }
    expect(faults).toEqual([])
  })
}
