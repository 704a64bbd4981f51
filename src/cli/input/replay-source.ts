/** Where `lull replay` reads tasks: from a server, or from a store that no server has open. */
import { readPages } from '../../client/ops-client.ts'
import { recordedIn } from '../../server/replay/replay-report.ts'
import { type TaskSource, withStoredTasks } from '../../server/replay/stored-tasks.ts'
import { type Input, UsageError } from '../command.ts'
import { opsFor, serverUrl } from './server-access.ts'

/** @throws UsageError */
export function withTasks<T>(input: Input, work: (tasks: TaskSource) => Promise<T>): Promise<T> {
  const [data, postgres] = [input.text('data'), input.text('postgres')]
  if ([data, postgres, input.text('url')].filter((one) => one !== undefined).length > 1) {
    throw new UsageError('give one of --url, --data and --postgres')
  }
  const migrates = input.has('migrate')
  if (data !== undefined) return withStoredTasks({ data, store: 'sqlite' }, migrates, work)
  if (postgres !== undefined) return withStoredTasks({ postgres }, migrates, work)
  if (migrates) throw new UsageError('--migrate belongs to --data or --postgres')
  return work(tasksOf(serverUrl(input)))
}

const PAGE = 100

function tasksOf(url: string): TaskSource {
  const ops = opsFor(url)
  return {
    recorded: async (taskId) => recordedIn(await ops.log(taskId)),
    async *ids(states) {
      for await (const page of readPages((cursor) => ops.tasks({ states, limit: PAGE, cursor }))) {
        for (const { taskId } of page.tasks) yield taskId
      }
    },
  }
}
