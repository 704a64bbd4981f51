/**
 * Limits of the code that the linter cannot state: how long functions and files may be, casts that hide a type or claim
 * that a request was checked, exported functions that do not say what they return, and sets that name some members of a
 * union, which a new member does not reach.
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
/** Types of what a caller sends, which only `parse` makes. */
const unchecked = /(Request|Query|TaskFilter)$/
/** Sets of these have no closed set of members. */
const plain = new Set(['TSStringKeyword', 'TSUnknownKeyword', 'TSNumberKeyword'])
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
      : isTestCode(path)
        ? undefined
        : (problemOfCast(node) ?? problemOfSet(node) ?? problemOfExport(node))
    return problem === undefined ? [] : [`${path}:${lineAt(node.start)}: ${problem}`]
  })
  return [...tooLong, ...found]
}

function problemOfLength(lines) {
  return lines > MAX_FUNCTION_LINES ? `a function of ${lines} lines of its own` : undefined
}

/** What other files use says what it returns. The type of a schema is that of the schema, and is not written again. */
function problemOfExport({ type, declaration }) {
  const isFunction =
    type === 'ExportNamedDeclaration' && declaration?.type === 'FunctionDeclaration'
  if (!isFunction || declaration.returnType != null) return undefined
  return `an exported function without the type of its result, ${declaration.id.name}`
}

function problemOfCast(node) {
  if (!casts.has(node.type)) return undefined
  const target = node.typeAnnotation
  const type = hiding[target.type] ?? namesIn(target).find((name) => unchecked.test(name))
  return type === undefined ? undefined : `a cast to ${type}`
}

/** A set of words whose members are a type of their own: `const some: ReadonlySet<State> = new Set(['working'])`. */
function problemOfSet(node) {
  const [made, type] =
    node.type === 'VariableDeclarator'
      ? [node.init, node.id.typeAnnotation?.typeAnnotation]
      : [node, undefined]
  if (made?.type !== 'NewExpression' || made.callee.name !== 'Set') return undefined
  const listed = made.arguments[0]?.type === 'ArrayExpression' ? made.arguments[0].elements : []
  const isOfWords = listed.length > 0 && listed.every((one) => typeof one?.value === 'string')
  const member = (type ?? made).typeArguments?.params[0]
  if (!isOfWords || member === undefined || plain.has(member.type)) return undefined
  return 'a partial set of a union; use a table over all of its members'
}

/** The names of types in a type. A schema is named after what it makes, and is no cast of that. */
function namesIn(node) {
  if (node.typeName?.type === 'TSQualifiedName') return []
  return nodesIn(node).flatMap(({ type, typeName }) =>
    type === 'TSTypeReference' ? [typeName.name ?? ''] : [],
  )
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
