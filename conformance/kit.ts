/** What a program needs to run the kit: `lull conformance` has it built. */
export { line, summarize, totals } from './runner/report.ts'
export { run } from './runner/run.ts'
