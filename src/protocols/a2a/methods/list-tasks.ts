/** `ListTasks`: A2A 1.0 §3.1.4. Newest status first. The cursor is a position in this order, not a row number. */
import { isLullError } from '../../../core/errors.ts'
import type { State } from '../../../core/states.ts'
import { renderOne } from '../../../engine/ledger/unreadable-task.ts'
import { invalid, optionalBoolean, optionalInteger, optionalText } from '../addresses/params.ts'
import type { Call, Method } from '../call.ts'

const PAGE = 50
const MOST = 100

export const listTasks: Method = {
  scope: 'tasks:read',
  async run(a2a, call) {
    const { params, codec, caller, agent } = call
    const limit = optionalInteger(params, 'pageSize', { min: 1, max: MOST }) ?? PAGE
    const historyLength = optionalInteger(params, 'historyLength', { min: 0 })
    const withArtifacts = optionalBoolean(params, 'includeArtifacts') ?? false
    const page = await a2a.engine
      .list(caller, {
        agent: agent.scope,
        contextId: given(optionalText(params, 'contextId')),
        states: statesIn(call),
        statusAtFrom: instantIn(call),
        cursor: given(optionalText(params, 'pageToken')),
        limit,
      })
      .catch((error: unknown) => {
        if (isLullError(error, 'INVALID_INPUT') && error.details.path === 'cursor') {
          throw invalid('pageToken', error.details.problem)
        }
        throw error
      })
    return {
      value: {
        tasks: page.tasks.map((task) =>
          renderOne(task, (one) => codec.task(one, { historyLength, withArtifacts })),
        ),
        nextPageToken: page.cursor ?? '',
        pageSize: limit,
        totalSize: page.total,
      },
    }
  },
}

/** The empty string means absent, as in ProtoJSON. */
function given(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

function statesIn({ params, codec }: Call): readonly State[] | undefined {
  const wanted = optionalText(params, 'status')
  if (wanted === undefined || wanted === '' || wanted === 'TASK_STATE_UNSPECIFIED') return undefined
  const found = codec.statesOf(wanted)
  if (found === undefined) throw invalid('status', 'is not a task state')
  return found
}

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/i

/** `statusTimestampAfter`, inclusive. */
function instantIn({ params }: Call): number | undefined {
  const wanted = optionalText(params, 'statusTimestampAfter')
  if (wanted === undefined || wanted === '') return undefined
  const instant = INSTANT.test(wanted) ? Date.parse(wanted) : Number.NaN
  if (Number.isNaN(instant)) {
    throw invalid(
      'statusTimestampAfter',
      'must be an ISO 8601 instant, such as 2026-01-01T00:00:00Z',
    )
  }
  return instant
}
