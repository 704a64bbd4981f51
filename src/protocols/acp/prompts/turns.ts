/** Prompts that are open, by session, whichever connection they came by: `session/cancel` finds them here. */
export interface Turn {
  /** Fires when the user gave the prompt up, never because a connection was lost. */
  readonly canceled: AbortController
  /** What the prompt became, once it has. */
  taskId: string | undefined
  /** Resolves when it was answered. */
  readonly over: Promise<void>
}

export interface Turns {
  /** @param owner the connection it came by */
  begin(key: string, owner: object): { readonly turn: Turn; end(): void }
  /** All of the session, or those that came by one connection. */
  of(key: string, owner?: object): readonly Turn[]
}

export function createTurns(): Turns {
  const open = new Map<string, Map<Turn, object>>()
  return {
    begin(key, owner) {
      let resolve: () => void = () => undefined
      const over = new Promise<void>((done) => {
        resolve = done
      })
      const turn: Turn = { canceled: new AbortController(), taskId: undefined, over }
      const turns = open.get(key) ?? new Map<Turn, object>()
      open.set(key, turns.set(turn, owner))
      const end = (): void => {
        turns.delete(turn)
        if (turns.size === 0 && open.get(key) === turns) open.delete(key)
        resolve()
      }
      return { turn, end }
    },
    of: (key, owner) =>
      [...(open.get(key) ?? [])]
        .filter(([, whose]) => owner === undefined || whose === owner)
        .map(([turn]) => turn),
  }
}
