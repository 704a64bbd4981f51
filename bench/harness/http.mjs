/** Servers and their client, each in a process of its own. */
import { startSubject } from './subject.mjs'

export async function startAll(servers) {
  const client = await startSubject('subjects/load.mjs')
  const names = Object.keys(servers)
  const started = await Promise.all(names.map((name) => servers[name]()))
  const all = Object.fromEntries(names.map((name, i) => [name, started[i]]))
  return {
    client,
    servers: all,
    async close() {
      for (const subject of [client, ...Object.values(all)]) await subject.close()
    },
  }
}

export const ours = (path, process) => () =>
  startSubject('subjects/lull-server.mjs', { path }, process)
export const a2aJs =
  (params = {}) =>
  () =>
    startSubject('peers/a2a-js.mjs', params)
export const echo = (sample) => () => startSubject('subjects/echo-server.mjs', { sample })

/** Loads a server for so long; beside what the client saw, the processor time the server spent on each answer. */
export async function loadOf(client, server, how) {
  const before = await server.ask('cpu')
  const seen = await client.ask('load', { port: server.ready.port, ...how })
  const after = await server.ask('cpu')
  const spent = after.user + after.system - before.user - before.system
  return { ...seen, cpuUs: spent / seen.count }
}
