/** Prompts that are open, by session, whichever connection they came by: `session/cancel` finds them here. */
export interface Turn {
  /** Fires when the user gave the prompt up, never because a connection was lost. */
  readonly canceled: AbortController
  /** What the prompt became, once it has. */
  taskId: string | undefined
}

export interface Turns {
  begin(key: string): Turn
  end(key: string, turn: Turn): void
  of(key: string): readonly Turn[]
}

export function createTurns(): Turns {
  const open = new Map<string, Set<Turn>>()
  return {
    begin(key) {
      const turn: Turn = { canceled: new AbortController(), taskId: undefined }
      const turns = open.get(key) ?? new Set()
      open.set(key, turns.add(turn))
      return turn
    },
    end(key, turn) {
      const turns = open.get(key)
      turns?.delete(turn)
      if (turns?.size === 0) open.delete(key)
    },
    of: (key) => [...(open.get(key) ?? [])],
  }
}
