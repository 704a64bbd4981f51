/**
 * Tracks the processes of MCP servers, and kills those that have not ended when this process exits.
 */

/**
 * A transport that starts a process. Its `pid` becomes null when it begins to close; at the end it
 * calls `onclose`.
 */
interface Starting {
  readonly pid: number | null
  onclose?: (() => void) | undefined
}

const running = new Set<() => number | null>()

export interface Watched {
  /** Must be called when the transport is connected. */
  connected(): void
  /**
   * Must be called when the transport is closed, or when it could not start: in that case it does
   * not call `onclose`.
   */
  forget(): void
}

/** @param transport a transport that is not connected yet */
export function killAtExit(transport: Starting): Watched {
  let known: number | null = null
  const pidOf = (): number | null => known ?? transport.pid
  if (running.size === 0) process.on('exit', killAll)
  running.add(pidOf)
  const forget = (): void => {
    running.delete(pidOf)
    if (running.size === 0) process.off('exit', killAll)
  }
  transport.onclose = forget
  return {
    connected() {
      known = transport.pid
    },
    forget,
  }
}

function killAll(): void {
  for (const pidOf of running) {
    const pid = pidOf()
    try {
      if (pid !== null) process.kill(pid, 'SIGKILL')
    } catch {
      // The process has ended meanwhile.
    }
  }
}
