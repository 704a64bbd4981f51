import { type Emitted, emitEvent } from '../../client/server-calls.ts'
import type { CloudEvent } from '../../core/waiting/cloud-event.ts'
import { tasksText } from '../call-command.ts'
import { type Command, type Input, type Io, printResult } from '../command.ts'
import { readJsonFlag, readOnlyWord } from '../input/read-input.ts'
import { credentials, serverUrl, urlFlag } from '../input/server-access.ts'

export const eventsEmit: Command = {
  name: 'events emit',
  args: '<type>',
  about: 'Tell the server of an event: tasks that wait for <type>, or for <type>:<subject>, go on',
  flags: {
    subject: { value: 'text', about: 'What it is about; tasks may wait for <type>:<subject>' },
    data: { value: 'json', about: 'Handed to the agents that wait for it' },
    source: { value: 'uri', about: 'Who says so (default lull-cli)' },
    id: { value: 'text', about: 'The same source and id twice is one event (default a new one)' },
    ...urlFlag,
  },
  examples: [
    `events emit ci.build.completed --subject 1234 --data '{"status": "passed"}'`,
    'events emit deploy.done --source ci --id "$BUILD_ID" --url https://agents.example.com',
  ],
  async run(input, io) {
    const event = readEvent(input)
    const emitted = await emitEvent(serverUrl(input), event, {
      headers: credentials(),
    })
    const { id, type, subject } = event
    const name = subject === undefined ? type : `${type}:${subject}`
    const line = `Event ${io.paint('bold', id)}  ${name}  ${outcomeOf(emitted, io)}`
    return printResult(input, io, { id, ...emitted }, [line])
  },
}

function outcomeOf({ accepted, woken }: Emitted, io: Io): string {
  if (accepted === 0) return 'known already, nothing done'
  const effect =
    woken === undefined ? '' : woken === 0 ? ', no task waits for it' : `, woke ${tasksText(woken)}`
  return `${io.paint('green', 'accepted')}${effect}`
}

/** The server validates the attributes. */
function readEvent(input: Input): CloudEvent {
  const type = readOnlyWord(input, 'give the type of one event')
  const [subject, data] = [input.text('subject'), readJsonFlag(input, 'data')]
  return {
    id: input.text('id') ?? crypto.randomUUID(),
    source: input.text('source') ?? 'lull-cli',
    type,
    time: new Date().toISOString(),
    ...(subject === undefined ? {} : { subject }),
    ...(data === undefined ? {} : { datacontenttype: 'application/json', data }),
  }
}
