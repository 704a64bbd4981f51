/** `lull backup`: copies the tasks of a data directory into one file, also while a server runs there. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { plain } from '../../core/values/printable.ts'
import { readSettings } from '../../server/settings/settings.ts'
import { chooseStore } from '../../server/store/open-store.ts'
import { type Command, printResult, UsageError } from '../command.ts'
import { readOnlyWord } from '../input/read-input.ts'
import { countText } from '../views/render.ts'

/** Files of the data directory that a restore needs besides the database. */
const KEYS = ['receipt.key', 'push.key', 'keys.json']

export const backup: Command = {
  name: 'backup',
  args: '<file>',
  about: 'Copy the tasks of a data directory into one file, also while a server runs there',
  flags: {
    data: { value: 'directory', about: 'Where tasks are kept (LULL_DATA, default ./.lull)' },
    force: { about: 'Replace the file if it exists, once the new backup is complete' },
  },
  examples: ['backup /backup/lull.db', 'backup /backup/lull.db --force --data /var/lib/lull'],
  async run(input, io) {
    const to = readOnlyWord(input, 'give the file to write')
    const { data, stores } = readSettings({ data: input.text('data') })
    if (chooseStore(stores, data).kind !== 'sqlite') {
      throw new UsageError('the tasks are not in a data directory; back up PostgreSQL with pg_dump')
    }
    const { backUpDirectory } = await import('../../server/store/inspect-store.ts')
    const made = await backUpDirectory(data, to, input.has('force'))
    const keys = KEYS.filter((name) => existsSync(join(data, name)))
    const lines = [
      `${io.paint('green', 'Backed up')} ${countText(made.tasks, 'task')} (${made.bytes} bytes) to ${plain(made.file)}`,
      ...(keys.length === 0
        ? []
        : [io.paint('dim', `Copy the keys of ${plain(data)}, too: ${keys.join(', ')}`)]),
    ]
    return printResult(input, io, { ...made, keys }, lines)
  },
}
