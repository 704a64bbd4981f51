/**
 * Limits of the code that the linter cannot state: how long functions and files may be, and casts that hide a type.
 *
 * The lines of a function are counted without the functions inside it, comments included. A factory `createX(deps)` is
 * a module: it may be long while each of its functions is short. The limits are above the aims of 60 and 300 lines, so
 * that nobody has to cut a thing in two to please them. Test files are lists of cases and have no limit.
 */
import { parseAst } from 'vitest/node'

export const MAX_FUNCTION_LINES = 70
export const MAX_FILE_LINES = 350

const isTest = (path) => /\.test(-d)?\.ts$/.test(path)
const isTestCode = (path) => isTest(path) || path.includes('/test-support/')

const functions = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression'])
const casts = new Set(['TSAsExpression', 'TSTypeAssertion'])
const hiding = { TSNeverKeyword: 'never', TSUnknownKeyword: 'unknown', TSAnyKeyword: 'any' }

/** @param files `{path, text}` @returns a line for each file and function that is too long, and each cast that hides a type */
export function problemsIn(files) {
  return files.filter(({ path }) => !isTest(path)).flatMap(problemsOf)
}

function problemsOf({ path, text }) {
  const length = text.trimEnd().split('\n').length
  const tooLong = length > MAX_FILE_LINES ? [`${path}: a file of ${length} lines`] : []
  const lineAt = (offset) => text.slice(0, offset).split('\n').length
  const nodes = nodesIn(parseAst(text, { lang: 'ts' }))
  const found = nodes.flatMap((node) => {
    const problem = functions.has(node.type)
      ? problemOfLength(ownLines(node, lineAt))
      : problemOfCast(node, path)
    return problem === undefined ? [] : [`${path}:${lineAt(node.start)}: ${problem}`]
  })
  return [...tooLong, ...found]
}

function problemOfLength(lines) {
  return lines > MAX_FUNCTION_LINES ? `a function of ${lines} lines of its own` : undefined
}

function problemOfCast(node, path) {
  const type = casts.has(node.type) ? hiding[node.typeAnnotation.type] : undefined
  return type !== undefined && !isTestCode(path) ? `a cast to ${type}` : undefined
}

/** The lines of a function that belong to no function inside it. */
function ownLines(node, lineAt) {
  const lines = ({ start, end }) => lineAt(end) - lineAt(start) + 1
  const inner = children(node).flatMap(outermostFunctions)
  return lines(node) - inner.reduce((sum, one) => sum + lines(one), 0)
}

function outermostFunctions(node) {
  return functions.has(node.type) ? [node] : children(node).flatMap(outermostFunctions)
}

function nodesIn(node) {
  return [node, ...children(node).flatMap(nodesIn)]
}

/** The nodes directly below one. */
function children(value) {
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap((one) =>
    typeof one?.type === 'string' ? [one] : children(one),
  )
}
