/**
 * Limits of the code that the linter cannot state: how long a function may be, and casts that hide a type.
 *
 * A function is measured from its first to its last line, comments included. The suites of test files are not functions
 * in this sense: a test file is a list of cases.
 */
import { parseAst } from 'vitest/node'

export const MAX_FUNCTION_LINES = 80

const isTest = (path) => /\.test(-d)?\.ts$/.test(path)
const isTestCode = (path) => isTest(path) || path.includes('/test-support/')

const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
const casts = new Set(['TSAsExpression', 'TSTypeAssertion'])
const hiding = { TSNeverKeyword: 'never', TSUnknownKeyword: 'unknown', TSAnyKeyword: 'any' }

/** @param files `{path, text}` @returns a line for each function that is too long and each cast to `never` or `unknown` */
export function problemsIn(files) {
  return files.filter(({ path }) => !isTest(path)).flatMap(problemsOf)
}

function problemsOf({ path, text }) {
  const lineAt = (offset) => text.slice(0, offset).split('\n').length
  return nodesIn(parseAst(text, { lang: 'ts' })).flatMap((node) => {
    const found = problemOf(node, text, path)
    return found === undefined ? [] : [`${path}:${lineAt(node.start)}: ${found}`]
  })
}

function problemOf(node, text, path) {
  if (functions.has(node.type)) {
    const lines = text.slice(node.start, node.end).split('\n').length
    return lines > MAX_FUNCTION_LINES ? `a function of ${lines} lines` : undefined
  }
  const type = casts.has(node.type) ? hiding[node.typeAnnotation.type] : undefined
  return type !== undefined && !isTestCode(path) ? `a cast to ${type}` : undefined
}

function nodesIn(value) {
  if (Array.isArray(value)) return value.flatMap(nodesIn)
  if (typeof value !== 'object' || value === null) return []
  const inner = Object.values(value).flatMap(nodesIn)
  return typeof value.type === 'string' ? [value, ...inner] : inner
}
