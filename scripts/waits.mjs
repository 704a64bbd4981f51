/** How tests wait: for a fact, as long as the configuration of the tests says. Other waits fail on a busy machine. */

const LEAST_MS = 60_000

/** A timeout of a domain object is an object; one of a test is a number. */
const TIMEOUT = /\btimeout: (\d[\d_]*)/g
/** It gives up after a second, and no configuration changes that. */
const GIVES_UP_EARLY = /\bvi\.wait(?:For|Until)\(/g

export function hastyWaitsIn(files) {
  return files.filter(isOfTests).flatMap(({ path, text }) => {
    const short = [...text.matchAll(TIMEOUT)].filter(([, digits]) => isShort(digits))
    const found = [...short, ...text.matchAll(GIVES_UP_EARLY)]
    return found.map(({ 0: what, index }) => `${path}:${lineAt(text, index)}: ${what}`)
  })
}

function isShort(digits) {
  const ms = Number(digits.replaceAll('_', ''))
  return ms > 0 && ms < LEAST_MS
}

function isOfTests({ path }) {
  return path.startsWith('test/') || path.endsWith('.test.ts') || path.includes('/test-support/')
}

function lineAt(text, index) {
  return text.slice(0, index).split('\n').length
}
