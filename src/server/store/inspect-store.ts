export { type Inspection, inspectPostgres } from '../../stores/postgres/connection/inspect.ts'
export { backUpDirectory } from '../../stores/sqlite/files/backup.ts'
export {
  acceptLoss,
  type DirectoryState,
  inspectDirectory,
} from '../../stores/sqlite/files/inspect-directory.ts'
