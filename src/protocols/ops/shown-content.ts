/**
 * What a timeline shows of inputs and results.
 *
 * C1  However large the content is, only about as much as is shown is copied.
 * C2  The value of a member whose name tells of a secret is never shown.
 */
import type { Json } from '../../core/values/json.ts'
import type { ShownContent } from '../../wire/ops/tasks.ts'

/** About how many characters are shown, and how many of one text. */
const MOST = 2_000
const MOST_TEXT = 600
const DEEPEST = 12
const LEFT_OUT = '…'

const secret =
  /^(?:.*[-_.])?(?:authorization|cookie|set-cookie|password|passwd|secret|token|api[-_]?key|credentials?)$|(?:Password|Secret|Token|ApiKey)$/i

export function shownContent(value: Json): ShownContent {
  const room: Room = { left: MOST, isCut: false }
  const shown = copied(value, room, DEEPEST)
  return { json: JSON.stringify(shown), isCut: room.isCut }
}

interface Room {
  left: number
  isCut: boolean
}

/** C1. */
function copied(value: Json, room: Room, depth: number): Json {
  room.left -= 4
  if (typeof value === 'string') return text(value, room)
  if (typeof value !== 'object' || value === null) return value
  if (depth === 0) return leftOut(room)
  if (Array.isArray(value)) {
    const items: Json[] = []
    for (const item of value) {
      if (room.left <= 0) return [...items, leftOut(room)]
      items.push(copied(item, room, depth - 1))
    }
    return items
  }
  const members: [string, Json][] = []
  for (const [name, member] of Object.entries(value)) {
    if (room.left <= 0) {
      members.push([LEFT_OUT, leftOut(room)])
      break
    }
    room.left -= name.length
    // C2.
    members.push([name, secret.test(name) ? '[redacted]' : copied(member, room, depth - 1)])
  }
  return Object.fromEntries(members)
}

function text(value: string, room: Room): string {
  const most = Math.max(0, Math.min(MOST_TEXT, room.left))
  room.left -= value.length
  if (value.length <= most) return value
  room.isCut = true
  return `${value.slice(0, most)}${LEFT_OUT}`
}

function leftOut(room: Room): string {
  room.isCut = true
  return LEFT_OUT
}
