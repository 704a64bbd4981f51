export { type Inspection, inspectPostgres } from '../stores/postgres/inspect.ts'
