/**
 * The method names of Lull's extension. ACP requires that they begin with `_`. The names of the
 * RFCs are accepted too, but sent only to clients that declare the RFC. The first name of each
 * method is the documented one.
 */
export type Extension = 'suspend' | 'wake' | 'remind' | 'steer' | 'receipts'

export const inbound: Readonly<Record<Extension, readonly [string, ...string[]]>> = {
  suspend: ['_session/suspend', 'session/suspend'],
  wake: ['_session/wake', '_session/resume'],
  remind: [
    '_session/inject_reminder',
    'session/inject_reminder',
    '_session/remind',
    'session/remind',
  ],
  steer: ['_session/steering'],
  receipts: ['_session/receipts'],
}

type Outbound =
  | 'awaitResumption'
  | 'awaitResumptionRfc'
  | 'suspended'
  | 'resumed'
  | 'reminder'
  | 'turnEnded'

export const outbound: Readonly<Record<Outbound, string>> = {
  awaitResumption: '_session/await_resumption',
  /** Names that are sent only to clients that declare the RFC. */
  awaitResumptionRfc: 'session/await_resumption',
  suspended: '_session/suspended',
  resumed: '_session/resumed',
  reminder: '_session/reminder',
  turnEnded: '_session/turn_ended',
}
