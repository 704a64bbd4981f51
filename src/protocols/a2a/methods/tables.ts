/** The methods of each version, by name. */
import { extensionMethodList } from '../../../wire/a2a-extension-methods.ts'
import type { Version } from '../addresses/versions.ts'
import type { Method } from '../call.ts'
import { cancelTask } from './cancel-task.ts'
import { controlMethods } from './control.ts'
import { getExtendedAgentCard } from './get-extended-agent-card.ts'
import { getTask } from './get-task.ts'
import { listTasks } from './list-tasks.ts'
import {
  createPushConfig,
  deletePushConfig,
  getPushConfig,
  listPushConfigs,
} from './push-configs.ts'
import { sendMessage } from './send-message.ts'
import { sendStreamingMessage } from './send-streaming-message.ts'
import { subscribeToTask } from './subscribe-to-task.ts'

type Names = ReadonlyMap<string, Method>

const extensions = extensionMethodList.map(({ name, method }): readonly [string, Method] => [
  method,
  controlMethods[name],
])

export const methods: Readonly<Record<Version, Names>> = {
  '1.0': new Map([
    ['SendMessage', sendMessage],
    ['SendStreamingMessage', sendStreamingMessage],
    ['GetTask', getTask],
    ['ListTasks', listTasks],
    ['CancelTask', cancelTask],
    ['SubscribeToTask', subscribeToTask],
    ['CreateTaskPushNotificationConfig', createPushConfig],
    ['GetTaskPushNotificationConfig', getPushConfig],
    ['ListTaskPushNotificationConfigs', listPushConfigs],
    ['DeleteTaskPushNotificationConfig', deletePushConfig],
    ['GetExtendedAgentCard', getExtendedAgentCard],
    ...extensions,
  ]),
  '0.3': new Map([
    ['message/send', sendMessage],
    ['message/stream', sendStreamingMessage],
    // The names of 0.1, which the RFCs still use.
    ['tasks/send', sendMessage],
    ['tasks/sendSubscribe', sendStreamingMessage],
    ['tasks/get', getTask],
    ['tasks/cancel', cancelTask],
    ['tasks/resubscribe', subscribeToTask],
    ['tasks/pushNotificationConfig/set', createPushConfig],
    ['tasks/pushNotificationConfig/get', getPushConfig],
    ['tasks/pushNotificationConfig/list', listPushConfigs],
    ['tasks/pushNotificationConfig/delete', deletePushConfig],
    ['agent/getAuthenticatedExtendedCard', getExtendedAgentCard],
    ...extensions,
  ]),
}
