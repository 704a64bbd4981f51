/** `lull conformance <url>`: checks any endpoint against the requirements of A2A. The kit is a separate build in `dist`. */
import { ClientError } from '../../client/client-error.ts'
import { plain } from '../../core/values/printable.ts'
import { type Command, exitCodes, type Input, UsageError } from '../command.ts'
import { readOnlyWord } from '../input/read-input.ts'

/** The part of `conformance/kit.ts` that is used here. */
interface Kit {
  run(url: string, options: KitOptions): Promise<readonly Result[]>
  line(result: Result): string
  summarize(url: string, profile: string, results: readonly Result[]): Summary
  totals(summary: Summary): string
}

interface KitOptions {
  readonly profile: string
  readonly v03Rest: string
  readonly only?: readonly string[]
  readonly lanes?: readonly string[]
  readonly onResult: (result: Result) => void
}

interface Result {
  readonly status: string
}

interface Summary {
  readonly counts: { readonly MUST: { readonly fail: number } }
}

export const conformance: Command = {
  name: 'conformance',
  args: '<url>',
  about: 'Check an A2A endpoint, of Lull or of others, against the requirements of A2A 1.0 and 0.3',
  flags: {
    profile: { value: 'version', about: 'Error table and media type: 1.0.0, or 1.0.1 (default)' },
    only: {
      value: 'id',
      about: 'Only this requirement, or one case of it (ID#variant); repeat it',
    },
    lane: { value: 'lane', about: 'Only this version and binding, such as 1.0/rest; repeat it' },
    'v03-rest': { value: 'form', about: 'Bodies of 0.3 over REST: proto (default) or kinds' },
    failed: { about: 'Print failures only' },
  },
  examples: ['conformance http://127.0.0.1:8787', 'conformance <url> --only CORE-GET-002 --json'],
  async run(input, io) {
    const url = readOnlyWord(input, 'give the address of one agent')
    await expectAnswer(url)
    const profile = readVariant(input, 'profile', ['1.0.1', '1.0.0'])
    const v03Rest = readVariant(input, 'v03-rest', ['proto', 'kinds'])
    const [only, lanes] = [input.texts('only'), input.texts('lane')]
    const [json, failed] = [input.has('json'), input.has('failed')]
    const kit = (await import(new URL('../../conformance/kit.js', import.meta.url).href)) as Kit
    const results = await kit.run(url, {
      profile,
      v03Rest,
      ...(only.length === 0 ? {} : { only }),
      ...(lanes.length === 0 ? {} : { lanes }),
      onResult(result) {
        if (!json && (!failed || result.status === 'fail')) io.print(plain(kit.line(result)))
      },
    })
    if (results.length === 0) throw new UsageError('no requirement fits --only and --lane')
    const summary = kit.summarize(url, profile, results)
    io.print(json ? JSON.stringify(summary) : `\n${kit.totals(summary)}`)
    return summary.counts.MUST.fail > 0 ? exitCodes.refused : exitCodes.ok
  },
}

/** @throws UsageError when it is not an address, ClientError when nothing answers there */
async function expectAnswer(url: string): Promise<void> {
  if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
    throw new UsageError(`"${url}" is not an address, such as http://127.0.0.1:8787`)
  }
  try {
    await (await fetch(url)).body?.cancel()
  } catch (cause) {
    const reason = 'UNREACHABLE'
    throw new ClientError('unreachable', `Nothing answers at ${url}`, { reason, cause })
  }
}

/** @returns the first word when the flag is absent */
function readVariant(input: Input, flag: string, known: readonly [string, ...string[]]): string {
  const text = input.text(flag) ?? known[0]
  if (known.includes(text)) return text
  throw new UsageError(`--${flag} takes ${known.join(' or ')}`)
}
