/** The processes of MCP servers. One that does not end by itself is killed when this process exits. */

/** A transport that starts a process. It forgets the id when it begins to close, and then calls `onclose` at the end. */
interface Starting {
  readonly pid: number | null
  onclose?: (() => void) | undefined
}

const running = new Set<() => number | null>()

export interface Watched {
  /** To be called when the transport is connected. */
  connected(): void
  /** To be called when the transport is closed, or has not started: then it does not call `onclose`. */
  forget(): void
}

/** @param transport before it is connected */
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
      // It has ended meanwhile.
    }
  }
}
