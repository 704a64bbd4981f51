import type { Engine } from '../../engine/engine.ts'
import type { TaskStore } from '../../ports/store/tasks.ts'
import { budgetGauge, processGauges, taskGauge } from './gauges.ts'
import type { ShownMeter } from './meter.ts'
import { textOf } from './prometheus-text.ts'

/**
 * The text of `/metrics`. It contains names of agents and states, and nothing of tasks, callers or
 * tenants.
 * @param tenant limits the text to tasks of this tenant; then figures of the process are left out,
 * because they reveal others
 */
export async function metricsText(
  deps: {
    readonly engine: Engine
    readonly store: Pick<TaskStore, 'count'>
    readonly meter: ShownMeter
  },
  tenant: string | undefined,
): Promise<string> {
  const { engine, store, meter } = deps
  if (tenant !== undefined) return textOf([await taskGauge(engine, store, { tenant })])
  const [tasks, budgets] = await Promise.all([taskGauge(engine, store, {}), budgetGauge(engine)])
  return textOf([tasks, budgets, ...(await processGauges(engine)), ...meter.families()])
}
