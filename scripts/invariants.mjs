/**
 * Numbered invariants (`R1`, `G2`) in the opening comment of a source file, and the tests that name them.
 *
 * A test belongs to a source file when its name begins with that of the file (`holds.ts`: `holds-restart.test.ts`), when it
 * is in the folder of that name (`ledger/` of `ledger.ts`, beside it or around it), or when its text names the file
 * (`core.ts`). The suites of the store contract are tests of the port.
 */
import { basename, dirname, join } from 'node:path'

/** The numbers that stand at the beginning of a line of a block comment. */
export function numbersIn(text) {
  return [...text.matchAll(/^ \*\s+([A-Z]\d+)\s{2}/gm)].map(([, number]) => number)
}

/** The titles of suites and tests, also of tables of tests. */
export function titlesIn(text) {
  const titles = /(?:\b(?:it|describe)(?:\.\w+)?|\]\s*\)|\))\(\s*(['"`])(.+?)\1/g
  return [...text.matchAll(titles)].map(([, , title]) => title)
}

/** @returns the numbers that no title of a test of their file names; `T1 to T5` names five */
export function unnamedIn(files) {
  const isTest = ({ path }) => path.includes('.test.') || path.includes('/store-contract/')
  const tests = files.filter(isTest)
  return files
    .filter((file) => !isTest(file))
    .flatMap(({ path, text }) => {
      const named = new Set(
        tests
          .filter((test) => belongs(test, path))
          .flatMap((test) => titlesIn(test.text).flatMap(numbersNamed)),
      )
      return numbersIn(text)
        .filter((number) => !named.has(number))
        .map((number) => `${path} ${number}`)
    })
}

function belongs(test, path) {
  const name = basename(path)
  const stem = name.slice(0, -3)
  const folder = basename(dirname(path)) === stem ? dirname(path) : join(dirname(path), stem)
  if (dirname(test.path) === folder) return true
  const isBeside = dirname(test.path) === dirname(path)
  if (isBeside && new RegExp(`^${stem}[.-]`).test(basename(test.path))) return true
  return new RegExp(`(?<![\\w-])${name.replaceAll('.', '\\.')}\\b`).test(test.text)
}

function numbersNamed(title) {
  const ranges = [...title.matchAll(/\b([A-Z])(\d+) to \1(\d+)\b/g)].flatMap(
    ([, letter, from, to]) =>
      Array.from({ length: to - from + 1 }, (_, index) => `${letter}${Number(from) + index}`),
  )
  return [...ranges, ...(title.match(/\b[A-Z]\d+\b/g) ?? [])]
}
