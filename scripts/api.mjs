/**
 * One API report in etc/api per public entry of package.json. Without `--update` a report that does not match
 * the built types is an error; with it, the reports are rewritten and the diff is reviewed like any other.
 *
 * A type that a public signature names and no entry exports is an error in both cases: nobody could write it down.
 * A type that another entry exports is fine, so that `lull/a2a` need not repeat what `lull` has.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor'
import { root } from './run.mjs'

const update = process.argv.includes('--update')
const folder = join(root, 'etc', 'api')
const base = ExtractorConfig.loadFile(join(root, 'api-extractor.json'))

const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const entries = Object.entries(exports).filter(([, target]) => target.types !== undefined)
const reports = entries.map(([subpath, { types }]) => ({
  file: `${subpath === '.' ? 'index' : subpath.slice(2).replaceAll('/', '-')}.api.md`,
  types: join(root, types),
}))

mkdirSync(folder, { recursive: true })
mkdirSync(base.apiReport.reportTempFolder.replace('<projectFolder>', root), { recursive: true })
/** `{file, name}` of every type that a report names and its own entry does not export. */
const unexported = []
const passed = [...reports.map(matches), ...strays().map(refuse), noneForgotten()].every(Boolean)
process.exitCode = passed ? 0 : 1

function matches({ file, types }) {
  try {
    const config = ExtractorConfig.prepare({
      configObject: {
        ...base,
        projectFolder: root,
        mainEntryPointFilePath: types,
        apiReport: { ...base.apiReport, reportFileName: file },
      },
      configObjectFullPath: join(root, 'api-extractor.json'),
      packageJsonFullPath: join(root, 'package.json'),
    })
    const result = Extractor.invoke(config, {
      localBuild: update,
      messageCallback(message) {
        if (message.messageId !== 'ae-forgotten-export') return
        unexported.push({ file, name: /symbol "([^"]+)"/.exec(message.text)?.[1] ?? message.text })
        message.handled = true
        message.logLevel = 'none'
      },
    })
    const stale = result.apiReportChanged && !update
    console.log(`${file}: ${stale ? 'differs; see `npm run api:update`' : verdict(result)}`)
    return !stale && result.errorCount === 0
  } catch (error) {
    console.error(`${file}: ${error.message}`)
    return false
  }
}

function verdict({ apiReportChanged, errorCount }) {
  if (errorCount > 0) return `${errorCount} errors`
  return apiReportChanged ? 'updated' : 'current'
}

function noneForgotten() {
  const exported = new Set(
    reports.flatMap(({ file }) => {
      const text = readFileSync(join(folder, file), 'utf8')
      const declared =
        /^export (?:declare )?(?:abstract )?(?:class|const|function|interface|type) (\w+)/gm
      return [...text.matchAll(declared)].map(([, name]) => name)
    }),
  )
  const forgotten = unexported.filter(({ name }) => !exported.has(name))
  for (const { file, name } of forgotten) {
    console.error(`${file}: ${name} is part of a public signature and no entry exports it`)
  }
  return forgotten.length === 0
}

/** Reports of entries that are gone. */
function strays() {
  return readdirSync(folder).filter((file) => !reports.some((report) => report.file === file))
}

function refuse(file) {
  if (update) rmSync(join(folder, file))
  console.log(`${file}: no such entry${update ? ', removed' : ''}`)
  return update
}
