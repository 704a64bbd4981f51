import type { Log } from '../../ports/log.ts'
import type { Environment } from '../settings/settings.ts'
import { tracing } from './tracing.ts'

const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT'] as const

/**
 * Warns if an endpoint for spans is configured but no OpenTelemetry SDK is registered, so that no
 * spans are exported.
 */
export function reportMissingSdk(log: Log, env: Environment = process.env): void {
  const variable = endpoints.find((name) => env[name])
  const isOff = env['OTEL_SDK_DISABLED']?.toLowerCase() === 'true'
  if (variable === undefined || isOff || tracing.active()) return
  log('warn', `${variable} is set, and no SDK of OpenTelemetry is registered: nothing is traced`, {
    help: 'start with node --import, as docs/observability.md shows',
  })
}
