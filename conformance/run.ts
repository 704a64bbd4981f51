/** `tsx run.ts <url> [--profile 1.0.0|1.0.1] [--only ID]… [--json]`: exit code 1 when a MUST fails. */
import { parseArgs } from 'node:util'
import type { V03Rest } from './dialects/rest.ts'
import type { Profile } from './model.ts'
import { line, summarize, totals } from './runner/report.ts'
import { run } from './runner/run.ts'

const USAGE = `Checks an A2A endpoint against the requirements of A2A 1.0 and 0.3.

  tsx conformance/run.ts <url> [options]

  --profile 1.0.0 | 1.0.1   which error table and media type to expect (1.0.1)
  --only ID                 only this requirement; may be repeated; ID or ID#variant
  --lane 1.0/rest           only this version and binding; may be repeated
  --v03-rest proto | kinds  how bodies of 0.3 over REST are written (proto, as the official SDKs do)
  --failed                  print failures only
  --json                    print the report as JSON
`

const PROFILES: readonly string[] = ['1.0.0', '1.0.1'] satisfies readonly Profile[]
const isProfile = (text: string): text is Profile => PROFILES.includes(text)

const isSpelling = (text: string): text is V03Rest => text === 'proto' || text === 'kinds'

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      profile: { type: 'string', default: '1.0.1' },
      only: { type: 'string', multiple: true },
      lane: { type: 'string', multiple: true },
      'v03-rest': { type: 'string', default: 'proto' },
      failed: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  const [url] = positionals
  const { profile, only, lane, failed, json, 'v03-rest': v03Rest } = values
  if (values.help || url === undefined || !isProfile(profile) || !isSpelling(v03Rest)) {
    process.stdout.write(USAGE)
    return values.help ? 0 : 2
  }
  const results = await run(url, {
    profile,
    v03Rest,
    ...(only ? { only } : {}),
    ...(lane ? { lanes: lane } : {}),
    onResult: (result) => {
      if (!json && (!failed || result.status === 'fail')) process.stdout.write(`${line(result)}\n`)
    },
  })
  const summary = summarize(url, profile, results)
  process.stdout.write(json ? `${JSON.stringify(summary, null, 2)}\n` : `\n${totals(summary)}\n`)
  if (results.length === 0) return 2
  return summary.counts.MUST.fail > 0 ? 1 : 0
}

process.exitCode = await main()
