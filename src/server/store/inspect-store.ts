export { type Inspection, inspectPostgres } from '../../stores/postgres/inspect.ts'
export {
  acceptLoss,
  type DirectoryState,
  inspectDirectory,
} from '../../stores/sqlite/inspect-directory.ts'
