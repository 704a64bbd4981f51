import type { Command } from './command.ts'
import { completionOf } from './command-texts.ts'
import { audit } from './commands/audit-command.ts'
import { backup } from './commands/backup-command.ts'
import { budgetsCommands } from './commands/budgets-command.ts'
import { conformance } from './commands/conformance-command.ts'
import { doctor } from './commands/doctor-command.ts'
import { eventsEmit } from './commands/events-emit-command.ts'
import { holdCommands } from './commands/hold-command.ts'
import { init } from './commands/init-command.ts'
import { keysCommands } from './commands/keys-command.ts'
import { migrate } from './commands/migrate-command.ts'
import { replay } from './commands/replay-command.ts'
import { rulesCommands } from './commands/rules-command.ts'
import { schedulesCommands } from './commands/schedules-command.ts'
import { sendingCommands } from './commands/sending-commands.ts'
import { servingCommands } from './commands/serving-commands.ts'
import { exportTask, importTask, receiptsVerify } from './commands/task-file-commands.ts'
import { fork, tasksChangingCommands } from './commands/tasks-changing-commands.ts'
import { tasksReadingCommands } from './commands/tasks-reading-commands.ts'

/** In the order of the help. A noun alone lists. */
export const commands: readonly Command[] = [
  init,
  ...servingCommands,
  ...sendingCommands,
  ...tasksReadingCommands,
  ...tasksChangingCommands,
  eventsEmit,
  ...holdCommands,
  ...budgetsCommands,
  ...rulesCommands,
  ...schedulesCommands,
  receiptsVerify,
  replay,
  exportTask,
  fork,
  importTask,
  ...keysCommands,
  backup,
  migrate,
  audit,
  doctor,
  conformance,
  completionOf(() => commands),
]
