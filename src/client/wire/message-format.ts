/** Reads messages, artifacts and statuses. Members that this client does not know are left out. */
import type { JsonObject } from '../../core/json.ts'
import type { Artifact, Message } from '../../core/message.ts'
import { readPart } from '../read-part.ts'
import type { TaskStatus } from '../tasks/task-types.ts'
import type { Version } from '../version.ts'
import { listIn, objectIn, present, textIn, textsIn } from './json-members.ts'

export interface ContentReader {
  message(value: JsonObject): Message
  artifact(value: JsonObject): Artifact
  status(value: unknown): TaskStatus
}

export function createContentReader(version: Version): ContentReader {
  const read = readPart[version]

  function message(value: JsonObject): Message {
    const given = listIn(value, 'parts')
    const parts = given.length > 0 ? given : listIn(value, 'content')
    const role = textIn(value, 'role')
    return present<Message>({
      messageId: textIn(value, 'messageId') ?? '',
      role: role === 'user' || role === 'ROLE_USER' ? 'ROLE_USER' : 'ROLE_AGENT',
      parts: parts.map(read),
      contextId: textIn(value, 'contextId'),
      taskId: textIn(value, 'taskId'),
      referenceTaskIds: listed(textsIn(value, 'referenceTaskIds')),
      extensions: listed(textsIn(value, 'extensions')),
      metadata: objectIn(value, 'metadata'),
    })
  }

  function artifact(value: JsonObject): Artifact {
    return present<Artifact>({
      artifactId: textIn(value, 'artifactId') ?? '',
      name: textIn(value, 'name'),
      description: textIn(value, 'description'),
      parts: listIn(value, 'parts').map(read),
      extensions: listed(textsIn(value, 'extensions')),
      metadata: objectIn(value, 'metadata'),
    })
  }

  function status(value: unknown): TaskStatus {
    const said = objectIn(value, 'message')
    return present<TaskStatus>({
      state: textIn(value, 'state') ?? '',
      message: said && message(said),
      timestamp: textIn(value, 'timestamp'),
    })
  }

  return { message, artifact, status }
}

function listed(texts: readonly string[]): readonly string[] | undefined {
  return texts.length === 0 ? undefined : texts
}
