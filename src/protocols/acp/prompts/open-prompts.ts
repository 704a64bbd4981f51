/** An unanswered prompt. `session/cancel` cancels all those of a session, on any connection. */
export interface OpenPrompt {
  /** Aborts when the user cancels the prompt, but not when a connection is lost. */
  readonly canceled: AbortController
  /** The task of the prompt, once it is known. */
  taskId: string | undefined
  /** Resolves when the prompt was answered. */
  readonly answered: Promise<void>
}

export interface OpenPrompts {
  /** @param owner the connection that sent the prompt */
  open(key: string, owner: object): { readonly prompt: OpenPrompt; close(): void }
  /** The open prompts of the session, or only those of one connection. */
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
