/**
 * One API report in etc/api per public entry of package.json. Without `--update` a report that does not match
 * the built types is an error; with it, the reports are rewritten and the diff is reviewed like any other.
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
const passed = [...reports.map(matches), ...strays().map(refuse)].every(Boolean)
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
    const result = Extractor.invoke(config, { localBuild: update })
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

/** Reports of entries that are gone. */
function strays() {
  return readdirSync(folder).filter((file) => !reports.some((report) => report.file === file))
}

function refuse(file) {
  if (update) rmSync(join(folder, file))
  console.log(`${file}: no such entry${update ? ', removed' : ''}`)
  return update
}
