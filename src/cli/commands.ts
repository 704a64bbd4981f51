import type { Command } from './command.ts'
import { acp } from './commands/acp.ts'
import { answer } from './commands/answer.ts'
import { audit } from './commands/audit.ts'
import { budgetsList, budgetsRefill, budgetsRemove, budgetsSet } from './commands/budgets.ts'
import { completionOf } from './commands/completion.ts'
import { conformance } from './commands/conformance.ts'
import { demo } from './commands/demo.ts'
import { doctor } from './commands/doctor.ts'
import { eventsEmit } from './commands/events-emit.ts'
import { exportTask } from './commands/export.ts'
import { fork } from './commands/fork.ts'
import { hold, holdLift, holdList } from './commands/hold.ts'
import { importTask } from './commands/import.ts'
import { init } from './commands/init.ts'
import { keysList, keysMint, keysRevoke, keysRotate } from './commands/keys.ts'
import { mcp } from './commands/mcp.ts'
import { migrate } from './commands/migrate.ts'
import { receiptsVerify } from './commands/receipts-verify.ts'
import { replay } from './commands/replay.ts'
import { rulesAdd, rulesList, rulesRemove, rulesTest } from './commands/rules.ts'
import {
  schedulesList,
  schedulesPause,
  schedulesResume,
  schedulesRun,
} from './commands/schedules.ts'
import { send } from './commands/send.ts'
import { serve } from './commands/serve.ts'
import { tasksCancel, tasksPause, tasksResume } from './commands/tasks-control.ts'
import { tasksList } from './commands/tasks-list.ts'
import { tasksRemind } from './commands/tasks-remind.ts'
import { tasksShow } from './commands/tasks-show.ts'
import { tasksWatch } from './commands/tasks-watch.ts'

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
