import type { Command } from './command.ts'
import { acp } from './commands/acp-command.ts'
import { answer } from './commands/answer-command.ts'
import { audit } from './commands/audit-command.ts'
import {
  budgetsList,
  budgetsRefill,
  budgetsRemove,
  budgetsSet,
} from './commands/budgets-command.ts'
import { completionOf } from './commands/completion-command.ts'
import { conformance } from './commands/conformance-command.ts'
import { demo } from './commands/demo-command.ts'
import { doctor } from './commands/doctor-command.ts'
import { eventsEmit } from './commands/events-emit-command.ts'
import { exportTask } from './commands/export-command.ts'
import { fork } from './commands/fork-command.ts'
import { hold, holdLift, holdList } from './commands/hold-command.ts'
import { importTask } from './commands/import-command.ts'
import { init } from './commands/init-command.ts'
import { keysList, keysMint, keysRevoke, keysRotate } from './commands/keys-command.ts'
import { mcp } from './commands/mcp-command.ts'
import { migrate } from './commands/migrate-command.ts'
import { receiptsVerify } from './commands/receipts-verify-command.ts'
import { replay } from './commands/replay-command.ts'
import { rulesAdd, rulesList, rulesRemove, rulesTest } from './commands/rules-command.ts'
import {
  schedulesList,
  schedulesPause,
  schedulesResume,
  schedulesRun,
} from './commands/schedules-command.ts'
import { send } from './commands/send-command.ts'
import { serve } from './commands/serve-command.ts'
import { tasksCancel, tasksPause, tasksResume } from './commands/tasks-control-command.ts'
import { tasksList } from './commands/tasks-list-command.ts'
import { tasksRemind } from './commands/tasks-remind-command.ts'
import { tasksShow } from './commands/tasks-show-command.ts'
import { tasksWatch } from './commands/tasks-watch-command.ts'

/** In the order of the help. The name of a group alone selects the first command of the group. */
export const commands: readonly Command[] = [
  init,
  demo,
  serve,
  acp,
  mcp,
  send,
  answer,
  tasksList,
  tasksShow,
  tasksWatch,
  tasksPause,
  tasksResume,
  tasksCancel,
  tasksRemind,
  eventsEmit,
  hold,
  holdList,
  holdLift,
  budgetsList,
  budgetsSet,
  budgetsRefill,
  budgetsRemove,
  rulesList,
  rulesAdd,
  rulesRemove,
  rulesTest,
  schedulesList,
  schedulesPause,
  schedulesResume,
  schedulesRun,
  receiptsVerify,
  replay,
  exportTask,
  fork,
  importTask,
  keysMint,
  keysList,
  keysRevoke,
  keysRotate,
  migrate,
  audit,
  doctor,
  conformance,
  completionOf(() => commands),
]
