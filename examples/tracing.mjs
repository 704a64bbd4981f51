// Registers an SDK of OpenTelemetry before the program begins. Spans go to OTEL_EXPORTER_OTLP_ENDPOINT, by OTLP over HTTP.
//   node --import ./examples/tracing.mjs examples/hello.mjs
import { context, propagation, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { W3CTraceContextPropagator } from '@opentelemetry/core'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'

// Without a name of the service, backends show the spans under `unknown_service:node`.
const name = process.env.OTEL_SERVICE_NAME ?? 'lull'
const provider = new BasicTracerProvider({
  resource: defaultResource().merge(resourceFromAttributes({ 'service.name': name })),
  spanProcessors: [new BatchSpanProcessor(new OTLPTraceExporter())],
})
trace.setGlobalTracerProvider(provider)
context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
propagation.setGlobalPropagator(new W3CTraceContextPropagator())

// The last spans are sent before the process ends.
process.once('SIGTERM', () => provider.forceFlush().catch(() => undefined))
