import type { Engine } from '../../engine/engine.ts'
import type { TaskStore } from '../../ports/store/tasks.ts'
import { budgetGauge, processGauges, taskGauge } from './gauges.ts'
import type { ShownMeter } from './meter.ts'
import { textOf } from './prometheus-text.ts'

/**
 * Names agents and states, and nothing of tasks, callers or tenants.
 * @param tenant only the tasks of this tenant are shown; figures of the process would tell of the others too
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
