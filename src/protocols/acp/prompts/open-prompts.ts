/** Prompts that are not answered yet, by session, whichever connection they came by: `session/cancel` finds them here. */
export interface OpenPrompt {
  /** Fires when the user gave the prompt up, never because a connection was lost. */
  readonly canceled: AbortController
  /** The task the prompt became work of, once it has. */
  taskId: string | undefined
  /** Resolves when it was answered. */
  readonly answered: Promise<void>
}

export interface OpenPrompts {
  /** @param owner the connection it came by */
  open(key: string, owner: object): { readonly prompt: OpenPrompt; close(): void }
  /** All of the session, or those that came by one connection. */
  of(key: string, owner?: object): readonly OpenPrompt[]
}

export function createOpenPrompts(): OpenPrompts {
  const bySession = new Map<string, Map<OpenPrompt, object>>()
  return {
    open(key, owner) {
      let resolve: () => void = () => undefined
      const answered = new Promise<void>((done) => {
        resolve = done
      })
      const prompt: OpenPrompt = { canceled: new AbortController(), taskId: undefined, answered }
      const prompts = bySession.get(key) ?? new Map<OpenPrompt, object>()
      bySession.set(key, prompts.set(prompt, owner))
      const close = (): void => {
        prompts.delete(prompt)
        if (prompts.size === 0 && bySession.get(key) === prompts) bySession.delete(key)
        resolve()
      }
      return { prompt, close }
    },
    of: (key, owner) =>
      [...(bySession.get(key) ?? [])]
        .filter(([, whose]) => owner === undefined || whose === owner)
        .map(([prompt]) => prompt),
  }
}
