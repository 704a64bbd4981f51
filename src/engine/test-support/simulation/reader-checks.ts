/** Follows tasks and checks what the readers got: S7 of `checks.ts`. For tests only. */
import { alice } from '../engine-harness.ts'
import type { CheckDeps, Checks } from './checks.ts'

export interface ReaderChecks extends Pick<Checks, 'read' | 'failedOver'> {
  end(): void
}

export function createReaderChecks({ fail }: Pick<CheckDeps, 'fail'>): ReaderChecks {
  const readers: { readonly taskId: string; readonly seqs: number[] }[] = []

  return {
    read(process, taskId) {
      const reader = { taskId, seqs: [] as number[] }
      readers.push(reader)
      const reading = async (): Promise<void> => {
        for await (const { seq } of await process.engine.subscribe(alice, taskId)) {
          reader.seqs.push(seq)
        }
      }
      reading().catch(() => undefined)
    },
    failedOver() {
      readers.length = 0
    },
    end() {
      for (const { taskId, seqs } of readers) {
        const isInOrder = seqs.every((seq, index) => seq === index + 1)
        if (!isInOrder) fail(`S7: a reader of ${taskId} got ${seqs.join(' ')}`)
      }
    },
  }
}
